// RUN: %dragon-cc -O2 -c %s -o %t.o -fsave-optimization-record -foptimization-record-passes=dragon
// RUN: cat %t*.yaml | FileCheck %s

// The optimisation record has what the remark says by key: tools never parse
// prose.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void fill(float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = i;
}

// CHECK: Name: SinkToFile
// CHECK-NEXT: DebugLoc: { File: '{{.*}}record.cu', Line: [[#@LINE+12]]
// CHECK: Function: main
// CHECK-NEXT: Args:
// CHECK-NEXT:   - String: ''''
// CHECK-NEXT:   - Buffer: d
// CHECK-NEXT:   - String: ''' evicted straight to its place in the file written at '
// CHECK-NEXT:   - WriteAt: line [[#@LINE+8]]
int main(int argc, char **argv) {
  size_t n = 1000;
  float *h = (float *)malloc(4 * n), *d;
  FILE *out = fopen(argv[1], "wb");
  cudaMalloc(&d, 4 * n);
  fill<<<4, 256>>>(d, n);
  cudaMemcpy(h, d, 4 * n, cudaMemcpyDeviceToHost);
  fwrite(h, 4, n, out);
  fclose(out);
  return 0;
}
