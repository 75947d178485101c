// Loops through more data than device and host memory hold together that end in other ways than at a fixed number: with the
// test behind an iteration, and where two positions that move towards each other meet. Their launches are cut along them.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=12M DRAGON_CHUNK_SIZE=1M DRAGON_LOG=1 ./program 2>&1 | FileCheck %s
// RUN: %build -O0 %s -o plain0 && %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=12M DRAGON_CHUNK_SIZE=1M ./plain0
// CHECK-DAG: testBehind{{.*}} runs by loop in
// CHECK-DAG: bothEnds{{.*}} runs by loop in
// CHECK-DAG: reversed{{.*}} runs by loop in
// CHECK: 3 of 3 right
// RUN: rm -rf %t.dir
#include "results.h"

#define FROM (long(blockIdx.x) * blockDim.x + threadIdx.x)
#define STEP (long(gridDim.x) * blockDim.x)

/// Each thread has an iteration at least.
__global__ void testBehind(const uint32_t *x, long n, uint32_t *out) {
  long i = FROM;
  uint32_t sum = 0;
  do {
    sum = sum * 3 + x[i];
    i += STEP;
  } while (i < n);
  out[FROM] = sum;
}

__global__ void bothEnds(const uint32_t *x, long n, uint32_t *out) {
  uint32_t sum = 0;
  for (long i = FROM, j = n - 1 - FROM; i < j; i += STEP, j -= STEP)
    sum = sum * 3 + (x[i] ^ x[j] >> 1);
  out[FROM] = sum;
}

__global__ void reversed(uint32_t *x, long n) {
  for (long i = FROM, j = n - 1 - FROM; i < j; i += STEP, j -= STEP) {
    const uint32_t first = x[i];
    x[i] = x[j];
    x[j] = first;
  }
}

int main() {
  const int blocks = 20, threads = 64, all = blocks * threads;
  const int n = 3600 * all - 77;
  std::vector<uint32_t> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i * 2654435761u >> 9;
  uint32_t *dx = upload(x), *out;
  CHECK(cudaMalloc(&out, all * 4));
  std::vector<uint32_t> sums(all), both(all);
  for (int t = 0; t < all; ++t) {
    for (int i = t; i < n; i += all)
      sums[t] = sums[t] * 3 + x[i];
    for (int i = t, j = n - 1 - t; i < j; i += all, j -= all)
      both[t] = both[t] * 3 + (x[i] ^ x[j] >> 1);
  }
  testBehind<<<blocks, threads>>>(dx, n, out);
  check("testBehind", sums, out);
  bothEnds<<<blocks, threads>>>(dx, n, out);
  check("bothEnds", both, out);
  reversed<<<blocks, threads>>>(dx, n);
  check("reversed", {x.rbegin(), x.rend()}, dx);
  return countResults();
}
