// A function that others of the file take in is a program of its own as well, if other files may call it: what is decided
// for both is told once.
// RUN: %dragon-cc -O2 -c %s -o %t.o -Rpass=dragon 2>&1 | grep "remark:" | sort | uniq -d | count 0
// RUN: %dragon-cc -O2 -c %s -o %t.o -Rpass=dragon 2>&1 | FileCheck %s
#include <cuda_runtime.h>

__global__ void scale(float *x) {
  x[threadIdx.x + blockIdx.x * blockDim.x] *= 2;
}

// CHECK: told-once.cu:[[#@LINE+3]]:3: remark: 'd' mapped read-write
int run(float *h, size_t bytes) {
  float *d;
  cudaMalloc(&d, bytes);
  cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);
  scale<<<bytes / 1024, 256>>>(d);
  cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);
  return cudaFree(d);
}

static float h[1 << 20];
int main() { return run(h, sizeof(h)); }
