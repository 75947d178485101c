//===- HandleUses.cpp - how a library handle is set up --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/HandleUses.h"

#include "passes/libraries/GivenLibraries.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace dragon {

bool HandleUses::find(const Value *Handle) {
  std::optional<Slot> Found = handleAt(Handle);
  if (!Found)
    return false;
  Here = *Found;
  return all_of(instructions(F), [&](Instruction &I) { return allows(I); });
}

/// The place that the address is of, if it is one of a variable of this
/// function.
std::optional<HandleUses::Slot> HandleUses::single(const Value *Address) const {
  TargetSet Targets = Pointers.pointsTo(Address);
  if (Targets.size() != 1 || !Targets.begin()->At.exact())
    return std::nullopt;
  const MemoryObject &O = Pointers.objects()[Targets.begin()->Object];
  bool Own = O.Kind == ObjectKind::Local || O.Kind == ObjectKind::Global;
  if (!Own || O.Escapes)
    return std::nullopt;
  return Slot(Targets.begin()->Object, Targets.begin()->At.Offset);
}

/// The place that the handle is loaded from.
std::optional<HandleUses::Slot> HandleUses::handleAt(const Value *V) const {
  auto *Load = dyn_cast<LoadInst>(V);
  return Load ? single(Load->getPointerOperand()) : std::nullopt;
}

bool HandleUses::touches(const Value *Address, uint64_t Bytes) const {
  return any_of(Pointers.pointsTo(Address), [&](const Target &T) {
    return T.Object == Here.first &&
           (!T.At.exact() ||
            (T.At.Offset < Here.second + 8 &&
             Here.second < T.At.Offset + static_cast<int64_t>(Bytes)));
  });
}

bool HandleUses::allows(Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return allowsStore(*Store);
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return allowsLoad(*Load);
  if (auto *Call = dyn_cast<CallBase>(&I))
    return allowsCall(*Call);
  return true;
}

/// A handle that is stored may have had its stream set before.
bool HandleUses::allowsStore(const StoreInst &Store) const {
  const Value *Stored = Store.getValueOperand();
  return isa<Constant>(Stored) ||
         !touches(Store.getPointerOperand(),
                  F.getDataLayout().getTypeStoreSize(Stored->getType()));
}

/// A handle that is loaded must not go to code that may set its stream.
bool HandleUses::allowsLoad(const LoadInst &Load) const {
  if (handleAt(&Load) != Here)
    return true;
  return all_of(Load.users(), [](const User *U) {
    auto *Taker = dyn_cast<CallBase>(U);
    return isa<ICmpInst>(U) || (Taker && describedFunction(*Taker));
  });
}

bool HandleUses::allowsCall(CallBase &Call) {
  constexpr uint64_t AnyLength = 1 << 20;
  if (auto *Transfer = dyn_cast<AnyMemTransferInst>(&Call))
    return !touches(Transfer->getDest(), AnyLength) &&
           !touches(Transfer->getSource(), AnyLength);
  const LibraryFunction *Function = describedFunction(Call);
  if (!Function)
    return true;
  if (Function->Creates >= 0 &&
      single(Call.getArgOperand(Function->Creates)) == Here)
    Created = true;
  if (Function->SetsStreamOf < 0)
    return true;
  std::optional<Slot> Of = handleAt(Call.getArgOperand(Function->SetsStreamOf));
  if (Of && *Of != Here)
    return true;
  if (!Of || Setter)
    return false;
  Setter = &Call;
  return true;
}

} // namespace dragon
