// Kernels whose addresses are data and whose threads go through more of them in a loop, over more than device and host memory together.
// A block needs more pages than there are frames: some iterations run at a time. What is summed in registers stays between them.
// On a GPU (test/gpu/run-e2e) give it more: ./program 512 20 makes tables of 512 MiB, and 2^20 accesses.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program 4 12
// RUN: for case in gather sum chase count move both; do \
// RUN:   %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=16M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program 48 15 $case \
// RUN:   && %ledger stats.json 'paged_launches == 2' 'host_to_device_paging > M' \
// RUN:   || { echo $case; exit 1; }; done
// A block needs more than the usual frames, and then more than there can be.
// RUN: %strict DRAGON_DEVICE_MEMORY=12M DRAGON_HOST_MEMORY=16M DRAGON_CHUNK_SIZE=2M DRAGON_LOG=debug ./program 48 13 wide 2> log
// RUN: FileCheck %s --check-prefix=MORE < log
// MORE: 'wide' goes on with frames of {{.*}} MiB in place of {{.*}} MiB
// RUN: not %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=16M DRAGON_CHUNK_SIZE=2M ./program 48 13 wide 2>&1 | FileCheck %s
// CHECK: kernel 'wide' touches more than {{.*}} of pages in 1 of its blocks at once{{.*}} raise DRAGON_DEVICE_MEMORY
// RUN: rm -rf %t.dir
#include "tables.h"
#include <map>

/// So few that each thread has many elements.
static const int Threads = 64, Blocks = 8;

__global__ void gather(uint32_t *out, const uint32_t *where,
                       const uint32_t *table, uint32_t n, uint32_t count) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x)
    out[i] = table[where[i] % n] + i;
}

/// One for each thread.
__global__ void sum(uint32_t *out, const uint32_t *where, const uint32_t *table,
                    uint32_t n, uint32_t count) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t all = thread, last = 0;
  for (uint32_t i = thread; i < count; i += gridDim.x * blockDim.x) {
    last = table[where[i] % n] ^ last;
    all += last;
  }
  out[thread] = all;
}

/// Each step's address is what the one before has read.
__global__ void chase(uint32_t *out, const uint32_t *where,
                      const uint32_t *table, uint32_t n, uint32_t count) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    uint32_t at = where[i] % n;
    for (int step = 0; step < 3; ++step)
      at = table[at] % n;
    out[i] = at;
  }
}

__global__ void count(uint32_t *table, const uint32_t *where, uint32_t n,
                      uint32_t count) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x)
    atomicAdd(&table[where[i] % n], i);
}

/// Nobody else has the two places.
__global__ void move(uint32_t *table, const uint32_t *where, uint32_t half,
                     uint32_t count) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    const uint32_t at = where[i];
    const uint32_t low = table[at] % 2, was = table[at + low * half];
    table[at + low * half] = was * 2 + 1;
  }
}

/// A part that runs again must add nothing twice, wherever it adds.
__global__ void both(uint32_t *table, uint32_t *bins, const uint32_t *where,
                     uint32_t n, uint32_t count) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[where[i] % 64], 1u);
    atomicAdd(&table[where[i] % n], 1u);
  }
}

__global__ void wide(uint32_t *out, const uint32_t *where,
                     const uint32_t *table, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[where[i] % n] + i;
}

static void gatherAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  for (int round = 0; round < 2; ++round) {
    gather<<<Blocks, Threads>>>(t.out, t.where, t.table, t.n, t.accesses);
    CHECK(cudaGetLastError());
    const Words got = t.read(t.out, t.accesses);
    for (uint32_t i = 0; i < t.accesses; ++i)
      REQUIRE(got[i] == t.contents[t.at[i] % t.n] + i);
  }
}

static void sumAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  const uint32_t threads = Blocks * Threads;
  for (int round = 0; round < 2; ++round) {
    sum<<<Blocks, Threads>>>(t.out, t.where, t.table, t.n, t.accesses);
    CHECK(cudaGetLastError());
    const Words got = t.read(t.out, threads);
    for (uint32_t thread = 0; thread < threads; ++thread) {
      uint32_t all = thread, last = 0;
      for (uint32_t i = thread; i < t.accesses; i += threads) {
        last = t.contents[t.at[i] % t.n] ^ last;
        all += last;
      }
      REQUIRE(got[thread] == all);
    }
  }
}

static void chaseAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  for (int round = 0; round < 2; ++round) {
    chase<<<Blocks, Threads>>>(t.out, t.where, t.table, t.n, t.accesses);
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

static void countAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  for (int round = 0; round < 2; ++round) {
    count<<<Blocks, Threads>>>(t.table, t.where, t.n, t.accesses);
    CHECK(cudaGetLastError());
    for (uint32_t i = 0; i < t.accesses; ++i)
      t.contents[t.at[i] % t.n] += i;
  }
  REQUIRE(t.read(t.table, t.n) == t.contents);
}

static void moveAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  const uint32_t half = t.n / 2;
  for (uint32_t i = 0; i < t.accesses; ++i)
    t.at[i] = uint32_t(uint64_t(i) * 40499 % half);
  CHECK(cudaMemcpy(t.where, t.at.data(), t.accesses * sizeof(uint32_t),
                   cudaMemcpyHostToDevice));
  for (int round = 0; round < 2; ++round) {
    move<<<Blocks, Threads>>>(t.table, t.where, half, t.accesses);
    CHECK(cudaGetLastError());
    for (uint32_t at : t.at) {
      uint32_t &place = t.contents[at + t.contents[at] % 2 * half];
      place = place * 2 + 1;
    }
  }
  REQUIRE(t.read(t.table, t.n) == t.contents);
}

static void bothAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  CHECK(cudaMemset(t.out, 0, 64 * sizeof(uint32_t)));
  Words bins(64);
  for (int round = 0; round < 2; ++round) {
    both<<<Blocks, Threads>>>(t.table, t.out, t.where, t.n, t.accesses);
    CHECK(cudaGetLastError());
    for (uint32_t at : t.at) {
      ++bins[at % 64];
      ++t.contents[at % t.n];
    }
  }
  REQUIRE(t.read(t.out, 64) == bins);
  REQUIRE(t.read(t.table, t.n) == t.contents);
}

static void wideAll(uint32_t mib, uint32_t accesses) {
  Table t(mib, accesses);
  const uint32_t blocks = t.accesses / 1024;
  wide<<<blocks, 1024>>>(t.out, t.where, t.table, t.n);
  CHECK(cudaGetLastError());
  const Words got = t.read(t.out, blocks * 1024);
  for (uint32_t i = 0; i < blocks * 1024; ++i)
    REQUIRE(got[i] == t.contents[t.at[i] % t.n] + i);
}

int main(int argc, char **argv) {
  const uint32_t mib = argc > 1 ? atoi(argv[1]) : 4;
  // Not as many for each thread.
  const uint32_t accesses = (1u << (argc > 2 ? atoi(argv[2]) : 12)) - 100;
  const std::map<std::string, void (*)(uint32_t, uint32_t)> cases = {
      {"gather", gatherAll}, {"sum", sumAll},   {"chase", chaseAll},
      {"count", countAll},   {"move", moveAll}, {"both", bothAll},
      {"wide", wideAll}};
  for (const auto &[name, run] : cases)
    if (argc > 3 ? name == argv[3] : true)
      run(mib, accesses);
}
