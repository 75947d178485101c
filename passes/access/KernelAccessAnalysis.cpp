//===- KernelAccessAnalysis.cpp - summaries of a module's kernels ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/KernelAccessAnalysis.h"

#include "passes/access/Canonicalize.h"
#include "passes/access/KernelAccess.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace dragon {

AnalysisKey KernelAccessAnalysis::Key;

/// Leaves out expressions that no access uses.
static ModuleSummary withoutUnused(const ModuleSummary &M) {
  std::vector<char> Blob = M.write();
  SummaryView View;
  std::string Error;
  if (!SummaryView::open(Blob.data(), Blob.size(), View, Error))
    report_fatal_error(Twine("the summary just made is malformed: ") + Error);
  return ModuleSummary::read(View);
}

KernelAccesses analyzeCanonical(Module &M) {
  KernelAccesses Result;
  TargetLibraryInfoImpl LibraryImpl(M.getTargetTriple());
  for (Function &F : M) {
    if (!isKernel(F))
      continue;
    TargetLibraryInfo Library(LibraryImpl, &F);
    AssumptionCache Assumptions(F);
    DominatorTree DT(F);
    LoopInfo LI(DT);
    ScalarEvolution SE(F, Library, Assumptions, DT, LI);
    KernelAccess Access(F, Result.Summary.Exprs, SE, DT, LI);
    Result.Summary.Kernels.push_back(Access.run());
    Result.Loops[F.getName().str()] = Access.loops();
    for (const AccessNote &N : Access.notes()) {
      KernelNote Note{F.getName().str(), N.Pointer, N.What, "", 0, 0};
      if (const DebugLoc &Loc = N.At->getDebugLoc()) {
        Note.File = Loc->getFilename().str();
        Note.Line = Loc.getLine();
        Note.Column = Loc.getCol();
      }
      Result.Notes.push_back(std::move(Note));
    }
  }
  Result.Summary = withoutUnused(Result.Summary);
  return Result;
}

KernelAccesses KernelAccessAnalysis::run(Module &M, ModuleAnalysisManager &) {
  return analyzeCanonical(*canonicalizedCopy(M));
}

PreservedAnalyses KernelAccessPrinterPass::run(Module &M,
                                               ModuleAnalysisManager &AM) {
  AM.getResult<KernelAccessAnalysis>(M).print(To);
  return PreservedAnalyses::all();
}

} // namespace dragon
