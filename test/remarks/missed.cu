// RUN: %dragon-cc -O2 -c %s -o %t.o -Rpass-missed=dragon -Rpass-analysis=dragon 2>&1 \
// RUN:   | grep remark: | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:

// What is not done, why, and what the user can do.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <utility>

void decode(float *);
extern float *published;

__global__ void fill(float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = i;
}

__global__ void link(float **to, float *from) { *to = from; }

void notElided(FILE *in, size_t n) {
  float *d;
  cudaMalloc(&d, 4 * n);
  // CHECK: missed.cu:[[#@LINE+1]]:23: remark: 'h' not elided: 'decode' at line [[#@LINE+3]] may keep its address or look at its contents; stage through a buffer that only file and copy calls use [-Rpass-missed=dragon]
  float *h = (float *)malloc(4 * n);
  fread(h, 4, n, in);
  decode(h);
  // CHECK: missed.cu:[[#@LINE+1]]:3: remark: copy of 'h' not deferred: 'decode' at line [[#@LINE-1]] may keep its address and change it later; keep the buffer within this source file, or compile with -flto [-Rpass-missed=dragon]
  cudaMemcpy(d, h, 4 * n, cudaMemcpyHostToDevice);
  // CHECK: missed.cu:[[#@LINE+1]]:28: remark: 'sum_of' not elided: host code at line [[#@LINE+4]] looks at its contents between each transfer; do that in a kernel, or in another buffer [-Rpass-missed=dragon]
  float *sum_of = (float *)malloc(4 * n);
  fread(sum_of, 4, n, in);
  for (size_t i = 0; i < n; ++i)
    sum_of[i] *= 2;
  cudaMemcpy(d, sum_of, 4 * n, cudaMemcpyHostToDevice);
  fill<<<1, 1>>>(d, n);
}

static float table[1 << 20];

void fromOutside(const float *given, size_t n, float few) {
  float *d, *e, *one;
  cudaMalloc(&d, 4 * n);
  cudaMalloc(&e, sizeof(table));
  cudaMalloc(&one, 4);
  for (float &entry : table)
    entry = few;
  // CHECK: missed.cu:[[#@LINE+1]]:3: remark: copy to 'd' not deferred: what it comes from is no allocation of the code that was analysed (a caller's or a variable); allocate it in this source file, or compile with -flto [-Rpass-missed=dragon]
  cudaMemcpy(d, given, 4 * n, cudaMemcpyHostToDevice);
  // CHECK: missed.cu:[[#@LINE+1]]:3: remark: copy to 'e' not deferred: what it comes from is no allocation {{.*}}
  cudaMemcpy(e, table, sizeof(table), cudaMemcpyHostToDevice);
  cudaMemcpy(one, &few, 4, cudaMemcpyHostToDevice);
  fill<<<1, 1>>>(d, n);
}

void notMapped(size_t n) {
  float *d, *e, **list;
  // CHECK: missed.cu:[[#@LINE+1]]:3: remark: 'd' not mapped: a store to memory that other code may see at line [[#@LINE+2]] may keep its address; keep the buffer within this source file, or compile with -flto [-Rpass-missed=dragon]
  cudaMalloc(&d, 4 * n);
  published = d;
  // CHECK: missed.cu:[[#@LINE+1]]:3: remark: 'e' not mapped: kernel 'link' launched at line [[#@LINE+3]] may keep its address; pass the kernel plain pointers, and let it not store them [-Rpass-missed=dragon]
  cudaMalloc(&e, 4 * n);
  cudaMalloc(&list, 8);
  link<<<1, 1>>>(list, e);
}

void noSink(char *path, size_t n, int steps) {
  float *h = (float *)malloc(4 * n);
  float *from, *to;
  cudaMalloc(&from, 4 * n);
  // CHECK: missed.cu:[[#@LINE+1]]:3: remark: 'from' evicted to swap: the file written at line [[#@LINE+4]] is opened after 'fill' writes the buffer; open it before the launch [-Rpass-missed=dragon]
  fill<<<1, 256>>>(from, n);
  cudaMemcpy(h, from, 4 * n, cudaMemcpyDeviceToHost);
  FILE *out = fopen(path, "ab");
  fwrite(h, 4, n, out);
  fclose(out);
  free(h);
}
