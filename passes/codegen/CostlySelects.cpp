//===- CostlySelects.cpp - divisions that need not be made ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/CostlySelects.h"
#include "passes/codegen/Divisions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace dragon {

namespace {

/// It is for whoever uses it alone, and may be made elsewhere in the block.
bool isForOne(const Instruction &I, const BasicBlock *In) {
  return I.hasOneUse() && I.getParent() == In && !isa<PHINode>(I) &&
         !I.mayHaveSideEffects() && !I.mayReadFromMemory();
}

/// The instruction and, behind it, what in its block is for it alone.
SmallVector<Instruction *, 8> withOperands(Instruction &Last) {
  SmallVector<Instruction *, 8> All{&Last};
  for (size_t At = 0; At < All.size(); ++At)
    for (Value *Operand : All[At]->operands())
      if (auto *I = dyn_cast<Instruction>(Operand);
          I && isForOne(*I, Last.getParent()))
        All.push_back(I);
  return All;
}

/// A division, or what is computed from one, that only the select needs.
bool isCostly(Value *V, const SelectInst &Select, bool ApproximateDivision) {
  auto *Last = dyn_cast<Instruction>(V);
  return Last && isForOne(*Last, Select.getParent()) &&
         any_of(withOperands(*Last), [&](const Instruction *I) {
           return divisionOf(*I, ApproximateDivision) == Division::Long;
         });
}

void makeBranch(SelectInst &Select, bool IfTrue) {
  auto &Costly = *cast<Instruction>(IfTrue ? Select.getTrueValue()
                                           : Select.getFalseValue());
  Value *Other = IfTrue ? Select.getFalseValue() : Select.getTrueValue();
  const SmallVector<Instruction *, 8> Moved = withOperands(Costly);
  IRBuilder<> Builder(&Select);
  Value *Condition = Select.getCondition();
  if (!IfTrue)
    Condition = Builder.CreateNot(Condition);
  BasicBlock *Before = Select.getParent();
  Instruction *End = SplitBlockAndInsertIfThen(Condition, Select.getIterator(),
                                               /*Unreachable=*/false);
  // Operands come first.
  for (Instruction *I : reverse(Moved))
    I->moveBefore(End->getIterator());
  PHINode *Result = PHINode::Create(Select.getType(), 2, Select.getName(),
                                    Select.getParent()->begin());
  Result->addIncoming(&Costly, End->getParent());
  Result->addIncoming(Other, Before);
  Select.replaceAllUsesWith(Result);
  Select.eraseFromParent();
}

} // namespace

PreservedAnalyses CostlySelectsPass::run(Function &F,
                                         FunctionAnalysisManager &) {
  if (!F.getParent()->getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  SmallVector<SelectInst *, 16> Selects;
  for (Instruction &I : instructions(F))
    if (auto *Select = dyn_cast<SelectInst>(&I);
        Select && Select->getCondition()->getType()->isIntegerTy(1))
      Selects.push_back(Select);
  bool Changed = false;
  for (SelectInst *Select : Selects)
    for (bool IfTrue : {true, false})
      if (isCostly(IfTrue ? Select->getTrueValue() : Select->getFalseValue(),
                   *Select, ApproximateDivision)) {
        makeBranch(*Select, IfTrue);
        Changed = true;
        break;
      }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace dragon
