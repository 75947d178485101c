//===- Footprint.cpp - index arithmetic to summary expressions ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/Footprint.h"

#include "passes/access/Canonicalize.h"
#include "passes/access/LoadedData.h"
#include "passes/access/PointerRoots.h"
#include "passes/support/LaunchValues.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace dragon {

/// Deeper nests of expressions are unknown.
constexpr unsigned MaxDepth = 64;
/// Choices between more values are unknown.
constexpr unsigned MaxIncoming = 8;

unsigned Footprint::bitsOf(Type *T) {
  if (T->isPointerTy())
    return 64;
  auto *Int = dyn_cast<IntegerType>(T);
  return Int && Int->getBitWidth() <= 64 ? Int->getBitWidth() : 0;
}

Footprint::Index Footprint::unknown(unsigned Bits, bool Loaded) {
  return {Pool.unknown(Bits), false, Loaded};
}

Footprint::Index Footprint::combine(ExprOp Op, Index A, Index B,
                                    uint8_t Flags) {
  return {Pool.binary(Op, A.Node, B.Node, Flags), A.Exact && B.Exact,
          A.Loaded || B.Loaded};
}

/// One of two values, or something between them.
Footprint::Index Footprint::between(Index A, Index B) {
  if (A.Node == B.Node)
    return A;
  unsigned Bits = Pool.Nodes[A.Node].Bits;
  uint32_t Lo = Pool.binary(ExprOp::SMin, A.Node, B.Node);
  uint32_t Hi = Pool.binary(ExprOp::SMax, A.Node, B.Node);
  return {Pool.opaque(Bits, Lo, Hi), false, A.Loaded || B.Loaded};
}

/// What the node is where `From` is the same as `To`; deep operands stay.
static uint32_t replaced(ExprPool &Pool, uint32_t Node, uint32_t From,
                         uint32_t To, unsigned Depth = 0) {
  constexpr unsigned Deep = 12;
  if (Node == From || Depth == Deep)
    return Node == From ? To : Node;
  auto Operand = [&](uint32_t I) {
    return replaced(Pool, I, From, To, Depth + 1);
  };
  const ExprNode N = Pool.Nodes[Node];
  switch (N.Op) {
  case ExprOp::SExt:
  case ExprOp::ZExt:
  case ExprOp::Trunc:
    return Pool.cast(N.Op, Operand(N.A), N.Bits);
  case ExprOp::Add:
  case ExprOp::Sub:
  case ExprOp::Mul:
  case ExprOp::SMin:
  case ExprOp::SMax:
  case ExprOp::UMin:
  case ExprOp::UMax:
    return Pool.binary(N.Op, Operand(N.A), Operand(N.B), N.Flags);
  default:
    return Node;
  }
}

static bool isPosition(const ExprNode &N) {
  return N.Op == ExprOp::BlockIdx || N.Op == ExprOp::ThreadIdx;
}

/// The last block takes what is left:
///
///   int rows = blockIdx.x == gridDim.x - 1 ? n - Tile * blockIdx.x : Tile;
///
/// n - Tile * blockIdx.x means something for that block alone, for which it is
/// n - Tile * (gridDim.x - 1).
Footprint::Index Footprint::chosen(Value &Condition, Index IfTrue,
                                   Index IfFalse, const Loop *Scope) {
  auto *Compared = dyn_cast<ICmpInst>(&Condition);
  if (!Compared || !Compared->isEquality() ||
      !bitsOf(Compared->getOperand(0)->getType()))
    return between(IfTrue, IfFalse);
  Index &WhereSame =
      Compared->getPredicate() == CmpInst::ICMP_EQ ? IfTrue : IfFalse;
  uint32_t From = translate(*Compared->getOperand(0), Scope).Node,
           To = translate(*Compared->getOperand(1), Scope).Node;
  if (!isPosition(Pool.Nodes[From]))
    std::swap(From, To);
  if (isPosition(Pool.Nodes[From]) &&
      !Pool.anyIn(To, [this](uint32_t I) { return isPosition(Pool.Nodes[I]); }))
    WhereSame.Node = replaced(Pool, WhereSame.Node, From, To);
  return between(IfTrue, IfFalse);
}

