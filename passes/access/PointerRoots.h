//===- PointerRoots.h - what an address is made from ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every address that a kernel uses comes from somewhere: a pointer among its
// parameters plus an offset (the case that matters), memory that is no buffer
// (a local variable, shared memory, a device variable), several of these behind
// a choice, or something unseen, such as a pointer that was loaded:
//
//   float *p = flag ? a : b;  p[i]     a + 4*i, or b + 4*i
//   tile[threadIdx.x]                  no buffer
//   rows[r][c]                         rows + 8*r, then something unseen
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_POINTERROOTS_H
#define DRAGON_PASSES_ACCESS_POINTERROOTS_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace llvm {
class Argument;
class SCEV;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace dragon {

/// A pointer among the parameters: a whole one, or a field of a structure
/// passed by value.
struct PointerParameter {
  const llvm::Argument *Arg = nullptr;
  uint32_t ByteOffset = 0;
  bool operator==(const PointerParameter &P) const {
    return Arg == P.Arg && ByteOffset == P.ByteOffset;
  }
};

/// The pointer fields of a kernel parameter; one at 0 for a plain pointer.
/// All: whether it has no others (too many to list, or members of a union).
llvm::SmallVector<PointerParameter, 4>
pointersOfParameter(const llvm::Argument &Arg, bool *All = nullptr);

/// One place that an address may be made from.
struct PointerRoot {
  enum Kind {
    Parameter, ///< a buffer
    NoBuffer,  ///< memory that no buffer can be in
    Unseen     ///< any memory
  } What;
  PointerParameter From; ///< if What is Parameter
  /// Bytes from the parameter's value; null if not known.
  const llvm::SCEV *Offset = nullptr;
  /// The address is this root's only in some cases (a choice of pointers).
  bool Sometimes = false;
};

using PointerRoots = llvm::SmallVector<PointerRoot, 2>;

/// Where the address (a pointer, or its number) may come from.
PointerRoots findRoots(llvm::Value &Address, llvm::ScalarEvolution &SE);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_POINTERROOTS_H
