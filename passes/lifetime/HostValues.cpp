//===- HostValues.cpp - what host memory holds at a call
//---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/HostValues.h"

#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/CallEffects.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace dragon {

namespace {

/// The memory at Offset of an object in this function, byte by byte.
class KnownZero {
public:
  KnownZero(const Value &Object, int64_t Begin, uint64_t Bytes)
      : Object(Object), Begin(Begin), Bytes(Bytes),
        Layout(cast<AllocaInst>(Object).getDataLayout()) {}

  /// Nothing is ever stored to the bytes but zeros, or the last stores in front
  /// of At are zeros; and nobody else can store there.
  bool before(const Instruction &At) {
    if (!visitUsers(Object, 0) || Stores.empty())
      return false;
    return all_of(Stores, [](const auto &S) { return S.second.Zero; }) ||
           zeroAbove(At);
  }

private:
  struct Range {
    int64_t Begin;
    int64_t End;
    bool Zero;
  };

  bool add(const Instruction &I, int64_t Offset, uint64_t Size, bool Zero) {
    int64_t End = Offset + static_cast<int64_t>(Size);
    if (Offset < Begin + static_cast<int64_t>(Bytes) && Begin < End)
      Stores[&I] = {Offset, End, Zero};
    return true;
  }

  bool visitUsers(const Value &Address, int64_t Offset) {
    for (const Use &U : Address.uses()) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      if (!I || !visitUse(U, *I, Offset))
        return false;
    }
    return true;
  }

  bool visitUse(const Use &U, const Instruction &I, int64_t Offset) {
    if (isa<LoadInst>(I))
      return true;
    if (auto *Store = dyn_cast<StoreInst>(&I)) {
      if (U.getOperandNo() != StoreInst::getPointerOperandIndex())
        return false;
      const Value *Stored = Store->getValueOperand();
      auto *Constant = dyn_cast<llvm::Constant>(Stored);
      return add(I, Offset, Layout.getTypeStoreSize(Stored->getType()),
                 Constant && Constant->isNullValue());
    }
    if (auto *Address = dyn_cast<GEPOperator>(&I)) {
      APInt More(64, 0);
      return Address->accumulateConstantOffset(Layout, More) &&
             visitUsers(I, Offset + More.getSExtValue());
    }
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !Call->isArgOperand(&U))
      return false;
    if (auto *Fill = dyn_cast<MemSetInst>(Call)) {
      auto *Length = dyn_cast<ConstantInt>(Fill->getLength());
      auto *Value = dyn_cast<ConstantInt>(Fill->getValue());
      return Length && Value &&
             add(I, Offset, Length->getZExtValue(), Value->isZero());
    }
    if (auto *Transfer = dyn_cast<MemTransferInst>(Call)) {
      if (Call->getArgOperandNo(&U) == 1)
        return true;
      auto *Length = dyn_cast<ConstantInt>(Transfer->getLength());
      auto *From = dyn_cast<GlobalVariable>(Transfer->getSource());
      return Length && add(I, Offset, Length->getZExtValue(),
                           From && From->isConstant() &&
                               From->hasDefinitiveInitializer() &&
                               From->getInitializer()->isNullValue());
    }
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(Call))
      return Intrinsic->isAssumeLikeIntrinsic() ||
             Intrinsic->isLifetimeStartOrEnd();
    const LibraryFunction *Function = libraryFunction(*Call);
    const LibraryHostUse *Host =
        Function ? Function->hostUse(Call->getArgOperandNo(&U)) : nullptr;
    return Host && !Host->Writes;
  }

  /// Upwards, as long as there is one way here.
  bool zeroAbove(const Instruction &At) const {
    BitVector Open(Bytes, true);
    const Instruction *I = At.getPrevNode();
    for (const BasicBlock *B = At.getParent(); B;) {
      for (; I; I = I->getPrevNode()) {
        auto It = Stores.find(I);
        if (It == Stores.end())
          continue;
        for (uint64_t Byte = 0; Byte < Bytes; ++Byte) {
          int64_t Place = Begin + static_cast<int64_t>(Byte);
          if (!Open[Byte] || Place < It->second.Begin ||
              Place >= It->second.End)
            continue;
          if (!It->second.Zero)
            return false;
          Open.reset(Byte);
        }
        if (Open.none())
          return true;
      }
      B = B->getSinglePredecessor();
      I = B ? B->getTerminator() : nullptr;
      if (B == At.getParent())
        break;
    }
    return false;
  }

  const Value &Object;
  int64_t Begin;
  uint64_t Bytes;
  const DataLayout &Layout;
  DenseMap<const Instruction *, Range> Stores;
};

} // namespace

bool hostIsZeroAt(const Value *Pointer, uint64_t Bytes, const Instruction &At) {
  const DataLayout &Layout = At.getDataLayout();
  APInt Offset(64, 0);
  const Value *Base = Pointer->stripAndAccumulateConstantOffsets(
      Layout, Offset, /*AllowNonInbounds=*/true);
  if (auto *Global = dyn_cast<GlobalVariable>(Base)) {
    if (!Global->isConstant() || !Global->hasDefinitiveInitializer())
      return false;
    Constant *Value = ConstantFoldLoadFromConst(
        const_cast<Constant *>(Global->getInitializer()),
        Type::getIntNTy(At.getContext(), Bytes * 8), Offset, Layout);
    return Value && Value->isNullValue();
  }
  return isa<AllocaInst>(Base) &&
         KnownZero(*Base, Offset.getSExtValue(), Bytes).before(At);
}

} // namespace dragon
