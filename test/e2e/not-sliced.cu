// Without sub-grid clones a launch that exceeds its budgets is refused, with the reason and the way out.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -fno-dragon-slicing %s -o program && %tight %fails ./program 2>&1 | FileCheck %s
// RUN: %build %s -o sliced && %tight ./sliced
// CHECK: dragon: error: kernel 'fill' may touch 32 MiB at once
// CHECK-SAME: it cannot be sliced: it was compiled with -fno-dragon-slicing; raise DRAGON_DEVICE_MEMORY or DRAGON_HOST_MEMORY
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void fill(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = i;
}

int main() {
  const int n = 8 << 20;
  int *data;
  CHECK(cudaMalloc(&data, n * 4));
  fill<<<n / 256, 256>>>(data, n);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(data));
  return 0;
}
