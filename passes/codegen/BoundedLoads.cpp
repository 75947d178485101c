//===- BoundedLoads.cpp - loads that need no branch -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/BoundedLoads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace dragon {

namespace {

/// The most instructions that are made always, and values to choose of.
constexpr unsigned MostInstructions = 8, MostSelects = 4;

/// The variable in shared memory that the pointer begins at.
const GlobalVariable *sharedVariable(const SCEV *Base) {
  const auto *Unknown = dyn_cast<SCEVUnknown>(Base);
  const auto *Variable =
      Unknown ? dyn_cast<GlobalVariable>(
                    Unknown->getValue()->stripPointerCastsForAliasAnalysis())
              : nullptr;
  return Variable &&
                 Variable->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED
             ? Variable
             : nullptr;
}

/// `if (condition) { Then }`: what follows it, or null.
class Conditional {
public:
  Conditional(BasicBlock &Then, ScalarEvolution &Evolution)
      : Then(Then), Evolution(Evolution) {}

  /// All that is in it can be made always, and it has a load that LLVM would
  /// not make so.
  bool canBeMadeAlways();
  void makeAlways();

private:
  bool isWithinItsArray(const LoadInst &Load) const;

  BasicBlock &Then;
  ScalarEvolution &Evolution; // until the first block is changed
  BranchInst *Branch = nullptr;
  BasicBlock *After = nullptr;
};

bool Conditional::isWithinItsArray(const LoadInst &Load) const {
  if (!Load.isSimple())
    return false;
  const SCEV *Address =
      Evolution.getSCEV(const_cast<Value *>(Load.getPointerOperand()));
  const SCEV *Base = Evolution.getPointerBase(Address);
  const GlobalVariable *Variable = sharedVariable(Base);
  // Dynamic shared memory has as many bytes as the launch says.
  if (!Variable || Variable->isDeclaration())
    return false;
  const DataLayout &Layout = Load.getDataLayout();
  const uint64_t Size = Layout.getTypeAllocSize(Variable->getValueType()),
                 Bytes = Layout.getTypeStoreSize(Load.getType());
  const SCEV *Offset = Evolution.removePointerBase(Address);
  if (isa<SCEVCouldNotCompute>(Offset) || Bytes > Size ||
      Evolution.getUnsignedRange(Offset).getUnsignedMax().ugt(Size - Bytes))
    return false;
  const Align Aligned = Variable->getPointerAlignment(Layout);
  return Aligned >= Load.getAlign() &&
         Evolution.getConstantMultiple(Offset).countr_zero() >=
             Log2(Load.getAlign());
}

bool Conditional::canBeMadeAlways() {
  BasicBlock *Before = Then.getUniquePredecessor();
  const auto *Last = dyn_cast<BranchInst>(Then.getTerminator());
  Branch = Before ? dyn_cast<BranchInst>(Before->getTerminator()) : nullptr;
  if (!Branch || !Branch->isConditional() || !Last || Last->isConditional() ||
      Then.hasAddressTaken())
    return false;
  After = Last->getSuccessor(0);
  const bool Whole =
      (Branch->getSuccessor(0) == &Then) !=
          (Branch->getSuccessor(1) == &Then) &&
      (Branch->getSuccessor(0) == After || Branch->getSuccessor(1) == After);
  if (!Whole || After == &Then || After == Before ||
      size_t(range_size(After->phis())) > MostSelects)
    return false;
  bool HasLoad = false;
  for (const Instruction &I : drop_end(Then)) {
    if (isSafeToSpeculativelyExecute(&I, Branch))
      continue;
    const auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !isWithinItsArray(*Load))
      return false;
    HasLoad = true;
  }
  return HasLoad && Then.size() <= MostInstructions + 1;
}

void Conditional::makeAlways() {
  BasicBlock *Before = Branch->getParent();
  for (Instruction &I : make_early_inc_range(Then))
    if (!I.isTerminator()) {
      I.moveBefore(Branch->getIterator());
      I.dropUBImplyingAttrsAndMetadata();
    }
  IRBuilder<> Builder(Branch);
  const bool IfTrue = Branch->getSuccessor(0) == &Then;
  for (PHINode &Phi : After->phis()) {
    Value *Made = Phi.getIncomingValueForBlock(&Then);
    Value *Otherwise = Phi.getIncomingValueForBlock(Before);
    Value *Chosen = Made == Otherwise
                        ? Made
                        : Builder.CreateSelect(
                              Branch->getCondition(), IfTrue ? Made : Otherwise,
                              IfTrue ? Otherwise : Made, Phi.getName());
    Phi.setIncomingValueForBlock(Before, Chosen);
  }
  Builder.CreateBr(After);
  Branch->eraseFromParent();
  DeleteDeadBlock(&Then);
}

} // namespace

PreservedAnalyses BoundedLoadsPass::run(Function &F,
                                        FunctionAnalysisManager &Analyses) {
  if (!F.getParent()->getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  auto mayBe = [](const Instruction &I) {
    return isa<LoadInst>(I) && I.getParent()->getUniquePredecessor();
  };
  SmallVector<BasicBlock *, 8> Blocks;
  for (BasicBlock &Block : F)
    if (any_of(Block, mayBe))
      Blocks.push_back(&Block);
  if (Blocks.empty())
    return PreservedAnalyses::all();
  auto &Evolution = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  // All are chosen before the first is changed: what Evolution relies on, the
  // loops and their blocks, holds until then only.
  SmallVector<Conditional, 8> Chosen;
  for (BasicBlock *Block : Blocks)
    if (Conditional Then(*Block, Evolution); Then.canBeMadeAlways())
      Chosen.push_back(Then);
  if (Chosen.empty())
    return PreservedAnalyses::all();
  for (Conditional &Then : Chosen)
    Then.makeAlways();
  for (BasicBlock &Block : make_early_inc_range(F))
    MergeBlockIntoPredecessor(&Block);
  return PreservedAnalyses::none();
}

} // namespace dragon
