//===- DeviceUnrolling.cpp - loops of device code are unrolled ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/DeviceUnrolling.h"
#include "passes/codegen/Divisions.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

/// How often a loop is unrolled whose number of iterations is not known. The
/// assembler goes on from there.
constexpr unsigned LeastCount = 4;
/// At most, if the number is known and nothing remains. All loads of an
/// unrolled loop take registers at once.
constexpr unsigned MostKnownCount = 32;
/// The most instructions that a loop may have after it was unrolled in part; if
/// it is unrolled LeastCount times only; entirely; and entirely where that puts
/// a local array into registers.
constexpr uint64_t PartLimit = 128, LeastLimit = 600, FullLimit = 400,
                   ArrayLimit = 4000;
/// What is computed at compile time once a loop is gone raises its limit by the
/// same factor, at most this one.
constexpr uint64_t MostGain = 4;
/// Arrays of a thread that may be put into registers, in bytes: a thread has
/// 255 registers.
constexpr uint64_t MostArrayBytes = 512;

/// Of loops that ReleasedLoopsPass opens to the assembler.
constexpr char Released[] = "dragon.loop.released";

class Unroller {
public:
  Unroller(Function &F, FunctionAnalysisManager &Analyses,
           bool ApproximateDivision)
      : Loops(Analyses.getResult<LoopAnalysis>(F)),
        Evolution(Analyses.getResult<ScalarEvolutionAnalysis>(F)),
        Dominators(Analyses.getResult<DominatorTreeAnalysis>(F)),
        Assumptions(Analyses.getResult<AssumptionAnalysis>(F)),
        Costs(Analyses.getResult<TargetIRAnalysis>(F)),
        Remarks(Analyses.getResult<OptimizationRemarkEmitterAnalysis>(F)),
        ApproximateDivision(ApproximateDivision) {}

  /// True if the function changed.
  bool run();

private:
  /// What one iteration is.
  struct Body {
    uint64_t Size = 0;  ///< instructions
    uint64_t Left = 0;  ///< those that are left if iterations are known
    bool Calls = false; ///< functions, or inline assembly
    bool InnerLoops = false;
    bool Operands = false;   ///< constant memory is read at known addresses
    bool LocalArray = false; ///< an array's index depends on the iteration
  };
  InstructionCost costOf(const Instruction &I) const;
  /// Nothing if the costs are not known.
  std::optional<Body> bodyOf(const Loop &L) const;
  /// How a loop is unrolled.
  struct Way {
    unsigned Count = 0;     ///< 0: it stays as it is
    bool Remainder = false; ///< iterations may remain
  };
  Way wayFor(const Loop &L);
  static Way wayFor(const Body &Each, unsigned Trips);
  LoopUnrollResult unroll(Loop &L, Way Chosen);

  LoopInfo &Loops;
  ScalarEvolution &Evolution;
  DominatorTree &Dominators;
  AssumptionCache &Assumptions;
  const TargetTransformInfo &Costs;
  OptimizationRemarkEmitter &Remarks;
  const bool ApproximateDivision;
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

Intrinsic::ID intrinsicOf(const SCEV *Part) {
  const auto *Value = dyn_cast<SCEVUnknown>(Part);
  const auto *Call =
      Value ? dyn_cast<IntrinsicInst>(Value->getValue()) : nullptr;
  return Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic;
}

bool isOfThread(const SCEV *Part) {
  switch (intrinsicOf(Part)) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
  case Intrinsic::nvvm_read_ptx_sreg_tid_z:
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    return true;
  default:
    return false;
  }
}

/// A number, or the size of a block, and what is computed from them.
bool isOfBlock(const SCEV *Stride) {
  return !SCEVExprContains(Stride, [](const SCEV *Part) {
    switch (intrinsicOf(Part)) {
    case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
    case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
    case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
      return false;
    default:
      return isa<SCEVUnknown>(Part);
    }
  });
}

/// The threads of a block share a loop, each with a stride: few iterations, as
/// a rule, for which the test in front of an unrolled loop, with a division,
/// does not pay. The threads of a grid have long ones together.
bool isShareOfBlock(const SCEV &Iterations) {
  bool Divided = false, ByOthers = false;
  SCEVExprContains(&Iterations, [&](const SCEV *Part) {
    const auto *Quotient = dyn_cast<SCEVUDivExpr>(Part);
    Divided |= Quotient != nullptr;
    ByOthers |= Quotient && !isOfBlock(Quotient->getRHS());
    return false;
  });
  return Divided && !ByOthers && SCEVExprContains(&Iterations, isOfThread);
}

