//===- TellNextUses.cpp - when contents are needed again ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device keeps what it needs soon, and fetches early what it needs after
// the host has done something else (NextUse.h).
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"
#include "passes/placement/NextUse.h"

using namespace llvm;

namespace dragon {

/// How far away it is, as far as that is known.
static std::string distance(unsigned Launches) {
  if (Launches >= NextNeed::LoopLaunches)
    return "behind a loop of launches";
  return Launches == 1 ? "1 launch later"
                       : std::to_string(Launches) + " launches later";
}

/// After an event that uses the buffer, or not: then it is of interest only if
/// the next launch needs it, and the host does something else before.
static void tellNextUse(const ProgramFacts &Facts, unsigned B, EventRef After,
                        bool Uses, PlacementBuilder &Result) {
  const EventRef From{After.Block, After.Index + 1};
  const Event &E = Facts.event(After);
  const NextNeed Need = nextNeed(Facts.Program, Facts.Graph, From, B);
  if (!Need.At)
    return; // dead, if ever
  const Event &Next = Facts.event(*Need.At);
  const bool Never = Need.Launches == NextNeed::NeverAgain;
  const bool Prefetch = Need.Launches == 0;
  if (Never && !launchAhead(Facts.Program, From))
    return; // nobody wants the room
  if (Uses ? Prefetch : !Prefetch || !Need.HostInBetween || !Next.reads(B))
    return;
  Reason Why = Facts
                   .about(B, Prefetch ? RemarkId::Prefetched
                             : Never  ? RemarkId::NotNeededOnDevice
                                      : RemarkId::NextUseKnown)
                   .with("After", E.Name)
                   .with("Next", Next.Name)
                   .with("NextAt", describe(Next.Where, E.Where));
  if (!Prefetch && !Never)
    Why = std::move(Why).with("Distance", distance(Need.Launches));
  Result.add({B, After, NextUseDirective{Need.Launches}, Anchor::After},
             E.Where, std::move(Why));
}

void tellNextUses(const ProgramFacts &Facts, PlacementBuilder &Result) {
  for (unsigned Block : Facts.Graph.order()) {
    if (Facts.Program.Blocks[Block].Fails)
      continue;
    const auto &Events = Facts.Program.Blocks[Block].Events;
    for (unsigned I = 0; I < Events.size(); ++I) {
      const Event &E = Events[I];
      if (!E.is<LaunchEvent, CopyInEvent, FillEvent>())
        continue;
      for (unsigned B = 0; B < Facts.Program.Buffers.size(); ++B) {
        const BufferUse *U = E.find(B);
        if (Facts.buffer(B).Kind != BufferKind::Device ||
            Facts.buffer(B).IsSummary ||
            (U ? !U->Must : !E.is<LaunchEvent>()) ||
            !Facts.Held.mustBeAllocated(B, {Block, I + 1}))
          continue;
        tellNextUse(Facts, B, {Block, I}, U, Result);
      }
    }
  }
}

} // namespace dragon
