//===- DiscardAfterLastUse.cpp - where the contents of a buffer die -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer dies behind an event that needs its contents if they are not live
// any more, or where a block is entered that does not need them although
// another one does:
//
//   launch k read(a)
//   -> again, end        # a is live for the sake of `again`
//   block end            # discard a
//
// What could be tested at run time is taken to have passed in a second round:
// what is dead then, and is not without the tests, is discarded if they pass.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"
#include "passes/placement/Discards.h"
#include "passes/placement/NextUse.h"
#include "passes/placement/PointerEnds.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

namespace {

class LastUses {
public:
  /// Sure: or null; Live then is what is live if all tests pass, and nothing is
  /// done where the contents are surely dead.
  LastUses(const ProgramFacts &Facts, const Liveness &Live,
           const Liveness *Sure, PlacementBuilder &Result)
      : Facts(Facts), Program(Facts.Program), Graph(Facts.Graph),
        ByPointer(Facts), Tested(Sure), MayLive(liveEverywhere(Facts, Live)),
        Result(Result) {
    if (Sure)
      SureLive = liveEverywhere(Facts, *Sure);
  }

  void run();

private:
  void endIn(unsigned B, unsigned Block);
  bool endsAfter(unsigned B, EventRef At) const;
  void endAfter(unsigned B, EventRef At);
  void endAtEntry(unsigned B, unsigned Block);
  /// At: where, and of which buffer.
  void addDiscard(Directive At, StreamId Stream, const Event &After,
                  EventRef From);
  void addTested(Directive At, StreamId Stream, const Event &After,
                 EventRef From);
  std::vector<EventRef> testsOf(unsigned B, EventRef From) const;

  bool isOfHost(unsigned B) const {
    return Facts.buffer(B).Kind == BufferKind::Host;
  }
  bool surelyDead(unsigned B, EventRef At) const {
    return Tested && !SureLive[At.Block][At.Index][B];
  }

