//===- Pipeline.cpp - what the plugin does to a module --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each side of a compilation is a list of steps, in run(). The steps share what
// their class keeps; each is a call of the folder that does the work, with the
// options that say whether and how.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"

#include "passes/KernelCopies.h"
#include "passes/Options.h"
#include "passes/Remarks.h"
#include "passes/access/Canonicalize.h"
#include "passes/access/KernelAccessAnalysis.h"
#include "passes/access/Mistakes.h"
#include "passes/access/SummaryWriter.h"
#include "passes/counting/CountingChoice.h"
#include "passes/counting/CountingCopies.h"
#include "passes/cpu/CpuLowering.h"
#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/KernelSummaries.h"
#include "passes/lifetime/SummaryJoin.h"
#include "passes/paging/PageLegality.h"
#include "passes/paging/PagedCopies.h"
#include "passes/restrict/RestrictCopies.h"
#include "passes/rewrite/HostAccessTracing.h"
#include "passes/rewrite/HostDirectives.h"
#include "passes/rewrite/LibraryResidency.h"
#include "passes/rewrite/LinkDiagnostics.h"
#include "passes/rewrite/LinkedUnit.h"
#include "passes/rewrite/ModuleEmbedding.h"
#include "passes/rewrite/StandIns.h"
#include "passes/rewrite/UnitBitcode.h"
#include "passes/slicing/LoopChoice.h"
#include "passes/slicing/LoopSlicing.h"
#include "passes/slicing/LoopWorth.h"
#include "passes/slicing/SliceChoice.h"
#include "passes/support/ConstantMemory.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/NvccVariables.h"
#include "passes/support/SmallCopies.h"
#include "passes/support/UndefinedSymbols.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace llvm;

namespace dragon {

namespace {

/// A failed step is an error of the compilation; the other steps still run.
void report(Module &M, Error Failed) {
  if (Failed)
    M.getContext().emitError(toString(std::move(Failed)));
}

/// In a module that the device link made.
constexpr StringLiteral LinkMark = "dragon.device_link";

class DeviceSide {
public:
  DeviceSide(Module &M, ModuleAnalysisManager &Analyses)
      : M(M), Analyses(Analyses) {}

  /// True if M changed.
  bool run() {
    // The link has told of its own.
    if (!M.getNamedMetadata(LinkMark) && reportUndefinedSymbols(M))
      return false;
    printRemarksOfLink();
    prepareCode();
    internalizeFunctions();
    summarize();
    chooseCountingCopies();
    addLoopCopies();
    choosePagedCopies();
    makeCpuModule();
    markCountingCopies();
    markPagedCopies();
    markRestrictCopies();
    decideSlices();
    writeSummaries();
    dropUnwantedCode();
    return Changed;
  }

private:
  void printRemarksOfLink();
  void prepareCode();
  void internalizeFunctions();
  void summarize();
  void chooseCountingCopies();
  void choosePagedCopies();
  void addLoopCopies();
  void makeCpuModule();
  void markCountingCopies();
  void markPagedCopies();
  void markRestrictCopies();
  void decideSlices();
  void writeSummaries();
  void dropUnwantedCode();

  Module &M;
  ModuleAnalysisManager &Analyses;
  bool Changed = false;

