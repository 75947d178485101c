//===- BufferHandles.cpp - a buffer's address and size, anywhere ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/BufferHandles.h"

#include "passes/lifetime/CallEffects.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace dragon {

Instruction *pointBehind(Instruction &At, DominatorTree &Dominators) {
  auto *Invoke = dyn_cast<InvokeInst>(&At);
  if (!Invoke)
    return At.getNextNode();
  BasicBlock *Normal = Invoke->getNormalDest();
  if (!Normal->getSinglePredecessor())
    Normal = SplitEdge(Invoke->getParent(), Normal, &Dominators);
  return &*Normal->getFirstInsertionPt();
}

/// The size, where the allocation's arguments are at hand.
Value *BufferHandles::bytes(unsigned Buffer, Instruction &Point) const {
  CallBase *Call = Built.Sites[Buffer].Call;
  const CallEffect *Effect = callEffect(*Call);
  IRBuilder<> Builder(&Point);
  Value *Bytes = Builder.CreateZExtOrTrunc(Call->getArgOperand(Effect->Bytes),
                                           Builder.getInt64Ty());
  if (Effect->Count >= 0)
    Bytes = Builder.CreateMul(Bytes, Call->getArgOperand(Effect->Count));
  return Bytes;
}

bool BufferHandles::isAtHand(unsigned Buffer, const Instruction &Point) const {
  const Value *Address = Built.Sites[Buffer].Pointer;
  return Address && Dominators.dominates(Address, &Point);
}

const BufferHandles::Variables &BufferHandles::track(unsigned Buffer) {
  Variables &V = Tracked[Buffer];
  if (V.Address)
    return V;
  IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
  V.Address = Entry.CreateAlloca(Entry.getPtrTy(), nullptr, "dragon.address");
  V.Bytes = Entry.CreateAlloca(Entry.getInt64Ty(), nullptr, "dragon.bytes");
  // In front of whatever the entry block does with buffers, behind the allocas.
  Instruction *First = V.Bytes;
  while (isa<AllocaInst>(First))
    First = First->getNextNode();
  Entry.SetInsertPoint(First);
  Entry.CreateStore(Constant::getNullValue(Entry.getPtrTy()), V.Address);
  Entry.CreateStore(Entry.getInt64(0), V.Bytes);
  auto *Address = cast<Instruction>(Built.Sites[Buffer].Pointer);
  Instruction *Behind = pointBehind(*Address, Dominators);
  IRBuilder<> Builder(Behind);
  Builder.CreateStore(Address, V.Address);
  Builder.CreateStore(bytes(Buffer, *Behind), V.Bytes);
  return V;
}

BufferHandles::Handle BufferHandles::get(unsigned Buffer, Instruction &Point) {
  if (isAtHand(Buffer, Point))
    return {Built.Sites[Buffer].Pointer, bytes(Buffer, Point)};
  const Variables &V = track(Buffer);
  IRBuilder<> Builder(&Point);
  return {Builder.CreateLoad(Builder.getPtrTy(), V.Address),
          Builder.CreateLoad(Builder.getInt64Ty(), V.Bytes)};
}

} // namespace dragon
