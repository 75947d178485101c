//===- RelaxedExchanges.cpp - atomicCAS orders nothing --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/RelaxedExchanges.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace dragon {

PreservedAnalyses RelaxedExchangesPass::run(Function &F,
                                            FunctionAnalysisManager &) {
  if (!F.getParent()->getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  for (Instruction &I : instructions(F)) {
    auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I);
    if (!Exchange ||
        Exchange->getSuccessOrdering() != AtomicOrdering::Release ||
        Exchange->getFailureOrdering() !=
            AtomicOrdering::SequentiallyConsistent)
      continue;
    Exchange->setSuccessOrdering(AtomicOrdering::Monotonic);
    Exchange->setFailureOrdering(AtomicOrdering::Monotonic);
  }
  return PreservedAnalyses::all();
}

} // namespace dragon
