//===- HostDirectives.h - the compiler's work on host code ---- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Flattens each function from which device memory is used, reads its buffer
// program, asks placement, and replaces the function if there is something to
// insert. Tells the user what was done and what was not, and why.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_HOSTDIRECTIVES_H
#define DRAGON_PASSES_REWRITE_HOSTDIRECTIVES_H

#include "llvm/IR/PassManager.h"

#include <string>

namespace dragon {

class KernelSummaries;

struct HostOptions {
  bool Staging = true;   ///< elide staging buffers
  bool Wavefront = true; ///< run launches together
  unsigned FlattenLimit = 20000;
  bool Reasons = false;      ///< directives tell why
  std::string Mistakes = {}; ///< for tests (placement/Mistakes.h)

  static HostOptions given(); ///< by passes/Options.h
};

/// Returns whether the module changed.
bool insertDirectives(llvm::Module &M, llvm::ModuleAnalysisManager &Analyses,
                      KernelSummaries Given, const HostOptions &Options);

/// `dragon-host-directives`, with the summaries of -dragon-summary.
class HostDirectivesPass : public llvm::PassInfoMixin<HostDirectivesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_HOSTDIRECTIVES_H
