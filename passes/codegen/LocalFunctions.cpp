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

PreservedAnalyses LocalFunctionsPass::run(Module &M, ModuleAnalysisManager &) {
  if (!M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  bool Changed = false;
  for (Function &F : M)
    if (F.hasLinkOnceLinkage() && !F.isDeclaration() &&
        F.getCallingConv() != CallingConv::PTX_Kernel && !F.hasAddressTaken()) {
      F.setComdat(nullptr);
      F.setLinkage(GlobalValue::InternalLinkage);
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace dragon
