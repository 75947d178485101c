//===- BufferProgramAnalysis.h - buffer programs, on demand --- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The buffer program of a flattened function as an analysis: computed once,
// kept as long as the function stays as it is.
//
//   const BuiltProgram &Built =
//       Analyses.getResult<BufferProgramAnalysis>(Flat.copy());
//
// What kernels do is the module's: a pass that knows it says so before it asks.
//
//   Analyses.getResult<KernelSummariesAnalysis>(M).give({M, Blob});
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_BUFFERPROGRAMANALYSIS_H
#define DRAGON_PASSES_LIFETIME_BUFFERPROGRAMANALYSIS_H

#include "passes/lifetime/BufferProgramBuilder.h"

#include "llvm/IR/PassManager.h"

#include <memory>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dragon {

/// `dragon-kernel-summaries`: what the host knows of kernels, which is nothing
/// until a pass says what.
class KernelSummariesAnalysis
    : public llvm::AnalysisInfoMixin<KernelSummariesAnalysis> {
public:
  class Result {
  public:
    /// Null: nothing is known.
    const KernelSummaries *get() const { return Kernels.get(); }
    const KernelSummaries &give(KernelSummaries New) {
      Kernels = std::make_unique<KernelSummaries>(std::move(New));
      return *Kernels;
    }
    /// What happens to host code changes no kernel.
    bool invalidate(llvm::Module &, const llvm::PreservedAnalyses &,
                    llvm::ModuleAnalysisManager::Invalidator &) {
      return false;
    }

  private:
    std::unique_ptr<KernelSummaries> Kernels;
  };
  Result run(llvm::Module &M, llvm::ModuleAnalysisManager &);

private:
  friend llvm::AnalysisInfoMixin<KernelSummariesAnalysis>;
  static llvm::AnalysisKey Key;
};

/// `dragon-buffer-program`: of a flattened function (FlatFunction.h), as its
/// module is while it is there.
class BufferProgramAnalysis
    : public llvm::AnalysisInfoMixin<BufferProgramAnalysis> {
public:
  using Result = BuiltProgram;
  Result run(llvm::Function &Flat, llvm::FunctionAnalysisManager &Analyses);

private:
  friend llvm::AnalysisInfoMixin<BufferProgramAnalysis>;
  static llvm::AnalysisKey Key;
};

/// `print<dragon-buffer-program>`: the buffer programs of a module, in the text
/// form of passes/placement, and what placement makes of them. Changes nothing.
class BufferProgramPrinterPass
    : public llvm::PassInfoMixin<BufferProgramPrinterPass> {
public:
  explicit BufferProgramPrinterPass(llvm::raw_ostream &To) : To(To) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  llvm::raw_ostream &To;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_BUFFERPROGRAMANALYSIS_H
