//===- ArgumentsOnly.h - kernels whose results arguments say ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   __global__ void rows(float **p, float *a, size_t pitch, int n) {
//     int i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n)
//       p[i] = a + i * pitch;
//   }
//
// The kernel reads no memory: a launch with the same arguments writes the same
// bytes. The runtime needs not read them a second time.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_ARGUMENTSONLY_H
#define DRAGON_PASSES_SLICING_ARGUMENTSONLY_H

namespace llvm {
class Function;
} // namespace llvm

namespace dragon {

/// What the kernel writes depends on its arguments, its grid and its block
/// alone, and no two threads write different bytes to one place: the place of
/// each write depends on all that tells threads apart.
bool followsArguments(llvm::Function &Kernel);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_ARGUMENTSONLY_H
