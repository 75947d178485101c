//===- ContextParameters.cpp - the thread's context everywhere ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/ContextParameters.h"

#include "passes/cpu/DeviceIntrinsics.h"
#include "passes/cpu/RuntimeFunctions.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/UnitSuffix.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

/// A function with F's body, name and attributes, and the hidden parameters. F
/// is left without a body.
static Function *moveToNewFunction(Function &F) {
  SmallVector<Type *, 16> Types(F.getFunctionType()->params());
  Types.append(ThreadContext::parameterTypes(F.getContext()));
  Function *New = Function::Create(
      FunctionType::get(F.getReturnType(), Types, false),
      GlobalValue::InternalLinkage, F.getAddressSpace(), "", F.getParent());
  New->copyAttributesFrom(&F);
  New->setComdat(nullptr);
  New->setVisibility(GlobalValue::DefaultVisibility);
  New->splice(New->begin(), &F);
  auto NewArg = New->arg_begin();
  for (Argument &Old : F.args()) {
    NewArg->takeName(&Old);
    Old.replaceAllUsesWith(&*NewArg++);
  }
  for (StringRef Name : ThreadContext::parameterNames())
    (NewArg++)->setName(Name);
  ThreadContext::addParameterAttributes(*New);
  New->setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  return New;
}

/// F, which has lost its body, calls New with the context of the running
/// thread.
static void makeWrapper(Function &F, Function &New) {
  F.setLinkage(GlobalValue::InternalLinkage);
  F.setComdat(nullptr);
  IRBuilder<> B(BasicBlock::Create(F.getContext(), "entry", &F));
  Value *Context = B.CreateCall(
      runtimeFunction(*F.getParent(), RuntimeFunction::dragon_cpu_current));
  SmallVector<Value *, 16> Args;
  for (Argument &A : F.args())
    Args.push_back(&A);
  Args.push_back(Context);
  for (unsigned Dim = 0; Dim < 3; ++Dim)
    Args.push_back(loadThreadIdx(B, Context, Dim));
  CallInst *Call = B.CreateCall(&New, Args);
  Call->setCallingConv(New.getCallingConv());
  for (unsigned I = 0; I < F.arg_size(); ++I)
    if (F.hasParamAttribute(I, Attribute::ByVal))
      Call->addParamAttr(I, F.getParamAttribute(I, Attribute::ByVal));
  if (F.getReturnType()->isVoidTy())
    B.CreateRetVoid();
  else
    B.CreateRet(Call);
}

/// The address of a kernel, which has lost its body and its name, is not for
/// calls: it is what kernels that launch it give to the device runtime.
static void refuseCalls(Function &F, StringRef Name) {
  Module &M = *F.getParent();
  F.setName(Name + ".address");
  F.setLinkage(GlobalValue::InternalLinkage);
  F.setComdat(nullptr);
  IRBuilder<> B(BasicBlock::Create(F.getContext(), "entry", &F));
  std::string What =
      "a call of the kernel '" + demangle(withoutUnitSuffix(Name)) + "'";
  B.CreateCall(
      runtimeFunction(M, RuntimeFunction::dragon_cpu_unsupported),
      {B.CreateCall(runtimeFunction(M, RuntimeFunction::dragon_cpu_current)),
       B.CreateGlobalString(What)});
  B.CreateUnreachable();
}

ContextMap addContextParameters(Module &M,
                                SmallVectorImpl<Function *> &Kernels) {
  auto Needed =
      functionsThatNeed(M, [](Instruction &I) { return needsContext(I); });
  for (Function *Kernel : Kernels)
    Needed.insert(Kernel);

  SmallVector<Function *, 16> InOrder;
  for (Function &F : M)
    if (Needed.contains(&F))
      InOrder.push_back(&F);
  DenseMap<Function *, Function *> Replacement;
  for (Function *F : InOrder)
    Replacement[F] = moveToNewFunction(*F);

  ContextMap Contexts;
  for (Function *F : InOrder) {
    Function *New = Replacement[F];
    Contexts[New] = std::make_unique<ThreadContext>(*New);
    for (Instruction &I : make_early_inc_range(instructions(*New)))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (auto Callee = Replacement.find(Call->getCalledFunction());
            Callee != Replacement.end())
          appendArguments(*Call, Callee->second, Contexts[New]->parameters());
  }
  for (Function *F : InOrder) {
    Function *New = Replacement[F];
    // Lists of used symbols do not matter on the host.
    if (addressIsTaken(*F)) {
      if (F->getCallingConv() == CallingConv::PTX_Kernel) {
        New->takeName(F);
        refuseCalls(*F, New->getName());
        continue;
      }
      New->setName(F->getName() + ".context");
      makeWrapper(*F, *New);
      continue;
    }
    New->takeName(F);
    F->replaceAllUsesWith(PoisonValue::get(F->getType()));
    F->eraseFromParent();
  }
  for (Function *&Kernel : Kernels)
    Kernel = Replacement[Kernel];
  return Contexts;
}

} // namespace dragon