  /// The architecture that the module is compiled for: "sm_90". A module
  /// without functions has none, and no kernels.
  StringRef Arch;
  /// Remarks on kernels are made once, not for each architecture.
  bool Reports = false;
  const bool HasSummary = !options::summaryFile().empty();
  /// The copy to be analysed; null if nothing is asked of it.
  std::unique_ptr<Module> Simple;
  ModuleSummary Summary;
  /// By kernel, in the code as it is written.
  std::map<std::string, std::vector<TaggedLoop>> Loops;
  SliceDecisions Slices;
  CountingCauses Counting;
  StringMap<std::string> Paged; ///< and why
};

void DeviceSide::printRemarksOfLink() {
  NamedMDNode *Mark = M.getNamedMetadata(LinkMark);
  if (!Mark)
    return;
  printLinkRemarks(M.getContext());
  Mark->eraseFromParent();
}

void DeviceSide::prepareCode() {
  Changed |= lowerDeviceVariables(M);
  Changed |= expandSmallCopies(M);
  Changed |= relieveConstantMemory(M);
  Changed |= promoteVariables(M, Analyses);
  for (const Function &F : M)
    if (F.hasFnAttribute("target-cpu")) {
      Arch = F.getFnAttribute("target-cpu").getValueAsString();
      break;
    }
  const std::vector<std::string> Archs = options::summaryArchs();
  Reports = Archs.empty() || Arch == Archs.front();
}

/// Functions that no other unit can call are as good as static, as they are to
/// nvcc: one that is called once is inlined whatever its size, and none stays
/// for the assembler that nobody calls.
void DeviceSide::internalizeFunctions() {
  Changed |= internalizeModule(M, [](const GlobalValue &Value) {
    const auto *F = dyn_cast<Function>(&Value);
    return !F || F->getCallingConv() == CallingConv::PTX_Kernel;
  });
}

void DeviceSide::summarize() {
  if (HasSummary || options::slicing())
    Simple = canonicalizedCopy(M);
  if (HasSummary) {
    KernelAccesses Found = analyzeCanonical(*Simple);
    Summary = std::move(Found.Summary);
    Loops = std::move(Found.Loops);
  }
  if (options::slicing())
    Slices = checkSliceLegality(*Simple, &M);
}

void DeviceSide::chooseCountingCopies() {
  if (HasSummary && options::accessCounts())
    Counting = chooseCounting(M, Summary, Reports);
}

void DeviceSide::choosePagedCopies() {
  if (!HasSummary || !options::paging())
    return;
  Paged = choosePaged(Summary);
  for (KernelSummary &Kernel : Summary.Kernels)
    if (const auto Decision = Slices.find(Kernel.Name);
        Decision != Slices.end() && Decision->second.Sliceable &&
        !Paged.contains(Kernel.Name) && goesFar(Kernel, Summary.Exprs)) {
      Kernel.Flags |= KernelHasPagedCopy | KernelFetchesAtLast;
      Paged[Kernel.Name] = "each block goes through all of a buffer";
    }
}

/// Made at once, of the code as it is written: loops are not to be found again
/// in what the optimiser makes of them.
void DeviceSide::addLoopCopies() {
  if (!options::slicing())
    return;
  const TaggedLoops Tags(M);
  for (KernelSummary &Kernel : Summary.Kernels) {
    const auto Decision = Slices.find(Kernel.Name);
    if (Decision == Slices.end() || !Decision->second.Sliceable)
      continue;
    Changed |= addLoopSlices(*M.getFunction(Kernel.Name), Kernel, Summary.Exprs,
                             Loops[Kernel.Name], Reports);
  }
}

void DeviceSide::makeCpuModule() {
  const bool Wanted =
      options::cpuArch().empty() || Arch.empty() || Arch == options::cpuArch();
  if (options::cpuOut().empty() || !Wanted)
    return;
  std::unique_ptr<Module> Host = CloneModule(M);
  if (Simple)
    addCountingCopies(
        *Host, smallKernels(Counting, *Simple, options::cpuAccessCountLimit()),
        CounterCode::Function);
  SmallVector<Function *, 8> Pageable;
  for (Function &F : *Host)
    if (Paged.contains(F.getName()) && whyNotPaged(F).empty() &&
        instructionsOf(*Simple->getFunction(F.getName())) <=
            options::cpuAccessCountLimit()) {
      Pageable.push_back(&F);
      if (Function *Loop = Host->getFunction(loopCopyName(F.getName()));
          Loop && whyNotPaged(*Loop).empty())
        Pageable.push_back(Loop);
    }
  addPagedCopies(Pageable, PageCode::Cpu);
  CpuLoweringOptions Lowering;
  Lowering.ModuleId = options::moduleId().str();
  Lowering.TraceAccesses = options::traceAccesses();
  report(M, writeCpuModule(*Host, Lowering, options::cpuOut()));
}

void DeviceSide::markCountingCopies() {
  // Without code for a GPU the marked copies are never made: the copies for the
  // host processor are reported.
  if (!options::gpuCode())
    for (const auto &[Kernel, Cause] : Counting)
      if (!Cause.empty())
        reportCountingCopy(*M.getFunction(Kernel), Cause, /*Instructions=*/0,
                           options::accessCountLimit());
  Changed |= markForCounting(M, Counting);
}

void DeviceSide::markPagedCopies() {
  if (!options::gpuCode() && Reports)
    for (const auto &[Kernel, Cause] : Paged)
      if (Function *F = M.getFunction(Kernel))
        reportPagedCopy(*F, Cause, whyNotPaged(*F));
  if (!Reports)
    for (auto &Kernel : Paged)
      Kernel.second.clear();
  Changed |= markForPaging(M, Paged);
}

void DeviceSide::markRestrictCopies() {
  if (HasSummary && options::restrictCopies() && options::gpuCode())
    Changed |= markForRestrict(M, chooseRestricted(Summary));
}

void DeviceSide::decideSlices() {
  if (!options::slicing())
    return addNoSlicing(Summary);
  if (Reports)
    reportSlicing(M, Slices);
  Changed |= markLoopCopies(M, Slices);
  refuseUselessSlices(Slices, Summary);
  Changed |= markForSlices(M, Slices);
  addSlicing(Summary, Slices);
}

void DeviceSide::writeSummaries() {
  if (!HasSummary)
    return;
  makeMistakes(Summary, options::mistakes());
  for (const std::string &Path :
       summaryPaths(options::summaryFile(), Arch, options::summaryArchs()))
    report(M, writeSummary(Summary, Path));
}

/// Without code for a GPU the optimiser and the back end have no work left.
void DeviceSide::dropUnwantedCode() {
  if (options::gpuCode())
    return;
  removeMarks(M);
  for (Function &F : M)
    if (!F.isDeclaration()) {
      F.dropAllReferences();
      IRBuilder<>(BasicBlock::Create(M.getContext(), "entry", &F))
          .CreateUnreachable();
    }
  Changed = true;
}

class HostSide {
public:
  HostSide(Module &M, ModuleAnalysisManager &Analyses)
      : M(M), Analyses(Analyses) {}

