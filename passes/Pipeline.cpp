//===- Pipeline.cpp - what the plugin does to a module --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"

#include "passes/Options.h"
#include "passes/cpu/CpuLowering.h"
#include "passes/rewrite/ModuleEmbedding.h"
#include "passes/rewrite/SummaryJoin.h"
#include "passes/slicing/GridSlicing.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

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

void writeCpuModule(Module &M) {
  CpuLoweringOptions Lowering;
  Lowering.ModuleId = options::moduleId().str();
  Expected<std::unique_ptr<Module>> Host = lowerToHost(M, Lowering);
  if (!Host) {
    reportError(M, "cannot lower the kernels to the host processor: " +
                       toString(Host.takeError()));
    return;
  }
  std::error_code Error;
  raw_fd_ostream File(options::cpuOut(), Error, sys::fs::OF_None);
  if (!Error) {
    WriteBitcodeToFile(**Host, File);
    File.close();
    Error = File.error();
  }
  if (Error) {
    File.clear_error();
    reportError(M,
                "cannot write '" + options::cpuOut() + "': " + Error.message());
  }
}

bool runOnDevice(Module &M, ModuleAnalysisManager &Analyses) {
  StringRef Arch = deviceArch(M);
  // A module without functions has no architecture, and no kernels.
  if (!options::cpuOut().empty() &&
      (options::cpuArch().empty() || Arch.empty() ||
       Arch == options::cpuArch()))
    writeCpuModule(M);
  if (options::slicing())
    return !GridSlicingPass().run(M, Analyses).areAllPreserved();
  return false;
}

bool runOnHost(Module &M) {
  std::string Summary;
  if (!options::summaryFile().empty()) {
    Expected<std::string> Joined =
        readSummaries(options::summaryFile(), options::summaryArchs());
    if (Joined)
      Summary = std::move(*Joined);
    else
      reportError(M, toString(Joined.takeError()));
  }

  EmbeddingOptions Embedding;
  Embedding.Summary = Summary;
  Embedding.ModuleId = options::moduleId();
  Embedding.Source = options::source().empty()
                         ? StringRef(M.getSourceFileName())
                         : options::source();
  Embedding.Cpu = options::cpu();
  return embedModule(M, Embedding);
}

} // namespace

PreservedAnalyses PipelinePass::run(Module &M,
                                    ModuleAnalysisManager &Analyses) {
  if (!options::pipeline())
    return PreservedAnalyses::all();
  bool Changed = Triple(M.getTargetTriple()).isNVPTX()
                     ? runOnDevice(M, Analyses)
                     : runOnHost(M);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace dragon
