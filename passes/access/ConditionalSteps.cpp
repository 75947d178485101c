//===- ConditionalSteps.cpp - steps of a loop under a condition -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/ConditionalSteps.h"

#include "passes/access/Choices.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace dragon {

namespace {

/// `Phi`, of the head of L, is `Phi + step` or `Phi` in the next iteration, by
/// a condition that does not change.
void makeUnconditional(PHINode &Phi, Loop &L, LoopInfo &LI, DominatorTree &DT) {
  auto *Next =
      dyn_cast<Instruction>(Phi.getIncomingValueForBlock(L.getLoopLatch()));
  if (!Next || LI.getLoopFor(Next->getParent()) != &L)
    return;
  const Chooser Choice = chooserOf(*Next, DT, LI);
  if (!Choice)
    return;
  const bool StepsIfTrue = Choice.False == &Phi;
  auto *Add =
      dyn_cast<BinaryOperator>(StepsIfTrue ? Choice.True : Choice.False);
  if ((StepsIfTrue ? Choice.False : Choice.True) != &Phi || !Add ||
      Add->getOpcode() != Instruction::Add ||
      LI.getLoopFor(Add->getParent()) != &L)
    return;
  const unsigned Other = Add->getOperand(0) == &Phi ? 1 : 0;
  Value *Step = Add->getOperand(Other);
  Instruction *InFront = L.getLoopPreheader()->getTerminator();
  bool Changed = false;
  if (Add->getOperand(1 - Other) != &Phi ||
      !L.makeLoopInvariant(Choice.Condition, Changed, InFront) ||
      !L.makeLoopInvariant(Step, Changed, InFront))
    return;
  IRBuilder<> B(InFront);
  Constant *Zero = Constant::getNullValue(Step->getType());
  Value *Steps = B.CreateSelect(Choice.Condition, StepsIfTrue ? Step : Zero,
                                StepsIfTrue ? Zero : Step);
  B.SetInsertPoint(L.getHeader(), L.getHeader()->getFirstNonPHIIt());
  Value *New = B.CreateAdd(&Phi, Steps, "", Add->hasNoUnsignedWrap(),
                           Add->hasNoSignedWrap());
  Add->replaceAllUsesWith(New);
  Next->replaceAllUsesWith(New);
}

} // namespace

void makeStepsUnconditional(LoopInfo &LI, DominatorTree &DT) {
  for (Loop *L : LI.getLoopsInPreorder())
    if (L->getLoopPreheader() && L->getLoopLatch())
      for (PHINode &Phi : L->getHeader()->phis())
        if (Phi.getType()->isIntegerTy())
          makeUnconditional(Phi, *L, LI, DT);
}

} // namespace dragon
