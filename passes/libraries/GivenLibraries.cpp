//===- GivenLibraries.cpp - the libraries of a compilation ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/libraries/GivenLibraries.h"

#include "passes/Options.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

struct Libraries {
  LibrarySummaries Summaries;
  std::string Error;
};

Libraries &librariesOfProcess() {
  static Libraries Read = [] {
    Libraries Result;
    Expected<LibrarySummaries> Summaries =
        LibrarySummaries::read(options::librarySummaries());
    if (Summaries)
      Result.Summaries = std::move(*Summaries);
    else
      Result.Error = toString(Summaries.takeError());
    return Result;
  }();
  return Read;
}

} // namespace

const LibrarySummaries &libraries() { return librariesOfProcess().Summaries; }
const std::string &librariesError() { return librariesOfProcess().Error; }

Error addLibrarySummaries(MemoryBufferRef File) {
  return librariesOfProcess().Summaries.add(File);
}

const LibraryFunction *libraryFunction(const CallBase &Call) {
  const LibraryFunction *F = describedFunction(Call);
  return F && !F->followsPointers() ? F : nullptr;
}

const LibraryFunction *describedFunction(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->isIntrinsic() || libraries().empty())
    return nullptr;
  const LibraryFunction *F =
      libraries().find(Callee->getName(), Call.arg_size());
  if (!F || (!Callee->isDeclaration() && !F->Compiled))
    return nullptr;
  // An iterator may be given by the address of a copy.
  if (F->Compiled)
    for (const LibraryUse &Use : F->Uses)
      if (Call.isByValArgument(Use.Parameter) ||
          isa<AllocaInst>(
              getUnderlyingObject(Call.getArgOperand(Use.Parameter))))
        return nullptr;
  return F;
}

PreservedAnalyses LibrarySummariesPrinterPass::run(Module &M,
                                                   ModuleAnalysisManager &) {
  if (!librariesError().empty())
    M.getContext().emitError(librariesError());
  libraries().print(To);
  return PreservedAnalyses::all();
}

} // namespace dragon
