//===- DeviceMath.cpp - libdevice on the host -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/DeviceMath.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

static void callIntrinsic(Function &F, Intrinsic::ID ID) {
  for (User *U : make_early_inc_range(F.users())) {
    auto *Call = dyn_cast<CallInst>(U);
    if (!Call || Call->getCalledFunction() != &F)
      continue;
    IRBuilder<> B(Call);
    SmallVector<Value *, 3> Args(Call->args());
    Value *Result = B.CreateIntrinsic(ID, {F.getReturnType()}, Args);
    Call->replaceAllUsesWith(Result);
    Call->eraseFromParent();
  }
}

void lowerDeviceMath(Module &M) {
  for (Function &F : make_early_inc_range(M)) {
    if (!F.isDeclaration())
      continue;
    auto ID = StringSwitch<Intrinsic::ID>(F.getName())
#define MATH_INTRINSIC(NAME, ID) .Case(#NAME, Intrinsic::ID)
#include "passes/cpu/DeviceMath.def"
                  .Default(Intrinsic::not_intrinsic);
    if (ID) {
      callIntrinsic(F, ID);
      continue;
    }
    auto Library = StringSwitch<StringRef>(F.getName())
#define MATH_LIBRARY(NAME, LIBRARY) .Case(#NAME, #LIBRARY)
#include "passes/cpu/DeviceMath.def"
                       .Default("");
    if (Library.empty())
      continue;
    FunctionCallee Callee = M.getOrInsertFunction(Library, F.getFunctionType());
    F.replaceAllUsesWith(Callee.getCallee());
    F.eraseFromParent();
  }
}

bool isMathLibraryFunction(StringRef Name) {
  return StringSwitch<bool>(Name)
#define MATH_LIBRARY(NAME, LIBRARY) .Case(#LIBRARY, true)
#include "passes/cpu/DeviceMath.def"
      .Default(false);
}

} // namespace dragon
