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

static void endBefore(const ProgramFacts &Facts, EventRef At,
                      const Contents &Held, const BitVector &Live,
                      PlacementBuilder &Result) {
  const Event &E = Facts.event(At);
  for (const BufferUse &U : E.Uses) {
    const unsigned B = U.Buffer;
    // In front of the free of an elided staging buffer there is always one.
    if (!U.Must || !mayEnd(Facts, B) ||
        Facts.buffer(B).Kind == BufferKind::Host)
      continue;
    // A staging buffer that stands for it is filled by the event itself.
    if (Live[B])
      continue;
    const bool IsFree = E.is<FreeEvent>();
    const bool Overwrites = U.Writes && U.Whole && !U.Reads &&
                            (E.is<CopyInEvent, FillEvent, CopyEvent>());
    if ((!IsFree && !Overwrites) ||
        Facts.streamOf(B) != static_cast<StreamId>(DefaultStream) ||
        !Held.mayHold(B, At) || !Held.mustBeAllocated(B, At))
      continue;
    Result.add({B, At, DiscardDirective{}}, E.Where,
               Facts.about(B, IsFree ? RemarkId::DiscardedBeforeFree
                                     : RemarkId::DiscardedBeforeOverwrite));
  }
}

void discardBeforeEnd(const ProgramFacts &Facts, PlacementBuilder &Result) {
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
