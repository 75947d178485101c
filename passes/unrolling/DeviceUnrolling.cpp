//===- DeviceUnrolling.cpp - loops of device code are unrolled ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/unrolling/DeviceUnrolling.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

/// How often a loop is unrolled whose number of iterations is not known: at
/// most, and if that number takes a division. Iterations that remain of the
/// former are unrolled as the latter.
constexpr unsigned MostCount = 16, LeastCount = 4;
/// At most, if the number is known and nothing remains. All loads of an
/// unrolled loop take registers at once.
constexpr unsigned MostKnownCount = 32;
/// The most instructions that a loop may have after it was unrolled in part, or
/// entirely.
constexpr uint64_t PartLimit = 400, FullLimit = 1000;

class Unroller {
public:
  Unroller(Function &F, FunctionAnalysisManager &Analyses)
      : Loops(Analyses.getResult<LoopAnalysis>(F)),
        Evolution(Analyses.getResult<ScalarEvolutionAnalysis>(F)),
        Dominators(Analyses.getResult<DominatorTreeAnalysis>(F)),
        Assumptions(Analyses.getResult<AssumptionAnalysis>(F)),
        Costs(Analyses.getResult<TargetIRAnalysis>(F)),
        Remarks(Analyses.getResult<OptimizationRemarkEmitterAnalysis>(F)),
        Expander(Evolution, "unroll") {}

  /// True if the function changed.
  bool run();

private:
  /// The instructions of one iteration; nothing if the loop must stay as it is.
  std::optional<uint64_t> size(const Loop &L) const;
  /// How a loop is unrolled.
  struct Way {
    unsigned Count = 0;     ///< 0: it stays as it is
    bool Remainder = false; ///< iterations may remain
  };
  Way wayFor(const Loop &L);
  static Way wayFor(uint64_t Size, unsigned Trips);
  LoopUnrollResult unroll(Loop &L, Way Chosen);

  LoopInfo &Loops;
  ScalarEvolution &Evolution;
  DominatorTree &Dominators;
  AssumptionCache &Assumptions;
  const TargetTransformInfo &Costs;
  OptimizationRemarkEmitter &Remarks;
  SCEVExpander Expander;
};

/// Floating-point atomics on shared memory are loops themselves: what is behind
/// one waits for it, so nothing more is under way in an unrolled loop.
bool hasLoopOfTheAssembler(const Loop &L) {
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block)
      if (const auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
        if (AtomicRMWInst::isFPOperation(Atomic->getOperation()) &&
            getUnderlyingObject(Atomic->getPointerOperand())
                    ->getType()
                    ->getPointerAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
          return true;
  return false;
}

std::optional<uint64_t> Unroller::size(const Loop &L) const {
  InstructionCost Size = 0;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      // Iterations must not be put together where threads wait for each other,
      // and a call is more work than the loop around it.
      if (const auto *Call = dyn_cast<CallBase>(&I))
        if (Call->isConvergent() || Call->isInlineAsm() ||
            !isa<IntrinsicInst>(Call))
          return std::nullopt;
      if (I.getType()->isTokenTy())
        return std::nullopt;
      Size +=
          Costs.getInstructionCost(&I, TargetTransformInfo::TCK_SizeAndLatency);
    }
  if (!Size.isValid())
    return std::nullopt;
  return uint64_t(Size.getValue());
}

