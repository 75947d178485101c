//===- LocalAlignment.cpp - local arrays as nvcc aligns them --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/LocalAlignment.h"

#include "llvm/ADT/bit.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>

using namespace llvm;

namespace dragon {

PreservedAnalyses LocalAlignmentPass::run(Function &F,
                                          FunctionAnalysisManager &) {
  constexpr uint64_t Most = 16;
  const Module &M = *F.getParent();
  if (!M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  for (Instruction &I : instructions(F)) {
    auto *Local = dyn_cast<AllocaInst>(&I);
    if (!Local)
      continue;
    const std::optional<TypeSize> Bytes =
        Local->getAllocationSize(M.getDataLayout());
    if (!Bytes || Bytes->isScalable() || Bytes->getFixedValue() == 0)
      continue;
    const Align Wanted(
        std::min(Most, llvm::bit_floor(uint64_t(Bytes->getFixedValue()))));
    Local->setAlignment(std::max(Local->getAlign(), Wanted));
  }
  return PreservedAnalyses::all();
}

} // namespace dragon
