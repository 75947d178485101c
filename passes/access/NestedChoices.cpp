//===- NestedChoices.cpp - choices among several values -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/NestedChoices.h"

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
  const BasicBlock *Where = DT.getNode(&Block)->getIDom()->getBlock();
  const auto *Branch = dyn_cast<BranchInst>(Where->getTerminator());
  if (!Branch || !Branch->isConditional() ||
      Branch->getSuccessor(0) == Branch->getSuccessor(1) ||
      LI.getLoopFor(Where) != LI.getLoopFor(&Block))
    return std::nullopt;
  std::array<Ways, 2> Sides;
  for (BasicBlock *From : predecessors(&Block)) {
    auto IsOf = [&](unsigned Side) {
      const BasicBlock *First = Branch->getSuccessor(Side);
      return From == Where ? First == &Block
                           : DT.dominates(BasicBlockEdge(Where, First), From);
    };
    if (!isa<BranchInst>(From->getTerminator()) || (!IsOf(0) && !IsOf(1)))
      return std::nullopt;
    Sides[IsOf(0) ? 0 : 1].push_back(From);
  }
  return Sides;
}

static bool isChoice(const BasicBlock &Block, const LoopInfo &LI,
                     const DominatorTree &DT) {
  return isa<PHINode>(Block.front()) && !LI.isLoopHeader(&Block) &&
         DT.isReachableFromEntry(&Block) && pred_size(&Block) > 2 &&
         pred_size(&Block) <= MostWays;
}

void nestChoices(Function &F, LoopInfo &LI, DominatorTree &DT) {
  SmallVector<BasicBlock *, 16> Work;
  for (BasicBlock &Block : F)
    Work.push_back(&Block);
  while (!Work.empty()) {
    BasicBlock *Block = Work.pop_back_val();
    if (!isChoice(*Block, LI, DT))
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
