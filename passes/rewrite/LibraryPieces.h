//===- LibraryPieces.h - library calls in pieces ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call whose summary has `pieces` is made in a loop, which is left after one
// round if all of it fits into device memory:
//
//   pieces = {ranges: begin 0, count n; ...}
// again:
//   A' = A + moves * begin; n' = count; ...
//   token = __dragon_library_begin(..., uses of the call with A', n', ...,
//                                  pieces)
//   if (token == AGAIN) goto again       // the ranges are others now
//   if (!token) ...                      // as without pieces
//   status = call(A', n', ...)
//   if (__dragon_library_next(token, pieces, status != 0)) goto again
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_LIBRARYPIECES_H
#define DRAGON_PASSES_REWRITE_LIBRARYPIECES_H

#include "passes/libraries/LibraryFunction.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include <utility>

namespace llvm {
class AllocaInst;
class CallBase;
} // namespace llvm

namespace dragon {

/// A variable of the function that the call is in.
llvm::AllocaInst *entryVariable(llvm::CallBase &Call, llvm::Type *T,
                                const llvm::Twine &Name);

class CallInPieces {
public:
  /// If the call can be made in pieces, it is at the end of a block that begins
  /// anew for each, and has the piece's arguments.
  CallInPieces(llvm::CallBase &Call, const LibraryFunction &Function);

  explicit operator bool() const { return Memory != nullptr; }
  /// A dragon_library_pieces.
  llvm::Value *memory() const;
  /// Of a parameter that pieces after the first get another pointer for: the
  /// call's own, and whether this is the first. Else null.
  std::pair<llvm::Value *, llvm::Value *> scaleOf(unsigned Parameter) const;

  /// Behind the call, which is alone in its block: the next piece. Returns the
  /// block behind the last one.
  llvm::BasicBlock *next(llvm::Instruction &Token) const;
  /// To the call, or around it.
  void branch(llvm::Instruction &Token, llvm::BasicBlock &Made,
              llvm::BasicBlock &Skipped, llvm::IRBuilder<> &Builder) const;

private:
  void initialise(const LibraryFunction &Function, llvm::IRBuilder<> &Builder);
  void substitute(const LibraryFunction &Function, llvm::IRBuilder<> &Builder);
  void addScale(const LibraryPiece &Piece, unsigned Range,
                const LibraryFunction &Function, llvm::IRBuilder<> &Builder);
  llvm::Value *field(unsigned Range, unsigned Which,
                     llvm::IRBuilder<> &Builder) const;

  /// What a pointer moves by for each step of a range, in the whole call.
  struct Move {
    unsigned Range, Parameter;
    llvm::Value *Step;
  };
  struct Scale {
    unsigned Range, Parameter;
    llvm::Value *Original, *Other; ///< for the first piece, for the others
    llvm::Value *IsFirst;
  };

  llvm::CallBase &Call;
  llvm::StructType *Type = nullptr;
  llvm::AllocaInst *Memory = nullptr;
  llvm::BasicBlock *Again = nullptr;
  llvm::SmallVector<Move, 8> Steps;
  llvm::SmallVector<Scale, 1> Scales;
};

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_LIBRARYPIECES_H
