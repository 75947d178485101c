// Kernels fetch pages from where the program has what it copied to the device: no copy of it is made in host memory. Whatever the
// program does with that memory meanwhile or afterwards, kernels see the bytes of the call.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: for case in again changed byThread freed unmapped twoSources isAsBefore; do \
// RUN:   %plain ./program $case && \
// RUN:   %strict DRAGON_DEVICE_MEMORY=12M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always ./program $case && \
// RUN:   %strict DRAGON_DEVICE_MEMORY=12M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always DRAGON_PROTECT=0 ./program $case \
// RUN:   || { echo $case; exit 1; }; done
// RUN: %strict DRAGON_DEVICE_MEMORY=12M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always DRAGON_LOG=debug DRAGON_STATS=stats.json ./program again 2> log
// RUN: FileCheck %s --check-prefix=LOG < log
// LOG-COUNT-2: 'gather' reads {{[1-9][0-9]*}} chunks in the program's memory
// RUN: %ledger stats.json 'paged_launches >= 2' 'avoided_deferred_copies > 12*M'
// RUN: rm -rf %t.dir
#include "e2e.h"
#include <atomic>
#include <functional>
#include <map>
#include <sys/mman.h>
#include <thread>

static const int N = 4 << 20, Reads = 1 << 18;
static const size_t Bytes = N * sizeof(uint32_t);

__global__ void gather(uint32_t *out, const uint32_t *index, const uint32_t *in,
                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[index[i]];
}

/// The compiler does not see what they are.
static void fillWith(uint32_t *h, uint32_t seed) {
  for (int i = 0; i < N; ++i)
    h[i] = i * 2654435761u + seed;
}
static void (*volatile refill)(uint32_t *, uint32_t) = fillWith;
static void *(*volatile allocate)(size_t) = malloc;
static void (*volatile release)(void *) = free;

struct Gather {
  uint32_t *in, *out, *index;
  std::vector<uint32_t> where = std::vector<uint32_t>(Reads);

  Gather() {
    uint32_t x = 1;
    for (uint32_t &at : where)
      at = (x = x * 1664525u + 1013904223u) >> 10;
    CHECK(cudaMalloc(&in, Bytes));
    CHECK(cudaMalloc(&out, Reads * sizeof(uint32_t)));
    CHECK(cudaMalloc(&index, Reads * sizeof(uint32_t)));
    CHECK(cudaMemcpy(index, where.data(), Reads * sizeof(uint32_t),
                     cudaMemcpyHostToDevice));
  }
  ~Gather() {
    for (uint32_t *memory : {in, out, index})
      CHECK(cudaFree(memory));
  }
  void copyIn(const uint32_t *h) {
    CHECK(cudaMemcpy(in, h, Bytes, cudaMemcpyHostToDevice));
  }
  void launch() { gather<<<Reads / 256, 256>>>(out, index, in, Reads); }
  bool has(uint32_t seed) {
    std::vector<uint32_t> found(Reads);
    CHECK(cudaMemcpy(found.data(), out, Reads * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost));
    for (int i = 0; i < Reads; ++i)
      if (found[i] != where[i] * 2654435761u + seed)
        return false;
    return true;
  }
  bool run(uint32_t seed) {
    launch();
    return has(seed);
  }
};

static uint32_t *filled(uint32_t seed) {
  auto *h = static_cast<uint32_t *>(allocate(Bytes));
  refill(h, seed);
  return h;
}

static void again() {
  Gather g;
  uint32_t *h = filled(1);
  g.copyIn(h);
  REQUIRE(g.run(1));
  REQUIRE(g.run(1));
  release(h);
}

/// In front of the launch, right behind it, and all of it.
static void changed() {
  Gather g;
  uint32_t *h = filled(2);
  g.copyIn(h);
  h[N / 2] = 1;
  g.launch();
  h[N / 4] = 2;
  REQUIRE(g.has(2));
  refill(h, 3);
  REQUIRE(g.run(2));
  g.copyIn(h);
  REQUIRE(g.run(3));
  release(h);
}

