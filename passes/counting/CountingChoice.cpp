//===- CountingChoice.cpp - which kernels count accesses ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/counting/CountingChoice.h"

#include "passes/Remarks.h"
#include "passes/SourceNames.h"
#include "passes/counting/CountingCopies.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/UnknownAddresses.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

CountingCauses chooseCounting(Module &M, ModuleSummary &Summary,
                              bool Reported) {
  CountingCauses Causes;
  StringSet<> Kernels;
  for (const KernelSummary &Kernel : Summary.Kernels)
    if (!whyAddressesUnknown(Kernel, Summary.Exprs).empty())
      Kernels.insert(Kernel.Name);
  if (Kernels.empty())
    return Causes;
  Kernels = countableKernels(M, Kernels);
  for (KernelSummary &Kernel : Summary.Kernels) {
    if (!Kernels.contains(Kernel.Name))
      continue;
    Kernel.CountingName = countingCopyName(Kernel.Name);
    Causes[Kernel.Name] =
        Reported ? whyAddressesUnknown(Kernel, Summary.Exprs) : "";
  }
  return Causes;
}

StringSet<> smallKernels(const CountingCauses &Kernels, const Module &Simple,
                         unsigned Limit) {
  StringSet<> Result;
  for (const auto &Kernel : Kernels) {
    Function *F = Simple.getFunction(Kernel.getKey());
    if (F && instructionsOf(*F) <= Limit)
      Result.insert(Kernel.getKey());
  }
  return Result;
}

void reportCountingCopy(Function &Kernel, StringRef Cause,
                        unsigned Instructions, unsigned Limit) {
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

} // namespace dragon
