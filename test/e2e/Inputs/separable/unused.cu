//===- unused.cu - a unit that nobody needs -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In an archive it must do no harm, though what it calls does not exist, and
// though it defines what others do.
//
//===----------------------------------------------------------------------===//

#include "elements.h"

__device__ uint32_t nowhere(uint32_t value);

__device__ int mirrored(int i, int n) { return nowhere(i + n); }

__global__ void unused(uint32_t *out) { out[0] = nowhere(out[1]); }

void launchUnused(uint32_t *out) { unused<<<1, 1>>>(out); }
