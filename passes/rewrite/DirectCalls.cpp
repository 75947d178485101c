//===- DirectCalls.cpp - calls name the functions that they call ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/DirectCalls.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

bool resolveAliases(Module &M) {
  bool Changed = false;
  for (GlobalAlias &Alias : make_early_inc_range(M.aliases())) {
    auto *Callee = dyn_cast<Function>(Alias.getAliasee()->stripPointerCasts());
    if (!Callee || Alias.isInterposable())
      continue;
    Alias.replaceUsesWithIf(Callee, [&](const Use &U) {
      auto *Call = dyn_cast<CallBase>(U.getUser());
      const bool Calls = Call && Call->isCallee(&U);
      Changed |= Calls;
      return Calls;
    });
  }
  return Changed;
}

/// What the function gets for it; null: that is not known. A number without a
/// suffix where a wider one is expected is often seen, and fills the register.
Value *asParameter(Value &Given, Type &Expected) {
  if (Given.getType() == &Expected)
    return &Given;
  const auto *Number = dyn_cast<ConstantInt>(&Given);
  if (!Number || Number->isNegative() || !Expected.isIntegerTy() ||
      Expected.getIntegerBitWidth() < Number->getBitWidth())
    return nullptr;
  return ConstantInt::get(&Expected, Number->getZExtValue());
}

/// What the call gives the function; nothing: they do not agree.
std::optional<SmallVector<Value *, 8>> argumentsFor(const CallBase &Call,
                                                    const Function &Callee) {
  if (Callee.isVarArg() || Call.isMustTailCall() || !isa<CallInst>(Call) ||
      Call.getCallingConv() != Callee.getCallingConv() ||
      Call.arg_size() != Callee.arg_size() ||
      (Call.getType() != Callee.getReturnType() && !Call.use_empty()))
    return std::nullopt;
  SmallVector<Value *, 8> Result;
  for (const auto &[Given, Parameter] : zip(Call.args(), Callee.args())) {
    Value *Passed = asParameter(*Given.get(), *Parameter.getType());
    if (!Passed)
      return std::nullopt;
    Result.push_back(Passed);
  }
  return Result;
}

void callDirectly(CallBase &Call, Function &Callee, ArrayRef<Value *> Args) {
  SmallVector<OperandBundleDef, 1> Bundles;
  Call.getOperandBundlesAsDefs(Bundles);
  auto *Typed = CallInst::Create(Callee.getFunctionType(), &Callee, Args,
                                 Bundles, "", Call.getIterator());
  Typed->setCallingConv(Call.getCallingConv());
  Typed->setDebugLoc(Call.getDebugLoc());
  if (!Call.use_empty()) {
    Typed->takeName(&Call);
    Call.replaceAllUsesWith(Typed);
  }
  Call.eraseFromParent();
}

bool callByTypes(Function &Callee) {
  SmallSetVector<CallBase *, 8> Calls;
  for (User *U : Callee.users())
    if (auto *Call = dyn_cast<CallBase>(U);
        Call && Call->getCalledOperand() == &Callee &&
        Call->getFunctionType() != Callee.getFunctionType())
      Calls.insert(Call);
  bool Changed = false;
  for (CallBase *Call : Calls)
    if (const auto Args = argumentsFor(*Call, Callee)) {
      callDirectly(*Call, Callee, *Args);
      Changed = true;
    }
  return Changed;
}

} // namespace

bool makeCallsDirect(Module &M) {
  bool Changed = resolveAliases(M);
  for (Function &F : M)
    if (!F.isDeclaration())
      Changed |= callByTypes(F);
  return Changed;
}

} // namespace dragon
