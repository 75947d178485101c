//===- HostLoops.cpp - the host's own loops, compiled apart ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/HostLoops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace llvm;

namespace dragon {

namespace {

/// Nothing that belongs to its function: no calls but of intrinsics that touch
/// no memory, no variables of the function, whose address would escape.
bool isSeparate(const Loop &L) {
  bool TouchesMemory = false;
  for (const BasicBlock *B : L.blocks()) {
    if (!isa<BranchInst, SwitchInst>(B->getTerminator()))
      return false;
    for (const Instruction &I : *B) {
      if (isa<DbgInfoIntrinsic>(I))
        continue;
      if (isa<AllocaInst, FenceInst>(I) || I.isEHPad() ||
          I.getType()->isTokenTy())
        return false;
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && (!isa<IntrinsicInst>(Call) || Call->mayReadOrWriteMemory()))
        return false;
      TouchesMemory |= I.mayReadOrWriteMemory();
      for (const Value *Operand : I.operands())
        if (Operand->getType()->isPointerTy() &&
            isa<AllocaInst>(getUnderlyingObject(Operand)))
          return false;
    }
  }
  return TouchesMemory;
}

/// What the loop's accesses are based on; empty where that is not known. That
/// malloc makes something new is inferred by a later pass: here it is now.
SmallSetVector<const Value *, 8> objectsOf(const Loop &L,
                                           const TargetLibraryInfo &Library) {
  SmallSetVector<const Value *, 8> Objects;
  for (const BasicBlock *B : L.blocks())
    for (const Instruction &I : *B)
      if (I.mayReadOrWriteMemory()) {
        const Value *Address = getLoadStorePointerOperand(&I);
        const Value *Object = Address ? getUnderlyingObject(Address) : nullptr;
        if (auto *Call = dyn_cast_or_null<CallBase>(Object))
          if (Function *Callee = Call->getCalledFunction();
              Callee && Callee->isDeclaration())
            inferNonMandatoryLibFuncAttrs(*Callee, Library);
        if (!Object || !isIdentifiedObject(Object))
          return {};
        Objects.insert(Object);
      }
  return Objects;
}

/// Loops without one that contains them and is separate, too.
void collect(const Loop &L, SmallVectorImpl<const Loop *> &Into) {
  if (isSeparate(L)) {
    if (L.getLoopPreheader() && L.getUniqueExitBlock())
      Into.push_back(&L);
    return;
  }
  for (const Loop *Inner : L)
    collect(*Inner, Into);
}

/// Becomes a function. What is known of its buffers there is told: a pointer to
/// an allocation that no other pointer refers to.
bool separate(ArrayRef<BasicBlock *> Blocks,
              const SmallSetVector<const Value *, 8> &Objects, Function &F) {
  DominatorTree Dominators(F);
  CodeExtractor Extractor(Blocks, &Dominators, /*AggregateArgs=*/false, nullptr,
                          nullptr, nullptr, /*AllowVarArgs=*/false,
                          /*AllowAlloca=*/false, nullptr, "loop");
  if (!Extractor.isEligible())
    return false;
  CodeExtractorAnalysisCache Cache(F);
  SetVector<Value *> Inputs, Outputs;
  Function *Made = Extractor.extractCodeRegion(Cache, Inputs, Outputs);
  if (!Made)
    return false;
  Made->addFnAttr(Attribute::NoInline);
  auto *Call = cast<CallBase>(*Made->user_begin());
  for (Argument &Parameter : Made->args()) {
    const Value *Given = Call->getArgOperand(Parameter.getArgNo());
    if (!Given->getType()->isPointerTy() || !isNoAliasCall(Given) ||
        !Objects.contains(Given) ||
        count_if(Call->args(), [&](const Use &Other) {
          return Other->getType()->isPointerTy() &&
                 getUnderlyingObject(Other) == Given;
        }) != 1)
      continue;
    Parameter.addAttr(Attribute::NoAlias);
  }
  return true;
}

} // namespace

bool separateHostLoops(Function &F, FunctionAnalysisManager &Analyses) {
  if (F.hasOptNone())
    return false;
  const auto &Library = Analyses.getResult<TargetLibraryAnalysis>(F);
  DominatorTree Dominators(F);
  LoopInfo Loops(Dominators);
  SmallVector<const Loop *, 8> Found;
  for (const Loop *L : Loops)
    collect(*L, Found);
  // The blocks of one stay when another has gone.
  SmallVector<
      std::pair<SmallVector<BasicBlock *, 8>, SmallSetVector<const Value *, 8>>,
      8>
      Regions;
  for (const Loop *L : Found)
    Regions.emplace_back(SmallVector<BasicBlock *, 8>(L->blocks()),
                         objectsOf(*L, Library));
  bool Changed = false;
  for (const auto &[Blocks, Objects] : Regions)
    Changed |= separate(Blocks, Objects, F);
  return Changed;
}

} // namespace dragon
