//===- RemovedInstructions.h - what GPUs no longer have ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPUs since sm_70 have no shuffles and votes among the threads of a warp that
// do not say which threads take part: __shfl() and the like. Clang's headers
// have the functions all the same, and its back end cannot select what they
// call. They become those that say it, among the threads that are active there,
// which is what they were defined for:
//
//   __shfl(x, 0)   ->   __shfl_sync(__activemask(), x, 0)
//
// Older GPUs brought the threads of a warp together again after each branch,
// newer ones promise nothing. So it is said, at the user's line:
//
//   a.cu:7:10: warning: '__shfl' in 'k(int*)': GPUs since sm_70 do not have it;
//   here it is '__shfl_sync' among the threads that are active
//
// It is done in optimised code: of what is not called, nothing is said.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_REMOVEDINSTRUCTIONS_H
#define DRAGON_PASSES_SUPPORT_REMOVEDINSTRUCTIONS_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-removed-instructions`
class RemovedInstructionsPass
    : public llvm::PassInfoMixin<RemovedInstructionsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_REMOVEDINSTRUCTIONS_H
