//===- Guards.h - under which conditions a block runs -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conditions that a thread must have passed to be in a block, as guards of
// the kernel summary: those of the branches that dominate it. They always hold
// there. They are *exact* if they are also sufficient: a thread that passes
// them does get there, in each iteration of the loops around the block. That
// is so if between one dominator and the next there is either a branch whose
// condition is a guard, or no way around:
//
//   if (i >= n) return;        // guard i < n, exact
//   if (flag[i]) return;       // not exact: the condition is loaded
//   out[i] = 0;
//
// A loop is exact if it is left in one place only, and that is either a test
// that dominates the block (the test is a guard that bounds the counter), or
// ScalarEvolution counts the iterations.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_GUARDS_H
#define DRAGON_PASSES_ACCESS_GUARDS_H

#include "passes/access/Footprint.h"
#include "passes/access/PointerAccesses.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace llvm {
class BasicBlock;
class DominatorTree;
class Value;
} // namespace llvm

namespace dragon {

class Guards {
public:
  struct Conditions {
    std::vector<GuardRecord> Records;
    bool Exact = true;
    /// Some condition, in the records or not, depends on loaded data.
    bool Loaded = false;
    /// One that is not in the records does.
    bool Unsaid = false;
  };

  Guards(Footprint &Indices, llvm::DominatorTree &DT, llvm::LoopInfo &LI)
      : Indices(Indices), DT(DT), LI(LI) {}

  /// What a value is, if more is known of it than it says; else null.
  using Assumption = llvm::function_ref<const llvm::SCEV *(llvm::Value &)>;

  const Conditions &of(const llvm::BasicBlock &Block);
  Conditions of(const llvm::BasicBlock &Block, Assumption Assume);
  /// Adds Condition (or that it does not hold), as evaluated in At, to C.
  void add(llvm::Value &Condition, bool Holds, const llvm::BasicBlock &At,
           Conditions &C, Assumption Assume);
  /// Nobody can be where all of C holds.
  bool contradictory(const Conditions &C) const;

private:
  Conditions compute(const llvm::BasicBlock &Block);
  Footprint::Index translate(llvm::Value &V, const llvm::Loop *Scope);
  bool noWayAround(const llvm::BasicBlock &From, const llvm::BasicBlock &To,
                   Conditions &C);
  void addEdge(const llvm::BasicBlock &From, const llvm::BasicBlock &To,
               Conditions &C);
  bool addCondition(llvm::Value &Condition, bool Holds,
                    const llvm::BasicBlock &At, uint32_t Loop, Conditions &C);
  static void addGuard(const GuardRecord &G, Conditions &C);
  std::optional<Footprint::Index> flagOf(llvm::Value &Condition,
                                         const llvm::BasicBlock &At);
  /// Whether its condition depends on loaded data.
  bool noteBranch(const llvm::BasicBlock &B, Conditions &C) const;
  void checkLoops(const llvm::BasicBlock &Block, Conditions &C);

  Footprint &Indices;
  llvm::DominatorTree &DT;
  llvm::LoopInfo &LI;
  llvm::DenseMap<const llvm::BasicBlock *, Conditions> Known;
  Assumption Assumed = nullptr;
};

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_GUARDS_H
