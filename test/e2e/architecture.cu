// Without code for a GPU, the cpu device and its kernels are of the architecture that the program was compiled for: CUB compares
// it with the ones that it was compiled for, and launches nothing where none is the same.
//
// RUN: %dragon-cc -O1 -arch=sm_80 --dragon-targets=cpu -I%S/Inputs %s -o %t && env DRAGON_BACKEND=cpu DRAGON_QUIET=1 %t 80
// RUN: %dragon-cc -O1 -arch=sm_90 --dragon-targets=cpu -I%S/Inputs %s -o %t && env DRAGON_BACKEND=cpu DRAGON_QUIET=1 %t 90
// RUN: rm %t
#include "e2e.h"

#include <cstdlib>

__global__ void set(int *to) {
#ifdef __CUDA_ARCH__
  *to = __CUDA_ARCH__;
#endif
}

int main(int argc, char **argv) {
  const int wanted = argc > 1 ? atoi(argv[1]) : 90;
  const int listed[] = {__CUDA_ARCH_LIST__};
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, set));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  int *d_seen, seen;
  CHECK(cudaMalloc(&d_seen, 4));
  set<<<1, 1>>>(d_seen);
  CHECK(cudaMemcpy(&seen, d_seen, 4, cudaMemcpyDeviceToHost));
  printf("%d %d %d.%d %d\n", listed[0], attributes.ptxVersion, device.major,
         device.minor, seen);
  return listed[0] != wanted * 10 || attributes.ptxVersion != wanted ||
         attributes.binaryVersion != wanted ||
         device.major * 10 + device.minor != wanted || seen != wanted * 10;
}
