//===- DiscardBeforeEnd.cpp - contents that end with an event -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contents that are still there where the buffer is freed, or overwritten by a
// copy, are discarded in front of it: nothing of them needs to be moved then.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"
#include "passes/placement/Discards.h"

using namespace llvm;

namespace dragon {

/// Whether it ends all of the contents of its buffer, and needs no test.
static bool isSure(const Directive &D) {
  const auto *Discard = D.as<DiscardDirective>();
  if (!Discard)
    return D.is<ForgetDirective>();
  return Discard->Tests.empty() && Discard->of<WholeBuffer>();
}

/// What holds something once the sure discards so far are made.
static Contents heldAfterDiscards(const ProgramFacts &Facts,
                                  ArrayRef<Directive> Directives) {
  std::vector<Contents::End> Ends;
  for (const Directive &D : Directives) {
    if (!isSure(D))
      continue;
    EventRef At = D.At;
    At.Index += D.Where == Anchor::After;
    Ends.push_back({D.Buffer, At});
  }
  return {Facts.Program, Facts.Graph, Ends};
}

/// Whether the contents are there, are the buffer's alone, and can end in front
/// of the event, if they are dead.
static bool canEnd(const ProgramFacts &Facts, unsigned B, EventRef At,
                   const Contents &Held) {
  return mayEnd(Facts, B) && Facts.buffer(B).Kind != BufferKind::Host &&
         Facts.streamOf(B) == static_cast<StreamId>(DefaultStream) &&
         Held.mayHold(B, At) && Held.mustBeAllocated(B, At);
}

static void endBefore(const ProgramFacts &Facts, EventRef At,
                      const Contents &Held, const BitVector &Live,
                      PlacementBuilder &Result) {
  const Event &E = Facts.event(At);
  for (const BufferUse &U : E.Uses) {
    const unsigned B = U.Buffer;
    // A staging buffer that stands for it is filled by the event itself. In
    // front of the free of an elided one there is always a discard.
    if (!U.Must || Live[B])
      continue;
    const bool IsFree = E.is<FreeEvent>();
    const bool Overwrites = U.Writes && U.Whole && !U.Reads &&
                            (E.is<CopyInEvent, FillEvent, CopyEvent>());
    if ((!IsFree && !Overwrites) || !canEnd(Facts, B, At, Held))
      continue;
    Result.add({B, At, DiscardDirective{}}, E.Where,
               Facts.about(B, IsFree ? RemarkId::DiscardedBeforeFree
                                     : RemarkId::DiscardedBeforeOverwrite));
  }
}

/// Contents that the host's memory may stand for, and that are dead where that
/// changes: they are not copied then.
static void endBeforeSettling(const ProgramFacts &Facts, const Contents &Held,
                              PlacementBuilder &Result) {
  const std::vector<Directive> Directives(Result.directives());
  for (const Directive &Settle : Directives) {
    if (!Settle.is<SettleDirective>())
      continue;
    const EventRef At = Settle.At;
    const BitVector Live = Facts.Live.liveWithin(At.Block)[At.Index];
    SmallVector<unsigned, 2> Ended;
    for (const Directive &D : Directives) {
      const auto *Placed = D.as<ResultDirective>();
      const EventRef Copy = Placed ? Placed->Copy : D.At;
      if (Placed ? Placed->Host != Settle.Buffer
                 : !D.is<DeferDirective>() || D.Buffer != Settle.Buffer)
        continue;
      for (const BufferUse &U : Facts.event(Copy).Uses) {
        const unsigned B = U.Buffer;
        if (Live[B] || is_contained(Ended, B) || !canEnd(Facts, B, At, Held))
          continue;
        Ended.push_back(B);
        Result.add({B, At, DiscardDirective{}}, Facts.event(At).Where,
                   Facts.about(B, RemarkId::DiscardedBeforeSource)
                       .with("Source", Facts.buffer(Settle.Buffer).Name));
      }
    }
  }
}

void discardBeforeEnd(const ProgramFacts &Facts, PlacementBuilder &Result) {
  endBeforeSettling(Facts, heldAfterDiscards(Facts, Result.directives()),
                    Result);
  const Contents Held = heldAfterDiscards(Facts, Result.directives());
  for (unsigned Block : Facts.Graph.order()) {
    const std::vector<BitVector> Within = Facts.Live.liveWithin(Block);
    for (unsigned I = 0; I < Facts.Program.Blocks[Block].Events.size(); ++I)
      endBefore(Facts, {Block, I}, Held, Within[I], Result);
  }
}

void reportUnknownCalls(const ProgramFacts &Facts, PlacementBuilder &Result) {
  for (unsigned B = 0; B < Facts.Program.Buffers.size(); ++B) {
    const Buffer &Of = Facts.buffer(B);
    if (Of.Escapes && Of.Kind != BufferKind::Host && !Of.Mappable)
      Result.tell({B, Of.Where,
                   Facts.about(B, RemarkId::NotDiscarded)
                       .with("Cause", Of.EscapesTo)
                       .with("CauseAt", describe(Of.EscapesAt, Of.Where))});
  }
}

} // namespace dragon
