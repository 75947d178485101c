//===- backward.cu - a kernel of the same name that updates ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "field.h"

static __global__ void pass(uint32_t *to, const uint32_t *from, int n,
                            uint32_t factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = to[i] * factor + from[i];
}

void backward(Field &sum, const Field &act) {
  pass<<<(sum.count + 255) / 256, 256>>>(sum.data, act.data, sum.count, 3);
  CHECK(cudaGetLastError());
}
