//===- steps.cu - a kernel that others launch, and names used twice -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "elements.h"

namespace {
__constant__ uint32_t offset = 100;
__device__ uint32_t calls;
} // namespace

__global__ void scale(uint32_t *out, const uint32_t *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    store(out, i, element(in, mirrored(i, n)));
}

static __global__ void step(uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] += offset;
  if (i == 0)
    atomicAdd(&calls, 1);
}

void secondStep(uint32_t *out, int n, uint32_t newOffset) {
  CHECK(cudaMemcpyToSymbol(offset, &newOffset, sizeof(newOffset)));
  step<<<(n + 255) / 256, 256>>>(out, n);
  CHECK(cudaGetLastError());
  uint32_t count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof(count)));
  REQUIRE(count == 1);
}
