//===- HostAccessTracing.cpp - host code tells what it touches ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/HostAccessTracing.h"

#include "dragon/CompilerABI.h"
#include "passes/rewrite/EntryPoints.h"
#include "passes/support/GlobalAccesses.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

bool hasElidedBuffers(const Module &M) {
  return any_of(M, [](const Function &F) {
    return F.isDeclaration() && F.getName().starts_with("__dragon_stage_");
  });
}

bool isConstant(const Value *Pointer) {
  auto *Global = dyn_cast<GlobalVariable>(getUnderlyingObject(Pointer));
  return Global && Global->isConstant();
}

/// Of a function of another unit or a library; not of the runtime.
bool isUnwatchedCall(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(Call) || Call->isInlineAsm())
    return false;
  const Function *Callee = Call->getCalledFunction();
  return !Callee || (Callee->isDeclaration() &&
                     !Callee->getName().starts_with("__dragon_"));
}

} // namespace

bool traceHostAccesses(Module &M) {
  if (!hasElidedBuffers(M))
    return false;
  SmallVector<Instruction *, 64> Work;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      Work.push_back(&I);
  StringMap<Constant *> Files; // one constant each
  bool Changed = false;
  for (Instruction *I : Work) {
    auto Tell = [&](const GlobalAccess &Found) {
      if (isConstant(Found.Pointer))
        return;
      IRBuilder<> B(I);
      const DILocation *Where = I->getDebugLoc();
      const StringRef File = Where ? Where->getFilename() : "<unknown>";
      Constant *&Name = Files[File];
      if (!Name)
        Name = stringConstant(M, File);
      const unsigned Kind = (Found.Reads ? DRAGON_CPU_READ : 0u) |
                            (Found.Writes ? DRAGON_CPU_WRITE : 0u);
      callEntry(
          "__dragon_host_access",
          {Found.Pointer, B.CreateZExtOrTrunc(Found.Bytes, B.getInt64Ty()),
           B.getInt32(Kind), Name, B.getInt32(Where ? Where->getLine() : 0)},
          *I);
      Changed = true;
    };
    if (isUnwatchedCall(*I))
      for (Value *Argument : cast<CallBase>(I)->args())
        if (Argument->getType()->isPointerTy() &&
            !isa<AllocaInst>(getUnderlyingObject(Argument)))
          Tell({Argument,
                ConstantInt::get(Type::getInt64Ty(I->getContext()), 0),
                /*Reads=*/false, /*Writes=*/true});
    findGlobalAccesses(*I, Tell);
  }
  return Changed;
}

} // namespace dragon
