#include <cuda_runtime_api.h>
#include <stdio.h>

int main(void) {
  struct cudaDeviceProp has;
  float *managed;
  if (cudaGetDeviceProperties(&has, 0) || cudaMallocManaged((void **)&managed, 1 << 20, cudaMemAttachGlobal) ||
      cudaMemPrefetchAsync(managed, 1 << 20, 0, 0) || cudaMemAdvise(managed, 1 << 20, cudaMemAdviseSetReadMostly, 0) ||
      cudaDeviceSynchronize())
    return 1;
  printf("warp %d\n", has.warpSize);
  return cudaFree(managed);
}
