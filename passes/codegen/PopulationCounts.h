//===- PopulationCounts.h - loops over the bits of a word -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for (; v; ++count) v &= v - 1;   is one instruction of a GPU. LLVM's pass for
// such loops knows it for processors only: LLVM does not tell it that NVIDIA's
// GPUs count bits.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_POPULATIONCOUNTS_H
#define DRAGON_PASSES_CODEGEN_POPULATIONCOUNTS_H

#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace dragon {

/// LLVM's loop-idiom for the loops of NVPTX modules; does nothing to others. It
/// is a part of -O2, and has no name for -passes.
class PopulationCountsPass : public llvm::PassInfoMixin<PopulationCountsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Loop &L, llvm::LoopAnalysisManager &Manager,
                              llvm::LoopStandardAnalysisResults &Results,
                              llvm::LPMUpdater &Updater);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_POPULATIONCOUNTS_H
