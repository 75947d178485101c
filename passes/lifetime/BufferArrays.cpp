//===- BufferArrays.cpp - arrays of buffers, one by one -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/BufferArrays.h"

#include "passes/lifetime/CallEffects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
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
#include <numeric>

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

// a -> b -> c -> d -> a and shorter.
constexpr unsigned MaxPeriod = 4;

/// After how many iterations the pointers that the loop exchanges are what they
/// were; 1 if it exchanges none, 0 if that is not so.
unsigned swapPeriod(const Loop &L) {
  unsigned Period = 1;
  const BasicBlock *Latch = L.getLoopLatch();
  if (!Latch)
    return 0;
  for (const PHINode &First : L.getHeader()->phis()) {
    if (!First.getType()->isPointerTy())
      continue;
    unsigned Length = 0;
    const Value *V = &First;
    do {
      auto *Phi = dyn_cast<PHINode>(V);
      if (!Phi || Phi->getParent() != L.getHeader())
        break; // comes from elsewhere
      V = Phi->getIncomingValueForBlock(Latch);
      ++Length;
    } while (V != &First && Length <= MaxPeriod);
    if (V == &First)
      Period = std::lcm(Period, Length);
  }
  return Period <= MaxPeriod ? Period : 0;
}

bool unroll(Loop &L, Function &F, FunctionAnalysisManager &Analyses,
            unsigned Count, unsigned Room) {
  auto &Evolution = Analyses.getResult<ScalarEvolutionAnalysis>(F);
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
                    /*PreserveLCSSA=*/true) != LoopUnrollResult::Unmodified;
}

/// Unrolls each loop for which `countOf` gives 2 or more.
bool unrollLoops(Function &F, FunctionAnalysisManager &Analyses, unsigned Limit,
                 function_ref<unsigned(Loop &)> CountOf) {
  bool Changed = false;
  for (bool Again = true; Again;) {
    Again = false;
    unsigned Size = F.getInstructionCount();
    if (Size >= Limit)
      break;
    auto &Loops = Analyses.getResult<LoopAnalysis>(F);
    for (Loop *L : Loops.getLoopsInPreorder()) {
      unsigned Count = L->isLoopSimplifyForm() ? CountOf(*L) : 0;
      if (Count < 2 || !unroll(*L, F, Analyses, Count, Limit - Size))
        continue;
      Analyses.invalidate(F, PreservedAnalyses::none());
      Analyses.invalidate(F, LoopSimplifyPass().run(F, Analyses));
      Again = Changed = true;
      break;
    }
  }
  return Changed;
}

} // namespace

bool unrollBufferArrays(Function &F, FunctionAnalysisManager &Analyses,
                        unsigned Limit) {
  return unrollLoops(F, Analyses, Limit, [&](Loop &L) -> unsigned {
    // Inner loops first.
    if (!L.isInnermost() || !isWanted(L))
      return 0;
    unsigned Count =
        iterations(L, Analyses.getResult<ScalarEvolutionAnalysis>(F));
    return Count <= MaxIterations ? Count : 0;
  });
}

bool unrollBufferSwaps(Function &F, FunctionAnalysisManager &Analyses,
                       unsigned Limit) {
  return unrollLoops(F, Analyses, Limit, [&](Loop &L) -> unsigned {
    bool Uses = any_of(L.blocks(), [](const BasicBlock *B) {
      return any_of(*B, usesBuffers);
    });
    return Uses ? swapPeriod(L) : 0;
  });
}

} // namespace dragon