static void byThread() {
  Gather g;
  uint32_t *h = filled(4);
  std::atomic<bool> done{false};
  g.copyIn(h);
  std::thread writer([&] {
    for (uint32_t i = 0; !done; ++i)
      static_cast<volatile uint32_t *>(h)[(i * 40503u) % N] = i;
  });
  for (int round = 0; round < 4; ++round)
    REQUIRE(g.run(4));
  done = true;
  writer.join();
  release(h);
}

static void freed() {
  Gather g;
  uint32_t *h = filled(5);
  g.copyIn(h);
  REQUIRE(g.run(5));
  release(h);
  uint32_t *other = filled(6);
  REQUIRE(g.run(5));
  g.copyIn(other);
  REQUIRE(g.run(6));
  release(other);
}

/// Something else is at the same addresses afterwards.
static void unmapped() {
  Gather g;
  auto map = [](void *at) {
    void *memory =
        mmap(at, Bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return static_cast<uint32_t *>(memory);
  };
  uint32_t *h = map(nullptr);
  refill(h, 7);
  g.copyIn(h);
  REQUIRE(g.run(7));
  REQUIRE(munmap(h, Bytes) == 0);
  REQUIRE(map(h) == h);
  refill(h, 8);
  REQUIRE(g.run(7));
  g.copyIn(h);
  REQUIRE(g.run(8));
  REQUIRE(munmap(h, Bytes) == 0);
}

/// One buffer's halves come from two arrays.
static void twoSources() {
  Gather g;
  uint32_t *first = filled(9), *second = filled(10);
  CHECK(cudaMemcpy(g.in, first, Bytes / 2, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(g.in + N / 2, second + N / 2, Bytes / 2,
                   cudaMemcpyHostToDevice));
  g.launch();
  first[0] = second[N - 1] = 0;
  std::vector<uint32_t> found(Reads);
  CHECK(cudaMemcpy(found.data(), g.out, Reads * sizeof(uint32_t),
                   cudaMemcpyDeviceToHost));
  for (int i = 0; i < Reads; ++i)
    REQUIRE(found[i] ==
            g.where[i] * 2654435761u + (g.where[i] < N / 2 ? 9 : 10));
  release(first);
  release(second);
}

/// To the program it is pageable memory, of which any part can be copied, and to which results can come.
static void isAsBefore() {
  Gather g;
  uint32_t *h = filled(11);
  g.copyIn(h);
  REQUIRE(g.run(11));
  cudaPointerAttributes known;
  CHECK(cudaPointerGetAttributes(&known, h + N / 2));
  REQUIRE(known.type == cudaMemoryTypeUnregistered);
  REQUIRE(g.run(11));
  uint32_t *other;
  CHECK(cudaMalloc(&other, Bytes));
  for (size_t from :
       {size_t(0), size_t(1000), size_t(N / 2 - 5000), size_t(N - 9000)}) {
    CHECK(cudaMemcpy(other + from, h + from, 9000 * sizeof(uint32_t),
                     cudaMemcpyHostToDevice));
    REQUIRE(g.run(11));
    std::vector<uint32_t> back(9000);
    CHECK(cudaMemcpy(back.data(), other + from, 9000 * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost));
    REQUIRE(memcmp(back.data(), h + from, 9000 * sizeof(uint32_t)) == 0);
  }
  CHECK(cudaMemcpy(h + N / 4, other, 9000 * sizeof(uint32_t),
                   cudaMemcpyDeviceToHost));
  REQUIRE(memcmp(h + N / 4, h, 9000 * sizeof(uint32_t)) == 0);
  REQUIRE(g.run(11));
  CHECK(cudaFree(other));
  release(h);
}

int main(int, char **argv) {
  const std::map<std::string, void (*)()> cases = {
      {"again", again},          {"changed", changed},
      {"byThread", byThread},    {"freed", freed},
      {"unmapped", unmapped},    {"twoSources", twoSources},
      {"isAsBefore", isAsBefore}};
  cases.at(argv[1])();
  return 0;
}
