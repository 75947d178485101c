//===- SideEffects.h - does a kernel act on buffers only --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices of one launch may run before those of an earlier one if no byte that
// one of them writes is touched by the other. A kernel's footprints tell that
// of the buffers that its pointers lead to. They do not tell of __device__
// variables, of textures, of what is printed and of the device's heap: kernels
// that use these keep the order in which they were launched.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_SIDEEFFECTS_H
#define DRAGON_PASSES_SLICING_SIDEEFFECTS_H

namespace llvm {
class Function;
} // namespace llvm

namespace dragon {

/// All that the kernel reads and writes, but for constants and for what its
/// blocks have for themselves, is memory that its summary speaks of.
bool actsOnBuffersOnly(llvm::Function &Kernel);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_SIDEEFFECTS_H
