//===- Pipeline.cpp - what the plugin does to a module --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"

#include "passes/Options.h"
#include "passes/Remarks.h"
#include "passes/SourceNames.h"
#include "passes/access/Canonicalize.h"
#include "passes/access/KernelAccessAnalysis.h"
#include "passes/access/Mistakes.h"
#include "passes/access/SummaryWriter.h"
#include "passes/cpu/CpuLowering.h"
#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/KernelSummaries.h"
#include "passes/lifetime/SummaryJoin.h"
#include "passes/rewrite/HostAccessTracing.h"
#include "passes/rewrite/HostDirectives.h"
#include "passes/rewrite/LibraryResidency.h"
#include "passes/rewrite/LinkDiagnostics.h"
#include "passes/rewrite/LinkedUnit.h"
#include "passes/rewrite/ModuleEmbedding.h"
#include "passes/rewrite/StandIns.h"
#include "passes/rewrite/UnitBitcode.h"
#include "passes/slicing/CountingCopies.h"
#include "passes/slicing/KernelCopies.h"
#include "passes/slicing/SliceWorth.h"
#include "passes/support/ConstantMemory.h"
#include "passes/support/NvccVariables.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

void reportError(Module &M, const Twine &Message) {
  M.getContext().emitError(Message);
}

/// The architecture that a device module is compiled for: "sm_90".
StringRef deviceArch(const Module &M) {
  for (const Function &F : M)
    if (F.hasFnAttribute("target-cpu"))
      return F.getFnAttribute("target-cpu").getValueAsString();
  return "";
}

void writeCpuModule(Module &M, const StringSet<> &Counting) {
  std::unique_ptr<Module> Host = CloneModule(M);
  addCountingCopies(*Host, Counting, CounterCode::Function);
  CpuLoweringOptions Lowering;
  Lowering.ModuleId = options::moduleId().str();
  Lowering.TraceAccesses = options::traceAccesses();
  if (Error Failed = lowerToHost(*Host, Lowering)) {
    reportError(M, "cannot lower the kernels to the host processor: " +
                       toString(std::move(Failed)));
    return;
  }
  std::error_code Error;
  raw_fd_ostream File(options::cpuOut(), Error, sys::fs::OF_None);
  if (!Error) {
    WriteBitcodeToFile(*Host, File);
    File.close();
    Error = File.error();
  }
  if (Error) {
    File.clear_error();
    reportError(M,
                "cannot write '" + options::cpuOut() + "': " + Error.message());
  }
}

/// Adds what is known of running a kernel in slices to its summary.
void addSlicing(KernelSummary &Kernel, const SliceDecisions &Decisions) {
  auto Decision = Decisions.find(Kernel.Name);
  if (Decision == Decisions.end())
    return;
  const SliceLegality &Legality = Decision->second;
  if (!Legality.Sliceable) {
    Kernel.WhyNotSliceable = Legality.Reason;
    return;
  }
  if (Legality.NeedsClone) {
    Kernel.SliceName = sliceCloneName(Kernel.Name);
    Kernel.Flags |= KernelHasSliceClone;
  }
  Kernel.Flags |= KernelSliceable;
  if (Legality.ActsOnBuffersOnly)
    Kernel.Flags |= KernelActsOnBuffersOnly;
}

/// What is known of running kernels in slices may be that it is of no use.
void refuseUselessSlices(SliceDecisions &Decisions,
                         const ModuleSummary &Summary) {
  const SliceWorth Worth(Summary.Exprs);
  for (const KernelSummary &Kernel : Summary.Kernels) {
    auto Decision = Decisions.find(Kernel.Name);
    if (Decision == Decisions.end() || !Decision->second.Sliceable)
      continue;
    if (std::string Reason = Worth.whyNot(Kernel); !Reason.empty()) {
      Decision->second.Sliceable = false;
      Decision->second.Reason = std::move(Reason);
    }
  }
}

/// Why what a kernel accesses most must be counted; empty: it is known.
std::string whyCount(const KernelSummary &Kernel) {
  if (Kernel.touchesAnything())
    return "which buffers it accesses is not known";
  for (const PointerSummary &Pointer : Kernel.Pointers)
    for (const AccessSummary &Access : Pointer.Accesses)
      if (Access.Flags & (AccessIndirect | AccessUnbounded))
        return (Access.Flags & AccessIndirect)
                   ? "where in '" + Pointer.Name + "' it does is data"
                   : "where in '" + Pointer.Name + "' it does is not known";
  return "";
}

