//===- KernelCopies.cpp - copies of kernels, when they are made -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/KernelCopies.h"

#include "passes/slicing/GridSlicing.h"
#include "passes/slicing/HeatCounting.h"
#include "passes/support/ExtraParameters.h"

#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr StringRef SliceMark = "dragon-slices";
constexpr StringRef HeatMark = "dragon-heat";

} // namespace

unsigned instructionsOf(Function &Kernel) {
  unsigned Sum = 0;
  for (const Function *F : reachableFunctions(Kernel))
    Sum += F->getInstructionCount();
  return Sum;
}

bool markForSlices(Module &M, const SliceDecisions &Decisions) {
  bool Changed = false;
  for (Function *Kernel : kernelsToClone(M, Decisions)) {
    Kernel->addFnAttr(SliceMark);
    Changed = true;
  }
  return Changed;
}

void markForHeat(Module &M, const StringMap<std::string> &Causes) {
  for (Function &F : M)
    if (auto Cause = Causes.find(F.getName()); Cause != Causes.end())
      F.addFnAttr(HeatMark, Cause->second);
}

void removeMarks(Module &M) {
  for (Function &F : M) {
    F.removeFnAttr(SliceMark);
    F.removeFnAttr(HeatMark);
  }
}

PreservedAnalyses KernelCopiesPass::run(Module &M, ModuleAnalysisManager &) {
  SliceDecisions Slices;
  StringSet<> Heat;
  for (Function &F : M) {
    if (F.hasFnAttribute(SliceMark)) {
      SliceLegality &Legality = Slices[F.getName()];
      Legality.Sliceable = Legality.NeedsClone = true;
    }
    if (F.hasFnAttribute(HeatMark)) {
      const unsigned Instructions = instructionsOf(F);
      if (Instructions <= HeatLimit)
        Heat.insert(F.getName());
      if (StringRef Cause = F.getFnAttribute(HeatMark).getValueAsString();
          Tell && !Cause.empty())
        Tell(F, Cause, Instructions);
    }
  }
  removeMarks(M);
  addHeatCopies(M, Heat, HeatCounter::Ptx);
  addSliceClones(M, Slices);
  return Heat.empty() && Slices.empty() ? PreservedAnalyses::all()
                                        : PreservedAnalyses::none();
}

} // namespace dragon
