//===- Choices.h - indices that are chosen ----------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stencils keep their indices inside of the array by a choice:
//
//   int south = row < rows - 1 ? row + 1 : rows - 1;
//   ... in[south * cols + col] ...
//
// That is two accesses, each under a condition of its own: row + 1 where
// row < rows - 1, and rows - 1 elsewhere. Said so they are as precise as any;
// as one access they would reach from the one index to the other.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_CHOICES_H
#define DRAGON_PASSES_ACCESS_CHOICES_H

#include "passes/access/Guards.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace llvm {
class BranchInst;
class SCEV;
class ScalarEvolution;
} // namespace llvm

namespace dragon {

struct ChoiceTaken {
  const llvm::Instruction *Result;
  const llvm::Value *Condition;
  bool Side;
  llvm::Value *Is = nullptr;               ///< what Result is then
  const llvm::BasicBlock *Where = nullptr; ///< it is decided
  bool operator==(const ChoiceTaken &Other) const {
    return Result == Other.Result && Side == Other.Side;
  }
};

/// The sides taken of the choices in an offset.
using Sides = llvm::SmallVector<ChoiceTaken, 2>;

struct Choice {
  const llvm::SCEV *Offset;
  Guards::Conditions When; ///< those of the block and of the case
  Sides Taken;
};

/// The branch above a block where ways meet that come from its two sides.
class Fork {
public:
  /// Nothing: no such branch decides, or the block begins a loop, or the branch
  /// is in another one.
  static std::optional<Fork> above(const llvm::BasicBlock &Block,
                                   const llvm::DominatorTree &DT,
                                   const llvm::LoopInfo &LI);
  const llvm::BasicBlock &where() const;
  llvm::Value *condition() const;
  /// Of a predecessor of the block: 0 where the condition holds, 1 where not.
  std::optional<unsigned> sideOf(const llvm::BasicBlock &From) const;

private:
  Fork(const llvm::BranchInst &Branch, const llvm::BasicBlock &Block,
       const llvm::DominatorTree &DT)
      : Branch(&Branch), Block(&Block), DT(&DT) {}
  const llvm::BranchInst *Branch;
  const llvm::BasicBlock *Block;
  const llvm::DominatorTree *DT;
};

/// One of two values, by a condition that is decided in the block Where.
struct Chooser {
  const llvm::Instruction *Result = nullptr;
  llvm::Value *Condition = nullptr;
  llvm::Value *True = nullptr;
  llvm::Value *False = nullptr;
  const llvm::BasicBlock *Where = nullptr;
  explicit operator bool() const { return Result; }
};

/// A select, what an if or a conditional operator leaves behind, or a
/// comparison; else nothing.
Chooser chooserOf(const llvm::Instruction &I, const llvm::DominatorTree &DT,
                  const llvm::LoopInfo &LI);

/// What the offset of an access in `Block` is, case by case: each thread is in
/// one of them. Just the offset itself if nothing is chosen. What is chosen is
/// known in the conditions as well: `at` is not -1 where in[at] is read because
/// at >= 0.
std::vector<Choice> choicesOf(const llvm::SCEV &Offset,
                              const llvm::BasicBlock &Block,
                              llvm::ScalarEvolution &SE,
                              llvm::DominatorTree &DT, llvm::LoopInfo &LI,
                              Guards &Conditions);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_CHOICES_H
