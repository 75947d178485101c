//===- LocalFunctions.cpp - inline functions are of their unit ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/LocalFunctions.h"

#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace dragon {

/// What LLVM's inliner may pay for a call: more than four times the 2750 that
/// it does for device code by itself, at -O3.
static constexpr const char *InlineThreshold = "12000";

static bool isOfDeviceCode(const Function &F) {
  return !F.isDeclaration() && F.getCallingConv() != CallingConv::PTX_Kernel;
}

PreservedAnalyses LocalFunctionsPass::run(Module &M, ModuleAnalysisManager &) {
  if (!M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  bool Changed = false;
  for (Function &F : M) {
    if (!isOfDeviceCode(F))
      continue;
    if (F.hasLinkOnceLinkage() && !F.hasAddressTaken()) {
      F.setComdat(nullptr);
      F.setLinkage(GlobalValue::InternalLinkage);
      Changed = true;
    }
    if (F.hasLocalLinkage() && !F.hasFnAttribute(Attribute::NoInline)) {
      F.addFnAttr("function-inline-threshold", InlineThreshold);
      Changed = true;
    }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace dragon
