//===- UndefinedValues.cpp - values that a thread has not set -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/UndefinedValues.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace dragon {

/// Of a function, or of a call: both have results and parameters.
template <typename Callable>
static void dropNoUndef(Callable &Of, unsigned Parameters) {
  Of.removeRetAttr(Attribute::NoUndef);
  for (unsigned I = 0; I < Parameters; ++I)
    Of.removeParamAttr(I, Attribute::NoUndef);
}

PreservedAnalyses UndefinedValuesPass::run(Module &M, ModuleAnalysisManager &) {
  if (!M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  for (Function &F : M) {
    dropNoUndef(F, unsigned(F.arg_size()));
    for (Instruction &I : instructions(F)) {
      if (auto *Call = dyn_cast<CallBase>(&I))
        dropNoUndef(*Call, Call->arg_size());
      I.setMetadata(LLVMContext::MD_noundef, nullptr);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace dragon
