//===- LibraryUses.h - what a library call uses, in IR ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The uses that a library function's summary describes, computed from the
// arguments of a call in front of it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_LIBRARYUSES_H
#define DRAGON_PASSES_REWRITE_LIBRARYUSES_H

#include "passes/libraries/LibraryFunction.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class CallBase;
} // namespace llvm

namespace dragon {

class CallInPieces;

/// (pointer, bytes, mode) of each pointer that may be a buffer's, and in front
/// of it (pointer, number, ARRAY) of one to an array, as
/// __dragon_library_begin takes them.
llvm::SmallVector<llvm::Value *, 16>
libraryUses(llvm::CallBase &Call, const LibraryFunction &Function,
            const CallInPieces &Pieces, llvm::IRBuilder<> &Builder);

/// Null: it cannot be computed from the call's arguments.
llvm::Value *librarySize(const LibraryExpression &Size,
                         const llvm::CallBase &Call,
                         const LibraryFunction &Function,
                         llvm::IRBuilder<> &Builder);
llvm::Value *libraryTruth(const LibraryExpression &Condition,
                          const llvm::CallBase &Call,
                          const LibraryFunction &Function,
                          llvm::IRBuilder<> &Builder);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_LIBRARYUSES_H
