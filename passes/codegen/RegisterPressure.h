//===- RegisterPressure.h - registers that a loop needs ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many registers of 4 bytes hold live values, by the order in which the
// instructions stand. The assembler, which allocates them, has another order:
// an estimate, that says whether registers are short.
//
// A kernel's parameters are in none: the hardware reads them from constant
// memory as operands. Predicates have registers of their own.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_REGISTERPRESSURE_H
#define DRAGON_PASSES_CODEGEN_REGISTERPRESSURE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace dragon {

/// What a thread of the function may have, by its launch bounds.
unsigned registerLimit(const llvm::Function &F);

/// That hold the value; 0: it is in none.
unsigned registersOf(const llvm::Value &V);

/// The address that is held for it: loads and stores have offsets.
const llvm::Value &withoutOffsets(const llvm::Value &V);

class RegisterPressure {
public:
  /// Valid while the function does not change.
  explicit RegisterPressure(const llvm::Function &F);
  /// The most that are live at once in the loop.
  unsigned peak(const llvm::Loop &L) const;

private:
  using Values = llvm::SmallPtrSet<const llvm::Value *, 16>;
  void addUse(const llvm::Value &V, const llvm::Use &Used);
  unsigned peak(const llvm::BasicBlock &Block) const;

  /// Live where the block ends.
  llvm::DenseMap<const llvm::BasicBlock *, Values> LiveOut;
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_REGISTERPRESSURE_H
