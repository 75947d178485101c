//===- EarlyLoads.h - loads come before what uses them ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   x = a[i];     f(x, b[i]);                  x = a[i];     u = b[i];
//   y = a[i + 1]; f(y, b[i + 1]);      ->      y = a[i + 1]; v = b[i + 1];
//                                              f(x, u);      f(y, v);
//
// A warp issues in order. Where a loop was unrolled, the first use of the first
// iteration stops it, and the loads of the other iterations have not been
// issued. NVIDIA's assembler moves loads by a few instructions only. So the
// loads of a block are put in front, as far as registers go: first those whose
// addresses are at hand, then those whose addresses were loaded.
//
// A load passes only what cannot change what it reads: all stores if the memory
// does not change in the kernel (ld.global.nc), or those to other memory.
//
// Source: the form is that of NVIDIA's compiler, read from its SASS.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_EARLYLOADS_H
#define DRAGON_PASSES_CODEGEN_EARLYLOADS_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-early-loads`: reorders the blocks of functions of NVPTX modules, and
/// does nothing to other modules.
class EarlyLoadsPass : public llvm::PassInfoMixin<EarlyLoadsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_EARLYLOADS_H
