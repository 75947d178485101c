//===- SliceChoice.cpp - which kernels run in slices ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/SliceChoice.h"

#include "passes/Remarks.h"
#include "passes/SourceNames.h"
#include "passes/slicing/SliceWorth.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

void reportSlicing(Module &M, const SliceDecisions &Decisions) {
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

static void addSlicing(KernelSummary &Kernel, const SliceDecisions &Decisions) {
  auto Decision = Decisions.find(Kernel.Name);
  if (Decision == Decisions.end())
    return;
  const SliceLegality &Legality = Decision->second;
  if (Legality.FollowsArguments) // whether slices are worth it or not
    Kernel.Flags |= KernelFollowsArguments;
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
  if (Legality.NeverWaits)
    Kernel.Flags |= KernelNeverWaits;
}

void addSlicing(ModuleSummary &Summary, const SliceDecisions &Decisions) {
  for (KernelSummary &Kernel : Summary.Kernels)
    addSlicing(Kernel, Decisions);
}

void addNoSlicing(ModuleSummary &Summary) {
  for (KernelSummary &Kernel : Summary.Kernels)
    Kernel.WhyNotSliceable = "it was compiled with -fno-dragon-slicing";
}

} // namespace dragon
