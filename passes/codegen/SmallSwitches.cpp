//===- SmallSwitches.cpp - switches that only choose values ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/SmallSwitches.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace dragon {

namespace {

/// The most cases, selects, and instructions of all cases together.
constexpr unsigned MostCases = 4, MostNewSelects = 12, MostInCases = 12;

class SmallSwitch {
public:
  explicit SmallSwitch(SwitchInst &Switch, const TargetTransformInfo &Costs)
      : Switch(Switch), Costs(Costs) {}

  /// All cases come together in one block, and can be computed always.
  bool isSmall();
  void makeSelects();

private:
  bool isCheap(const BasicBlock &Case) const;
  /// What the block where the cases meet gets from one of them.
  Value *from(PHINode &Phi, BasicBlock *Case) const {
    return Phi.getIncomingValueForBlock(Case == Meeting ? Switch.getParent()
                                                        : Case);
  }

  SwitchInst &Switch;
  const TargetTransformInfo &Costs;
  BasicBlock *Meeting = nullptr;
  SmallSetVector<BasicBlock *, 4> Cases; ///< that are not the meeting block
};

bool SmallSwitch::isCheap(const BasicBlock &Case) const {
  if (Case.getUniquePredecessor() != Switch.getParent() ||
      Case.hasAddressTaken())
    return false;
  InstructionCost Cost = 0;
  for (const Instruction &I : Case) {
    if (I.isTerminator())
      break;
    if (isa<PHINode>(I) || !isSafeToSpeculativelyExecute(&I))
      return false;
    Cost +=
        Costs.getInstructionCost(&I, TargetTransformInfo::TCK_SizeAndLatency);
  }
  return Cost.isValid() && Cost <= MostInCases / 2;
}

bool SmallSwitch::isSmall() {
  if (Switch.getNumCases() == 0 || Switch.getNumCases() > MostCases)
    return false;
  size_t Instructions = 0;
  for (BasicBlock *Case : successors(Switch.getParent())) {
    const auto *Branch = dyn_cast<BranchInst>(Case->getTerminator());
    BasicBlock *Next = Case;
    if (isCheap(*Case) && Branch && Branch->isUnconditional()) {
      Next = Branch->getSuccessor(0);
      if (Cases.insert(Case))
        Instructions += Case->size() - 1;
    }
    if (Meeting && Meeting != Next)
      return false;
    Meeting = Next;
  }
  // A block that goes on to itself, or is one of the cases.
  if (Meeting == Switch.getParent() || Cases.contains(Meeting))
    return false;
  const size_t Phis =
      size_t(std::distance(Meeting->phis().begin(), Meeting->phis().end()));
  return Instructions <= MostInCases &&
         Phis * Switch.getNumCases() <= MostNewSelects && Phis > 0;
}

void SmallSwitch::makeSelects() {
  BasicBlock *Here = Switch.getParent();
  for (BasicBlock *Case : Cases)
    for (Instruction &I : make_early_inc_range(*Case))
      if (!I.isTerminator()) {
        I.moveBefore(Switch.getIterator());
        I.dropUBImplyingAttrsAndMetadata();
      }
  IRBuilder<> Builder(&Switch);
  SmallVector<std::pair<Value *, BasicBlock *>, 4> Chosen;
  for (const auto &Case : Switch.cases())
    Chosen.emplace_back(
        Builder.CreateICmpEQ(Switch.getCondition(), Case.getCaseValue()),
        Case.getCaseSuccessor());
  for (PHINode &Phi : Meeting->phis()) {
    Value *Result = from(Phi, Switch.getDefaultDest());
    for (const auto &[IsCase, Case] : Chosen)
      if (Value *Other = from(Phi, Case); Other != Result)
        Result = Builder.CreateSelect(IsCase, Other, Result);
    // Those of the cases go with their blocks.
    Phi.removeIncomingValueIf(
        [&](unsigned Index) { return Phi.getIncomingBlock(Index) == Here; },
        /*DeletePHIIfEmpty=*/false);
    Phi.addIncoming(Result, Here);
  }
  Builder.CreateBr(Meeting);
  Switch.eraseFromParent();
  DeleteDeadBlocks(Cases.takeVector());
}

} // namespace

PreservedAnalyses SmallSwitchesPass::run(Function &F,
                                         FunctionAnalysisManager &Analyses) {
  if (!F.getParent()->getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  const TargetTransformInfo &Costs = Analyses.getResult<TargetIRAnalysis>(F);
  bool Changed = false;
  SmallVector<SwitchInst *, 8> Switches;
  for (BasicBlock &Block : F)
    if (auto *Switch = dyn_cast<SwitchInst>(Block.getTerminator()))
      Switches.push_back(Switch);
  for (SwitchInst *Switch : Switches) {
    if (SmallSwitch Small(*Switch, Costs); Small.isSmall()) {
      Small.makeSelects();
      Changed = true;
    }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace dragon
