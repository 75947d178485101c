//===- Divisions.cpp - divisions that no host traps -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Divisions.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

static void protect(BinaryOperator &Division) {
  const Instruction::BinaryOps Op = Division.getOpcode();
  const bool Signed = Op == Instruction::SDiv || Op == Instruction::SRem;
  Value *Dividend = Division.getOperand(0), *Divisor = Division.getOperand(1);
  const SimplifyQuery Query(Division.getDataLayout(), &Division);
  const bool MayBeZero = !isKnownNonZero(Divisor, Query);
  const bool MayOverflow = Signed &&
                           !computeKnownBits(Divisor, Query).isNonNegative() &&
                           !isa<ConstantInt>(Divisor);
  if (!MayBeZero && !MayOverflow)
    return;
  Type *T = Division.getType();
  const unsigned Bits = T->getScalarSizeInBits();
  IRBuilder<> Builder(&Division);
  Value *Traps = nullptr;
  if (MayBeZero)
    Traps = Builder.CreateICmpEQ(Divisor, ConstantInt::get(T, 0));
  if (MayOverflow) {
    Value *Overflows = Builder.CreateAnd(
        Builder.CreateICmpEQ(Divisor, Constant::getAllOnesValue(T)),
        Builder.CreateICmpEQ(
            Dividend, ConstantInt::get(T, APInt::getSignedMinValue(Bits))));
    Traps = Traps ? Builder.CreateOr(Traps, Overflows) : Overflows;
  }
  Division.setOperand(
      1, Builder.CreateSelect(Traps, ConstantInt::get(T, 1), Divisor));
}

void protectDivisions(Module &M) {
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (I.isIntDivRem())
        protect(cast<BinaryOperator>(I));
}

} // namespace dragon
