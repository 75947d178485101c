// A loop that can be cut, but of which nobody knows how many iterations it has before it runs: where the launch does not fit, the
// error says so. The same loop with a number of iterations that the launch gives runs.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program
// RUN: %tight not ./program 2>&1 | FileCheck %s
// CHECK: counted is right
// CHECK: error: kernel 'grows' may touch {{.*}} at once: {{.*}}; it cannot run some iterations of its loop at a time: how many there are is not known before it runs; raise DRAGON_DEVICE_MEMORY
// RUN: rm -rf %t.dir
#include "results.h"

#define FROM (blockIdx.x * blockDim.x + threadIdx.x)
#define STEP (gridDim.x * blockDim.x)

__global__ void counted(const uint32_t *x, int times, uint32_t *out) {
  uint32_t sum = 0;
  for (int k = 0; k < times; ++k)
    sum = sum * 3 + x[(long)k * STEP + FROM];
  out[FROM] = sum;
}

/// It is asked for the next iteration whether there is one, and for the first
/// one not.
__global__ void grows(const uint32_t *x, int n, uint32_t *out) {
  uint32_t sum = 0;
  int i = FROM;
  do {
    sum = sum * 3 + x[i];
    i += STEP;
  } while (i < n);
  out[FROM] = sum;
}

int main() {
  const int blocks = 20, threads = 64, all = blocks * threads;
  const int times = 3600, n = times * all;
  std::vector<uint32_t> x(n), sums(all);
  for (int i = 0; i < n; ++i) {
    x[i] = i * 2654435761u >> 9;
    sums[i % all] = sums[i % all] * 3 + x[i];
  }
  uint32_t *dx = upload(x), *out;
  CHECK(cudaMalloc(&out, all * 4));
  counted<<<blocks, threads>>>(dx, times, out);
  check("counted", sums, out);
  if (right == 1)
    fprintf(stderr, "counted is right\n");
  grows<<<blocks, threads>>>(dx, n, out);
  check("grows", sums, out);
  return countResults();
}
