//===- KeptBlocks.h - what passes within blocks preserve --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_KEPTBLOCKS_H
#define DRAGON_PASSES_CODEGEN_KEPTBLOCKS_H

#include "llvm/IR/Analysis.h"

namespace dragon {

/// Of a pass that changes instructions, and neither blocks nor branches.
inline llvm::PreservedAnalyses keptBlocks(bool Changed) {
  if (!Changed)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses Kept;
  Kept.preserveSet<llvm::CFGAnalyses>();
  return Kept;
}

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_KEPTBLOCKS_H
