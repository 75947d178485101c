//===- LoopBounds.cpp - how large a value gets in a loop ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/LoopBounds.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace dragon {

bool LoopBounds::isFixed(const SCEV *S) const {
  return Evolution.isLoopInvariant(S, &L) &&
         Expander.isSafeToExpandAt(S, &Point);
}

Value *LoopBounds::fixed(const SCEV *S) {
  return Expander.expandCodeFor(S, S->getType(), &Point);
}

bool LoopBounds::isBounded(const SCEV *S) const {
  if (!S->getType()->isIntegerTy() ||
      Evolution.getTypeSizeInBits(S->getType()) > 64)
    return false;
  if (isFixed(S))
    return true;
  auto Is = [&](const SCEV *Operand) { return isBounded(Operand); };
  switch (S->getSCEVType()) {
  case scTruncate:
  case scZeroExtend:
    return Is(cast<SCEVCastExpr>(S)->getOperand());
  case scAddExpr:
  case scMulExpr:
  case scUMaxExpr:
    return all_of(S->operands(), Is);
  case scUMinExpr:
  case scSequentialUMinExpr:
    return any_of(S->operands(), Is);
  case scUDivExpr:
    return Is(cast<SCEVUDivExpr>(S)->getLHS());
  default:
    return false;
  }
}

Value *LoopBounds::largest(const SCEV *S) {
  IRBuilder<> Builder(&Point);
  Type *I64 = Builder.getInt64Ty();
  if (isFixed(S))
    return Builder.CreateZExt(fixed(S), I64);
  auto Fold = [&](auto &&Combine) {
    Value *Result = nullptr;
    for (const SCEV *Operand : S->operands()) {
      if (!isBounded(Operand))
        continue;
      Value *One = largest(Operand);
      Result = Result ? Combine(Result, One) : One;
    }
    return Result;
  };
  auto Call = [&](Intrinsic::ID Id) {
    return [&, Id](Value *A, Value *B) -> Value * {
      return Builder.CreateBinaryIntrinsic(Id, A, B);
    };
  };
  switch (S->getSCEVType()) {
  case scTruncate: {
    // Taking bits away makes no number larger.
    uint64_t Most = maxUIntN(Evolution.getTypeSizeInBits(S->getType()));
    return Builder.CreateBinaryIntrinsic(
        Intrinsic::umin, largest(cast<SCEVCastExpr>(S)->getOperand()),
        Builder.getInt64(Most));
  }
  case scZeroExtend:
    return largest(cast<SCEVCastExpr>(S)->getOperand());
  case scAddExpr: {
    // A sum that wraps is smaller than its operands' largest sum. What is fixed
    // is added up as it is: (n - 1) is no large number.
    SmallVector<const SCEV *, 4> Fixed, Others;
    for (const SCEV *Operand : S->operands())
      (isFixed(Operand) ? Fixed : Others).push_back(Operand);
    Value *Result = nullptr;
    if (!Fixed.empty())
      Result = Builder.CreateZExt(fixed(Evolution.getAddExpr(Fixed)), I64);
    for (const SCEV *Operand : Others) {
      Value *One = largest(Operand);
      Result = Result ? Call(Intrinsic::uadd_sat)(Result, One) : One;
    }
    return Result;
  }
  case scMulExpr:
    return Fold([&](Value *A, Value *B) -> Value * {
      Value *Product =
          Builder.CreateBinaryIntrinsic(Intrinsic::umul_with_overflow, A, B);
      return Builder.CreateSelect(Builder.CreateExtractValue(Product, 1),
                                  Builder.getInt64(UINT64_MAX),
                                  Builder.CreateExtractValue(Product, 0));
    });
  case scUMaxExpr:
    return Fold(Call(Intrinsic::umax));
  case scUMinExpr:
  case scSequentialUMinExpr:
    return Fold(Call(Intrinsic::umin));
  case scUDivExpr: {
    Value *Dividend = largest(cast<SCEVUDivExpr>(S)->getLHS());
    const SCEV *Divisor = cast<SCEVUDivExpr>(S)->getRHS();
    if (!isFixed(Divisor))
      return Dividend;
    // A division by zero is on no way here, but this is.
    Value *By = Builder.CreateZExt(fixed(Divisor), I64);
    if (!isa<ConstantInt>(By) || cast<ConstantInt>(By)->isZero())
      By = Call(Intrinsic::umax)(By, Builder.getInt64(1));
    return Builder.CreateUDiv(Dividend, By);
  }
  default:
    llvm_unreachable("not bounded");
  }
}

const SCEV *LoopBounds::half(Value *V, bool Upper) {
  using namespace PatternMatch;
  Type *I32 = Type::getInt32Ty(V->getContext());
  const SCEV *Zero = Evolution.getZero(I32);
  const APInt *Mask;
  Value *A, *B;
  if (auto *Constant = dyn_cast<ConstantInt>(V))
    return Evolution.getConstant(
        I32, Constant->getZExtValue() >> (Upper ? 32 : 0) & UINT32_MAX);
  // The other half, of a structure that is filled one field after the other.
  if (isa<UndefValue>(V))
    return Zero;
  if (match(V, m_Or(m_Value(A), m_Value(B)))) {
    const SCEV *X = half(A, Upper), *Y = half(B, Upper);
    return !X || !Y ? nullptr : X->isZero() ? Y : Y->isZero() ? X : nullptr;
  }
  if (match(V, m_And(m_Value(A), m_APInt(Mask)))) {
    uint32_t Bits = Mask->extractBitsAsZExtValue(32, Upper ? 32 : 0);
    return Bits == 0 ? Zero : Bits == UINT32_MAX ? half(A, Upper) : nullptr;
  }
  if (match(V, m_ZExt(m_Value(A))) && A->getType() == I32)
    return Upper ? Zero : Evolution.getSCEV(A);
  if (match(V, m_Shl(m_Value(A), m_SpecificInt(32))))
    return Upper ? half(A, false) : Zero;
  const SCEV *S = Evolution.getSCEV(V);
  if (!Evolution.isLoopInvariant(S, &L))
    return nullptr;
  if (Upper)
    S = Evolution.getUDivExpr(
        S, Evolution.getConstant(S->getType(), uint64_t(1) << 32));
  return Evolution.getTruncateExpr(S, I32);
}

} // namespace dragon