  /// True if M changed.
  bool run() {
    leaveNotes();
    lowerVariables();
    registerDeviceLink();
    readSummaries();
    makeBitcode();
    rewriteCode();
    describeModule();
    return Changed;
  }

private:
  void leaveNotes();
  void lowerVariables();
  void registerDeviceLink();
  void readSummaries();
  void makeBitcode();
  void rewriteCode();
  void describeModule();

  Module &M;
  ModuleAnalysisManager &Analyses;
  bool Changed = false;

  std::string Summary; ///< of all architectures
  EmbeddingOptions Embedding;
  std::string Bitcode; ///< for the link; empty: the module is final
};

/// In a section that is not loaded, where equal lines are linked to one. The
/// bitcode for the link has them as well.
void HostSide::leaveNotes() {
  const std::vector<std::string> Notes = options::notes();
  if (Notes.empty())
    return;
  std::string Text = ".section .dragon.notes,\"MS\",@progbits,1\n";
  raw_string_ostream Stream(Text);
  for (const std::string &Note : Notes) {
    Stream << ".asciz \"";
    Stream.write_escaped(Note) << "\"\n";
  }
  M.appendModuleInlineAsm(Text);
  Changed = true;
}

void HostSide::lowerVariables() {
  Expected<bool> Lowered = lowerManagedVariables(M);
  if (Lowered)
    Changed |= *Lowered;
  else
    report(M, Lowered.takeError());
}

void HostSide::registerDeviceLink() {
  if (options::relocatable())
    nameLinkedUnit(M, options::moduleId());
  if (!options::fatBinary().empty())
    report(M, embedFatBinary(M, options::fatBinary()));
}

void HostSide::readSummaries() {
  Summary = givenSummaries(M);
  Embedding = EmbeddingOptions::given(M, Summary);
  if (!librariesError().empty())
    M.getContext().emitError(librariesError());
}

void HostSide::makeBitcode() {
  if (!options::bitcode())
    return;
  Expected<std::string> Unit = unitBitcode(M, {Embedding, options::cpuIn()});
  if (Unit)
    Bitcode = std::move(*Unit);
  else
    report(M, Unit.takeError());
}

void HostSide::rewriteCode() {
  // The link rewrites the code of the bitcode anew, and makes the remarks.
  std::optional<MutedRemarks> Muted;
  if (!Bitcode.empty())
    Muted.emplace();
  if (options::lifetime())
    Changed |= insertDirectives(M, Analyses, KernelSummaries(M, Summary),
                                HostOptions::given());
  if (options::traceAccesses())
    Changed |= traceHostAccesses(M);
  Changed |= insertResidency(M);
}

void HostSide::describeModule() {
  Changed |= embedModule(M, Embedding);
  if (!options::standIns().empty())
    report(M, addStandIns(M, options::standIns(), options::runtimeLibrary()));
  if (Bitcode.empty())
    return;
  embedBitcode(M, Bitcode);
  Changed = true;
}

} // namespace

PreservedAnalyses PipelinePass::run(Module &M,
                                    ModuleAnalysisManager &Analyses) {
  if (!options::pipeline())
    return PreservedAnalyses::all();
  const bool Device = Triple(M.getTargetTriple()).isNVPTX();
  const bool Changed =
      Device ? DeviceSide(M, Analyses).run() : HostSide(M, Analyses).run();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace dragon
