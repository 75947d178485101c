//===- PointerNames.cpp - pointers to one buffer or another ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Phis and selects of buffers' addresses become the program's pointers if they
// can be nothing but addresses of device buffers that it knows. Not of managed
// ones: host code may look at these later than its events say, which come in
// front of loops, and once for several accesses. So there a buffer may not be
// taken for dead because it is not what some pointer is.
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/PointerNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace dragon {

/// What the address is computed from; what is the same on all ways is that.
static const Value *baseOf(const Value *V) {
  for (;;) {
    V = getUnderlyingObject(V, 0);
    auto *Phi = dyn_cast<PHINode>(V);
    const Value *Same = Phi ? Phi->hasConstantValue() : nullptr;
    if (!Same || isa<Constant>(Same))
      return V;
    V = Same;
  }
}

/// Its number, which may change before the program is complete.
std::optional<unsigned> PointerNames::pointerOf(const Value *V) {
  auto *Base = dyn_cast<Instruction>(baseOf(V));
  if (!Base || !isa<PHINode, SelectInst>(Base) ||
      !Base->getType()->isPointerTy() ||
      !Facts.BlockOf.count(Base->getParent()))
    return std::nullopt;
  // A vector's select of addresses is none of one.
  if (auto *Select = dyn_cast<SelectInst>(Base);
      Select && !Select->getCondition()->getType()->isIntegerTy(1))
    return std::nullopt;
  SmallDenseSet<unsigned, 4> Buffers;
  for (const Target &T : Facts.Pointers.pointsTo(Base)) {
    const MemoryObject &O = Facts.Pointers.objects()[T.Object];
    if (O.Kind != ObjectKind::Buffer || O.Buffer != BufferKind::Device ||
        !(T.At == Place{0, 0}))
      return std::nullopt;
    Buffers.insert(T.Object);
  }
  if (Buffers.size() < 2)
    return std::nullopt;
  return PointerOf.insert({const_cast<Instruction *>(Base), PointerOf.size()})
      .first->second;
}

/// The event touches what is at V, which has the pointer.
void PointerNames::notePointer(Event &E, unsigned Pointer, const Value *V,
                               bool Reads, bool Writes, SizeId Size) {
  UseByPointer U{Pointer, Reads, Writes};
  U.Whole =
      Size && V->stripPointerCasts() == baseOf(V) &&
      all_of(Facts.Pointers.pointsTo(V), [&](const Target &T) {
        return Facts.Result.Program.Buffers[Facts.BufferOf[T.Object]].Bytes ==
               Size;
      });
  E.Pointers.push_back(U);
}

/// The pointer, or the buffers that it may be.
SmallVector<NameId, 1> PointerNames::namesOf(const Value *V) {
  if (std::optional<unsigned> Pointer = pointerOf(V))
    return {Facts.Result.Program.nameOf(*Pointer)};
  SmallVector<NameId, 1> Names;
  for (const Target &T : Facts.Pointers.pointsTo(V))
    if (auto It = Facts.BufferOf.find(T.Object);
        It != Facts.BufferOf.end() && !is_contained(Names, It->second))
      Names.push_back(It->second);
  return Names;
}

/// The user's variable whose values the phi joins is what it begins with, as in
/// `d_next.0.lcssa` or `d_next.i12.0`; of what has another name, nothing is
/// known.
static StringRef variableOf(const Instruction &Pointer) {
  auto [Name, Rest] = Pointer.getName().split('.');
  while (Rest.starts_with("i") || Rest.starts_with("addr."))
    Rest = Rest.split('.').second;
  return !Rest.empty() && isDigit(Rest[0]) && Name != "retval" ? Name : "";
}

void PointerNames::addPointers() {
  // What comes in may be pointers that no event has a use of, and so on.
  std::vector<Pointer> Found;
  for (unsigned I = 0; I < PointerOf.size(); ++I) {
    Instruction &At = *(PointerOf.begin() + I)->first;
    Pointer P;
    P.Name = variableOf(At).str();
    P.Block = Facts.BlockOf[At.getParent()];
    if (auto *Phi = dyn_cast<PHINode>(&At)) {
      for (unsigned In = 0; In < Phi->getNumIncomingValues(); ++In) {
        auto From = Facts.BlockOf.find(Phi->getIncomingBlock(In));
        if (From != Facts.BlockOf.end() && !P.from(From->second))
          P.Incomings.push_back(
              {From->second, namesOf(Phi->getIncomingValue(In))});
      }
    } else {
      auto &Select = cast<SelectInst>(At);
      P.Condition = static_cast<int>(
          Conditions.try_emplace(Select.getCondition(), Conditions.size())
              .first->second);
      P.Incomings.push_back({1, namesOf(Select.getTrueValue())});
      P.Incomings.push_back({0, namesOf(Select.getFalseValue())});
      const auto &Here = Facts.Result.Instructions[P.Block];
      while (P.Index < Here.size() && !At.comesBefore(Here[P.Index]))
        ++P.Index;
    }
    Found.push_back(std::move(P));
  }
  // In the order in which they are made.
  std::vector<unsigned> Order(Found.size());
  for (unsigned I = 0; I < Order.size(); ++I)
    Order[I] = I;
  auto Made = [&](unsigned I) { return (PointerOf.begin() + I)->first; };
  sort(Order, [&](unsigned A, unsigned B) {
    return Found[A].Block != Found[B].Block ? Found[A].Block < Found[B].Block
                                            : Made(A)->comesBefore(Made(B));
  });
  for (unsigned I : Order)
    Facts.Result.Pointers.push_back(Made(I));
  Facts.Result.Program.setPointers(std::move(Found), Order);
}

} // namespace dragon
