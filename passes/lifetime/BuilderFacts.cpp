//===- BuilderFacts.cpp - what the builder knows of a function ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/BuilderFacts.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;

namespace dragon {

BuilderFacts::BuilderFacts(Function &F, FunctionAnalysisManager &Analyses,
                           const KernelSummaries &Kernels,
                           ArrayRef<const GlobalVariable *> OwnGlobals)
    : F(F), Kernels(Kernels), Locations(F), Pointers(F, Kernels, OwnGlobals),
      Evolution(Analyses.getResult<ScalarEvolutionAnalysis>(F)),
      Loops(Analyses.getResult<LoopAnalysis>(F)),
      Dominators(Analyses.getResult<DominatorTreeAnalysis>(F)),
      Library(Analyses.getResult<TargetLibraryAnalysis>(F)) {
  for (scc_iterator<Function *> Part = scc_begin(&F); !Part.isAtEnd(); ++Part)
    if (Part.hasCycle())
      Cyclic.insert_range(*Part);
}

Position BuilderFacts::position(const Instruction &I) {
  Position Result;
  if (const DILocation *L = Locations.of(I)) {
    Result = {L->getFilename().str(), L->getLine(), L->getColumn()};
    this->Result.Locations.try_emplace(
        {Result.File, Result.Line, Result.Column}, L);
  }
  return Result;
}

} // namespace dragon
