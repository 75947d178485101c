// Kernels whose addresses are data, over more than device and host memory together: they ask for the pages that are in storage alone, of
// swap, of a file, and of a file that they write. The same with what is updated atomically and larger than device memory.
// On a GPU (test/gpu/run-e2e) give it more: ./program 512 20 makes tables of 512 MiB, and 2^20 accesses.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program 4 12
// RUN: for case in look chase scatter count insert; do \
// RUN:   %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=16M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program 48 14 $case \
// RUN:   && %ledger stats.json 'paged_launches == 2' 'host_to_device_paging > M' \
// RUN:   || { echo $case; exit 1; }; done
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=128M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program 48 14 count
// RUN: %ledger stats.json 'paged_launches == 2' 'swap_to_host == 0'
// RUN: not env DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=16M DRAGON_PAGING=off ./program 48 14 look 2>&1 | FileCheck %s --check-prefix=OFF
// OFF: kernel 'look' may touch {{[0-9]+}} MiB at once
// RUN: for case in look count; do \
// RUN:   not %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=16M DRAGON_CHUNK_SIZE=2M ./program 48 14 wide-$case 2> log \
// RUN:   && FileCheck %s --check-prefix=WIDE -DNAME=$case < log || { echo wide-$case; exit 1; }; done
// WIDE: kernel '[[NAME]]' touches more than {{.*}} of pages in 1 of its blocks at once{{.*}} raise DRAGON_DEVICE_MEMORY
// RUN: rm -rf %t.dir
#include "tables.h"
#include <algorithm>
#include <map>

/// So few that the pages of a block find frames.
static const int Threads = 64;

__global__ void look(uint32_t *out, const uint32_t *where,
                     const uint32_t *table, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[where[i] % n] + i;
}

/// Each step's address is what the one before has read.
__global__ void chase(uint32_t *out, const uint32_t *where,
                      const uint32_t *table, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, at = where[i] % n;
  for (int step = 0; step < 3; ++step)
    at = table[at] % n;
  out[i] = at;
}

__global__ void scatter(uint32_t *table, const uint32_t *where, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  table[where[i] % n] = i;
}

__global__ void count(uint32_t *table, const uint32_t *where, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&table[where[i] % n], 1u);
}

/// A hash table with open addressing: who finds a place taken takes the next.
__global__ void insert(uint32_t *table, const uint32_t *where, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, key = where[i] + 1;
  for (uint32_t at = mixed(key) % n;; at = (at + 1) % n) {
    uint32_t was = atomicCAS(&table[at], 0u, key);
    if (was == 0 || was == key)
      return;
  }
}

static void lookAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  for (int round = 0; round < 2; ++round) {
    look<<<t.accesses / Threads, Threads>>>(t.out, t.where, t.table, t.n);
    CHECK(cudaGetLastError());
    const Words got = t.read(t.out, t.accesses);
    for (uint32_t i = 0; i < t.accesses; ++i)
      REQUIRE(got[i] == t.contents[t.at[i] % t.n] + i);
  }
}

static void chaseAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  for (int round = 0; round < 2; ++round) {
    chase<<<t.accesses / Threads, Threads>>>(t.out, t.where, t.table, t.n);
    CHECK(cudaGetLastError());
    const Words got = t.read(t.out, t.accesses);
    for (uint32_t i = 0; i < t.accesses; ++i) {
      uint32_t at = t.at[i] % t.n;
      for (int step = 0; step < 3; ++step)
        at = t.contents[at] % t.n;
      REQUIRE(got[i] == at);
    }
  }
}

static void scatterAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  for (int round = 0; round < 2; ++round) {
    scatter<<<t.accesses / Threads, Threads>>>(t.table, t.where, t.n);
    CHECK(cudaGetLastError());
  }
  const Words got = t.read(t.table, t.n);
  // Of those that store to one place, one is the last.
  std::multimap<uint32_t, uint32_t> stored;
  for (uint32_t i = 0; i < t.accesses; ++i)
    stored.emplace(t.at[i] % t.n, i);
  for (uint32_t i = 0; i < t.n; ++i) {
    const auto [first, last] = stored.equal_range(i);
    bool right = first == last && got[i] == t.contents[i];
    for (auto one = first; one != last; ++one)
      right |= got[i] == one->second;
    REQUIRE(right);
  }
}

static void countAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses, true);
  for (int round = 0; round < 2; ++round) {
    count<<<t.accesses / Threads, Threads>>>(t.table, t.where, t.n);
    CHECK(cudaGetLastError());
  }
  for (uint32_t at : t.at)
    t.contents[at % t.n] += 2;
  REQUIRE(t.read(t.table, t.n) == t.contents);
}

static void insertAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses, true);
  for (int round = 0; round < 2; ++round) {
    insert<<<t.accesses / Threads, Threads>>>(t.table, t.where, t.n);
    CHECK(cudaGetLastError());
  }
  // Each key is there once, and no place before it in its row is free.
  const Words got = t.read(t.table, t.n);
  size_t keys = 0;
  for (uint32_t i = 0; i < t.n; ++i) {
    keys += got[i] != 0;
    for (uint32_t at = mixed(got[i]) % t.n; got[i] && at != i;
         at = (at + 1) % t.n)
      REQUIRE(got[at] != 0 && got[at] != got[i]);
  }
  Words unique = t.at;
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  REQUIRE(keys == unique.size());
  for (uint32_t key : unique) {
    uint32_t at = mixed(key + 1) % t.n;
    while (got[at] != key + 1 && got[at] != 0)
      at = (at + 1) % t.n;
    REQUIRE(got[at] == key + 1);
  }
}

/// Each block needs more pages than there are frames.
static void wideLook(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  look<<<t.accesses / 1024, 1024>>>(t.out, t.where, t.table, t.n);
  CHECK(cudaGetLastError());
}
static void wideCount(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses, true);
  count<<<t.accesses / 1024, 1024>>>(t.table, t.where, t.n);
  CHECK(cudaGetLastError());
}

int main(int argc, char **argv) {
  const uint32_t mib = argc > 1 ? atoi(argv[1]) : 4;
  const uint32_t accesses = 1u << (argc > 2 ? atoi(argv[2]) : 12);
  const std::map<std::string, void (*)(uint32_t, uint32_t)> cases = {
      {"look", lookAll},        {"chase", chaseAll},   {"scatter", scatterAll},
      {"count", countAll},      {"insert", insertAll}, {"wide-look", wideLook},
      {"wide-count", wideCount}};
  for (const auto &[name, run] : cases)
    if (argc > 3 ? name == argv[3] : name.find("wide") != 0)
      run(mib, accesses);
}
