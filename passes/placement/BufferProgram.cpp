//===- BufferProgram.cpp - what a program does to its buffers -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/BufferProgram.h"

#include "passes/placement/FlowGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

std::string whoKeeps(const Buffer &B) {
  return B.EscapesToKernel ? "kernel '" + B.EscapesTo + "'" : B.EscapesTo;
}

const Pointer::Incoming *Pointer::from(unsigned Where) const {
  for (const Incoming &In : Incomings)
    if (In.From == Where)
      return &In;
  return nullptr;
}

/// What a program does, as opposed to cleaning up after a failure.
static bool isWork(const Event &E) {
  return isTransfer(E) || E.is<CopyEvent, FillEvent, LaunchEvent>();
}

void BufferProgram::setPointers(std::vector<Pointer> Found,
                                ArrayRef<unsigned> Order) {
  std::vector<unsigned> Place(Found.size());
  for (unsigned I = 0; I < Order.size(); ++I)
    Place[Order[I]] = I;
  for (unsigned I : Order) {
    for (Pointer::Incoming &W : Found[I].Incomings)
      for (NameId &Name : W.Names)
        if (Name >= Buffers.size())
          Name = nameOf(Place[Name - Buffers.size()]);
    Pointers.push_back(std::move(Found[I]));
  }
  for (Block &B : Blocks)
    for (Event &E : B.Events)
      for (UseByPointer &U : E.Pointers)
        U.Pointer = Place[U.Pointer];
}

void BufferProgram::spreadFailure() {
  std::vector<SmallVector<unsigned, 2>> Predecessors(Blocks.size());
  for (unsigned B = 0; B < Blocks.size(); ++B)
    for (unsigned S : Blocks[B].Successors)
      Predecessors[S].push_back(B);
  std::vector<unsigned> Pending;
  // Adds the block, and all that lead to it but by those that fail.
  auto Spread = [&](std::vector<bool> &To, unsigned From, bool ThroughFailing) {
    auto Add = [&](unsigned B) {
      if (To[B] || (Blocks[B].Fails && !ThroughFailing))
        return;
      To[B] = true;
      Pending.push_back(B);
    };
    Add(From);
    while (!Pending.empty()) {
      unsigned B = Pending.back();
      Pending.pop_back();
      for (unsigned P : Predecessors[B])
        Add(P);
    }
  };
  const FlowGraph Graph(*this);
  // A block may end well if it is on a way to an end that does not fail, if
  // there is no end at all, or if it is in a loop that works, however that may
  // end. Loops that only clean up (the destructor of an array, say) are no
  // reason to go on.
  std::vector<bool> Ends(Blocks.size()), EndsWell(Blocks.size());
  for (unsigned B = 0; B < Blocks.size(); ++B)
    if (Blocks[B].Successors.empty()) {
      Spread(Ends, B, true);
      Spread(EndsWell, B, false);
    }
  for (unsigned B = 0; B < Blocks.size(); ++B)
    if (!EndsWell[B] && !Blocks[B].Fails &&
        (!Ends[B] || (any_of(Blocks[B].Events, isWork) && Graph.inCycle(B))))
      Spread(EndsWell, B, false);
  for (unsigned B = 0; B < Blocks.size(); ++B)
    Blocks[B].Fails = !EndsWell[B];
}

SmallVector<EventRef, 8> BufferProgram::uses(unsigned Buffer) const {
  SmallVector<EventRef, 8> Result;
  for (unsigned B = 0; B < Blocks.size(); ++B)
    for (unsigned I = 0; I < Blocks[B].Events.size(); ++I)
      if (Blocks[B].Events[I].find(Buffer))
        Result.push_back({B, I});
  return Result;
}

} // namespace dragon
