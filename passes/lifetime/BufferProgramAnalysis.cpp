//===- BufferProgramAnalysis.cpp - buffer programs, on demand -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/BufferProgramAnalysis.h"

#include "passes/Options.h"
#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/FlatPrograms.h"
#include "passes/lifetime/SummaryJoin.h"
#include "passes/placement/BufferProgramText.h"
#include "passes/placement/Mistakes.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

AnalysisKey KernelSummariesAnalysis::Key;
AnalysisKey BufferProgramAnalysis::Key;

KernelSummariesAnalysis::Result
KernelSummariesAnalysis::run(Module &, ModuleAnalysisManager &) {
  return Result();
}

namespace {

bool isMain(const Function &F) {
  return F.getName() == "main" && F.use_empty();
}

/// All instructions that use the global, through constants. False if something
/// else does.
bool collectUsers(const Value &V, SmallPtrSetImpl<const Function *> &Users) {
  for (const User *U : V.users()) {
    if (auto *I = dyn_cast<Instruction>(U))
      Users.insert(I->getFunction());
    else if (!isa<ConstantExpr>(U) || !collectUsers(*U, Users))
      return false;
  }
  return true;
}

/// Globals that hold pointers and are used by nothing but main, which Flat is
/// the copy of.
SmallVector<const GlobalVariable *, 8> ownGlobals(const Function &Original,
                                                  const Function &Flat) {
  SmallVector<const GlobalVariable *, 8> Result;
  if (!isMain(Original))
    return Result;
  // Functions that nothing but main reaches, and that the copy does not call.
  DenseMap<const Function *, bool> Absorbed;
  auto IsAbsorbed = [&](auto &&Self, const Function *F) -> bool {
    if (F == &Original || F == &Flat ||
        F->getName().ends_with(FlatFunction::Suffix))
      return true;
    auto [It, New] = Absorbed.try_emplace(F, false);
    if (!New)
      return It->second;
    if (!F->hasLocalLinkage())
      return false;
    for (const User *U : F->users()) {
      auto *Call = dyn_cast<CallBase>(U);
      if (!Call || Call->getCalledOperand() != F ||
          Call->getFunction() == &Flat || !Self(Self, Call->getFunction()))
        return false;
    }
    return Absorbed[F] = true;
  };
  for (const GlobalVariable &G : Original.getParent()->globals()) {
    if (!G.hasLocalLinkage() || G.isConstant() || !G.hasInitializer() ||
        !(G.getInitializer()->isNullValue() ||
          isa<UndefValue>(G.getInitializer())) ||
        G.isThreadLocal())
      continue;
    SmallPtrSet<const Function *, 8> Users;
    if (collectUsers(G, Users) && Users.count(&Flat) &&
        all_of(Users,
               [&](const Function *F) { return IsAbsorbed(IsAbsorbed, F); }))
      Result.push_back(&G);
  }
  return Result;
}

} // namespace

BuiltProgram BufferProgramAnalysis::run(Function &Flat,
                                        FunctionAnalysisManager &Analyses) {
  Module &M = *Flat.getParent();
  const Function &Original = FlatFunction::originalOf(Flat);
  auto Build = [&](const KernelSummaries &Kernels) {
    return buildBufferProgram(Flat, Analyses, Kernels,
                              ownGlobals(Original, Flat), isMain(Original));
  };
  const auto &OfModule =
      Analyses.getResult<ModuleAnalysisManagerFunctionProxy>(Flat);
  const auto *Known = OfModule.getCachedResult<KernelSummariesAnalysis>(M);
  return Known && Known->get() ? Build(*Known->get())
                               : Build(KernelSummaries(M, StringRef()));
}

PreservedAnalyses
BufferProgramPrinterPass::run(Module &M, ModuleAnalysisManager &Analyses) {
  if (!librariesError().empty())
    M.getContext().emitError(librariesError());
  Analyses.getResult<KernelSummariesAnalysis>(M).give(
      KernelSummaries(M, givenSummaries(M)));
  PlacementOptions Wanted;
  Wanted.Staging = Wanted.Deferral = options::staging();
  Wanted.Wavefront = options::wavefront();
  const FlatPrograms Programs(M, Analyses, options::flattenLimit());
  for (const FlatProgram &One : Programs) {
    const BufferProgram &Program = One.Built->Program;
    To << "buffer program of " << One.Flat->original().getName() << ":\n";
    printBufferProgram(Program, To);
    printPlacement(
        Program, place(withMistakes(Program, options::mistakes()), Wanted), To);
  }
  return PreservedAnalyses::all();
}

} // namespace dragon
