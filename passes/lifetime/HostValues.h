//===- HostValues.h - what host memory holds at a call ---------- -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalars are given to libraries by address: `const float beta = 0; ... &beta`.
// Whether such a scalar is zero decides whether a result is overwritten.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_HOSTVALUES_H
#define DRAGON_PASSES_LIFETIME_HOSTVALUES_H

#include <cstdint>

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace dragon {

/// Whether the bytes at Pointer are surely zero in front of At: those of a
/// constant, or of a variable of the function that nothing but the function and
/// host parameters of library calls refer to.
bool hostIsZeroAt(const llvm::Value *Pointer, uint64_t Bytes,
                  const llvm::Instruction &At);

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_HOSTVALUES_H
