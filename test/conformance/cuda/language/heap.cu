// malloc and free in kernels; memory of one thread is used by others, and by a
// later kernel.
// RUN: %conforms %s
#include "conformance.h"

__device__ int *Kept[64];

__global__ void make() {
  int t = threadIdx.x;
  __shared__ int *shared;
  if (t == 0)
    shared = (int *)malloc(blockDim.x * sizeof(int));
  int *own = (int *)malloc((t + 1) * sizeof(int));
  for (int i = 0; i <= t; ++i)
    own[i] = i * t;
  __syncthreads();
  shared[t] = own[t];
  __syncthreads();
  own[0] = shared[blockDim.x - 1 - t];
  Kept[t] = own;
  __syncthreads();
  if (t == 0)
    free(shared);
}

__global__ void use(int *out) {
  int t = threadIdx.x;
  out[t] = Kept[t][0] + Kept[t][t];
  free(Kept[t]);
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  int *out = onDevice<int>(64);
  make<<<1, 64>>>();
  use<<<1, 64>>>(out);
  auto h = fetch(out, 64);
  for (int t = 1; t < 64; ++t)
    REQUIRE(h[t] == (63 - t) * (63 - t) + t * t);
  return 0;
}
