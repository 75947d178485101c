//===- Pipeline.h - what the plugin does to a module ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one pass that clang runs at the start of its pipeline, at every -O level,
// on each side of a CUDA compilation.
//
// Device module: the kernel summaries (side file), the kernels for the host
// processor (side file). Both are made from copies: the device code itself only
// gains marks on the kernels to be copied when they are optimised
// (KernelCopies.h).
//
// Host module: directives and staging elision, then the module descriptor with
// the summaries.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PIPELINE_H
#define DRAGON_PASSES_PIPELINE_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-pipeline`, steered by passes/Options.h.
class PipelinePass : public llvm::PassInfoMixin<PipelinePass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_PIPELINE_H
