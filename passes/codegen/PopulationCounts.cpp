//===- PopulationCounts.cpp - loops over the bits of a word ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/PopulationCounts.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TargetTransformInfoImpl.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"

#include <memory>

using namespace llvm;

namespace dragon {

namespace {

/// What every GPU can do.
class CountsBits final : public TargetTransformInfoImplCRTPBase<CountsBits> {
public:
  explicit CountsBits(const DataLayout &Layout)
      : TargetTransformInfoImplCRTPBase<CountsBits>(Layout) {}
  TargetTransformInfo::PopcntSupportKind
  getPopcntSupport(unsigned Bits) const override {
    return Bits == 32 || Bits == 64 ? TargetTransformInfo::PSK_FastHardware
                                    : TargetTransformInfo::PSK_Software;
  }
};

} // namespace

PreservedAnalyses
PopulationCountsPass::run(Loop &L, LoopAnalysisManager &Manager,
                          LoopStandardAnalysisResults &Results,
                          LPMUpdater &Updater) {
  const Module &M = *L.getHeader()->getModule();
  if (!M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  TargetTransformInfo Costs(std::make_unique<CountsBits>(M.getDataLayout()));
  LoopStandardAnalysisResults Own{Results.AA, Results.AC,  Results.DT,
                                  Results.LI, Results.SE,  Results.TLI,
                                  Costs,      Results.MSSA};
  return LoopIdiomRecognizePass().run(L, Manager, Own, Updater);
}

} // namespace dragon
