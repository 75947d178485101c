// A program that asks no call for its error.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void answer(int *out) { *out = 42; }

int main(int argc, char **) {
  printf("before\n");
  if (argc > 1) {
    printf("nothing done\n");
    return 0;
  }
  atexit([] {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess)
      printf("at exit: %s\n", cudaGetErrorString(error));
  });
  int *d, h = 0;
  cudaMalloc(&d, sizeof h);
  answer<<<1, 1>>>(d);
  cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("result %d\n", h);
}
