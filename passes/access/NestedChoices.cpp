//===- NestedChoices.cpp - choices among several values -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/NestedChoices.h"
#include "passes/access/Choices.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <array>
#include <optional>

using namespace llvm;

namespace dragon {

/// More ways to one place are no choices of an index.
static constexpr unsigned MostWays = 8;

using Ways = SmallVector<BasicBlock *, MostWays>;

/// The ways into the block by the side of the branch above it that they come
/// from. Nothing: there is no such branch.
static std::optional<std::array<Ways, 2>>
waysBySide(BasicBlock &Block, const LoopInfo &LI, const DominatorTree &DT) {
  const std::optional<Fork> Above = Fork::above(Block, DT, LI);
  if (!Above)
    return std::nullopt;
  std::array<Ways, 2> Sides;
  for (BasicBlock *From : predecessors(&Block)) {
    const std::optional<unsigned> Side = Above->sideOf(*From);
    if (!isa<BranchInst>(From->getTerminator()) || !Side)
      return std::nullopt;
    Sides[*Side].push_back(From);
  }
  return Sides;
}

static bool mayChoose(const BasicBlock &Block) {
  return isa<PHINode>(Block.front()) && pred_size(&Block) > 2 &&
         pred_size(&Block) <= MostWays;
}

void nestChoices(Function &F, LoopInfo &LI, DominatorTree &DT) {
  SmallVector<BasicBlock *, 16> Work;
  for (BasicBlock &Block : F)
    Work.push_back(&Block);
  while (!Work.empty()) {
    BasicBlock *Block = Work.pop_back_val();
    if (!mayChoose(*Block))
      continue;
    const std::optional<std::array<Ways, 2>> Sides = waysBySide(*Block, LI, DT);
    if (!Sides)
      continue;
    for (const Ways &Side : *Sides)
      if (Side.size() > 1)
        Work.push_back(SplitBlockPredecessors(Block, Side, ".choice", &DT, &LI,
                                              nullptr, /*PreserveLCSSA=*/true));
  }
}

} // namespace dragon
