//===- KernelCopies.cpp - copies of kernels, when they are made -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/KernelCopies.h"

#include "passes/slicing/GridSlicing.h"
#include "passes/slicing/HeatCounting.h"

#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr StringRef SliceMark = "dragon-slices";
constexpr StringRef HeatMark = "dragon-heat";

} // namespace

bool markForSlices(Module &M, const SliceDecisions &Decisions) {
  bool Changed = false;
  for (Function *Kernel : kernelsToClone(M, Decisions)) {
    Kernel->addFnAttr(SliceMark);
    Changed = true;
  }
  return Changed;
}

void markForHeat(Module &M, const StringSet<> &Kernels) {
  for (Function &F : M)
    if (Kernels.contains(F.getName()))
      F.addFnAttr(HeatMark);
}

PreservedAnalyses KernelCopiesPass::run(Module &M, ModuleAnalysisManager &) {
  SliceDecisions Slices;
  StringSet<> Heat;
  for (Function &F : M) {
    if (F.hasFnAttribute(SliceMark)) {
      SliceLegality &Legality = Slices[F.getName()];
      Legality.Sliceable = Legality.NeedsClone = true;
    }
    if (F.hasFnAttribute(HeatMark))
      Heat.insert(F.getName());
    F.removeFnAttr(SliceMark);
    F.removeFnAttr(HeatMark);
  }
  addHeatCopies(M, Heat, HeatCounter::Ptx);
  addSliceClones(M, Slices);
  return Heat.empty() && Slices.empty() ? PreservedAnalyses::all()
                                        : PreservedAnalyses::none();
}

} // namespace dragon
