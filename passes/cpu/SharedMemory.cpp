//===- SharedMemory.cpp - __shared__ on the host --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/SharedMemory.h"

#include "passes/support/ExtraParameters.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

namespace {

SmallVector<GlobalVariable *, 16> sharedVariables(Module &M) {
  SmallVector<GlobalVariable *, 16> Result;
  for (GlobalVariable &V : M.globals())
    if (V.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
      Result.push_back(&V);
  return Result;
}

/// `extern __shared__ T x[]`: all such variables are the same memory.
bool isDynamic(const GlobalVariable &V) {
  return V.isDeclaration() ||
         V.getDataLayout().getTypeAllocSize(V.getValueType()) == 0;
}

struct Placed {
  uint64_t Offset;
  uint64_t End;
};

/// The kernels that can reach each function, by number.
DenseMap<Function *, SmallVector<unsigned, 4>>
kernelsByFunction(Module &M, ArrayRef<Function *> Kernels) {
  DenseMap<Function *, SmallVector<unsigned, 4>> Result;
  for (unsigned K = 0; K < Kernels.size(); ++K) {
    bool Indirect = false;
    auto Reached = reachableFunctions(*Kernels[K], &Indirect);
    if (Indirect)
      for (Function &F : M)
        if (!F.isDeclaration() && addressIsTaken(F))
          for (Function *Target : reachableFunctions(F))
            Reached.insert(Target);
    for (Function *F : Reached)
      Result[F].push_back(K);
  }
  return Result;
}

} // namespace

Error exposeSharedVariables(Module &M) {
  SmallVector<Constant *, 16> Constants;
  for (GlobalVariable *V : sharedVariables(M))
    Constants.push_back(V);
  convertUsersOfConstantsToInstructions(Constants);
  for (GlobalVariable *V : sharedVariables(M))
    for (User *U : V->users())
      if (!isa<Instruction>(U)) {
        return createStringError("the address of the __shared__ variable '" +
                                 V->getName() +
                                 "' is part of a constant: the cpu target "
                                 "cannot place it");
      }
  return Error::success();
}

DenseMap<Function *, uint32_t> lowerSharedMemory(Module &M,
                                                 ContextMap &Contexts,
                                                 ArrayRef<Function *> Kernels) {
  const DataLayout &DL = M.getDataLayout();
  auto KernelsOf = kernelsByFunction(M, Kernels);
  SmallVector<SmallVector<Placed, 8>, 8> Taken(Kernels.size());

  for (GlobalVariable *V : sharedVariables(M)) {
    uint64_t Offset = 0;
    if (!isDynamic(*V)) {
      uint64_t Bytes = DL.getTypeAllocSize(V->getValueType());
      Align Alignment =
          DL.getValueOrABITypeAlignment(V->getAlign(), V->getValueType());
      SmallVector<unsigned, 8> Users;
      for (User *U : V->users())
        append_range(Users, KernelsOf[cast<Instruction>(U)->getFunction()]);
      // The lowest offset that is free in all of them.
      for (bool Moved = true; Moved;) {
        Moved = false;
        for (unsigned K : Users)
          for (const Placed &Other : Taken[K])
            if (Offset < Other.End && Other.Offset < Offset + Bytes) {
              Offset = alignTo(Other.End, Alignment);
              Moved = true;
            }
      }
      for (unsigned K : Users)
        Taken[K].push_back({Offset, Offset + Bytes});
    }
    DenseMap<Function *, Value *> Address;
    for (Use &U : make_early_inc_range(V->uses())) {
      auto *I = cast<Instruction>(U.getUser());
      ThreadContext &Thread = *Contexts[I->getFunction()];
      Value *&Known = Address[I->getFunction()];
      if (!Known) {
        Value *Begin = Thread.shared();
        Value *Static = isDynamic(*V) ? Thread.staticBytes() : nullptr;
        IRBuilder<> B = Thread.entryBuilder();
        Value *Distance =
            Static ? B.CreateZExt(Static, B.getInt64Ty()) : B.getInt64(Offset);
        Value *Pointer =
            B.CreateInBoundsGEP(B.getInt8Ty(), Begin, Distance, V->getName());
        Known = Thread.endOfEntry(B.CreateAddrSpaceCast(Pointer, V->getType()));
      }
      U.set(Known);
    }
    V->eraseFromParent();
  }

  // Numbers of shared addresses are offsets.
  for (auto &[F, Thread] : Contexts)
    for (Instruction &I : make_early_inc_range(instructions(*F))) {
      IRBuilder<> B(&I);
      if (auto *ToInt = dyn_cast<PtrToIntInst>(&I);
          ToInt &&
          ToInt->getPointerAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED &&
          !ToInt->getType()->isVectorTy()) {
        Value *Begin = Thread->shared();
        Value *Generic = B.CreateAddrSpaceCast(I.getOperand(0), B.getPtrTy());
        Value *Offset = B.CreateSub(B.CreatePtrToInt(Generic, B.getInt64Ty()),
                                    B.CreatePtrToInt(Begin, B.getInt64Ty()));
        I.replaceAllUsesWith(B.CreateZExtOrTrunc(Offset, I.getType()));
        I.eraseFromParent();
      } else if (auto *ToPtr = dyn_cast<IntToPtrInst>(&I);
                 ToPtr &&
                 ToPtr->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED &&
                 !ToPtr->getType()->isVectorTy()) {
        Value *Offset = B.CreateZExtOrTrunc(I.getOperand(0), B.getInt64Ty());
        Value *Pointer = B.CreateGEP(B.getInt8Ty(), Thread->shared(), Offset);
        I.replaceAllUsesWith(B.CreateAddrSpaceCast(Pointer, I.getType()));
        I.eraseFromParent();
      }
    }

  DenseMap<Function *, uint32_t> Result;
  for (unsigned K = 0; K < Kernels.size(); ++K) {
    uint64_t End = 0;
    for (const Placed &Variable : Taken[K])
      End = std::max(End, Variable.End);
    Result[Kernels[K]] = static_cast<uint32_t>(End);
  }
  return Result;
}

} // namespace dragon
