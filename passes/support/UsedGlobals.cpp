//===- UsedGlobals.cpp - the variables that code names --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/UsedGlobals.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

SmallSetVector<GlobalVariable *, 4> variablesOf(const Instruction &I) {
  SmallSetVector<GlobalVariable *, 4> Variables;
  SmallVector<Constant *, 8> Left;
  SmallPtrSet<const Constant *, 8> Seen;
  auto Add = [&](Value *V) {
    if (auto *C = dyn_cast<Constant>(V); C && Seen.insert(C).second)
      Left.push_back(C);
  };
  for (const Use &Operand : I.operands())
    Add(Operand.get());
  while (!Left.empty()) {
    Constant *C = Left.pop_back_val();
    if (auto *Variable = dyn_cast<GlobalVariable>(C))
      Variables.insert(Variable);
    else if (!isa<GlobalValue>(C))
      for (const Use &Operand : C->operands())
        Add(Operand.get());
  }
  return Variables;
}

bool isShared(const Value &Object) {
  return Object.getType()->isPointerTy() &&
         Object.getType()->getPointerAddressSpace() ==
             NVPTXAS::ADDRESS_SPACE_SHARED;
}

bool isOwn(const Value &Object) {
  return isShared(Object) || isa<AllocaInst>(Object);
}

} // namespace dragon
