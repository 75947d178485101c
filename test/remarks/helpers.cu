// RUN: %dragon-cc -O2 -c %s -o %t.o -Rpass=dragon -Rpass-missed=dragon -Rpass-analysis=dragon 2>&1 \
// RUN:   | grep remark: | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O0 -g -c %s -o %t.o -Rpass=dragon -Rpass-missed=dragon -Rpass-analysis=dragon 2>&1 \
// RUN:   | grep remark: | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:

// C++ as it is written: vectors, wrappers and helpers. Where a helper is called
// at several places, the call says more than the line in the helper, and so does
// the name there.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

__global__ void add(const float *a, const float *b, float *sum, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n)
    sum[i] = a[i] + b[i];
}

inline void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess)
    return;
  std::cerr << what << ": " << cudaGetErrorString(status) << std::endl;
  std::exit(1);
}

template <typename T> T *onDevice(size_t n) {
  T *fresh = nullptr;
  check(cudaMalloc(&fresh, n * sizeof(T)), "cudaMalloc");
  return fresh;
}

template <typename T> void copyIn(T *to, const std::vector<T> &from) {
  check(cudaMemcpy(to, from.data(), from.size() * sizeof(T),
                   cudaMemcpyHostToDevice),
        "cudaMemcpy");
}

void readFile(const std::string &path, std::vector<float> &into) {
  FILE *file = fopen(path.c_str(), "rb");
  if (!file || fread(into.data(), 4, into.size(), file) != into.size())
    std::exit(1);
  fclose(file);
}

int main(int argc, char **argv) {
  size_t n = strtoul(argv[1], nullptr, 10);
  std::vector<float> h_a(n), h_b(n), h_sum(n);
  readFile(argv[2], h_a);
  readFile(argv[3], h_b);
  FILE *out = fopen(argv[4], "wb");
  // CHECK: helpers.cu:[[#@LINE+1]]:16: remark: 'd_a' mapped read-only from file read at line [[#@LINE-3]]: no copy in, dropped on eviction [-Rpass=dragon]
  float *d_a = onDevice<float>(n);
  // CHECK: helpers.cu:[[#@LINE+1]]:16: remark: 'd_b' mapped read-only from file read at line [[#@LINE-4]]: no copy in, dropped on eviction [-Rpass=dragon]
  float *d_b = onDevice<float>(n);
  // CHECK: helpers.cu:[[#@LINE+1]]:18: remark: 'd_sum' mapped write-only to file written at line [[#@LINE+14]]: no copy in [-Rpass=dragon]
  float *d_sum = onDevice<float>(n);
  // CHECK: helpers.cu:[[#@LINE+1]]:3: remark: 'h_a' elided: bytes read from the file at line [[#@LINE-9]] go to 'd_a' without passing through it [-Rpass=dragon]
  copyIn(d_a, h_a);
  // CHECK: helpers.cu:[[#@LINE+1]]:3: remark: 'h_b' elided: bytes read from the file at line [[#@LINE-10]] go to 'd_b' without passing through it [-Rpass=dragon]
  copyIn(d_b, h_b);
  // CHECK-DAG: helpers.cu:[[#@LINE+3]]:3: remark: 'd_sum' evicted straight to its place in the file written at line [[#@LINE+8]] [-Rpass=dragon]
  // CHECK-DAG: helpers.cu:[[#@LINE+2]]:3: remark: 'd_a' discarded after 'add': freed at line [[#@LINE+9]] before any read [-Rpass=dragon]
  // CHECK-DAG: helpers.cu:[[#@LINE+1]]:3: remark: 'd_b' discarded after 'add': freed at line [[#@LINE+9]] before any read [-Rpass=dragon]
  add<<<n / 256, 256>>>(d_a, d_b, d_sum, n);
  // CHECK: helpers.cu:[[#@LINE+1]]:9: remark: 'h_sum' elided: bytes of 'd_sum' go to the file written at line [[#@LINE+4]] without passing through it [-Rpass=dragon]
  check(cudaMemcpy(h_sum.data(), d_sum, n * sizeof(float),
                   cudaMemcpyDeviceToHost),
        "results");
  fwrite(h_sum.data(), sizeof(float), n, out);
  fclose(out);
  cudaFree(d_a);
  cudaFree(d_b);
  // CHECK: helpers.cu:[[#@LINE+1]]:3: remark: 'd_sum' discarded: freed before any read [-Rpass=dragon]
  cudaFree(d_sum);
  return 0;
}

// Streams convert what they move.
void streams(const char *path, float *d, size_t n) {
  // CHECK: helpers.cu:[[#@LINE+1]]:22: remark: 'h' not elided: 'std::istream::read' at line [[#@LINE+3]] moves it through a C++ stream; use fread, read or pread, or fwrite, write or pwrite [-Rpass-missed=dragon]
  std::vector<float> h(n);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char *>(h.data()), 4 * n);
  // CHECK: helpers.cu:[[#@LINE+1]]:9: remark: copy of 'h' not deferred: the call that frees it at line [[#@LINE+2]] may change it before the next launch; change or free it after the launch [-Rpass-missed=dragon]
  check(cudaMemcpy(d, h.data(), 4 * n, cudaMemcpyHostToDevice), "input");
}