Footprint::Index Footprint::translate(Value &V, const Loop *Scope) {
  if (!SE.isSCEVable(V.getType()) || !bitsOf(V.getType()))
    return unknown(64, false);
  return translate(SE.getSCEV(&V), Scope);
}

Footprint::Index Footprint::translate(const SCEV *S, const Loop *Scope) {
  S = SE.getSCEVAtScope(S, Scope);
  auto It = Known.find({S, Scope});
  if (It != Known.end())
    return It->second;
  if (Depth >= MaxDepth)
    return unknown(bitsOf(S->getType()) ? bitsOf(S->getType()) : 64, false);
  ++Depth;
  Index Result = compute(S, Scope);
  --Depth;
  Known[{S, Scope}] = Result;
  return Result;
}

Footprint::Index Footprint::compute(const SCEV *S, const Loop *Scope) {
  unsigned Bits = bitsOf(S->getType());
  if (!Bits)
    return unknown(64, false);
  auto fold = [&](ExprOp Op, const SCEVNAryExpr &N) {
    // Flags of an n-ary operation say nothing of its parts.
    uint8_t Flags = 0;
    if (N.getNumOperands() == 2) {
      if (N.hasNoSignedWrap())
        Flags |= NoSignedWrap;
      if (N.hasNoUnsignedWrap())
        Flags |= NoUnsignedWrap;
    }
    Index Sum = translate(N.getOperand(0), Scope);
    for (unsigned I = 1; I < N.getNumOperands(); ++I)
      Sum = combine(Op, Sum, translate(N.getOperand(I), Scope), Flags);
    return Sum;
  };
  auto cast = [&](ExprOp Op, const SCEVCastExpr &C) {
    if (!bitsOf(C.getOperand()->getType()))
      return unknown(Bits, false);
    Index A = translate(C.getOperand(), Scope);
    return Index{Pool.cast(Op, A.Node, Bits), A.Exact, A.Loaded};
  };
  switch (S->getSCEVType()) {
  case scConstant:
    return {Pool.constant(
        llvm::cast<SCEVConstant>(S)->getAPInt().getSExtValue(), Bits)};
  case scTruncate:
    return cast(ExprOp::Trunc, *llvm::cast<SCEVCastExpr>(S));
  case scZeroExtend:
    return cast(ExprOp::ZExt, *llvm::cast<SCEVCastExpr>(S));
  case scSignExtend:
    return cast(ExprOp::SExt, *llvm::cast<SCEVCastExpr>(S));
  case scPtrToInt:
    return cast(ExprOp::ZExt, *llvm::cast<SCEVCastExpr>(S));
  case scAddExpr:
    return fold(ExprOp::Add, *llvm::cast<SCEVNAryExpr>(S));
  case scMulExpr:
    return fold(ExprOp::Mul, *llvm::cast<SCEVNAryExpr>(S));
  case scUMaxExpr:
    return fold(ExprOp::UMax, *llvm::cast<SCEVNAryExpr>(S));
  case scSMaxExpr:
    return fold(ExprOp::SMax, *llvm::cast<SCEVNAryExpr>(S));
  case scUMinExpr:
  case scSequentialUMinExpr:
    return fold(ExprOp::UMin, *llvm::cast<SCEVNAryExpr>(S));
  case scSMinExpr:
    return fold(ExprOp::SMin, *llvm::cast<SCEVNAryExpr>(S));
  case scUDivExpr: {
    auto *Div = llvm::cast<SCEVUDivExpr>(S);
    return combine(ExprOp::UDiv, translate(Div->getLHS(), Scope),
                   translate(Div->getRHS(), Scope));
  }
  case scAddRecExpr:
    return computeAddRec(*llvm::cast<SCEVAddRecExpr>(S), Scope);
  case scUnknown:
    return computeValue(*llvm::cast<SCEVUnknown>(S)->getValue(), Scope);
  case scVScale:
  case scCouldNotCompute:
    break;
  default:
    break;
  }
  return unknown(Bits, false);
}

