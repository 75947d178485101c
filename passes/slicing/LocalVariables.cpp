//===- LocalVariables.cpp - what a thread's variables hold ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LocalVariables.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace dragon {

LocalVariables::Uses LocalVariables::usesOf(const Argument &Arg) {
  auto [Known, IsNew] = Arguments.try_emplace(&Arg);
  if (!IsNew)
    return Known->second;
  Known->second.Escapes = true;
  Uses Found;
  SmallPtrSet<const Value *, 8> Seen;
  find(Arg, Found, Seen);
  return Arguments[&Arg] = std::move(Found);
}

void LocalVariables::findInCall(const CallBase &Call, const Value &Address,
                                Uses &Found,
                                SmallPtrSetImpl<const Value *> &Seen) {
  if (const auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call)) {
    const auto *Memory = dyn_cast<MemIntrinsic>(Intrinsic);
    if (Memory && Memory->getRawDest() == &Address)
      Found.Writes.push_back(&Call);
    Found.Escapes |= !Memory && !Intrinsic->isAssumeLikeIntrinsic() &&
                     !isa<LifetimeIntrinsic>(Intrinsic);
    return;
  }
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->isDeclaration() || Callee->isVarArg() ||
      Callee->getFunctionType() != Call.getFunctionType()) {
    Found.Escapes = true;
    return;
  }
  for (const Argument &Arg : Callee->args()) {
    if (Call.getArgOperand(Arg.getArgNo()) != &Address || Arg.hasByValAttr())
      continue;
    const Uses There = usesOf(Arg);
    Found.Escapes |= There.Escapes;
    if (!There.Writes.empty())
      Found.Writes.push_back(&Call);
    if (There.IsReturned)
      find(Call, Found, Seen);
  }
}

void LocalVariables::find(const Value &Address, Uses &Found,
                          SmallPtrSetImpl<const Value *> &Seen) {
  if (!Seen.insert(&Address).second)
    return;
  for (const Use &Use : Address.uses()) {
    const auto *I = cast<Instruction>(Use.getUser());
    if (isa<LoadInst>(I) || isa<ICmpInst>(I))
      continue;
    if (isa<GetElementPtrInst>(I) || isa<AddrSpaceCastInst>(I) ||
        isa<PHINode>(I) || isa<SelectInst>(I))
      find(*I, Found, Seen);
    else if (const auto *Call = dyn_cast<CallBase>(I))
      findInCall(*Call, Address, Found, Seen);
    else if (isa<ReturnInst>(I))
      Found.IsReturned = true;
    else if (Use.getOperandNo() == (isa<StoreInst>(I)
                                        ? StoreInst::getPointerOperandIndex()
                                        : 0u) &&
             (isa<StoreInst>(I) || isa<AtomicRMWInst>(I) ||
              isa<AtomicCmpXchgInst>(I)))
      Found.Writes.push_back(I);
    else
      Found.Escapes = true;
  }
}

/// It has no contents when an iteration begins.
bool LocalVariables::beginsInside(const AllocaInst &Variable) const {
  const Instruction *Start = nullptr;
  for (const User *By : Variable.users())
    if (const auto *Mark = dyn_cast<LifetimeIntrinsic>(By);
        Mark && Mark->getIntrinsicID() == Intrinsic::lifetime_start &&
        L.contains(Mark))
      Start = Mark;
  return Start && all_of(Variable.users(), [&](const User *By) {
           const auto *I = cast<Instruction>(By);
           return L.contains(I) && (I == Start || DT.dominates(Start, I));
         });
}

bool LocalVariables::goesOn(const AllocaInst &Variable) {
  Uses Found;
  SmallPtrSet<const Value *, 8> Seen;
  find(Variable, Found, Seen);
  const bool MayChange =
      Found.Escapes || any_of(Found.Writes, [&](const Instruction *Write) {
        return Blocks.contains(Write->getParent());
      });
  return MayChange && !beginsInside(Variable);
}

} // namespace dragon
