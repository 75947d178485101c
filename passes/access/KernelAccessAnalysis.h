//===- KernelAccessAnalysis.h - summaries of a module's kernels -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every kernel of a device module, what it may touch through each of its
// pointers and what it surely writes (dragon/KernelSummary.h). The analysis
// works on a canonicalised copy of the module, so that it gives the same answer
// for unoptimised code; the module itself is not changed.
//
// The idea of ranges per pointer parameter is that of LLVM's
// StackSafetyAnalysis; here they are expressions of the launch.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_KERNELACCESSANALYSIS_H
#define DRAGON_PASSES_ACCESS_KERNELACCESSANALYSIS_H

#include "dragon/SummaryBuilder.h"
#include "passes/access/KernelAccess.h"

#include "llvm/IR/PassManager.h"

#include <map>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dragon {

/// What widened a kernel's summary, in the user's words.
struct KernelNote {
  std::string Kernel;
  std::string Pointer; ///< name of the parameter; empty: all of the kernel
  std::string What;
  std::string File; ///< empty if not known
  unsigned Line = 0;
  unsigned Column = 0;
};

struct KernelAccesses {
  ModuleSummary Summary;
  std::vector<KernelNote> Notes;
  /// By kernel: KernelAccess::loops().
  std::map<std::string, std::vector<TaggedLoop>> Loops;

  void print(llvm::raw_ostream &To) const;
};

/// Of a module that canonicalizeForAnalysis() has been through.
KernelAccesses analyzeCanonical(llvm::Module &M);

class KernelAccessAnalysis
    : public llvm::AnalysisInfoMixin<KernelAccessAnalysis> {
public:
  using Result = KernelAccesses;
  Result run(llvm::Module &M, llvm::ModuleAnalysisManager &);

private:
  friend llvm::AnalysisInfoMixin<KernelAccessAnalysis>;
  static llvm::AnalysisKey Key;
};

/// `print<dragon-kernel-access>`
class KernelAccessPrinterPass
    : public llvm::PassInfoMixin<KernelAccessPrinterPass> {
public:
  explicit KernelAccessPrinterPass(llvm::raw_ostream &To) : To(To) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  llvm::raw_ostream &To;
};

/// A summary in words.
void print(const ModuleSummary &Summary, llvm::raw_ostream &To);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_KERNELACCESSANALYSIS_H
