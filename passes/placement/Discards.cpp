//===- Discards.cpp - what decisions on the ends of contents share --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Discards.h"

using namespace llvm;

namespace dragon {

bool mayEnd(const ProgramFacts &Facts, unsigned B) {
  const Buffer &Of = Facts.buffer(B);
  if (Of.IsSummary || Of.Escapes)
    return false;
  return Of.Kind != BufferKind::Host || Facts.Staging.Elided[B];
}

void tellStreams(const ProgramFacts &Facts, unsigned B, const Event &Last,
                 PlacementBuilder &Result) {
  for (EventRef At : Facts.Program.uses(B))
    if (const Event &E = Facts.event(At); E.Stream == UnknownStream)
      return Result.tell({B, Last.Where,
                          Facts.about(B, RemarkId::NotDiscardedStream)
                              .with("Cause", E.Name)
                              .with("CauseAt", describe(E.Where, Last.Where))});
  Result.tell({B, Last.Where, Facts.about(B, RemarkId::NotDiscardedStreams)});
}

LiveWithin liveEverywhere(const ProgramFacts &Facts, const Liveness &Live) {
  LiveWithin Result(Facts.Program.Blocks.size());
  for (unsigned Block : Facts.Graph.order())
    Result[Block] = Live.liveWithin(Block);
  return Result;
}

} // namespace dragon
