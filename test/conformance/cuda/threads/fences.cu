// __threadfence and volatile accesses: the last block sums what all have written.
// RUN: %conforms %s
#include "conformance.h"

__device__ unsigned Arrived;

__global__ void sum(const int *in, volatile int *partial, int *out) {
  __shared__ bool last;
  __shared__ int total;
  if (threadIdx.x == 0)
    total = 0;
  __syncthreads();
  atomicAdd(&total, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = total;
    __threadfence();
    last = atomicInc(&Arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
      all += partial[b];
    *out = all;
    __threadfence_system();
  }
  __threadfence_block();
}

int main() {
  std::vector<int> in(1024);
  for (int i = 0; i < 1024; ++i)
    in[i] = i;
  int *d = onDevice(in), *partial = onDevice<int>(8), *out = onDevice<int>(1);
  for (int round = 0; round < 2; ++round) {
    sum<<<8, 128>>>(d, partial, out);
    REQUIRE(fetch(out, 1)[0] == 1023 * 512);
    CHECK(cudaMemset(out, 0, 4));
  }
  return 0;
}