/// What cannot run in slices, once, not for each architecture.
void reportSlicing(Module &M, const SliceDecisions &Decisions, StringRef Arch) {
  std::vector<std::string> Archs = options::summaryArchs();
  if (!Archs.empty() && Arch != Archs.front())
    return;
  for (Function &F : M) {
    auto Decision = Decisions.find(F.getName());
    if (F.isDeclaration() || Decision == Decisions.end() ||
        Decision->second.Sliceable)
      continue;
    OptimizationRemarkEmitter Emitter(&F);
    emitRemark(Emitter,
               Reason(RemarkId::NotSliced)
                   .with("Kernel", displayName(F.getName()))
                   .with("Cause", Decision->second.Reason),
               lineOf(F), &F.getEntryBlock());
  }
}

/// Puts the names of copies that count into the summaries. Returns the kernels
/// that have them, with what is to be told of the cause once they are made.
StringMap<std::string> chooseCounting(Module &M, ModuleSummary &Summary,
                                      StringRef Arch) {
  std::vector<std::string> Archs = options::summaryArchs();
  const bool Tells = Archs.empty() || Arch == Archs.front();
  StringMap<std::string> Causes;
  StringSet<> Kernels;
  for (const KernelSummary &Kernel : Summary.Kernels)
    if (!whyCount(Kernel).empty())
      Kernels.insert(Kernel.Name);
  if (Kernels.empty())
    return Causes;
  Kernels = countableKernels(M, Kernels);
  for (KernelSummary &Kernel : Summary.Kernels) {
    if (!Kernels.contains(Kernel.Name))
      continue;
    Kernel.CountingName = countingCopyName(Kernel.Name);
    Causes[Kernel.Name] = Tells ? whyCount(Kernel) : "";
  }
  return Causes;
}

/// Those of `Kernels` whose code, in the form to be analysed, is small: without
/// a GPU, device memory is a matter of bookkeeping, and not worth that much
/// time of the compiler.
StringSet<> smallKernels(const StringMap<std::string> &Kernels,
                         const Module &Simple) {
  StringSet<> Result;
  for (const auto &Kernel : Kernels) {
    Function *F = Simple.getFunction(Kernel.getKey());
    if (F && instructionsOf(*F) <= options::cpuAccessCountLimit())
      Result.insert(Kernel.getKey());
  }
  return Result;
}

void writeSummaries(Module &M, const ModuleSummary &Summary, StringRef Arch) {
  auto PathFor = [](StringRef Arch) {
    return (options::summaryFile() + "." + Arch).str();
  };
  SmallVector<std::string, 2> Paths;
  if (!Arch.empty())
    Paths.push_back(PathFor(Arch));
  else
    // Nothing says which architecture this is, and there are no kernels: the
    // files that no other compilation has written yet.
    for (const std::string &Other : options::summaryArchs())
      if (std::string Path = PathFor(Other); !sys::fs::exists(Path))
        Paths.push_back(std::move(Path));
  for (const std::string &Path : Paths)
    if (Error E = writeSummary(Summary, Path))
      reportError(M, toString(std::move(E)));
}

/// What the optimiser does first, before the module is copied for the analysis
/// and for the host processor: variables become values. All that is known of
/// the kernels is known of this code.
bool simplifyFunctions(Module &M, ModuleAnalysisManager &Analyses) {
  bool Changed = false;
  SROAPass Promote(SROAOptions::PreserveCFG);
  auto &Functions =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasOptNone()) {
      const PreservedAnalyses Left = Promote.run(F, Functions);
      Functions.invalidate(F, Left);
      Changed |= !Left.areAllPreserved();
    }
  return Changed;
}

/// Nobody asks for the code: the optimiser and the back end have no work left.
void emptyFunctions(Module &M) {
  removeMarks(M);
  for (Function &F : M)
    if (!F.isDeclaration()) {
      F.dropAllReferences();
      IRBuilder<>(BasicBlock::Create(M.getContext(), "entry", &F))
          .CreateUnreachable();
    }
}

