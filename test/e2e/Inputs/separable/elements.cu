//===- elements.cu - device functions, variables and no kernel ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "elements.h"

__constant__ uint32_t factors[4] = {1, 2, 3, 4};
__device__ uint32_t bias = 11;
__device__ unsigned long long visited;

__device__ int mirrored(int i, int n) { return n - 1 - i; }

__device__ uint32_t element(const uint32_t *in, int i) {
  return in[i] * factors[i & 3] + bias;
}

__device__ void store(uint32_t *out, int i, uint32_t value) {
  out[i] = value;
  if (i % 1024 == 0)
    atomicAdd(&visited, 1ull);
}

void setFactor(int index, uint32_t factor) {
  CHECK(cudaMemcpyToSymbol(factors, &factor, sizeof(factor),
                           index * sizeof(factor)));
}