  const ProgramFacts &Facts;
  const BufferProgram &Program;
  const FlowGraph &Graph;
  const PointerEnds ByPointer;
  const bool Tested;
  const LiveWithin MayLive;
  LiveWithin SureLive;
  PlacementBuilder &Result;
};

/// Those that have to overwrite what is dead then; none if that would not do.
std::vector<EventRef> LastUses::testsOf(unsigned B, EventRef From) const {
  std::vector<EventRef> Tests;
  for (EventRef At : nextUses(Program, From, B, /*Failing=*/true).Events) {
    const BufferUse *U = Program.event(At).find(B);
    if (U->Testable && !U->Whole)
      Tests.push_back(At);
    else if (SureLive[At.Block][At.Index][B])
      // It changes a part, and a test further on would have to tell of the
      // rest: which launch that is, is not known here.
      return {};
  }
  return Tests;
}

void LastUses::addTested(Directive At, StreamId Stream, const Event &After,
                         EventRef From) {
  const unsigned B = At.Buffer;
  std::vector<EventRef> Tests = testsOf(B, From);
  if (Tests.empty())
    return;
  const Event &First = Program.event(Tests.front());
  At.Otherwise = Facts.about(B, RemarkId::NotDiscardedTest)
                     .with("After", After.Name)
                     .with("Kernel", First.Name)
                     .with("CauseAt", describe(First.Where, After.Where));
  At.What = DiscardDirective{Stream, WholeBuffer{}, false, std::move(Tests)};
  Result.add(std::move(At), After.Where,
             Facts.about(B, RemarkId::DiscardedIfOverwritten)
                 .with("After", After.Name)
                 .with("Next", describeDeath(Program, Facts.Pointers, From, B,
                                             After.Where)));
}

void LastUses::addDiscard(Directive At, StreamId Stream, const Event &After,
                          EventRef From) {
  if (Tested)
    return addTested(std::move(At), Stream, After, From);
  const unsigned B = At.Buffer;
  const bool Eager =
      launchAhead(Program, From) && !usedSoon(Program, Graph, From, B);
  At.What = DiscardDirective{Stream, WholeBuffer{}, Eager};
  Result.add(
      std::move(At), After.Where,
      Facts.about(B, Eager ? RemarkId::DiscardedEagerly : RemarkId::Discarded)
          .with("After", After.Name)
          .with("Next",
                describeDeath(Program, Facts.Pointers, From, B, After.Where)));
}

/// The event is the last that needs the contents.
void LastUses::endAfter(unsigned B, EventRef At) {
  const Event &E = Program.event(At);
  const EventRef Next{At.Block, At.Index + 1};
  if (isOfHost(B)) {
    if (changesAhead(Program, Next, B))
      Result.add({B, At, ForgetDirective{}, Anchor::After});
    return;
  }
  if (!deviceWorkAhead(Program, Next))
    return;
  const std::optional<StreamId> Stream = Facts.streamOf(B);
  if (!Stream)
    return tellStreams(Facts, B, E, Result);
  // What a stream's handle is at another event is not known here.
  if (*Stream != DefaultStream && E.Stream != *Stream)
    return;
  addDiscard({B, At, DiscardDirective{}, Anchor::After}, *Stream, E, Next);
}

/// The contents are live at the end of a predecessor, but only for the sake of
/// another of its successors.
void LastUses::endAtEntry(unsigned B, unsigned Block) {
  const EventRef Entry{Block, 0};
  if (!deviceWorkAhead(Program, Entry) ||
      Facts.streamOf(B) != static_cast<StreamId>(DefaultStream))
    return;
  if (isOfHost(B))
    return Result.add({B, Entry, ForgetDirective{}, Anchor::BlockEntry});
  // The last event that touched it, for the user.
  const Event *Last = nullptr;
  for (EventRef At : Program.uses(B))
    if (Graph.mayPrecede(At, Entry) && !Program.event(At).is<AllocateEvent>())
      Last = &Program.event(At);
  if (Last)
    addDiscard({B, Entry, DiscardDirective{}, Anchor::BlockEntry},
               DefaultStream, *Last, Entry);
}

bool LastUses::endsAfter(unsigned B, EventRef At) const {
  const Event &E = Program.event(At);
  const EventRef Next{At.Block, At.Index + 1};
  const std::vector<BitVector> &Within = MayLive[At.Block];
  if ((!Within[At.Index][B] && !E.find(B)) || Within[Next.Index][B] ||
      surelyDead(B, Next) || (!Tested && ByPointer.endsWith(B, At)))
    return false;
  // A host access says where host code begins to look, in front of a loop or of
  // the call's own event, not where it is done.
  return !E.is<FreeEvent, AllocateEvent, HostAccessEvent>() &&
         (!isOfHost(B) || mayBeDeferred(Program, Graph, B, Next)) &&
         Facts.Held.mustBeAllocated(B, Next);
}

void LastUses::endIn(unsigned B, unsigned Block) {
  const EventRef Entry{Block, 0};
  const bool LiveBefore = any_of(Graph.predecessors()[Block], [&](unsigned P) {
    return MayLive[P].back()[B];
  });
  if (LiveBefore && !MayLive[Block][0][B] && !surelyDead(B, Entry) &&
      Facts.Held.mustBeAllocated(B, Entry))
    endAtEntry(B, Block);
  for (unsigned I = 0; I < Program.Blocks[Block].Events.size(); ++I)
    if (endsAfter(B, {Block, I}))
      endAfter(B, {Block, I});
}

void LastUses::run() {
  // Staging buffers first: what they stand for is discarded after them.
  for (bool Host : {true, false}) {
    if (Tested && Host)
      continue;
    for (unsigned B = 0; B < Program.Buffers.size(); ++B)
      if (isOfHost(B) == Host && mayEnd(Facts, B))
        for (unsigned Block : Graph.order())
          // Else the program is about to end.
          if (!Program.Blocks[Block].Fails)
            endIn(B, Block);
  }
}

} // namespace

void discardAfterLastUse(const ProgramFacts &Facts, PlacementBuilder &Result) {
  LastUses(Facts, Facts.Live, nullptr, Result).run();
}

void discardIfOverwritten(const ProgramFacts &Facts, PlacementBuilder &Result) {
  // What a pointer may be is taken for it: a test is of one buffer, and of all
  // that may touch it.
  const Liveness Tested(Facts.Program, Facts.Graph, nullptr,
                        Facts.Staging.Elided, /*AssumeTests=*/true);
  LastUses(Facts, Tested, &Facts.Live, Result).run();
}

} // namespace dragon