Unroller::Way Unroller::wayFor(const Loop &L) {
  if (hasUnrollTransformation(&L) != TM_Unspecified || !L.isInnermost() ||
      !L.isLoopSimplifyForm() || !L.isSafeToClone() ||
      L.getExitingBlock() != L.getLoopLatch())
    return {};
  const std::optional<uint64_t> Size = size(L);
  if (!Size || *Size == 0)
    return {};
  if (const unsigned Trips = Evolution.getSmallConstantTripCount(&L))
    return wayFor(*Size, Trips);
  // Few iterations do not pay for the test in front of them.
  const unsigned Most = Evolution.getSmallConstantMaxTripCount(&L);
  const SCEV *Taken = Evolution.getBackedgeTakenCount(&L);
  if (isa<SCEVCouldNotCompute>(Taken) || (Most && Most <= LeastCount) ||
      *Size * LeastCount > PartLimit)
    return {};
  if (Expander.isHighCostExpansion(Taken, const_cast<Loop *>(&L),
                                   SCEVCheapExpansionBudget, &Costs,
                                   L.getLoopPreheader()->getTerminator()))
    return {LeastCount, /*Remainder=*/true};
  unsigned Count = MostCount;
  while (Count > LeastCount &&
         (*Size * Count > PartLimit || (Most && Count > Most)))
    Count /= 2;
  return {Count, /*Remainder=*/true};
}

Unroller::Way Unroller::wayFor(uint64_t Size, unsigned Trips) {
  if (Size * Trips <= FullLimit)
    return {Trips};
  for (uint64_t Count = std::min<uint64_t>(PartLimit / Size, MostKnownCount);
       Count >= LeastCount; --Count)
    if (Trips % Count == 0)
      return {unsigned(Count)};
  if (Size * LeastCount <= PartLimit)
    return {LeastCount, /*Remainder=*/true};
  return {};
}

LoopUnrollResult Unroller::unroll(Loop &L, Way Chosen) {
  UnrollLoopOptions How{};
  How.Count = Chosen.Count;
  How.Runtime = Chosen.Remainder;
  How.AllowExpensiveTripCount = true;
  Loop *Remainder = nullptr;
  const LoopUnrollResult Result =
      UnrollLoop(&L, How, &Loops, &Evolution, &Dominators, &Assumptions, &Costs,
                 &Remarks, /*PreserveLCSSA=*/true, &Remainder);
  // LLVM's own pass is not to unroll them once more.
  if (Result == LoopUnrollResult::PartiallyUnrolled)
    L.setLoopAlreadyUnrolled();
  if (Remainder && Chosen.Count > LeastCount && Remainder->isLoopSimplifyForm())
    unroll(*Remainder, {LeastCount, /*Remainder=*/true});
  else if (Remainder)
    Remainder->setLoopAlreadyUnrolled();
  return Result;
}

bool Unroller::run() {
  bool Changed = false;
  for (Loop *L : Loops) {
    Changed |= simplifyLoop(L, &Dominators, &Loops, &Evolution, &Assumptions,
                            /*MSSAU=*/nullptr, /*PreserveLCSSA=*/false);
    Changed |= formLCSSARecursively(*L, Dominators, &Loops, &Evolution);
  }
  // Inner loops come first: a loop around one that is gone is innermost.
  SmallVector<Loop *, 8> Outward = Loops.getLoopsInPreorder();
  while (!Outward.empty()) {
    Loop &L = *Outward.pop_back_val();
    if (hasUnrollTransformation(&L) == TM_Unspecified &&
        hasLoopOfTheAssembler(L)) {
      L.setLoopAlreadyUnrolled(); // Nor is LLVM's own pass to do it.
      Changed = true;
    }
    if (const Way Chosen = wayFor(L); Chosen.Count)
      Changed |= unroll(L, Chosen) != LoopUnrollResult::Unmodified;
  }
  return Changed;
}

} // namespace

PreservedAnalyses DeviceUnrollingPass::run(Function &F,
                                           FunctionAnalysisManager &Analyses) {
  if (!F.getParent()->getTargetTriple().isNVPTX() || F.hasOptSize() ||
      F.hasOptNone() || Analyses.getResult<LoopAnalysis>(F).empty())
    return PreservedAnalyses::all();
  return Unroller(F, Analyses).run() ? PreservedAnalyses::none()
                                     : PreservedAnalyses::all();
}

} // namespace dragon
