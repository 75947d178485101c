// RUN: %dragon-cc -O2 -c %s -o %t.o -Rpass=dragon -Rpass-missed=dragon -Rpass-analysis=dragon 2>&1 \
// RUN:   | grep remark: | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O0 -c %s -o %t.o -Rpass=dragon -Rpass-missed=dragon -Rpass-analysis=dragon 2>&1 \
// RUN:   | grep remark: | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O2 -c %s -o %t.o 2>&1 | count 0

// What is done, at the user's line and in the user's words: not at the line of
// the template in cuda_runtime.h that calls cudaMalloc.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                            \
  do {                                                                         \
    if ((call) != cudaSuccess)                                                 \
      exit(1);                                                                 \
  } while (0)

__global__ void add(const float *a, const float *b, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sum[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
  size_t n = 1000, bytes = n * sizeof(float);
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
  float *h_a = (float *)malloc(bytes);
  float *h_b = new float[n];
  float *h_sum;
  CHECK(cudaMallocHost(&h_sum, bytes));
  if (fread(h_a, sizeof(float), n, in) != n)
    return 1;
  fread(h_b, sizeof(float), n, in);
  float *d_a, *d_b, *d_sum;
  // CHECK: file-to-file.cu:[[#@LINE+1]]:9: remark: 'd_a' mapped read-only from file read at line 32: no copy in, dropped on eviction [-Rpass=dragon]
  CHECK(cudaMalloc(&d_a, bytes));
  // CHECK: file-to-file.cu:[[#@LINE+1]]:9: remark: 'd_b' mapped read-only from file read at line 34: no copy in, dropped on eviction [-Rpass=dragon]
  CHECK(cudaMalloc((void **)&d_b, bytes));
  // CHECK: file-to-file.cu:[[#@LINE+1]]:9: remark: 'd_sum' mapped write-only to file written at line 53: no copy in [-Rpass=dragon]
  CHECK(cudaMalloc(&d_sum, bytes));
  // CHECK: file-to-file.cu:[[#@LINE+1]]:9: remark: 'h_a' elided: bytes read from the file at line 32 go to 'd_a' without passing through it [-Rpass=dragon]
  CHECK(cudaMemcpy(d_a, h_a, bytes, cudaMemcpyHostToDevice));
  // CHECK: file-to-file.cu:[[#@LINE+1]]:9: remark: 'h_b' elided: bytes read from the file at line 34 go to 'd_b' without passing through it [-Rpass=dragon]
  CHECK(cudaMemcpy(d_b, h_b, bytes, cudaMemcpyHostToDevice));
  // CHECK-DAG: file-to-file.cu:[[#@LINE+3]]:3: remark: 'd_sum' evicted straight to its place in the file written at line 53 [-Rpass=dragon]
  // CHECK-DAG: file-to-file.cu:[[#@LINE+2]]:3: remark: 'd_a' discarded after 'add': freed at line 55 before any read [-Rpass=dragon]
  // CHECK-DAG: file-to-file.cu:[[#@LINE+1]]:3: remark: 'd_b' discarded after 'add': freed at line 56 before any read [-Rpass=dragon]
  add<<<4, 256>>>(d_a, d_b, d_sum, n);
  CHECK(cudaGetLastError());
  // CHECK: file-to-file.cu:[[#@LINE+1]]:9: remark: 'h_sum' elided: bytes of 'd_sum' go to the file written at line 53 without passing through it [-Rpass=dragon]
  CHECK(cudaMemcpy(h_sum, d_sum, bytes, cudaMemcpyDeviceToHost));
  fwrite(h_sum, sizeof(float), n, out);
  fclose(out);
  cudaFree(d_a);
  cudaFree(d_b);
  // CHECK: file-to-file.cu:[[#@LINE+1]]:3: remark: 'd_sum' discarded: freed before any read [-Rpass=dragon]
  cudaFree(d_sum);
  free(h_a);
  delete[] h_b;
  cudaFreeHost(h_sum);
  return 0;
}
