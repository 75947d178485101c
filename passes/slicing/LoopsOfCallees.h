//===- LoopsOfCallees.h - loops in functions that kernels call --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_LOOPSOFCALLEES_H
#define DRAGON_PASSES_SLICING_LOOPSOFCALLEES_H

#include "passes/support/LoopTags.h"

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class DILocation;
class Function;
} // namespace llvm

namespace dragon {

/// A copy of the kernel that has all of the loops itself: calls of functions
/// that have some of them are inlined. Null: the kernel has them all, or a call
/// cannot be inlined. The loops have their tags (TaggedLoops), those of the
/// copy as well. The caller erases it.
llvm::Function *withLoopsOfCallees(llvm::Function &Kernel,
                                   llvm::ArrayRef<TaggedLoop> Loops);

/// A loop of a function that calls itself, which the kernel calls: where it
/// begins; null: there is none.
const llvm::DILocation *loopOfRecursion(llvm::Function &Kernel);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOOPSOFCALLEES_H
