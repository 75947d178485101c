//===- LocalObjects.cpp - objects that only the function knows ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/LocalObjects.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

constexpr uint64_t MostBytes = 4096; ///< of an object
constexpr unsigned MostUses = 4096;
constexpr uint64_t HeapAlignment = 16;

/// A call that allocates, or ends, an object by its address alone.
enum class HeapCall { None, Allocates, Clears, Frees };

HeapCall heapCall(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration())
    return HeapCall::None;
  return StringSwitch<HeapCall>(Callee->getName())
      .Cases({"malloc", "_Znwm", "_Znam"}, HeapCall::Allocates)
      .Case("calloc", HeapCall::Clears)
      .Cases({"free", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"},
             HeapCall::Frees)
      .Default(HeapCall::None);
}

/// Of what the call allocates; nothing: it is not known, or much.
std::optional<uint64_t> bytesOf(const CallBase &Call) {
  uint64_t Bytes = 1;
  for (const Use &Operand : Call.args()) {
    const auto *Number = dyn_cast<ConstantInt>(Operand.get());
    if (!Number || Number->getValue().ugt(MostBytes))
      return std::nullopt;
    Bytes *= Number->getZExtValue();
  }
  return Bytes && Bytes <= MostBytes ? std::optional(Bytes) : std::nullopt;
}

/// The uses of an object's address, if the function knows them all.
class ObjectUses {
public:
  explicit ObjectUses(CallBase &Allocation) : Allocation(Allocation) {
    Known = follow();
  }

  bool Known;
  SmallVector<CallInst *, 2> Ends;
  SmallVector<ICmpInst *, 2> Tests; ///< whether the call has failed
  /// The structures that it is looked at as.
  SmallVector<StructType *, 2> Types;

private:
  bool follow();
  bool follow(Use &U);
  bool isItselfOrNull(const Value *V) const;

  CallBase &Allocation;
  SmallVector<Value *, 16> Pending;
  SmallPtrSet<Value *, 16> Seen;
};

bool ObjectUses::follow() {
  Pending.push_back(&Allocation);
  unsigned Count = 0;
  while (!Pending.empty())
    for (Use &U : Pending.pop_back_val()->uses())
      if (++Count > MostUses || !follow(U))
        return false;
  return true;
}

/// As the result of a function that returns null where the call has failed.
bool ObjectUses::isItselfOrNull(const Value *V) const {
  SmallVector<const Value *, 4> Left{V};
  SmallPtrSet<const Value *, 4> Looked;
  while (!Left.empty()) {
    const Value *One = Left.pop_back_val();
    if (One == &Allocation || isa<ConstantPointerNull>(One) ||
        !Looked.insert(One).second)
      continue;
    if (const auto *Either = dyn_cast<SelectInst>(One))
      Left.append({Either->getTrueValue(), Either->getFalseValue()});
    else if (const auto *Phi = dyn_cast<PHINode>(One))
      Left.append(Phi->value_op_begin(), Phi->value_op_end());
    else
      return false;
  }
  return true;
}

bool ObjectUses::follow(Use &U) {
  auto *I = dyn_cast<Instruction>(U.getUser());
  if (!I)
    return false;
  if (auto *Load = dyn_cast<LoadInst>(I))
    return Load->isSimple();
  if (auto *Store = dyn_cast<StoreInst>(I))
    return Store->isSimple() &&
           U.getOperandNo() == StoreInst::getPointerOperandIndex();
  if (isa<MemIntrinsic>(I))
    return isa<ConstantInt>(cast<MemIntrinsic>(I)->getLength());
  const bool Itself = U.get() == &Allocation;
  if (auto *Test = dyn_cast<ICmpInst>(I)) {
    if (!Test->isEquality() ||
        !isa<ConstantPointerNull>(Test->getOperand(1 - U.getOperandNo())))
      return false;
    if (Itself)
      Tests.push_back(Test);
    return true;
  }
  if (auto *Call = dyn_cast<CallInst>(I)) {
    if (heapCall(*Call) != HeapCall::Frees || U.getOperandNo() != 0 ||
        !isItselfOrNull(U.get()))
      return false;
    Ends.push_back(Call);
    return true;
  }
  if (auto *Field = dyn_cast<GetElementPtrInst>(I)) {
    if (!Field->hasAllConstantIndices())
      return false;
    if (auto *Struct = dyn_cast<StructType>(Field->getSourceElementType());
        Struct && Itself)
      Types.push_back(Struct);
  } else if (!isa<PHINode, SelectInst>(I)) {
    return false;
  }
  if (Seen.insert(I).second)
    Pending.push_back(I);
  return true;
}

/// The structure that is as large, or bytes.
Type *typeOf(const ObjectUses &Uses, uint64_t Bytes, const Module &M) {
  for (StructType *Struct : Uses.Types)
    if (Struct->isSized() &&
        M.getDataLayout().getTypeAllocSize(Struct) == Bytes)
      return Struct;
  return ArrayType::get(Type::getInt8Ty(M.getContext()), Bytes);
}

void makeLocal(CallBase &Allocation, const ObjectUses &Uses, uint64_t Bytes) {
  Function &F = *Allocation.getFunction();
  IRBuilder<> AtEntry(&*F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Object =
      AtEntry.CreateAlloca(typeOf(Uses, Bytes, *F.getParent()));
  Object->setAlignment(Align(HeapAlignment));
  Object->takeName(&Allocation);
  for (CallInst *End : Uses.Ends)
    End->eraseFromParent();
  for (ICmpInst *Test : Uses.Tests) {
    Test->replaceAllUsesWith(ConstantInt::getBool(
        Test->getType(), Test->getPredicate() == ICmpInst::ICMP_NE));
    Test->eraseFromParent();
  }
  auto *Call = isa<InvokeInst>(Allocation)
                   ? changeToCall(cast<InvokeInst>(&Allocation))
                   : cast<CallInst>(&Allocation);
  if (heapCall(*Call) == HeapCall::Clears) {
    IRBuilder<> There(Call);
    There.CreateMemSet(Object, There.getInt8(0), Bytes,
                       MaybeAlign(HeapAlignment));
  }
  Call->replaceAllUsesWith(Object);
  Call->eraseFromParent();
}

} // namespace

bool makeObjectsLocal(Function &F, FunctionAnalysisManager &Analyses) {
  if (F.hasFnAttribute(Attribute::SanitizeAddress) ||
      F.hasFnAttribute(Attribute::SanitizeHWAddress))
    return false; // which look for mistakes with it
  SmallVector<CallBase *, 4> Allocations;
  const CycleInfo &Cycles = Analyses.getResult<CycleAnalysis>(F);
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I);
        Call && isa<CallInst, InvokeInst>(I))
      if (const HeapCall Kind = heapCall(*Call);
          (Kind == HeapCall::Allocates || Kind == HeapCall::Clears) &&
          !Cycles.getCycle(I.getParent())) // there may be several at a time
        Allocations.push_back(Call);
  bool Changed = false;
  for (CallBase *Allocation : Allocations) {
    const std::optional<uint64_t> Bytes = bytesOf(*Allocation);
    if (!Bytes)
      continue;
    const ObjectUses Uses(*Allocation);
    if (!Uses.Known)
      continue;
    makeLocal(*Allocation, Uses, *Bytes);
    Changed = true;
  }
  return Changed;
}

} // namespace dragon