Footprint::Index Footprint::computeAddRec(const SCEVAddRecExpr &Rec,
                                          const Loop *Scope) {
  unsigned Bits = bitsOf(Rec.getType());
  if (!Rec.isAffine())
    return unknown(Bits, false);
  const Loop *L = Rec.getLoop();
  Index Start = translate(Rec.getStart(), L->getParentLoop());
  Index Step = translate(Rec.getStepRecurrence(SE), L->getParentLoop());
  Index Counter = counterOf(*L);
  // After the loop it is the value of some iteration.
  if (Scope != L && !(Scope && L->contains(Scope)))
    Counter.Exact = false;
  Counter.Node =
      Bits == 64 ? Counter.Node : Pool.cast(ExprOp::Trunc, Counter.Node, Bits);
  uint8_t Flags = (Rec.hasNoSignedWrap() ? NoSignedWrap : 0) |
                  (Rec.hasNoUnsignedWrap() ? NoUnsignedWrap : 0);
  Index Travel = combine(ExprOp::Mul, Step, Counter);
  return combine(ExprOp::Add, Start, Travel, Flags);
}

std::optional<uint32_t> Footprint::numberOf(const Loop &L) const {
  const auto It = Counters.find(&L);
  return It == Counters.end()
             ? std::nullopt
             : std::optional(uint32_t(Pool.Nodes[It->second.Node].Imm));
}

bool Footprint::hasExactCount(const Loop &L) {
  return !isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(&L));
}

Footprint::Index Footprint::counterOf(const Loop &L) {
  auto It = Counters.find(&L);
  if (It != Counters.end())
    return It->second;
  unsigned Number = NextLoop++;
  // The bound may not be made of the counter itself.
  Counters[&L] = {Pool.loop(Number), true, false};
  const SCEV *Count = SE.getSymbolicMaxBackedgeTakenCount(&L);
  uint32_t Bound = NoIndex;
  bool Loaded = false;
  if (!isa<SCEVCouldNotCompute>(Count) && bitsOf(Count->getType())) {
    Index I = translate(Count, L.getParentLoop());
    Bound = I.Node;
    Loaded = I.Loaded;
  }
  Index Result = {Pool.loop(Number, Bound), true, Loaded};
  return Counters[&L] = Result;
}

Footprint::Index Footprint::computeValue(Value &V, const Loop *Scope) {
  unsigned Bits = bitsOf(V.getType());
  // Behind a loop it is what the last iteration found: the loop's counter is no
  // more what it was.
  if (auto *Load = dyn_cast<LoadInst>(&V))
    if (const Loop *L = LI.getLoopFor(Load->getParent());
        L && !(Scope && L->contains(Scope)))
      return {bounded(V, Bits), false, true};
  auto It = Values.find(&V);
  if (It != Values.end())
    return It->second;
  if (auto Before = Earlier.find(&V); Before != Earlier.end())
    return {Before->second, false, false};
  Index Result{NoIndex};
  if (auto *Arg = dyn_cast<Argument>(&V)) {
    if (isKernel(*Arg->getParent()) && !Arg->hasByValAttr())
      Result = {Pool.argument(Arg->getArgNo(), Bits)};
  } else if (isa<ConstantPointerNull>(V)) {
    Result = {Pool.constant(0, 64)};
  } else if (auto *I = dyn_cast<Instruction>(&V)) {
    // A value that depends on itself (a phi that is no recurrence).
    if (!Active.insert(I).second)
      return unknown(Bits, false);
    Result = computeInstruction(*I, Scope, Bits);
    Active.erase(I);
  }
  if (Result.Node == NoIndex)
    Result = unknown(Bits, false);
  if (Pool.Nodes[Result.Node].Op == ExprOp::Unknown)
    Result.Node = bounded(V, Bits);
  return Values[&V] = Result;
}