/// Who does that expects many iterations.
bool countsIn64Bits(const Loop &L, ScalarEvolution &Evolution) {
  return any_of(L.getHeader()->phis(), [&](PHINode &Phi) {
    return Phi.getType()->isIntegerTy() &&
           Phi.getType()->getIntegerBitWidth() > 32 &&
           isa<SCEVAddRecExpr>(Evolution.getSCEV(&Phi));
  });
}

/// An array of the thread that registers could hold.
bool isLocalArray(const Value *Pointer, const DataLayout &Layout) {
  const auto *Array = dyn_cast<AllocaInst>(getUnderlyingObject(Pointer));
  if (!Array || !Array->isStaticAlloca())
    return false;
  const std::optional<TypeSize> Bytes = Array->getAllocationSize(Layout);
  return Bytes && !Bytes->isScalable() && *Bytes <= MostArrayBytes;
}

/// What an iteration knows once the loop has been unrolled entirely: numbers,
/// addresses with known offsets, constants in memory.
class KnownValues {
public:
  explicit KnownValues(const Loop &L) : L(L) {}

  /// Called in the order of the program.
  bool add(const Instruction &I) {
    if (!isKnown(I))
      return false;
    Known.insert(&I);
    return true;
  }

  bool contains(const Value *V) const {
    return isa<Constant>(V) || isa<AllocaInst>(V) || Known.contains(V);
  }

private:
  bool isKnown(const Instruction &I) const {
    const auto All = [&](const auto &Operands) {
      return all_of(Operands, [&](const Value *V) { return contains(V); });
    };
    if (const auto *Phi = dyn_cast<PHINode>(&I))
      return Phi->getParent() == L.getHeader() && isCounter(*Phi);
    if (isa<BinaryOperator, CmpInst, CastInst, GetElementPtrInst, SelectInst>(
            I))
      return All(I.operands());
    if (const auto *Branch = dyn_cast<BranchInst>(&I))
      return Branch->isUnconditional() || contains(Branch->getCondition());
    // The operand of another instruction.
    if (const auto *Load = dyn_cast<LoadInst>(&I)) {
      const auto *From = dyn_cast<GlobalVariable>(
          getUnderlyingObject(Load->getPointerOperand()));
      return From && contains(Load->getPointerOperand()) &&
             (From->isConstant() ||
              From->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST);
    }
    return false;
  }

  bool isCounter(const PHINode &Phi) const {
    const BasicBlock *Preheader = L.getLoopPreheader(),
                     *Latch = L.getLoopLatch();
    if (!Preheader || !Latch ||
        !isa<Constant>(Phi.getIncomingValueForBlock(Preheader)))
      return false;
    const auto *Step =
        dyn_cast<BinaryOperator>(Phi.getIncomingValueForBlock(Latch));
    return Step && is_contained(Step->operands(), &Phi) &&
           (isa<Constant>(Step->getOperand(0)) ||
            isa<Constant>(Step->getOperand(1)));
  }

  const Loop &L;
  SmallPtrSet<const Value *, 32> Known;
};

InstructionCost Unroller::costOf(const Instruction &I) const {
  switch (divisionOf(I, ApproximateDivision)) {
  case Division::Long:
    return 40;
  case Division::Short:
    return I.getOpcode() == Instruction::FDiv ? 2 : 4;
  case Division::None:
    break;
  }
  return Costs.getInstructionCost(&I, TargetTransformInfo::TCK_SizeAndLatency);
}

