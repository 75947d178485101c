// Clones have subprograms of their own, and the result goes through the NVPTX
// back end at -O0 with debug information and optimised.
// RUN: %clang -x cuda %s --cuda-path=%cuda -Wno-unknown-cuda-version --cuda-gpu-arch=sm_90 --cuda-device-only -emit-llvm -c -g -Xclang -disable-llvm-passes -o %t.bc
// RUN: %dragon-opt-passes -passes='dragon-slice-kernels,verify' %t.bc -o %t.sliced.bc
// RUN: llc -O0 %t.sliced.bc -o - | FileCheck %s
// RUN: opt -passes='default<O2>' %t.sliced.bc | llc -o - | FileCheck %s

// CHECK: .visible .entry __dragon_slice__Z4copyPf5Shape(
// CHECK: .maxntid 128
// CHECK: .visible .entry __dragon_slice__Z5firstIiEvPT_(

struct Shape {
  int rows, columns;
};

__device__ __noinline__ int row() { return blockIdx.y * blockDim.y + threadIdx.y; }

__global__ void __launch_bounds__(128) copy(float *a, const __grid_constant__ Shape shape) {
  __shared__ float tile[128];
  tile[threadIdx.x] = a[row() * shape.columns + threadIdx.x];
  __syncthreads();
  if (row() < shape.rows && gridDim.x > 1)
    a[blockIdx.x] = tile[127 - threadIdx.x];
}

template <typename T> __global__ void first(T *a) {
  if (blockIdx.x == 0)
    a[0] = T(1);
}
template __global__ void first<int>(int *);