/// A value of which nothing is known but what its type and bits say.
uint32_t Footprint::bounded(Value &V, unsigned Bits) {
  ConstantRange Range = SE.getSignedRange(SE.getSCEV(&V));
  if (Range.isFullSet() || Range.isEmptySet())
    return Pool.unknown(Bits);
  return Pool.opaque(Bits,
                     Pool.constant(Range.getSignedMin().getSExtValue(), Bits),
                     Pool.constant(Range.getSignedMax().getSExtValue(), Bits));
}

Footprint::Index Footprint::computeInstruction(Instruction &I,
                                               const Loop *Scope,
                                               unsigned Bits) {
  auto operand = [&](unsigned N) { return translate(*I.getOperand(N), Scope); };
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return computeLoad(*Load, Bits);
  if (auto *Element = dyn_cast<ExtractElementInst>(&I))
    return computeElement(*Element, Bits);
  if (auto *Phi = dyn_cast<PHINode>(&I))
    return computePhi(*Phi, Bits);
  if (auto *Select = dyn_cast<SelectInst>(&I)) {
    if (!Select->getCondition()->getType()->isIntegerTy(1) || Bits == 1)
      return unknown(Bits, false);
    // What was never set is not asked for.
    if (isa<UndefValue>(I.getOperand(1)))
      return operand(2);
    if (isa<UndefValue>(I.getOperand(2)))
      return operand(1);
    return chosen(*Select->getCondition(), operand(1), operand(2), Scope);
  }
  if (auto *Call = dyn_cast<IntrinsicInst>(&I))
    return computeIntrinsic(*Call, Scope, Bits);
  // A condition as a number.
  if (Bits == 1)
    return unknown(Bits, false);
  switch (I.getOpcode()) {
  case Instruction::SDiv:
    return combine(ExprOp::SDiv, operand(0), operand(1));
  case Instruction::UDiv:
    return combine(ExprOp::UDiv, operand(0), operand(1));
  case Instruction::SRem:
    return combine(ExprOp::SRem, operand(0), operand(1));
  case Instruction::URem:
    return combine(ExprOp::URem, operand(0), operand(1));
  case Instruction::And:
    return combine(ExprOp::And, operand(0), operand(1));
  case Instruction::Or:
    return combine(ExprOp::Or, operand(0), operand(1));
  case Instruction::Xor:
    return combine(ExprOp::Xor, operand(0), operand(1));
  case Instruction::Shl:
    return combine(ExprOp::Shl, operand(0), operand(1));
  case Instruction::LShr:
    return combine(ExprOp::LShr, operand(0), operand(1));
  case Instruction::AShr:
    return combine(ExprOp::AShr, operand(0), operand(1));
  case Instruction::Freeze:
    return operand(0);
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::Trunc: {
    if (!bitsOf(I.getOperand(0)->getType()))
      return unknown(Bits, false);
    Index A = operand(0);
    ExprOp Op = isa<ZExtInst>(I)   ? ExprOp::ZExt
                : isa<SExtInst>(I) ? ExprOp::SExt
                                   : ExprOp::Trunc;
    return {Pool.cast(Op, A.Node, Bits), A.Exact, A.Loaded};
  }
  default:
    break;
  }
  return unknown(Bits, dependsOnMemory(I));
}

Footprint::Index Footprint::computeIntrinsic(IntrinsicInst &Call,
                                             const Loop *Scope, unsigned Bits) {
  auto operand = [&](unsigned N) {
    return translate(*Call.getArgOperand(N), Scope);
  };
  auto range = [&](int64_t Lo, int64_t Hi) -> Index {
    return {Pool.opaque(Bits, Pool.constant(Lo, Bits), Pool.constant(Hi, Bits)),
            false, false};
  };
  if (const std::optional<LaunchValue> Value =
          launchValueOf(Call.getIntrinsicID()))
    return {Pool.launchValue(Value->Op, Value->Dimension)};
  switch (Call.getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    return range(0, 31);
  case Intrinsic::nvvm_read_ptx_sreg_warpid:
    return range(0, 63);
  case Intrinsic::nvvm_read_ptx_sreg_warpsize:
    return {Pool.constant(32, Bits)};
  case Intrinsic::nvvm_mulhi_ui:
    return highHalf(operand(0), operand(1), /*Signed=*/false);
  case Intrinsic::nvvm_mulhi_i:
    return highHalf(operand(0), operand(1), /*Signed=*/true);
  default:
    return unknown(Bits, Call.mayReadFromMemory());
  }
}