bool runOnDevice(Module &M, ModuleAnalysisManager &Analyses) {
  if (NamedMDNode *Mark = M.getNamedMetadata("dragon.device_link")) {
    printLinkRemarks(M.getContext());
    Mark->eraseFromParent();
  }
  bool Changed = lowerDeviceVariables(M);
  Changed |= relieveConstantMemory(M);
  Changed |= simplifyFunctions(M, Analyses);
  StringRef Arch = deviceArch(M);
  const bool WithSummary = !options::summaryFile().empty();
  std::unique_ptr<Module> Simple;
  if (WithSummary || options::slicing())
    Simple = canonicalizedCopy(M);
  KernelAccesses Accesses;
  if (WithSummary)
    Accesses = analyzeCanonical(*Simple);
  StringMap<std::string> Counting;
  if (WithSummary && options::accessCounts())
    Counting = chooseCounting(M, Accesses.Summary, Arch);
  // A module without functions has no architecture, and no kernels.
  if (!options::cpuOut().empty() &&
      (options::cpuArch().empty() || Arch.empty() ||
       Arch == options::cpuArch()))
    writeCpuModule(M, Simple ? smallKernels(Counting, *Simple) : StringSet<>());
  if (!options::gpuCode())
    for (const auto &[Kernel, Cause] : Counting)
      if (!Cause.empty())
        reportCountingCopy(*M.getFunction(Kernel), Cause, /*Instructions=*/0);
  markForCounting(M, Counting);
  Changed |= !Counting.empty();
  if (!Simple)
    return Changed;
  SliceDecisions Decisions;
  if (options::slicing()) {
    Decisions = checkSliceLegality(*Simple);
    reportSlicing(M, Decisions, Arch);
    refuseUselessSlices(Decisions, Accesses.Summary);
    Changed |= markForSlices(M, Decisions);
  }
  if (WithSummary) {
    for (KernelSummary &Kernel : Accesses.Summary.Kernels)
      if (options::slicing())
        addSlicing(Kernel, Decisions);
      else
        Kernel.WhyNotSliceable = "it was compiled with -fno-dragon-slicing";
    makeMistakes(Accesses.Summary, options::mistakes());
    writeSummaries(M, Accesses.Summary, Arch);
  }
  return Changed;
}

bool runOnHost(Module &M, ModuleAnalysisManager &Analyses) {
  bool Changed = false;
  if (Expected<bool> Managed = lowerManagedVariables(M))
    Changed = *Managed;
  else
    reportError(M, toString(Managed.takeError()));
  if (options::relocatable())
    nameLinkedUnit(M, options::moduleId());
  if (!options::fatBinary().empty())
    if (Error Failed = embedFatBinary(M, options::fatBinary()))
      reportError(M, toString(std::move(Failed)));
  const std::string Summary = givenSummaries(M);
  const EmbeddingOptions Embedding = EmbeddingOptions::given(M, Summary);
  if (!librariesError().empty())
    reportError(M, librariesError());

  std::string Bitcode;
  if (options::bitcode()) {
    Expected<std::string> Unit = unitBitcode(M, {Embedding, options::cpuIn()});
    if (Unit)
      Bitcode = std::move(*Unit);
    else
      reportError(M, toString(Unit.takeError()));
  }
  // Of code that the link makes anew, it tells.
  std::optional<MutedRemarks> Muted;
  if (!Bitcode.empty())
    Muted.emplace();

  if (options::lifetime()) {
    Changed |= insertDirectives(M, Analyses, KernelSummaries(M, Summary),
                                HostOptions::given());
  }
  if (options::traceAccesses())
    Changed |= traceHostAccesses(M);
  Changed |= insertResidency(M);
  Changed |= embedModule(M, Embedding);
  if (!options::standIns().empty())
    if (Error Failed =
            addStandIns(M, options::standIns(), options::runtimeLibrary()))
      reportError(M, toString(std::move(Failed)));
  if (Bitcode.empty())
    return Changed;
  embedBitcode(M, Bitcode);
  return true;
}

} // namespace

void reportCountingCopy(Function &Kernel, StringRef Cause,
                        unsigned Instructions) {
  const unsigned Limit = options::accessCountLimit();
  const std::string Name = displayName(Kernel.getName());
  OptimizationRemarkEmitter Emitter(&Kernel);
  emitRemark(Emitter,
             Instructions <= Limit
                 ? Reason(RemarkId::AccessesCounted)
                       .with("Kernel", Name)
                       .with("Cause", Cause.str())
                 : Reason(RemarkId::AccessesNotCounted)
                       .with("Kernel", Name)
                       .with("Instructions", std::to_string(Instructions))
                       .with("Limit", std::to_string(Limit)),
             lineOf(Kernel), &Kernel.getEntryBlock());
}

PreservedAnalyses PipelinePass::run(Module &M,
                                    ModuleAnalysisManager &Analyses) {
  if (!options::pipeline())
    return PreservedAnalyses::all();
  const bool Device = Triple(M.getTargetTriple()).isNVPTX();
  bool Changed = Device ? runOnDevice(M, Analyses) : runOnHost(M, Analyses);
  if (Device && !options::gpuCode()) {
    emptyFunctions(M);
    Changed = true;
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace dragon
