//===- EntryPoints.cpp - calls of the runtime, in IR ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/EntryPoints.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

FunctionCallee entryPoint(Module &M, StringRef Name) {
  LLVMContext &Context = M.getContext();
  Type *P = PointerType::getUnqual(Context);
  Type *I = Type::getInt32Ty(Context);
  Type *L = Type::getInt64Ty(Context);
  Type *V = Type::getVoidTy(Context);
  (void)P, (void)I, (void)L, (void)V;
#define ANY_ENTRY(NAME, RESULT, VARIADIC, ...)                                 \
  if (Name == #NAME) {                                                         \
    FunctionCallee Entry = M.getOrInsertFunction(                              \
        Name, FunctionType::get(RESULT, {__VA_ARGS__}, VARIADIC));             \
    if (auto *F = dyn_cast<Function>(Entry.getCallee()))                       \
      F->setDoesNotThrow();                                                    \
    return Entry;                                                              \
  }
#define ENTRY(NAME, RESULT, ...) ANY_ENTRY(NAME, RESULT, false, __VA_ARGS__)
#define VARIADIC_ENTRY(NAME, RESULT, ...)                                      \
  ANY_ENTRY(NAME, RESULT, true, __VA_ARGS__)
#define TWIN(CALL, NAME)
#define DEFERRED(CALL, NAME)
#define ZEROING(CALL, NAME)
#include "passes/rewrite/EntryPoints.def"
#undef ANY_ENTRY
  llvm_unreachable("not in EntryPoints.def");
}

Value *callEntry(StringRef Name, ArrayRef<Value *> Args, Instruction &Before) {
  IRBuilder<> Builder(&Before);
  return Builder.CreateCall(entryPoint(*Before.getModule(), Name), Args);
}

Constant *stringConstant(Module &M, StringRef Text) {
  if (Text.empty())
    return ConstantPointerNull::get(PointerType::getUnqual(M.getContext()));
  Constant *Value = ConstantDataArray::getString(M.getContext(), Text);
  auto *Global =
      new GlobalVariable(M, Value->getType(), true, GlobalValue::PrivateLinkage,
                         Value, "dragon.name");
  Global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return Global;
}

StringRef stagingTwin(StringRef Name) {
  return StringSwitch<StringRef>(Name)
#define ENTRY(...)
#define VARIADIC_ENTRY(...)
#define DEFERRED(CALL, NAME)
#define ZEROING(CALL, NAME)
#define TWIN(CALL, NAME) .Case(#CALL, #NAME)
#include "passes/rewrite/EntryPoints.def"
      .Default("");
}

StringRef deferredTwin(StringRef Name) {
  return StringSwitch<StringRef>(Name)
#define ENTRY(...)
#define VARIADIC_ENTRY(...)
#define TWIN(CALL, NAME)
#define ZEROING(CALL, NAME)
#define DEFERRED(CALL, NAME) .Case(#CALL, #NAME)
#include "passes/rewrite/EntryPoints.def"
      .Default("");
}

StringRef zeroingTwin(StringRef Name) {
  return StringSwitch<StringRef>(Name)
#define ENTRY(...)
#define VARIADIC_ENTRY(...)
#define TWIN(CALL, NAME)
#define DEFERRED(CALL, NAME)
#define ZEROING(CALL, NAME) .Case(#CALL, #NAME)
#include "passes/rewrite/EntryPoints.def"
      .Default("");
}

CallBase *replaceCall(CallBase &Call, FunctionCallee Callee,
                      ArrayRef<Value *> Args) {
  IRBuilder<> Builder(&Call);
  CallBase *New;
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call))
    New = Builder.CreateInvoke(Callee, Invoke->getNormalDest(),
                               Invoke->getUnwindDest(), Args);
  else
    New = Builder.CreateCall(Callee, Args);
  New->setCallingConv(Call.getCallingConv());
  New->takeName(&Call);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
  return New;
}

} // namespace dragon
