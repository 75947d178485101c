//===- SmallSwitches.h - switches that only choose values -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM makes a switch of
//
//   if (x == 'A') ++a; else if (x == 'B') ++b; else if (x == 'C') ++c;
//
// which is a jump through a table or a tree of branches. On a GPU, where the
// threads of a warp take different cases, a few selects are cheaper, and a loop
// without branches can be unrolled with its loads in front. The pass makes
// selects of switches with few cases that only compute something cheap.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_SMALLSWITCHES_H
#define DRAGON_PASSES_CODEGEN_SMALLSWITCHES_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-small-switches`: for the functions of NVPTX modules; does nothing to
/// other modules.
class SmallSwitchesPass : public llvm::PassInfoMixin<SmallSwitchesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_SMALLSWITCHES_H
