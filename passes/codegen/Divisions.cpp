//===- Divisions.cpp - what a division of a GPU is ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/Divisions.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instruction.h"

using namespace llvm;

namespace dragon {

Division divisionOf(const Instruction &I, bool ApproximateFloats) {
  bool Short = false;
  switch (I.getOpcode()) {
  case Instruction::FDiv:
    Short =
        I.hasApproxFunc() || (ApproximateFloats && I.getType()->isFloatTy());
    break;
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    Short = isa<Constant>(I.getOperand(1));
    break;
  default:
    return Division::None;
  }
  return Short ? Division::Short : Division::Long;
}

} // namespace dragon
