//===- shapes.cu - the other unit with what shapes.h has ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shapes.h"

__device__ uint32_t Square::area() const { return size * size; }
__device__ uint32_t Cube::area() const { return 6 * Square::area(); }

__device__ uint32_t blockSum(uint32_t value) {
  extern __shared__ uint32_t part[];
  part[threadIdx.x] = value;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  return part[0];
}

__device__ __attribute__((weak)) uint32_t fallback(uint32_t value) {
  return value;
}

void addInOther(uint32_t *to, int n) {
  uint32_t two = 2;
  CHECK(cudaMemcpyToSymbol(increment, &two, sizeof(two)));
  add<<<(n + 255) / 256, 256>>>(to, n);
}

static __global__ void answer(uint32_t *to) { *to = 42 + increment; }

uint32_t early() {
  uint32_t *to, result = 0;
  CHECK(cudaMalloc((void **)&to, sizeof(*to)));
  answer<<<1, 1>>>(to);
  CHECK(cudaMemcpy(&result, to, sizeof(result), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(to));
  return result;
}
