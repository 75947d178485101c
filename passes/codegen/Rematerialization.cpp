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
#include <utility>

using namespace llvm;

namespace dragon {

namespace {

/// Copies the values of one loop to where they are used, in it and behind it.
class Recomputation {
public:
  Recomputation(const Loop &L, const LoopInfo &All,
                const RecomputedValues &Chosen)
      : L(L), All(All), Chosen(Chosen), Behind(L) {}
  void run(Function &F);

private:
  BasicBlock *placeFor(const Use &Used);
  Value *copyOf(Instruction &I, Instruction &Before);
  Value *hidden(Value &V, Instruction &Before);

  const Loop &L;
  const LoopInfo &All;
  const RecomputedValues &Chosen;
  UsesBehind Behind;
  using InBlock = std::pair<const BasicBlock *, const Value *>;
  DenseMap<InBlock, Value *> Copies, Hidden;
};

/// The same value, of which nobody knows that.
Value *Recomputation::hidden(Value &V, Instruction &Before) {
  Value *&Same = Hidden[{Before.getParent(), &V}];
  if (Same)
    return Same;
  Type *T = V.getType();
  const bool Wide =
      Before.getDataLayout().getTypeSizeInBits(T).getFixedValue() == 64;
  auto *Nothing =
      InlineAsm::get(FunctionType::get(T, {T}, false), "",
                     Wide ? "=l,0" : "=r,0", /*hasSideEffects=*/true);
  auto *Call = CallInst::Create(Nothing, {&V}, V.getName() + ".same",
                                Before.getIterator());
  Call->setDebugLoc(Before.getDebugLoc());
  Call->setDoesNotAccessMemory();
  Call->setDoesNotThrow();
  Call->setConvergent();
  return Same = Call;
}

Value *Recomputation::copyOf(Instruction &I, Instruction &Before) {
  if (Value *Copy = Copies.lookup({Before.getParent(), &I}))
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
  Copies[{Before.getParent(), &I}] = Copy;
  return Copy;
}

/// The block that is to compute what is used. Null: it stays as it is. For
/// other loops it is computed once, in front of them.
BasicBlock *Recomputation::placeFor(const Use &Used) {
  const auto *From = dyn_cast<Instruction>(Used.get());
  if (!From || !Chosen.contains(*From))
    return nullptr;
  BasicBlock *Block = blockOf(Used);
  if (L.contains(Block))
    return Block;
  if (!Behind.contains(*From, Used))
    return nullptr;
  for (const Loop *In = All.getLoopFor(Block);
       In && !In->contains(&L) && In->getLoopPreheader();
       In = In->getParentLoop())
    Block = In->getLoopPreheader();
  return Block == From->getParent() ? nullptr : Block;
}

void Recomputation::run(Function &F) {
  // What comes first in a block is copied first; its end is last.
  SmallVector<std::pair<Use *, BasicBlock *>, 16> AtEnds;
  for (BasicBlock &Block : F)
    for (Instruction &I : make_early_inc_range(Block))
      for (Use &Operand : I.operands()) {
        BasicBlock *Place = placeFor(Operand);
        if (!Place)
          continue;
        if (Place == &Block && !isa<PHINode>(I))
          Operand.set(copyOf(*cast<Instruction>(Operand.get()), I));
        else
          AtEnds.push_back({&Operand, Place});
      }
  for (auto [Used, Place] : AtEnds)
    Used->set(copyOf(*cast<Instruction>(Used->get()), *Place->getTerminator()));
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
      Recomputation(*L, All, Chosen).run(F);
  }
  return PreservedAnalyses::none();
}

} // namespace dragon
