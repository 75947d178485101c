//===- KeptAccesses.cpp - accesses that no pass may remove ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/KeptAccesses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace dragon {

namespace {

bool isValueToKeep(const LoadInst &Load) {
  return Load.isSimple() && !Load.getType()->isPointerTy() &&
         Load.getType()->isSized();
}

/// A local variable, or a structure passed by value.
bool isLocal(const Value &Pointer) {
  const Value *Object = getUnderlyingObject(&Pointer);
  if (auto *Arg = dyn_cast<Argument>(Object))
    return Arg->hasByValAttr();
  return isa<AllocaInst>(Object);
}

} // namespace

void keepLoads(Function &F) {
  for (Instruction &I : instructions(F))
    if (auto *Load = dyn_cast<LoadInst>(&I); Load && isValueToKeep(*Load)) {
      IRBuilder<> Builder(Load->getNextNode());
      Builder.CreateIntrinsic(Builder.getVoidTy(), Intrinsic::fake_use, {Load});
    }
}

void keepLoadsAnew(Function &F) {
  SmallVector<LoadInst *, 32> Loads;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Use = dyn_cast<IntrinsicInst>(&I);
    if (Use && Use->getIntrinsicID() == Intrinsic::fake_use) {
      auto *Kept = dyn_cast<Instruction>(Use->getArgOperand(0));
      Use->eraseFromParent();
      if (Kept && isa<PtrToIntInst>(Kept) && Kept->use_empty())
        Kept->eraseFromParent();
    } else if (auto *Load = dyn_cast<LoadInst>(&I)) {
      if (Load->isSimple() && !isLocal(*Load->getPointerOperand()))
        Loads.push_back(Load);
    }
  }
  for (LoadInst *Load : Loads) {
    IRBuilder<> Builder(Load->getNextNode());
    Value *Kept = Load;
    if (Load->getType()->isPointerTy())
      Kept = Builder.CreatePtrToInt(Load, Builder.getInt64Ty());
    Builder.CreateIntrinsic(Builder.getVoidTy(), Intrinsic::fake_use, {Kept});
  }
}

bool copiesToVariables(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Copy = dyn_cast<MemTransferInst>(&I);
    return Copy && !Copy->isVolatile() && isLocal(*Copy->getRawDest()) &&
           !isLocal(*Copy->getRawSource());
  });
}

void keepStores(Function &F) {
  for (Instruction &I : instructions(F)) {
    if (auto *Store = dyn_cast<StoreInst>(&I)) {
      if (Store->isSimple() && !isLocal(*Store->getPointerOperand()))
        Store->setVolatile(true);
    } else if (auto *Copy = dyn_cast<MemIntrinsic>(&I)) {
      auto *Transfer = dyn_cast<MemTransferInst>(Copy);
      if (!isLocal(*Copy->getRawDest()) ||
          (Transfer && !isLocal(*Transfer->getRawSource())))
        Copy->setVolatile(ConstantInt::getTrue(F.getContext()));
    }
  }
}

} // namespace dragon