std::optional<Unroller::Body> Unroller::bodyOf(const Loop &L) const {
  Body Each;
  Each.InnerLoops = !L.isInnermost();
  InstructionCost Size = 0, Left = 0;
  KnownValues Known(L);
  const DataLayout &Layout = L.getHeader()->getDataLayout();
  LoopBlocksRPO InOrder(const_cast<Loop *>(&L));
  InOrder.perform(&Loops);
  for (const BasicBlock *Block : InOrder)
    for (const Instruction &I : *Block) {
      if (I.getType()->isTokenTy())
        return std::nullopt;
      if (const auto *Call = dyn_cast<CallBase>(&I))
        Each.Calls |= Call->isConvergent() || Call->isInlineAsm() ||
                      !isa<IntrinsicInst>(Call);
      const InstructionCost Cost = costOf(I);
      Size += Cost;
      if (!Known.add(I))
        Left += Cost;
      else if (isa<LoadInst>(I))
        Each.Operands = true;
      const auto *Address = dyn_cast<GetElementPtrInst>(&I);
      Each.LocalArray |= Address && Known.contains(Address) &&
                         !Address->hasAllConstantIndices() &&
                         isLocalArray(Address, Layout);
    }
  if (!Size.isValid() || !Left.isValid() || Size == 0)
    return std::nullopt;
  Each.Size = uint64_t(Size.getValue());
  Each.Left = std::max<uint64_t>(uint64_t(Left.getValue()), 1);
  return Each;
}

Unroller::Way Unroller::wayFor(const Loop &L) {
  if (hasUnrollTransformation(&L) != TM_Unspecified ||
      !L.isLoopSimplifyForm() || !L.isSafeToClone() ||
      L.getExitingBlock() != L.getLoopLatch())
    return {};
  const std::optional<Body> Each = bodyOf(L);
  if (!Each)
    return {};
  if (const unsigned Trips = Evolution.getSmallConstantTripCount(&L))
    return wayFor(*Each, Trips);
  // Few iterations do not pay for the test in front of them.
  const unsigned Most = Evolution.getSmallConstantMaxTripCount(&L);
  const SCEV *Taken = Evolution.getBackedgeTakenCount(&L);
  if (Each->Calls || Each->InnerLoops || isa<SCEVCouldNotCompute>(Taken) ||
      (Most && Most <= LeastCount) || Each->Size * LeastCount > LeastLimit)
    return {};
  if (isShareOfBlock(*Taken) && !countsIn64Bits(L, Evolution))
    return {};
  return {LeastCount, /*Remainder=*/true};
}

Unroller::Way Unroller::wayFor(const Body &Each, unsigned Trips) {
  if (Each.LocalArray && Each.Left * Trips <= ArrayLimit)
    return {Trips};
  // Iterations must not be put together where threads wait for each other, and
  // a call is more work than the loop around it.
  if (Each.Calls || Each.InnerLoops)
    return {};
  const uint64_t Gain =
      Each.Operands ? MostGain
                    : std::clamp<uint64_t>(Each.Size / Each.Left, 1, MostGain);
  if (Each.Left * Trips <= FullLimit * Gain)
    return {Trips};
  for (uint64_t Count =
           std::min<uint64_t>(PartLimit / Each.Size, MostKnownCount);
       Count >= LeastCount; --Count)
    if (Trips % Count == 0)
      return {unsigned(Count)};
  if (Each.Size * LeastCount <= LeastLimit)
    return {LeastCount, /*Remainder=*/true};
  return {};
}

LoopUnrollResult Unroller::unroll(Loop &L, Way Chosen) {
  UnrollLoopOptions How{};
  How.Count = Chosen.Count;
  How.Runtime = Chosen.Remainder;
  How.AllowExpensiveTripCount = true;
  const bool Simple = L.getNumBlocks() == 1;
  Loop *Remainder = nullptr;
  const LoopUnrollResult Result =
      UnrollLoop(&L, How, &Loops, &Evolution, &Dominators, &Assumptions, &Costs,
                 &Remarks, /*PreserveLCSSA=*/true, &Remainder);
  // LLVM's own pass is not to unroll them once more. The assembler may, but for
  // loops with branches, which it makes longer and not faster.
  if (Result == LoopUnrollResult::PartiallyUnrolled) {
    L.setLoopAlreadyUnrolled();
    if (Simple)
      addStringMetadataToLoop(&L, Released);
  }
  if (Remainder)
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
  return Unroller(F, Analyses, ApproximateDivision).run()
             ? PreservedAnalyses::none()
             : PreservedAnalyses::all();
}

PreservedAnalyses ReleasedLoopsPass::run(Function &F,
                                         FunctionAnalysisManager &Analyses) {
  if (!F.getParent()->getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  for (Loop *L : Analyses.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    if (findStringMetadataForLoop(L, Released))
      L->setLoopID(makePostTransformationMetadata(
          F.getContext(), L->getLoopID(), {"llvm.loop.unroll.", Released}, {}));
  return PreservedAnalyses::all();
}

} // namespace dragon
