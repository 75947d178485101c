//===- RelaxedExchanges.h - atomicCAS orders nothing ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA's atomicCAS orders nothing (CUDA C++ Programming Guide, "Atomic
// Functions"), but locks are made of it, and no compiler moves accesses across.
// The header (share/dragon/overlay/dragon-nvcc/exchanges.h) writes it with a
// pair of orders that nothing else has, release and, if it fails, sequentially
// consistent. LLVM moves nothing across either. Behind LLVM's optimiser the
// pass takes them away: to a GPU they are fences of the whole system.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_RELAXEDEXCHANGES_H
#define DRAGON_PASSES_CODEGEN_RELAXEDEXCHANGES_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-relax-exchanges`: for the functions of NVPTX modules; does nothing
/// to other modules.
class RelaxedExchangesPass : public llvm::PassInfoMixin<RelaxedExchangesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
  /// The header's code is not right without it.
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_RELAXEDEXCHANGES_H
