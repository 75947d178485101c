//===- IntrinsicCall.h - a call of an intrinsic, lowered --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The call of an intrinsic that is being lowered, and the parts that the
// lowering of most intrinsics is made of.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_INTRINSICCALL_H
#define DRAGON_PASSES_CPU_INTRINSICCALL_H

#include "passes/cpu/RuntimeFunctions.h"
#include "passes/cpu/ThreadContext.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace dragon {

class IntrinsicCall {
protected:
  IntrinsicCall(llvm::Module &M, ThreadContext *Thread)
      : M(M), Thread(Thread) {}

  llvm::Value *call(RuntimeFunction Which, llvm::ArrayRef<llvm::Value *> Args) {
    return B->CreateCall(runtimeFunction(M, Which), Args);
  }
  llvm::Value *arg(unsigned I) const { return Call->getArgOperand(I); }
  /// For intrinsics whose effect has no equal here and needs none.
  llvm::Value *nothing() const {
    return Call->getType()->isVoidTy()
               ? static_cast<llvm::Value *>(B->getTrue())
               : llvm::PoisonValue::get(Call->getType());
  }
  llvm::Value *fromI32(llvm::Value *V, llvm::Type *To);
  llvm::Value *generic(llvm::Value *Pointer) {
    return B->CreateAddrSpaceCast(Pointer, B->getPtrTy());
  }
  /// A place for a second result of a runtime call.
  llvm::Value *temporary();

  llvm::Module &M;
  ThreadContext *Thread;
  llvm::CallInst *Call = nullptr;
  llvm::IRBuilder<> Builder{M.getContext()};
  llvm::IRBuilder<> *B = &Builder;
  llvm::AllocaInst *Temporary = nullptr;
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_INTRINSICCALL_H
