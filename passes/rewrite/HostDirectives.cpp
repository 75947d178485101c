//===- HostDirectives.cpp - the compiler's work on host code --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/HostDirectives.h"

#include "passes/Options.h"
#include "passes/SourceNames.h"
#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/BufferProgramAnalysis.h"
#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/FlatPrograms.h"
#include "passes/lifetime/SummaryJoin.h"
#include "passes/placement/Mistakes.h"
#include "passes/rewrite/DirectiveLowering.h"
#include "passes/rewrite/HostLoops.h"
#include "passes/rewrite/LibraryResidency.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Module.h"
#include <set>

using namespace llvm;

namespace dragon {

namespace {

/// What has been told in this unit. A function that others of the unit take in
/// is a program of its own as well, if other units may call it: what is decided
/// for both is told once.
struct Told {
  std::set<std::tuple<std::string, unsigned, unsigned, std::string>> Findings;
  std::set<std::string> UnknownCallees;

  bool isNew(const Position &Where, const Reason &Why) {
    return Findings
        .insert({Where.File, Where.Line, Where.Column, remarkText(Why)})
        .second;
  }
};

void emitRemarks(const FlatProgram &Of, const Placement &Decisions,
                 const HostOptions &Options, Told &Before) {
  const BuiltProgram &Built = *Of.Built;
  Function &F = Of.Flat->original();
  OptimizationRemarkEmitter Emitter(&F);
  auto Location = [&](const Position &Where) {
    auto It = Built.Locations.find({Where.File, Where.Line, Where.Column});
    return It == Built.Locations.end() ? DiagnosticLocation(F.getSubprogram())
                                       : DiagnosticLocation(It->second);
  };
  const BasicBlock *Entry = &F.getEntryBlock();
  for (const Finding &Found : Decisions.Findings)
    if (Before.isNew(Found.Where, Found.Why))
      emitRemark(Emitter, Found.Why, Location(Found.Where), Entry);
  for (const auto &[Kernel, Where] : Built.UnknownKernels)
    if (Reason Why =
            Reason(RemarkId::KernelWithoutSummary).with("Kernel", Kernel);
        Before.isNew(Where, Why))
      emitRemark(Emitter, Why, Location(Where), Entry);
  for (const auto &[Callee, Where] : Built.UnknownCallees)
    if (Before.UnknownCallees.insert(Callee).second)
      emitRemark(Emitter,
                 Reason(RemarkId::CallWithoutSummary).with("Function", Callee),
                 Location(Where), Entry);
  if (Of.Flat->hitLimit())
    emitRemark(Emitter,
               Reason(RemarkId::AnalysisLimit)
                   .with("Function", displayName(F.getName()))
                   .with("Limit", std::to_string(Options.FlattenLimit)),
               DiagnosticLocation(F.getSubprogram()), Entry);
}

/// Those that are a library's by their names are announced wherever they are.
bool announceUnknownCalls(const BuiltProgram &Built) {
  bool Changed = false;
  for (CallBase *Call : Built.UnknownCalls)
    if (StringRef Symbol = Call->getCalledFunction()->getName();
        libraries().libraryOf(Symbol).empty()) {
      announceUnknownCall(*Call, /*Sure=*/false);
      Changed = true;
    }
  return Changed;
}

} // namespace

HostOptions HostOptions::given() {
  return {options::staging(), options::wavefront(), options::flattenLimit(),
          options::traceAccesses(), options::mistakes().str()};
}

bool insertDirectives(Module &M, ModuleAnalysisManager &Analyses,
                      KernelSummaries Given, const HostOptions &Options) {
  const KernelSummaries &Kernels =
      Analyses.getResult<KernelSummariesAnalysis>(M).give(std::move(Given));
  auto &FunctionAnalyses =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  PlacementOptions Wanted;
  Wanted.Staging = Wanted.Deferral = Wanted.Zeros = Options.Staging;
  Wanted.Wavefront = Options.Wavefront;
  const FlatPrograms Programs(M, Analyses, Options.FlattenLimit);
  bool Changed = false;
  Told Before;
  for (const FlatProgram &One : Programs) {
    Placement Decisions =
        place(withMistakes(One.Built->Program, Options.Mistakes), Wanted);
    const bool Rewritten =
        !Decisions.Directives.empty() &&
        lowerDirectives(One.Flat->copy(), *One.Built, Decisions, Kernels,
                        FunctionAnalyses, Options.Reasons);
    const bool Announced = announceUnknownCalls(*One.Built);
    emitRemarks(One, Decisions, Options, Before);
    if (Announced || Rewritten) {
      One.Flat->adopt();
      separateHostLoops(One.Flat->original(), FunctionAnalyses);
      Changed = true;
    }
  }
  return Changed;
}

PreservedAnalyses HostDirectivesPass::run(Module &M,
                                          ModuleAnalysisManager &Analyses) {
  if (!librariesError().empty())
    M.getContext().emitError(librariesError());
  return insertDirectives(M, Analyses, KernelSummaries(M, givenSummaries(M)),
                          HostOptions::given())
             ? PreservedAnalyses::none()
             : PreservedAnalyses::all();
}

} // namespace dragon
