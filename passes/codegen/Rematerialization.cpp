//===- Rematerialization.cpp - loops that compute again -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/Rematerialization.h"
#include "passes/codegen/RecomputedValues.h"
#include "passes/codegen/RegisterPressure.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/NaryReassociate.h"
#include "llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h"
#include "llvm/Transforms/Scalar/StraightLineStrengthReduce.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

/// Copies the values of one loop into the blocks that use them.
class Recomputation {
public:
  Recomputation(const Loop &L, const RecomputedValues &Chosen)
      : L(L), Chosen(Chosen) {}
  void run();

private:
  void run(BasicBlock &Block);
  Value *copyOf(Instruction &I, Instruction &Before);
  Value *hidden(Value &V, Instruction &Before);

  const Loop &L;
  const RecomputedValues &Chosen;
  /// Of the block at hand.
  DenseMap<Value *, Value *> Copies, Hidden;
};

/// The same value, of which nobody knows that.
Value *Recomputation::hidden(Value &V, Instruction &Before) {
  Value *&Same = Hidden[&V];
  if (Same)
    return Same;
  Type *T = V.getType();
  auto *Nothing = InlineAsm::get(
      FunctionType::get(T, {T}, false), "",
      registersOf(V) > 1 || T->isPointerTy() || T->isIntegerTy(64) ? "=l,0"
                                                                   : "=r,0",
      /*hasSideEffects=*/true);
  auto *Call = CallInst::Create(Nothing, {&V}, V.getName() + ".same",
                                Before.getIterator());
  Call->setDebugLoc(Before.getDebugLoc());
  Call->setDoesNotAccessMemory();
  Call->setDoesNotThrow();
  Call->setConvergent();
  return Same = Call;
}

Value *Recomputation::copyOf(Instruction &I, Instruction &Before) {
  if (Value *Copy = Copies.lookup(&I))
    return Copy;
  Instruction *Copy = I.clone();
  bool Changes = false;
  for (Use &Operand : Copy->operands())
    if (auto *From = dyn_cast<Instruction>(Operand.get());
        From && Chosen.contains(*From)) {
      Operand.set(copyOf(*From, Before));
      Changes = true;
    }
  // One operand that may change keeps it where it is.
  for (Use &Operand : Copy->operands())
    if (!Changes && RecomputedValues::canHide(*Operand.get())) {
      Operand.set(hidden(*Operand.get(), Before));
      Changes = true;
    }
  Copy->setName(I.getName());
  Copy->insertBefore(Before.getIterator());
  Copies[&I] = Copy;
  return Copy;
}

void Recomputation::run(BasicBlock &Block) {
  Copies.clear();
  Hidden.clear();
  for (Instruction &I : make_early_inc_range(Block)) {
    if (isa<PHINode>(I))
      continue;
    for (Use &Operand : I.operands())
      if (auto *From = dyn_cast<Instruction>(Operand.get());
          From && Chosen.contains(*From))
        Operand.set(copyOf(*From, I));
  }
}

void Recomputation::run() {
  for (BasicBlock *Block : L.blocks())
    run(*Block);
}

/// Loops whose registers are short.
SmallVector<const Loop *, 4> shortLoops(const Function &F,
                                        const LoopInfo &All) {
  SmallVector<const Loop *, 4> Short;
  std::optional<RegisterPressure> Pressure;
  for (const Loop *L : All.getLoopsInPreorder())
    if (L->isInnermost()) {
      if (!Pressure)
        Pressure.emplace(F);
      if (Pressure->peak(*L) > RecomputedValues::enough(registerLimit(F)))
        Short.push_back(L);
    }
  return Short;
}

/// What the code generator does with addresses first: offsets apart, and one
/// address from the other. Fewer instructions compute them then.
void simplifyAddresses(Function &F, FunctionAnalysisManager &Analyses) {
  FunctionPassManager Passes;
  Passes.addPass(SeparateConstOffsetFromGEPPass());
  Passes.addPass(StraightLineStrengthReducePass());
  Passes.addPass(GVNPass());
  Passes.addPass(NaryReassociatePass());
  Passes.addPass(EarlyCSEPass());
  Analyses.invalidate(F, Passes.run(F, Analyses));
}

} // namespace

PreservedAnalyses
RematerializationPass::run(Function &F, FunctionAnalysisManager &Analyses) {
  if (!F.getParent()->getTargetTriple().isNVPTX() ||
      shortLoops(F, Analyses.getResult<LoopAnalysis>(F)).empty())
    return PreservedAnalyses::all();
  simplifyAddresses(F, Analyses);
  const LoopInfo &All = Analyses.getResult<LoopAnalysis>(F);
  const unsigned Limit = registerLimit(F);
  for (const Loop *L : shortLoops(F, All)) {
    const RecomputedValues Chosen(*L, RegisterPressure(F).peak(*L), Limit);
    if (!Chosen.empty())
      Recomputation(*L, Chosen).run();
  }
  return PreservedAnalyses::none();
}

} // namespace dragon
