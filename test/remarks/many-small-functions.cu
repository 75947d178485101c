// RUN: %dragon-cc -O2 -c %s -o %t.o -Rpass=dragon -Rpass-missed=dragon -Rpass-analysis=dragon 2>&1 \
// RUN:   | grep remark: | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O2 -c %s -o %t.o -mllvm -dragon-flatten-limit=60 -Rpass-analysis=dragon 2>&1 \
// RUN:   | grep remark: | FileCheck %s --check-prefix=LOW --implicit-check-not=remark:

// Many thousands of calls of small functions, as templates of a library make
// them, that have nothing to do with the device: some of them are taken in, but
// there is room left for what matters.
#include <cuda_runtime.h>

template <int N> struct Chain {
  static int call(int x) {
    return Chain<N - 1>::call(x + 1) + 3 * Chain<N - 1>::call(x + 2);
  }
};
template <> struct Chain<0> {
  static int call(int x) { return x; }
};

__global__ void twice(const float *from, float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = 2 * from[i];
}

static void upload(float *to, const float *from, size_t bytes) {
  // CHECK: [[@LINE+1]]:3: remark: copy to 'd_from' not deferred: what it comes from is no allocation
  cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}

// LOW: many-small-functions.cu:[[@LINE+1]]:1: remark: 'run' not analysed: with what it calls it has more than 60 instructions
int run(float *h_data, int n) {
  size_t bytes = n * sizeof(float);
  float *d_from, *d_to;
  // CHECK: [[@LINE+1]]:3: remark: 'd_from' mapped read-only, copied in at line 28: never copied out
  cudaMalloc(&d_from, bytes);
  // CHECK: [[@LINE+1]]:3: remark: 'd_to' mapped write-only, copied out at line [[@LINE+6]]: no copy in
  cudaMalloc(&d_to, bytes);
  upload(d_from, h_data, bytes);
  int number = Chain<14>::call(n);
  // CHECK: [[@LINE+1]]:3: remark: 'd_from' discarded after 'twice': freed at line [[@LINE+3]] before any read
  twice<<<(n + 255) / 256, 256>>>(d_from, d_to, n);
  cudaMemcpy(h_data, d_to, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_from);
  // CHECK: [[@LINE+1]]:3: remark: 'd_to' discarded: freed before any read
  cudaFree(d_to);
  return number;
}
