//===- FlatPrograms.cpp - the buffer programs of a module -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/FlatPrograms.h"

#include "passes/Remarks.h"
#include "passes/SourceNames.h"
#include "passes/lifetime/BufferProgramAnalysis.h"
#include "passes/lifetime/CallEffects.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned MaxRounds = 4;

/// Called by others of this module, all of which will take it in.
bool isPartOfOthers(const Function &F) {
  if (!F.hasLocalLinkage() && !F.hasLinkOnceLinkage())
    return false;
  bool Called = false;
  for (const User *U : F.users()) {
    auto *Call = dyn_cast<CallBase>(U);
    if (!Call || Call->getCalledOperand() != &F)
      return false;
    Called |= Call->getFunction() != &F;
  }
  return Called || F.hasLinkOnceLinkage();
}

std::vector<Function *> findRoots(Module &M,
                                  const RelevantFunctions &Relevant) {
  std::vector<Function *> Roots;
  for (Function &F : M)
    if (!F.isDeclaration() && Relevant.usesDevice(&F) &&
        !F.getName().contains("__device_stub__") && !isPartOfOthers(F))
      Roots.push_back(&F);
  return Roots;
}

/// A call that records work for later: what it does then, and when, is not in
/// the order of the program's events.
const Function *usesGraphs(const Module &M) {
  for (const Function &F : M)
    if (!F.use_empty() && (F.getName().starts_with("cudaStreamBeginCapture") ||
                           F.getName().starts_with("cudaGraphAdd")))
      return &F;
  return nullptr;
}

void tellOfGraphs(const Function &F, const Function &Graphs) {
  OptimizationRemarkEmitter Emitter(&F);
  emitRemark(Emitter,
             Reason(RemarkId::NotAnalysedGraphs)
                 .with("Function", displayName(F.getName()))
                 .with("Cause", Graphs.getName().str()),
             DiagnosticLocation(F.getSubprogram()), &F.getEntryBlock());
}

} // namespace

FlatPrograms::FlatPrograms(Module &M, ModuleAnalysisManager &Analyses,
                           unsigned Limit)
    : M(M), Relevant(M) {
  for (Function &F : M)
    if (F.isIntrinsic())
      Intrinsics.insert(&F);
  auto &FunctionAnalyses =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  const Function *Graphs = usesGraphs(M);
  for (Function *F : findRoots(M, Relevant)) {
    if (Graphs)
      tellOfGraphs(*F, *Graphs);
    else
      add(*F, FunctionAnalyses, Limit);
  }
}

void FlatPrograms::add(Function &F, FunctionAnalysisManager &Analyses,
                       unsigned Limit) {
  std::unique_ptr<FlatFunction> Flat =
      FlatFunction::create(F, Relevant, Analyses, Limit);
  if (!Flat)
    return;
  auto Built = [&]() -> BuiltProgram & {
    return Analyses.getResult<BufferProgramAnalysis>(Flat->copy());
  };
  for (unsigned Round = 1; Round < MaxRounds; ++Round) {
    // Taking them in ends the result.
    const SmallVector<CallBase *, 4> Missed = Built().Missed;
    if (Missed.empty() || !Flat->inlineCalls(Missed))
      break;
  }
  BuiltProgram &Last = Built();
  Programs.push_back({std::move(Flat), &Last});
}

/// Flattening declares intrinsics that may end up unused: where nothing is
/// inserted, nothing is to be left.
FlatPrograms::~FlatPrograms() {
  Programs.clear();
  for (Function &F : make_early_inc_range(M))
    if (F.isIntrinsic() && F.use_empty() && !Intrinsics.count(&F))
      F.eraseFromParent();
}

} // namespace dragon
