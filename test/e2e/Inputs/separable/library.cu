//===- library.cu - a launch on behalf of other shared objects ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "elements.h"

static __global__ void forwardKernel(uint32_t *out, const uint32_t *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    store(out, i, element(in, i));
}

void forward(uint32_t *out, const uint32_t *in, int n) {
  forwardKernel<<<(n + 255) / 256, 256>>>(out, in, n);
  CHECK(cudaGetLastError());
}
