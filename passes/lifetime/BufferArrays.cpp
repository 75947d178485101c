//===- BufferArrays.cpp - arrays of buffers, one by one -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/BufferArrays.h"

#include "passes/lifetime/CallEffects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace dragon {

namespace {

// Arrays that people write down one by one elsewhere.
constexpr unsigned MaxIterations = 16;

bool holdsPointers(const Type *T) {
  if (const auto *Array = dyn_cast<ArrayType>(T))
    return holdsPointers(Array->getElementType());
  if (const auto *Struct = dyn_cast<StructType>(T))
    return any_of(Struct->elements(), holdsPointers);
  return T->isPointerTy();
}

/// `d[i]` of a local array of pointers.
bool indexesArray(const Instruction &I) {
  auto *Address = dyn_cast<GetElementPtrInst>(&I);
  if (!Address || Address->hasAllConstantIndices())
    return false;
  auto *Local = dyn_cast<AllocaInst>(getUnderlyingObject(Address));
  return Local && holdsPointers(Local->getAllocatedType());
}

bool usesBuffers(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (isLaunch(*Call))
    return true;
  const CallEffect *Effect = callEffect(*Call);
  return Effect && Effect->Kind != CallKind::Neutral &&
         Effect->Kind != CallKind::Query;
}

bool isWanted(const Loop &L) {
  bool Indexes = false, Uses = false;
  for (const BasicBlock *B : L.blocks())
    for (const Instruction &I : *B) {
      Indexes |= indexesArray(I);
      Uses |= usesBuffers(I);
    }
  return Indexes && Uses;
}

unsigned iterations(const Loop &L, ScalarEvolution &Evolution) {
  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  for (const BasicBlock *B : Exiting)
    if (unsigned Count = Evolution.getSmallConstantTripCount(&L, B))
      return Count;
  return 0;
}

bool unroll(Loop &L, Function &F, FunctionAnalysisManager &Analyses,
            unsigned Room) {
  auto &Evolution = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  unsigned Count = iterations(L, Evolution);
  if (Count < 2 || Count > MaxIterations)
    return false;
  size_t Size = 0;
  for (const BasicBlock *B : L.blocks())
    Size += B->size();
  if (Size * (Count - 1) > Room)
    return false;
  auto &Loops = Analyses.getResult<LoopAnalysis>(F);
  auto &Dominators = Analyses.getResult<DominatorTreeAnalysis>(F);
  formLCSSARecursively(L, Dominators, &Loops, &Evolution);
  UnrollLoopOptions Options{};
  Options.Count = Count;
  Options.Force = true;
  Options.ForgetAllSCEV = true;
  return UnrollLoop(&L, Options, &Loops, &Evolution, &Dominators,
                    &Analyses.getResult<AssumptionAnalysis>(F),
                    &Analyses.getResult<TargetIRAnalysis>(F), nullptr,
                    /*PreserveLCSSA=*/true) == LoopUnrollResult::FullyUnrolled;
}

} // namespace

bool unrollBufferArrays(Function &F, FunctionAnalysisManager &Analyses,
                        unsigned Limit) {
  bool Changed = false;
  for (bool Again = true; Again;) {
    Again = false;
    unsigned Size = F.getInstructionCount();
    if (Size >= Limit)
      break;
    auto &Loops = Analyses.getResult<LoopAnalysis>(F);
    for (Loop *L : Loops.getLoopsInPreorder()) {
      // Inner loops first.
      if (!L->isInnermost() || !L->isLoopSimplifyForm() || !isWanted(*L) ||
          !unroll(*L, F, Analyses, Limit - Size))
        continue;
      Analyses.invalidate(F, PreservedAnalyses::none());
      Analyses.invalidate(F, LoopSimplifyPass().run(F, Analyses));
      Again = Changed = true;
      break;
    }
  }
  return Changed;
}

} // namespace dragon
