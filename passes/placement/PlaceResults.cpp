//===- PlaceResults.cpp - results that go straight to host memory ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer that is copied to host memory in the end, and is evicted before,
// goes to its place there instead of to memory of the runtime, if nothing can
// look at that memory in between. It is written down in front of the first
// kernel that writes the buffer, as sinks are. From then on the host memory may
// stand for the buffer like the source of a deferred copy: what changes or
// frees it comes behind a settle.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"
#include "passes/placement/ForwardWalk.h"
#include "passes/placement/Writers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace dragon {

namespace {

/// A copy of a device buffer to a host buffer.
class ResultSearch {
public:
  ResultSearch(const ProgramFacts &Facts, EventRef Copy,
               PlacementBuilder &Result)
      : Facts(Facts), Program(Facts.Program), Graph(Facts.Graph),
        Result(Result), Copy(Copy) {}

  void run();

private:
  bool findBuffers();
  bool isAllocated(EventRef Anchor) const;
  std::optional<EventRef> usedBefore(EventRef Anchor) const;
  std::optional<Reason> whyNotFrom(EventRef Anchor) const;
  Reason missed(RemarkId Id) const;
  const Event &firstWriter() const { return Program.event(Writers[0]); }

  const ProgramFacts &Facts;
  const BufferProgram &Program;
  const FlowGraph &Graph;
  PlacementBuilder &Result;
  const EventRef Copy;
  const BufferUse *Device = nullptr, *Host = nullptr;
  SmallVector<EventRef, 4> Writers;
};

/// Both surely, from their beginnings on; of the device's buffer all bytes.
bool ResultSearch::findBuffers() {
  const Event &E = Program.event(Copy);
  if (E.OtherMemory || E.Unresolved || E.Uses.size() != 2)
    return false;
  for (const BufferUse &U : E.Uses)
    (Facts.buffer(U.Buffer).Kind == BufferKind::Host ? Host : Device) = &U;
  return Host && Device && Host->Must && Device->Must && Device->Whole &&
         Facts.buffer(Device->Buffer).Kind == BufferKind::Device &&
         !Facts.buffer(Device->Buffer).Escapes &&
         !Facts.buffer(Device->Buffer).IsSummary &&
         !Facts.buffer(Host->Buffer).IsSummary &&
         !Facts.Staging.Elided[Host->Buffer];
}

Reason ResultSearch::missed(RemarkId Id) const {
  return Facts.about(Device->Buffer, Id)
      .with("CopyAt", Facts.at(Copy, firstWriter().Where))
      .with("Launch", firstWriter().Name)
      .with("Host", Facts.buffer(Host->Buffer).Name);
}

/// The host buffer may be null on some path (a vector's, for none of its
/// elements): then there is no copy. It may not have been freed.
bool ResultSearch::isAllocated(EventRef Anchor) const {
  auto IsBefore = [&](EventRef At) {
    return Graph.mayPrecede(At, Anchor) && !Graph.mayPrecede(Anchor, At);
  };
  return any_of(Program.uses(Device->Buffer),
                [&](EventRef At) {
                  return Program.event(At).is<AllocateEvent>() &&
                         Graph.dominates(At, Anchor);
                }) &&
         all_of(Program.uses(Host->Buffer), [&](EventRef At) {
           const Event &E = Program.event(At);
           return E.is<AllocateEvent>()
                      ? IsBefore(At)
                      : !E.is<FreeEvent>() || !Graph.mayPrecede(At, Anchor);
         });
}

/// What uses the host buffer between the anchor and the copy, or where there is
/// no copy; to free it is no use.
std::optional<EventRef> ResultSearch::usedBefore(EventRef Anchor) const {
  for (EventRef At{Anchor.Block, 0}; At.Index < Anchor.Index; ++At.Index)
    if (const Event &E = Program.event(At); E.find(Host->Buffer))
      if (const auto *Access = E.as<HostAccessEvent>();
          Access && Access->InLoop)
        return At;
  std::optional<EventRef> Used;
  walkForward(Program, Anchor, [&](EventRef At) {
    const Event &E = Program.event(At);
    if (At == Copy)
      return Walk::Leave;
    if (!E.find(Host->Buffer) || E.is<FreeEvent>())
      return Walk::On;
    Used = At;
    return Walk::End;
  });
  return Used;
}

std::optional<Reason> ResultSearch::whyNotFrom(EventRef Anchor) const {
  const Buffer &To = Facts.buffer(Host->Buffer);
  auto Because = [&](RemarkId Id, std::string Cause, const Position &At) {
    return missed(Id)
        .with("Cause", std::move(Cause))
        .with("CauseAt", describe(At, firstWriter().Where));
  };
  if (To.Escapes)
    return Because(RemarkId::NotToPlaceEscapes, whoKeeps(To), To.EscapesAt);
  for (EventRef At : Program.uses(Host->Buffer))
    if (const Event &E = Program.event(At); E.is<OpaqueEvent, LaunchEvent>())
      return Because(RemarkId::NotToPlaceEscapes, nameOf(E), E.Where);
  if (const std::optional<EventRef> At = usedBefore(Anchor))
    return Because(RemarkId::NotToPlaceUsed, nameOf(Program.event(*At)),
                   Program.event(*At).Where);
  return std::nullopt;
}

void ResultSearch::run() {
  if (!findBuffers())
    return;
  Writers = writersBefore(Program, Graph, Device->Buffer, Copy);
  if (Writers.empty() || Graph.inCycle(Copy.Block))
    return;
  const std::optional<EventRef> Anchor =
      pointInFrontOf(Writers, Program, Graph);
  if (!Anchor || !isAllocated(*Anchor))
    return;
  const unsigned B = Device->Buffer;
  const Position &Where = firstWriter().Where;
  if (std::optional<Reason> Why = whyNotFrom(*Anchor))
    return Result.tell({B, Where, std::move(*Why)});
  Directive Placed{B, *Anchor, ResultDirective{Host->Buffer, Copy}};
  // Who watches a copy of nothing looks at what is copied.
  if (any_of(Result.directives(), [&](const Directive &D) {
        return D.is<ZeroDirective>() && D.At == *Anchor;
      }))
    Placed.Where = dragon::Anchor::After;
  Result.add(std::move(Placed), Where, missed(RemarkId::ResultToPlace));
}

} // namespace

void placeResults(const ProgramFacts &Facts, PlacementBuilder &Result) {
  for (unsigned Block : Facts.Graph.order()) {
    const auto &Events = Facts.Program.Blocks[Block].Events;
    for (unsigned I = 0; I < Events.size(); ++I)
      if (Events[I].is<CopyOutEvent>())
        ResultSearch(Facts, {Block, I}, Result).run();
  }
}

} // namespace dragon
