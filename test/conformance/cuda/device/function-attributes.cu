// cudaFuncGetAttributes and cudaFuncSetAttribute.
// RUN: %conforms %s
#include "conformance.h"

__global__ void fixedShared(int *out) {
  __shared__ int tile[512];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void __launch_bounds__(128) bounded(int *out) { *out = 1; }

__global__ void large(int *out, int n) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    tile[i] = i;
  __syncthreads();
  if (threadIdx.x == 0)
    *out = tile[n - 1];
}

int main() {
  cudaFuncAttributes a;
  CHECK(cudaFuncGetAttributes(&a, fixedShared));
  REQUIRE(a.sharedSizeBytes >= 2048 && a.maxThreadsPerBlock == 1024 &&
          a.ptxVersion >= 30 && a.numRegs > 0);
  CHECK(cudaFuncGetAttributes(&a, bounded));
  REQUIRE(a.maxThreadsPerBlock == 128);
  int *out = onDevice<int>(1024);
  bounded<<<1, 256>>>(out);
  REFUSED(cudaErrorInvalidValue, cudaGetLastError());
  // More than 48 KiB of shared memory must be asked for.
  const int n = 16 * 1024;
  large<<<1, 64, n * sizeof(int)>>>(out, n);
  REFUSED(cudaErrorInvalidValue, cudaGetLastError());
  CHECK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             n * sizeof(int)));
  large<<<1, 64, n * sizeof(int)>>>(out, n);
  CHECK(cudaGetLastError());
  REQUIRE(fetch(out, 1)[0] == n - 1);
  CHECK(cudaFuncSetCacheConfig(large, cudaFuncCachePreferShared));
  CHECK(cudaFuncSetAttribute(
      large, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  const char *name = nullptr;
  CHECK(cudaFuncGetName(&name, (const void *)large));
  REQUIRE(strstr(name, "large"));
  return 0;
}
