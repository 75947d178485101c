//===- BoundedLoads.h - loads that need no branch ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   __shared__ float value[256]; __shared__ int place[256];
//   for (int i = 0; i < 256; ++i)
//     if (value[i] > best) { best = value[i]; at = place[i]; }
//
// LLVM keeps the branch, because to load place[i] where the program does not
// could fault. Here it cannot: i is within the array for certain. The pass
// makes the load always and chooses what it gave, so that the loop is one block
// and its loads can be made ahead of each other.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_BOUNDEDLOADS_H
#define DRAGON_PASSES_CODEGEN_BOUNDEDLOADS_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-bounded-loads`: for the functions of NVPTX modules; does nothing to
/// other modules. Arrays are variables in shared memory. In front of the passes
/// that unroll loops.
class BoundedLoadsPass : public llvm::PassInfoMixin<BoundedLoadsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_BOUNDEDLOADS_H
