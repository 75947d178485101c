//===- GlobalAccesses.cpp - what instructions access memory ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/GlobalAccesses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

namespace {

bool mayBeGlobal(const Value *Pointer) {
  auto InSpace = [](const Value *V) {
    unsigned Space = V->getType()->getPointerAddressSpace();
    return Space == NVPTXAS::ADDRESS_SPACE_GENERIC ||
           Space == NVPTXAS::ADDRESS_SPACE_GLOBAL;
  };
  if (!InSpace(Pointer))
    return false;
  const Value *Object = getUnderlyingObject(Pointer);
  if (isa<AllocaInst>(Object))
    return false;
  if (const auto *A = dyn_cast<Argument>(Object); A && A->hasByValAttr())
    return false;
  return !Object->getType()->isPointerTy() || InSpace(Object);
}

} // namespace

void findGlobalAccesses(Instruction &I,
                        function_ref<void(const GlobalAccess &)> Found) {
  auto Tell = [&](Value *Pointer, Value *Bytes, bool Reads, bool Writes) {
    if (mayBeGlobal(Pointer))
      Found({Pointer, Bytes, Reads, Writes});
  };
  auto TellTyped = [&](Value *Pointer, Type *T, bool Reads, bool Writes) {
    const DataLayout &DL = I.getModule()->getDataLayout();
    Tell(Pointer,
         ConstantInt::get(Type::getInt64Ty(I.getContext()),
                          DL.getTypeStoreSize(T).getFixedValue()),
         Reads, Writes);
  };
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    TellTyped(Load->getPointerOperand(), Load->getType(), true, false);
  } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
    TellTyped(Store->getPointerOperand(), Store->getValueOperand()->getType(),
              false, true);
  } else if (auto *Update = dyn_cast<AtomicRMWInst>(&I)) {
    TellTyped(Update->getPointerOperand(), Update->getValOperand()->getType(),
              true, true);
  } else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
    TellTyped(Exchange->getPointerOperand(),
              Exchange->getNewValOperand()->getType(), true, true);
  } else if (auto *Memory = dyn_cast<AnyMemIntrinsic>(&I)) {
    if (auto *Transfer = dyn_cast<AnyMemTransferInst>(Memory))
      Tell(Transfer->getRawSource(), Transfer->getLength(), true, false);
    Tell(Memory->getRawDest(), Memory->getLength(), false, true);
  } else if (auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    const StringRef Name = Call->getCalledFunction()->getName();
    if (Name.starts_with("llvm.nvvm.ldu.global.") ||
        Name.starts_with("llvm.nvvm.ldg.global."))
      TellTyped(Call->getArgOperand(0), Call->getType(), true, false);
  }
}

bool accessesGlobalMemory(Instruction &I) {
  bool Result = false;
  findGlobalAccesses(I, [&](const GlobalAccess &) { Result = true; });
  return Result;
}

} // namespace dragon
