//===- HostDirectives.cpp - the compiler's work on host code --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/HostDirectives.h"

#include "passes/Options.h"
#include "passes/lifetime/BufferProgramBuilder.h"
#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/SummaryJoin.h"
#include "passes/placement/BufferProgramText.h"
#include "passes/placement/Mistakes.h"
#include "passes/rewrite/DirectiveLowering.h"
#include "passes/rewrite/HostLoops.h"
#include "passes/rewrite/LibraryResidency.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace llvm;

namespace dragon {

namespace {

constexpr StringRef FlatSuffix = ".dragon.flat";
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

/// Globals that hold pointers and are used by nothing but the flattened main.
SmallVector<const GlobalVariable *, 8> ownGlobals(const FlatFunction &Flat) {
  SmallVector<const GlobalVariable *, 8> Result;
  if (!isMain(Flat.original()))
    return Result;
  // Functions that nothing but main reaches, and that the copy does not call.
  DenseMap<const Function *, bool> Absorbed;
  auto IsAbsorbed = [&](auto &&Self, const Function *F) -> bool {
    if (F == &Flat.original() || F == &Flat.copy() ||
        F->getName().ends_with(FlatSuffix))
      return true;
    auto [It, New] = Absorbed.try_emplace(F, false);
    if (!New)
      return It->second;
    if (!F->hasLocalLinkage())
      return false;
    for (const User *U : F->users()) {
      auto *Call = dyn_cast<CallBase>(U);
      if (!Call || Call->getCalledOperand() != F ||
          Call->getFunction() == &Flat.copy() ||
          !Self(Self, Call->getFunction()))
        return false;
    }
    return Absorbed[F] = true;
  };
  for (const GlobalVariable &G : Flat.original().getParent()->globals()) {
    if (!G.hasLocalLinkage() || G.isConstant() || !G.hasInitializer() ||
        !(G.getInitializer()->isNullValue() ||
          isa<UndefValue>(G.getInitializer())) ||
        G.isThreadLocal())
      continue;
    SmallPtrSet<const Function *, 8> Users;
    if (collectUsers(G, Users) && Users.count(&Flat.copy()) &&
        all_of(Users,
               [&](const Function *F) { return IsAbsorbed(IsAbsorbed, F); }))
      Result.push_back(&G);
  }
  return Result;
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

/// Flattening declares intrinsics that may end up unused: where nothing is
/// inserted, nothing is to be left.
class Leftovers {
public:
  explicit Leftovers(Module &M) : M(M) {
    for (Function &F : M)
      if (F.isIntrinsic())
        Before.insert(&F);
  }
  ~Leftovers() {
    for (Function &F : make_early_inc_range(M))
      if (F.isIntrinsic() && F.use_empty() && !Before.count(&F))
        F.eraseFromParent();
  }

private:
  Module &M;
  SmallPtrSet<const Function *, 16> Before;
};

/// One function on its way.
struct Work {
  std::unique_ptr<FlatFunction> Flat;
  BuiltProgram Built;
  Placement Decisions;
};

std::vector<Work> analyse(Module &M, ModuleAnalysisManager &Analyses,
                          const KernelSummaries &Kernels,
                          const HostOptions &Wanted) {
  auto &FunctionAnalyses =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  RelevantFunctions Relevant(M);
  std::vector<Work> Result;
  if (const Function *Graphs = usesGraphs(M)) {
    for (Function *F : findRoots(M, Relevant)) {
      OptimizationRemarkEmitter Emitter(F);
      emitRemark(Emitter,
                 Reason(RemarkId::NotAnalysedGraphs)
                     .with("Function", displayName(F->getName()))
                     .with("Cause", Graphs->getName().str()),
                 DiagnosticLocation(F->getSubprogram()), &F->getEntryBlock());
    }
    return Result;
  }
  PlacementOptions Options;
  Options.Staging = Wanted.Staging;
  Options.Wavefront = Wanted.Wavefront;
  for (Function *F : findRoots(M, Relevant)) {
    Work W;
    W.Flat = FlatFunction::create(*F, Relevant, FunctionAnalyses,
                                  Wanted.FlattenLimit);
    if (!W.Flat)
      continue;
    for (unsigned Round = 1;; ++Round) {
      W.Built = buildBufferProgram(W.Flat->copy(), FunctionAnalyses, Kernels,
                                   ownGlobals(*W.Flat), isMain(*F));
      if (Round == MaxRounds || W.Built.Missed.empty() ||
          !W.Flat->inlineCalls(W.Built.Missed))
        break;
    }
    W.Decisions =
        Wanted.Mistakes.empty()
            ? place(W.Built.Program, Options)
            : place(withMistakes(W.Built.Program, Wanted.Mistakes), Options);
    Result.push_back(std::move(W));
  }
  return Result;
}

/// UnknownCallees: told of in this unit already.
void emitRemarks(const Work &W, Function &F, const HostOptions &Options,
                 std::set<std::string> &UnknownCallees) {
  OptimizationRemarkEmitter Emitter(&F);
  auto Location = [&](const Position &Where) {
    auto It = W.Built.Locations.find({Where.File, Where.Line, Where.Column});
    return It == W.Built.Locations.end() ? DiagnosticLocation(F.getSubprogram())
                                         : DiagnosticLocation(It->second);
  };
  const BasicBlock *Entry = &F.getEntryBlock();
  std::set<std::tuple<unsigned, unsigned, std::string>> Told;
  for (const Finding &Found : W.Decisions.Findings)
    if (Told.insert(
                {Found.Where.Line, Found.Where.Column, remarkText(Found.Why)})
            .second)
      emitRemark(Emitter, Found.Why, Location(Found.Where), Entry);
  for (const auto &[Kernel, Where] : W.Built.UnknownKernels)
    emitRemark(Emitter,
               Reason(RemarkId::KernelWithoutSummary).with("Kernel", Kernel),
               Location(Where), Entry);
  for (const auto &[Callee, Where] : W.Built.UnknownCallees)
    if (UnknownCallees.insert(Callee).second)
      emitRemark(Emitter,
                 Reason(RemarkId::CallWithoutSummary).with("Function", Callee),
                 Location(Where), Entry);
  if (W.Flat->hitLimit())
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
                      const KernelSummaries &Kernels,
                      const HostOptions &Options) {
  Leftovers Tidy(M);
  std::vector<Work> Works = analyse(M, Analyses, Kernels, Options);
  auto &FunctionAnalyses =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  std::set<std::string> UnknownCallees;
  for (Work &W : Works) {
    Function &F = W.Flat->original();
    bool Rewritten =
        !W.Decisions.Directives.empty() &&
        lowerDirectives(W.Flat->copy(), W.Built, W.Decisions, Kernels,
                        FunctionAnalyses, Options.Reasons);
    if (announceUnknownCalls(W.Built) || Rewritten) {
      W.Flat->adopt();
      separateHostLoops(F, FunctionAnalyses);
      Changed = true;
    }
    emitRemarks(W, F, Options, UnknownCallees);
  }
  return Changed;
}

PreservedAnalyses HostDirectivesPass::run(Module &M,
                                          ModuleAnalysisManager &Analyses) {
  if (!librariesError().empty())
    M.getContext().emitError(librariesError());
  KernelSummaries Kernels(M, givenSummaries(M));
  return insertDirectives(M, Analyses, Kernels, HostOptions::given())
             ? PreservedAnalyses::none()
             : PreservedAnalyses::all();
}

PreservedAnalyses
BufferProgramPrinterPass::run(Module &M, ModuleAnalysisManager &Analyses) {
  if (!librariesError().empty())
    M.getContext().emitError(librariesError());
  Leftovers Tidy(M);
  KernelSummaries Kernels(M, givenSummaries(M));
  for (const Work &W : analyse(M, Analyses, Kernels, HostOptions::given())) {
    To << "buffer program of " << W.Flat->original().getName() << ":\n";
    printBufferProgram(W.Built.Program, To);
    printPlacement(W.Built.Program, W.Decisions, To);
  }
  return PreservedAnalyses::all();
}

} // namespace dragon
