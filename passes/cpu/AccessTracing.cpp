//===- AccessTracing.cpp - kernels that tell their accesses ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/AccessTracing.h"
#include "passes/cpu/RuntimeFunctions.h"
#include "passes/support/GlobalAccesses.h"

#include "dragon/CompilerABI.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

void traceAccesses(Module &M) {
  Function *Access = runtimeFunction(M, RuntimeFunction::dragon_cpu_access);
  SmallVector<Instruction *, 64> Work;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      Work.push_back(&I);
  for (Instruction *I : Work)
    findGlobalAccesses(*I, [&](const GlobalAccess &Found) {
      IRBuilder<> B(I);
      const unsigned Kind = (Found.Reads ? DRAGON_CPU_READ : 0u) |
                            (Found.Writes ? DRAGON_CPU_WRITE : 0u);
      B.CreateCall(Access, {B.CreateAddrSpaceCast(Found.Pointer, B.getPtrTy()),
                            B.CreateZExtOrTrunc(Found.Bytes, B.getInt64Ty()),
                            B.getInt32(Kind)});
    });
}

PreservedAnalyses AccessTracingPass::run(Module &M, ModuleAnalysisManager &) {
  traceAccesses(M);
  return PreservedAnalyses::none();
}

} // namespace dragon
