//===- DiscardByPointer.cpp - where what a pointer points to dies ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cannot be said of a buffer, because it depends on the path which one it
// is, but of what a pointer points to: behind an event, or on some edges to a
// block or a select (EdgeDeaths.h).
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"
#include "passes/placement/EdgeDeaths.h"
#include "passes/placement/NextUse.h"
#include "passes/placement/PointerEnds.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dragon {

namespace {

class PointerDiscards {
public:
  PointerDiscards(const ProgramFacts &Facts, PlacementBuilder &Result)
      : Facts(Facts), Program(Facts.Program), Pointers(Facts.Pointers),
        Ends(Facts), Result(Result) {}

  void afterEvents();
  void onEdges();

private:
  void after(EventRef At, const BitVector &After);
  std::string describe(ArrayRef<NameId> Names) const;
  /// Names: of what is dead, on one edge or another.
  void add(DiscardedPart Of, EventRef At, Anchor Where, ArrayRef<NameId> Names,
           const Event &After, EventRef From);
  const Event *lastTouch(const EdgeDeath &Death) const;

  const ProgramFacts &Facts;
  const BufferProgram &Program;
  const PointerFlow &Pointers;
  const PointerEnds Ends;
  PlacementBuilder &Result;
};

/// `a' or 'b`: all that it may be, or the pointer's own name.
std::string PointerDiscards::describe(ArrayRef<NameId> Names) const {
  SmallVector<std::string, 2> Said;
  auto Say = [&](const std::string &Name) {
    if (!is_contained(Said, Name))
      Said.push_back(Name);
  };
  for (NameId N : Names) {
    if (const Pointer *P = Program.pointer(N); P && !P->Name.empty())
      Say(P->Name);
    else
      for (unsigned B : Pointers.buffers(N).set_bits())
        Say(Facts.buffer(B).Name);
  }
  return join(Said, "' or '");
}

void PointerDiscards::add(DiscardedPart Of, EventRef At, Anchor Where,
                          ArrayRef<NameId> Names, const Event &After,
                          EventRef From) {
  const bool UsedSoon = any_of(Names, [&](NameId N) {
    return any_of(Pointers.buffers(N).set_bits(), [&](unsigned B) {
      return usedSoon(Program, Facts.Graph, From, B);
    });
  });
  const auto Buffer =
      static_cast<unsigned>(Pointers.buffers(Names.front()).find_first());
  const bool Eager = launchAhead(Program, From) && !UsedSoon;
  Result.add({Buffer, At, DiscardDirective{DefaultStream, std::move(Of), Eager},
              Where},
             After.Where,
             Reason(Eager ? RemarkId::DiscardedEagerly : RemarkId::Discarded)
                 .with("Buffer", describe(Names))
                 .with("After", After.Name)
                 .with("Next", describeDeath(Program, Pointers, From, Names,
                                             After.Where)));
}

/// Live: behind the event.
void PointerDiscards::after(EventRef At, const BitVector &Live) {
  const EventRef Next{At.Block, At.Index + 1};
  const Event &E = Program.event(At);
  SmallVector<NameId, 2> Done;
  for (const UseByPointer &U : E.Pointers) {
    const NameId Name = Program.nameOf(U.Pointer);
    if (is_contained(Done, Name))
      continue;
    Done.push_back(Name);
    // Else by the buffers' names.
    if (Live[Name] || !Ends.mayEndAt(Name, Next) ||
        none_of(Pointers.buffers(Name).set_bits(),
                [&](unsigned B) { return Live[B] || Ends.endsWith(B, At); }))
      continue;
    add(PointedTo{Name}, At, Anchor::After, Name, E, Next);
  }
}

void PointerDiscards::afterEvents() {
  for (unsigned Block : Facts.Graph.order()) {
    if (Program.Blocks[Block].Fails)
      continue;
    const auto &Events = Program.Blocks[Block].Events;
    const std::vector<BitVector> Within = Facts.Live.liveWithin(Block);
    for (unsigned I = 0; I < Events.size(); ++I)
      if (!Events[I].is<FreeEvent>())
        after({Block, I}, Within[I + 1]);
  }
}

/// The last event that touches what dies, for the user.
const Event *PointerDiscards::lastTouch(const EdgeDeath &Death) const {
  const Event *Last = nullptr;
  auto Look = [&](NameId Name, EventRef Before) {
    for (unsigned Block = 0; Block < Program.Blocks.size(); ++Block)
      for (unsigned I = 0; I < Program.Blocks[Block].Events.size(); ++I) {
        const Event &E = Program.Blocks[Block].Events[I];
        if (Facts.Graph.mayPrecede({Block, I}, Before) &&
            !E.is<AllocateEvent, FreeEvent>() && Pointers.mayTouch(E, Name))
          Last = &E;
      }
  };
  if (Death.Name)
    Look(*Death.Name, Death.At);
  for (const DeadOnEdge &Edge : Death.Edges)
    Look(Edge.Name,
         Death.AtEntry
             ? EventRef{Edge.From, static_cast<unsigned>(
                                       Program.Blocks[Edge.From].Events.size())}
             : Death.At);
  return Last;
}

/// By the name of what is dead whatever the edge, if there is one.
static DiscardedPart partOf(EdgeDeath Death) {
  if (Death.Name)
    return PointedTo{*Death.Name};
  return DeadOnEdges{std::move(Death.Edges), Death.Select};
}

void PointerDiscards::onEdges() {
  auto MayEnd = [&](NameId Name, EventRef At) {
    return Ends.mayEndAt(Name, At);
  };
  for (EdgeDeath &Death :
       edgeDeaths(Program, Facts.Graph, Pointers, Facts.Live, MayEnd)) {
    if (!deviceWorkAhead(Program, Death.At))
      continue;
    SmallVector<NameId, 2> Names;
    if (Death.Name)
      Names.push_back(*Death.Name);
    for (const DeadOnEdge &Edge : Death.Edges)
      Names.push_back(Edge.Name);
    const Event *Last = lastTouch(Death);
    if (!Last)
      continue;
    const Anchor Where = Death.AtEntry ? Anchor::BlockEntry : Anchor::Before;
    const EventRef At = Death.At;
    add(partOf(std::move(Death)), At, Where, Names, *Last, At);
  }
}

} // namespace

void discardByPointer(const ProgramFacts &Facts, PlacementBuilder &Result) {
  PointerDiscards Discards(Facts, Result);
  Discards.afterEvents();
  Discards.onEdges();
}

} // namespace dragon
