//===- KernelCopies.cpp - copies of kernels, when they are made -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/KernelCopies.h"

#include "passes/counting/CountingChoice.h"
#include "passes/counting/CountingCopies.h"
#include "passes/paging/PageLegality.h"
#include "passes/paging/PagedCopies.h"
#include "passes/restrict/RestrictCopies.h"
#include "passes/slicing/GridSlicing.h"
#include "passes/slicing/LoopSlicing.h"
#include "passes/support/ExtraParameters.h"

#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr StringRef SliceMark = "dragon-slices";
constexpr StringRef LoopMark = "dragon-slices-alone";
constexpr StringRef CountingMark = "dragon-counts";
constexpr StringRef PagingMark = "dragon-pages";
constexpr StringRef RestrictMark = "dragon-restrict";
/// Larger kernels have no copy for buffers that do not overlap: the assembler
/// takes long for them.
constexpr unsigned RestrictLimit = 2000;
/// The code that fetches pages has threads of a warp that run apart.
constexpr unsigned OldestArchOfPages = 70;

} // namespace

bool markForSlices(Module &M, const SliceDecisions &Decisions) {
  bool Changed = false;
  for (Function *Kernel : kernelsToClone(M, Decisions)) {
    Kernel->addFnAttr(SliceMark);
    Changed = true;
  }
  return Changed;
}

bool markLoopCopies(Module &M, const SliceDecisions &Decisions) {
  bool Changed = false;
  for (const auto &Decision : Decisions)
    if (Function *Copy = M.getFunction(loopCopyName(Decision.first()))) {
      Copy->addFnAttr(LoopMark);
      Changed = true;
    }
  return Changed;
}

bool markForCounting(Module &M, const CountingCauses &Causes) {
  for (Function &F : M)
    if (auto Cause = Causes.find(F.getName()); Cause != Causes.end())
      F.addFnAttr(CountingMark, Cause->second);
  return !Causes.empty();
}

bool markForPaging(Module &M, const StringMap<std::string> &Causes) {
  for (Function &F : M)
    if (auto Cause = Causes.find(F.getName()); Cause != Causes.end())
      F.addFnAttr(PagingMark, Cause->second);
  return !Causes.empty();
}

bool markForRestrict(Module &M, const StringSet<> &Kernels) {
  for (Function &F : M)
    if (Kernels.contains(F.getName()))
      F.addFnAttr(RestrictMark);
  return !Kernels.empty();
}

void removeMarks(Module &M) {
  for (Function &F : M) {
    F.removeFnAttr(SliceMark);
    F.removeFnAttr(LoopMark);
    F.removeFnAttr(CountingMark);
    F.removeFnAttr(PagingMark);
    F.removeFnAttr(RestrictMark);
  }
}

/// Tells why, or why not, if that is to be told.
static bool mayFetchPages(Function &Kernel, unsigned Limit) {
  std::string WhyNot = whyNotPaged(Kernel);
  const unsigned Arch = archOf(Kernel);
  if (WhyNot.empty() && Arch && Arch < OldestArchOfPages)
    return false;
  if (WhyNot.empty() && instructionsOf(Kernel) > Limit)
    WhyNot = "optimised it has " + std::to_string(instructionsOf(Kernel)) +
             " instructions, more than " + std::to_string(Limit);
  if (StringRef Cause = Kernel.getFnAttribute(PagingMark).getValueAsString();
      !Cause.empty())
    reportPagedCopy(Kernel, Cause, WhyNot);
  return WhyNot.empty();
}

/// The kernel's copy that runs part of a loop, if that may fetch pages as well.
static Function *loopCopyThatFetches(Function &Kernel, unsigned Limit) {
  Function *Copy =
      Kernel.getParent()->getFunction(loopCopyName(Kernel.getName()));
  return Copy && Copy->hasFnAttribute(LoopMark) &&
                 instructionsOf(*Copy) <= Limit && whyNotPaged(*Copy).empty()
             ? Copy
             : nullptr;
}

/// Functions of which a slice clone has taken the place.
static void removeReplaced(Module &M, ArrayRef<Function *> Replaced,
                           FunctionAnalysisManager &OfFunctions) {
  removeFromUsedLists(M, [&](Constant *Used) {
    return is_contained(Replaced, dyn_cast<Function>(Used));
  });
  for (Function *Copy : Replaced) {
    Copy->removeDeadConstantUsers();
    if (!Copy->use_empty())
      continue;
    // The next function may get its memory, and must not get what is known of
    // it.
    OfFunctions.clear(*Copy, Copy->getName());
    Copy->eraseFromParent();
  }
}

PreservedAnalyses KernelCopiesPass::run(Module &M,
                                        ModuleAnalysisManager &Analyses) {
  SliceDecisions Slices, PagedSlices;
  StringSet<> Counting;
  SmallVector<Function *, 8> Restricted, Replaced, Paged;
  SmallVector<std::string, 4> PagedLoops;
  auto slicePaged = [&](Function &F) {
    SliceLegality &Legality = PagedSlices[pagedCopyName(F.getName())];
    Legality.Sliceable = Legality.NeedsClone = true;
  };
  for (Function &F : M) {
    if (F.hasFnAttribute(LoopMark))
      Replaced.push_back(&F);
    if (F.hasFnAttribute(SliceMark) || F.hasFnAttribute(LoopMark)) {
      SliceLegality &Legality = Slices[F.getName()];
      Legality.Sliceable = Legality.NeedsClone = true;
    }
    if (F.hasFnAttribute(CountingMark)) {
      const unsigned Instructions = instructionsOf(F);
      if (Instructions <= AccessCountLimit)
        Counting.insert(F.getName());
      if (StringRef Cause = F.getFnAttribute(CountingMark).getValueAsString();
          !Cause.empty())
        reportCountingCopy(F, Cause, Instructions, AccessCountLimit);
    }
    if (F.hasFnAttribute(PagingMark) &&
        mayFetchPages(F, AccessCountLimit / 2)) {
      Paged.push_back(&F);
      if (F.hasFnAttribute(SliceMark))
        slicePaged(F);
      if (Function *Loop = loopCopyThatFetches(F, AccessCountLimit / 2)) {
        Paged.push_back(Loop);
        PagedLoops.push_back(pagedCopyName(Loop->getName()));
        slicePaged(*Loop);
      }
    }
    if (F.hasFnAttribute(RestrictMark) && instructionsOf(F) <= RestrictLimit)
      if (const unsigned Loads = loadsSetFree(F)) {
        Restricted.push_back(&F);
        reportRestrictCopy(F, Loads);
      }
  }
  removeMarks(M);
  addCountingCopies(M, Counting, CounterCode::Ptx);
  addSliceClones(M, Slices);
  FunctionAnalysisManager &OfFunctions =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  addPagedCopies(Paged, PageCode::Gpu, &OfFunctions);
  addSliceClones(M, PagedSlices);
  for (const std::string &Name : PagedLoops)
    Replaced.push_back(M.getFunction(Name));
  removeReplaced(M, Replaced, OfFunctions);
  addRestrictCopies(Restricted, Analyses);
  return Counting.empty() && Slices.empty() && Restricted.empty() &&
                 Paged.empty()
             ? PreservedAnalyses::all()
             : PreservedAnalyses::none();
}

} // namespace dragon
