// REQUIRES: cccl
// RUN: %dragon-cc -O1 -std=c++17 -arch=sm_90 --dragon-targets=cpu -c %s -o %t.o -Rpass=dragon -Rpass-missed=dragon 2>&1 \
// RUN:   | grep 'cub.cu.*remark:' | grep -v mapped | FileCheck %s --implicit-check-not=remark:

// A header library: its summary says more than its code, which is too much to look through. The temporary storage is dead
// between calls, the input of a sort behind it, and what the next sort overwrites.
#include <cub/device/device_radix_sort.cuh>
#include <thrust/device_ptr.h>
#include <thrust/sort.h>

__global__ void make(unsigned *keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    keys[i] = i * 2654435761u;
}

void sort(int n, int rounds) {
  unsigned *in, *out, *from, *to;
  void *temporary;
  size_t bytes = 0;
  cudaMalloc(&in, n * sizeof(unsigned));
  cudaMalloc(&out, n * sizeof(unsigned));
  cudaMalloc(&from, n * sizeof(unsigned));
  cudaMalloc(&to, n * sizeof(unsigned));
  cub::DeviceRadixSort::SortPairs(nullptr, bytes, in, out, from, to, n);
  cudaMalloc(&temporary, bytes);
  for (int i = 0; i < rounds; ++i) {
    make<<<n / 256 + 1, 256>>>(in, n);
    make<<<n / 256 + 1, 256>>>(from, n);
    // CHECK-DAG: cub.cu:[[#@LINE+3]]:5: remark: 'temporary' discarded after 'cub::DeviceRadixSort::SortPairs'
    // CHECK-DAG: cub.cu:[[#@LINE+2]]:5: remark: 'out' discarded after 'cub::DeviceRadixSort::SortPairs': overwritten by 'cub::DeviceRadixSort::SortPairs' at line [[#@LINE+2]] before any read
    // CHECK-DAG: cub.cu:[[#@LINE+1]]:5: remark: 'to' discarded after 'cub::DeviceRadixSort::SortPairs': overwritten by 'cub::DeviceRadixSort::SortPairs' at line [[#@LINE+1]] before any read
    cub::DeviceRadixSort::SortPairs(temporary, bytes, in, out, from, to, n);
  }
}

// With plain pointers in device_ptr.
void ordered(int n) {
  unsigned *keys;
  cudaMalloc(&keys, n * sizeof(unsigned));
  make<<<n / 256 + 1, 256>>>(keys, n);
  thrust::device_ptr<unsigned> first(keys);
  thrust::sort(first, first + n);
  // CHECK-DAG: cub.cu:[[#@LINE+1]]:3: remark: 'keys' discarded: freed before any read
  cudaFree(keys);
}
