// Kernels that compute where they access memory as random numbers are computed: their footprints are all of a buffer, whatever the slice.
// They fetch pages, as those do whose addresses are data, also beyond device and host memory, and where they update atomically.
// Kernels that divide their index in order to find a row and a column do not.
// On a GPU (test/gpu/run-e2e) give it more: ./program 512 20 makes tables of 512 MiB, and 2^20 accesses.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -Rpass=dragon %s -o program 2> remarks
// RUN: sed -n "s,.*\\(kernel '[a-z]*' has a copy that fetches pages.*: .*\\),\\1,p" remarks | sort | FileCheck %s
// CHECK:      kernel 'hashed' has {{.*}}: where in 'table' it does is anywhere
// CHECK-NEXT: kernel 'masked' has {{.*}}: where in 'table' it does is anywhere
// CHECK-NEXT: kernel 'permuted' has {{.*}}: where in 'table' it does is anywhere
// CHECK-NEXT: kernel 'reversed' has {{.*}}: where in 'table' it does is anywhere
// CHECK-NEXT: kernel 'updates' has {{.*}}: where in 'table' it does is anywhere
// CHECK-NOT:  kernel
// RUN: %plain ./program 4 12
// RUN: for case in hashed masked permuted reversed updates long; do \
// RUN:   %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=128M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program 64 14 $case \
// RUN:   && %ledger stats.json 'paged_launches == 2' 'over_link_paged_launches < 100 * M' \
// RUN:   || { echo $case; exit 1; }; done
// RUN: for case in hashed masked permuted reversed updates long; do \
// RUN:   %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=16M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program 64 14 $case \
// RUN:   && { %ledger stats.json 'paged_launches == 2' || test $case = permuted; } \
// RUN:   || { echo $case; exit 1; }; done
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program 64 14 rows
// RUN: %ledger stats.json 'paged_launches == 0' 'host_mapped_launches == 0'
// RUN: rm -rf %t.dir
#include "tables.h"

/// So few that the pages of a block find frames.
static const int Threads = 64;

__global__ void hashed(uint32_t *out, const uint32_t *table, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[mixed(i) % n] + i;
}

__global__ void masked(uint32_t *out, const uint32_t *table, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[i * 2654435761u & (n - 1)] + i;
}

__global__ void permuted(uint32_t *out, const uint32_t *table, uint32_t n) {
  uint64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[i * 40503 % n] + uint32_t(i);
}

/// As the input of a Fourier transform is.
__global__ void reversed(uint32_t *out, const uint32_t *table, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[__brev(i) & (n - 1)] + i;
}

/// Each thread has a generator of random numbers. A block of many steps needs
/// more pages than there are frames: some of the steps run at a time.
__global__ void updates(uint32_t *table, uint32_t n, uint32_t steps) {
  uint32_t random = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 1;
  for (uint32_t step = 0; step < steps; ++step) {
    random = random * 1664525u + 1013904223u;
    atomicXor(&table[random >> 4 & (n - 1)], random);
  }
}

/// A matrix of rows that blocks of 1024 threads do not know.
__global__ void rows(uint32_t *out, const uint32_t *table, uint32_t width,
                     uint32_t pitch) {
  uint32_t i = blockIdx.x * 1024 + threadIdx.x, row = i / width,
           column = i % width;
  out[row * pitch + column] = table[row * pitch + column] + i;
}

typedef void Reads(uint32_t *, const uint32_t *, uint32_t);

template <typename Place>
static void readAll(uint32_t mib, uint32_t accesses, Reads *kernel,
                    Place place) {
  Table t(mib, accesses);
  for (int round = 0; round < 2; ++round) {
    kernel<<<t.accesses / Threads, Threads>>>(t.out, t.table, t.n);
    CHECK(cudaGetLastError());
    const Words got = t.read(t.out, t.accesses);
    for (uint32_t i = 0; i < t.accesses; ++i)
      REQUIRE(got[i] == t.contents[place(i, t.n)] + i);
  }
}

static uint32_t reversedBits(uint32_t x) {
  uint32_t y = 0;
  for (int bit = 0; bit < 32; ++bit)
    y = y << 1 | (x >> bit & 1);
  return y;
}

static void updateAll(uint32_t mib, uint32_t accesses, uint32_t steps) {
  Table t(mib, accesses);
  const uint32_t threads = t.accesses / steps;
  for (int round = 0; round < 2; ++round) {
    updates<<<threads / Threads, Threads>>>(t.table, t.n, steps);
    CHECK(cudaGetLastError());
    for (uint32_t thread = 0; thread < threads; ++thread) {
      uint32_t random = thread * 747796405u + 1;
      for (uint32_t step = 0; step < steps; ++step) {
        random = random * 1664525u + 1013904223u;
        t.contents[random >> 4 & (t.n - 1)] ^= random;
      }
    }
  }
  REQUIRE(t.read(t.table, t.n) == t.contents);
}

static void rowsAll(uint32_t mib, uint32_t) {
  const uint32_t n = mib << 18, width = 1000, pitch = 1024,
                 threads = n / pitch * width / 1024 * 1024;
  Words in(n), out(n);
  for (uint32_t i = 0; i < n; ++i)
    in[i] = mixed(i);
  uint32_t *from, *to;
  CHECK(cudaMalloc(&from, n * sizeof(uint32_t)));
  CHECK(cudaMalloc(&to, n * sizeof(uint32_t)));
  CHECK(cudaMemcpy(from, in.data(), n * sizeof(uint32_t),
                   cudaMemcpyHostToDevice));
  rows<<<threads / 1024, 1024>>>(to, from, width, pitch);
  CHECK(cudaGetLastError());
  CHECK(
      cudaMemcpy(out.data(), to, n * sizeof(uint32_t), cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < threads; ++i) {
    const uint32_t at = i / width * pitch + i % width;
    REQUIRE(out[at] == in[at] + i);
  }
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
}

int main(int argc, char **argv) {
  const uint32_t mib = argc > 1 ? atoi(argv[1]) : 4;
  const uint32_t accesses = 1u << (argc > 2 ? atoi(argv[2]) : 12);
  const std::string only = argc > 3 ? argv[3] : "";
  auto wants = [&](const char *name) { return only.empty() || only == name; };
  if (wants("hashed"))
    readAll(mib, accesses, hashed,
            [](uint32_t i, uint32_t n) { return mixed(i) % n; });
  if (wants("masked"))
    readAll(mib, accesses, masked,
            [](uint32_t i, uint32_t n) { return i * 2654435761u & (n - 1); });
  if (wants("permuted"))
    readAll(mib, accesses, permuted, [](uint32_t i, uint32_t n) {
      return uint32_t(uint64_t(i) * 40503 % n);
    });
  if (wants("reversed"))
    readAll(mib, accesses, reversed,
            [](uint32_t i, uint32_t n) { return reversedBits(i) & (n - 1); });
  if (wants("updates"))
    updateAll(mib, accesses, 8);
  if (wants("long"))
    updateAll(mib, accesses, 64);
  if (wants("rows"))
    rowsAll(mib, accesses);
}
