//===- BufferHandles.h - a buffer's address and size, anywhere -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directive names a buffer by its address, which is at hand where the
// allocation dominates. Elsewhere, as behind
//
//   h = n ? malloc(n) : nullptr;
//
// a variable of its own remembers the last allocation, and null and no bytes
// where there was none: the directive then does nothing.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_BUFFERHANDLES_H
#define DRAGON_PASSES_REWRITE_BUFFERHANDLES_H

#include "passes/lifetime/BufferProgramBuilder.h"

#include "llvm/ADT/DenseMap.h"

namespace llvm {
class AllocaInst;
class DominatorTree;
} // namespace llvm

namespace dragon {

class BufferHandles {
public:
  BufferHandles(llvm::Function &F, const BuiltProgram &Built,
                llvm::DominatorTree &Dominators)
      : F(F), Built(Built), Dominators(Dominators) {}

  struct Handle {
    llvm::Value *Address;
    llvm::Value *Bytes;
  };
  /// In front of Point. Asks for a buffer whose address the program knows.
  Handle get(unsigned Buffer, llvm::Instruction &Point);

  /// Whether get() would need no variable.
  bool isAtHand(unsigned Buffer, const llvm::Instruction &Point) const;

private:
  struct Variables {
    llvm::AllocaInst *Address = nullptr;
    llvm::AllocaInst *Bytes = nullptr;
  };
  const Variables &track(unsigned Buffer);
  llvm::Value *bytes(unsigned Buffer, llvm::Instruction &Point) const;

  llvm::Function &F;
  const BuiltProgram &Built;
  llvm::DominatorTree &Dominators;
  llvm::DenseMap<unsigned, Variables> Tracked;
};

/// The instruction in front of which code goes that runs after At has returned.
llvm::Instruction *pointBehind(llvm::Instruction &At,
                               llvm::DominatorTree &Dominators);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_BUFFERHANDLES_H