Footprint::Index Footprint::computeLoad(LoadInst &Load, unsigned Bits) {
  if (auto Field = fieldReadBy(Load))
    return {
        Pool.argument(Field->Arg->getArgNo(), Bits, uint32_t(Field->Offset))};
  const bool IsWord = Load.getType()->isIntegerTy() &&
                      (Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64);
  if (!IsWord || !Load.isSimple())
    return unknown(Bits, true);
  const PointerRoots Roots = findRoots(*Load.getPointerOperand(), SE);
  if (Roots.size() != 1 || Roots[0].What != PointerRoot::Parameter ||
      !Roots[0].Offset || Roots[0].Sometimes)
    return unknown(Bits, true);
  const PointerParameter &From = Roots[0].From;
  const Index Offset =
      translate(Roots[0].Offset, LI.getLoopFor(Load.getParent()));
  constexpr unsigned AddressBits = 64;
  const uint32_t Base =
      Pool.argument(From.Arg->getArgNo(), AddressBits, From.ByteOffset);
  return {Pool.loaded(Bits, Pool.binary(ExprOp::Add, Base, Offset.Node)), false,
          true};
}

/// A number of a vector that is read from a structure passed by value.
Footprint::Index Footprint::computeElement(ExtractElementInst &Element,
                                           unsigned Bits) {
  auto *Load = dyn_cast<LoadInst>(Element.getVectorOperand());
  auto *Number = dyn_cast<ConstantInt>(Element.getIndexOperand());
  constexpr unsigned ByteBits = 8;
  if (Load && Number && Bits % ByteBits == 0)
    if (auto Field = fieldReadBy(*Load))
      return {Pool.argument(Field->Arg->getArgNo(), Bits,
                            uint32_t(Field->Offset + Number->getZExtValue() *
                                                         (Bits / ByteBits)))};
  return unknown(Bits, dependsOnMemory(Element));
}

/// The upper 32 bits of the product of two numbers of 32 bits.
Footprint::Index Footprint::highHalf(Index A, Index B, bool Signed) {
  constexpr unsigned Half = 32, Whole = 64;
  const ExprOp Extend = Signed ? ExprOp::SExt : ExprOp::ZExt;
  A.Node = Pool.cast(Extend, A.Node, Whole);
  B.Node = Pool.cast(Extend, B.Node, Whole);
  const uint8_t NoWrap = Signed ? NoSignedWrap : NoUnsignedWrap;
  Index High =
      combine(Signed ? ExprOp::AShr : ExprOp::LShr,
              combine(ExprOp::Mul, A, B, NoWrap), {Pool.constant(Half, Whole)});
  High.Node = Pool.cast(ExprOp::Trunc, High.Node, Half);
  return High;
}

Footprint::Index Footprint::computePhi(PHINode &Phi, unsigned Bits) {
  if (Bits == 1 || Phi.getNumIncomingValues() > MaxIncoming ||
      Phi.getNumIncomingValues() == 0)
    return unknown(Bits, dependsOnMemory(Phi));
  if (LI.isLoopHeader(Phi.getParent()))
    return computeCycle(Phi, Bits);
  Index Result{NoIndex};
  for (unsigned I = 0; I < Phi.getNumIncomingValues(); ++I) {
    if (isa<UndefValue>(Phi.getIncomingValue(I)))
      continue;
    Index Next = translate(*Phi.getIncomingValue(I),
                           LI.getLoopFor(Phi.getIncomingBlock(I)));
    Result = Result.Node == NoIndex ? Next : between(Result, Next);
  }
  return Result.Node == NoIndex ? unknown(Bits, false) : Result;
}

} // namespace dragon
