// __syncthreads and its counting forms, named barriers of parts of a block.
// RUN: %conforms %s
#include "conformance.h"

__global__ void votes(int *out) {
  int t = threadIdx.x;
  int count = __syncthreads_count(t % 3 == 0);
  int all = __syncthreads_and(t >= 0), some = __syncthreads_and(t > 5);
  int any = __syncthreads_or(t == 77), none = __syncthreads_or(t > 5000);
  out[t] = count + 1000 * (all != 0) + 2000 * (some != 0) + 4000 * (any != 0) +
           8000 * (none != 0);
}

__global__ void halves(int *out) {
  __shared__ int sum[2];
  int half = threadIdx.x / 64;
  if (threadIdx.x < 2)
    sum[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&sum[half], threadIdx.x);
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  out[threadIdx.x] = sum[half];
}

int main() {
  int *out = onDevice<int>(128);
  votes<<<1, 128>>>(out);
  auto h = fetch(out, 128);
  for (int t = 0; t < 128; ++t)
    REQUIRE(h[t] == 43 + 1000 + 4000);
  halves<<<1, 128>>>(out);
  h = fetch(out, 128);
  REQUIRE(h[0] == 63 * 64 / 2 && h[127] == 64 * 64 + 63 * 64 / 2);
  return 0;
}
