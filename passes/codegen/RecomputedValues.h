//===- RecomputedValues.h - which values a loop computes again --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choice of Rematerialization.h. A graph has a node for each value that
// comes from in front of the loop, and for what these are computed from. A
// value is computed in the loop, which costs an instruction; or it comes into
// the loop in registers, if the loop or a value that is computed there uses it.
// The cheapest choice is a minimum cut between the loop and what can only come
// in. What only passes the loop, since somebody behind it uses it, is such a
// value, too: it is computed there, which costs next to nothing.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_RECOMPUTEDVALUES_H
#define DRAGON_PASSES_CODEGEN_RECOMPUTEDVALUES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instruction.h"

namespace dragon {

/// What of the uses of a value lies behind a loop: the value keeps its register
/// while the loop runs.
class UsesBehind {
public:
  explicit UsesBehind(const llvm::Loop &L) : L(L) {}
  /// `V` comes from in front of the loop. The loop is in front of the use, and
  /// `V` is not computed again between them.
  bool contains(const llvm::Instruction &V, const llvm::Use &Used);

private:
  using Blocks = llvm::DenseSet<const llvm::BasicBlock *>;
  const Blocks &reachedWithout(const llvm::BasicBlock &Definition);

  const llvm::Loop &L;
  llvm::DenseMap<const llvm::BasicBlock *, Blocks> Reached;
};

/// Where the value has to be for the use.
llvm::BasicBlock *blockOf(const llvm::Use &Used);

class RecomputedValues {
public:
  /// So that a loop that needs `Peak` registers and may have `Limit` has
  /// enough: the dearer an instruction may be, the more registers are saved.
  RecomputedValues(const llvm::Loop &L, unsigned Peak, unsigned Limit);

  bool empty() const { return Chosen.empty(); }
  bool contains(const llvm::Instruction &I) const {
    return Chosen.contains(&I);
  }
  /// A loop that needs more is short of registers: the assembler wants some to
  /// make loads ahead of their uses.
  static unsigned enough(unsigned Limit) { return Limit / 4 * 3; }
  /// `asm` can have it as an operand, and nothing is lost by it: of a generic
  /// pointer, which memory it leads to.
  static bool canHide(const llvm::Value &V);

private:
  llvm::DenseSet<const llvm::Instruction *> Chosen;
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_RECOMPUTEDVALUES_H
