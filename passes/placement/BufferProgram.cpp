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

std::string describe(const Position &Where, const Position &From) {
  if (Where.Line == 0)
    return "an unknown line";
  if (Where.File == From.File || Where.File.empty())
    return "line " + std::to_string(Where.Line);
  return Where.File + ":" + std::to_string(Where.Line);
}

const BufferUse *Event::find(unsigned Buffer) const {
  for (const BufferUse &U : Uses)
    if (U.Buffer == Buffer)
      return &U;
  return nullptr;
}

void Event::add(const BufferUse &U) {
  for (BufferUse &Known : Uses) {
    if (Known.Buffer != U.Buffer)
      continue;
    // Twice in one event: what is sure of each is not sure of both.
    Known.Must &= U.Must;
    Known.Whole &= U.Whole;
    Known.Testable = Known.MustElement = false;
    Known.Element.reset();
    Known.Cursor = -1;
    Known.ByPointer &= U.ByPointer;
    Known.Reads |= U.Reads;
    Known.Writes |= U.Writes;
    return;
  }
  Uses.push_back(U);
}

bool Event::reads(unsigned Buffer) const {
  return any_of(
      Uses, [&](const BufferUse &U) { return U.Buffer == Buffer && U.Reads; });
}

bool Event::writes(unsigned Buffer) const {
  return any_of(
      Uses, [&](const BufferUse &U) { return U.Buffer == Buffer && U.Writes; });
}

const Pointer::Incoming *Pointer::from(unsigned Where) const {
  for (const Incoming &In : Incomings)
    if (In.From == Where)
      return &In;
  return nullptr;
}

/// What a program does, as opposed to cleaning up after a failure.
static bool isWork(const Event &E) {
  switch (E.Kind) {
  case EventKind::CopyIn:
  case EventKind::CopyOut:
  case EventKind::Copy:
  case EventKind::Fill:
  case EventKind::FileRead:
  case EventKind::FileWrite:
  case EventKind::Launch:
    return true;
  default:
    return false;
  }
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

StringRef eventKindName(EventKind Kind) {
  switch (Kind) {
  case EventKind::Allocate:
    return "alloc";
  case EventKind::Free:
    return "free";
  case EventKind::CopyIn:
    return "copy-in";
  case EventKind::CopyOut:
    return "copy-out";
  case EventKind::Copy:
    return "copy";
  case EventKind::Fill:
    return "fill";
  case EventKind::FileRead:
    return "file-read";
  case EventKind::FileWrite:
    return "file-write";
  case EventKind::FileOpen:
    return "open";
  case EventKind::FileUse:
    return "use-file";
  case EventKind::Launch:
    return "launch";
  case EventKind::HostAccess:
    return "host-access";
  case EventKind::Barrier:
    return "barrier";
  case EventKind::Opaque:
    return "opaque";
  }
  return "";
}

} // namespace dragon
