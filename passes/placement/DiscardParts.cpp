//===- DiscardParts.cpp - elements of arrays, and what loops leave behind -===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dies is less than a buffer: an element of an array of buffers
// (ElementDeaths.h), or what lies below a pointer that moves up (Cursors.h).
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Cursors.h"
#include "passes/placement/Decisions.h"
#include "passes/placement/Discards.h"
#include "passes/placement/ElementDeaths.h"
#include "passes/placement/NextUse.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

void discardElements(const ProgramFacts &Facts, PlacementBuilder &Result) {
  for (const ElementDeath &Death : elementDeaths(Facts.Program, Facts.Graph)) {
    const unsigned B = Death.Buffer;
    const Event &E = Facts.event(Death.After);
    const std::optional<StreamId> Stream = Facts.streamOf(B);
    const EventRef Next{Death.After.Block, Death.After.Index + 1};
    if (!Stream || (*Stream != DefaultStream && E.Stream != *Stream) ||
        !deviceWorkAhead(Facts.Program, Next))
      continue;
    Directive End{B, Death.After,
                  DiscardDirective{*Stream, Death.Element, false, Death.Tests},
                  Anchor::After};
    if (Death.Tests.empty()) {
      Result.add(std::move(End), E.Where,
                 Facts.about(B, RemarkId::Discarded)
                     .with("After", E.Name)
                     .with("Next", "never read again"));
      continue;
    }
    const Event &Test = Facts.event(Death.Tests.front());
    const std::string At = describe(Test.Where, E.Where);
    End.Otherwise = Facts.about(B, RemarkId::NotDiscardedTest)
                        .with("After", E.Name)
                        .with("Kernel", Test.Name)
                        .with("CauseAt", At);
    Result.add(std::move(End), E.Where,
               Facts.about(B, RemarkId::DiscardedIfOverwritten)
                   .with("After", E.Name)
                   .with("Next", "overwritten by '" + Test.Name + "' at " + At +
                                     " before any read"));
  }
}

/// What staging buffers stand for is read when they are.
static bool isViewed(const ProgramFacts &Facts, unsigned B) {
  return any_of(Facts.Program.uses(B), [&](EventRef At) {
    const Event &E = Facts.event(At);
    return E.is<CopyOutEvent>() && any_of(E.Uses, [&](const BufferUse &U) {
             return Facts.Staging.Elided[U.Buffer];
           });
  });
}

void discardBehindCursors(const ProgramFacts &Facts, PlacementBuilder &Result) {
  for (const CursorEnd &Found :
       endsBehindCursors(Facts.Program, Facts.Graph, Facts.Live)) {
    const unsigned B = Facts.Program.Cursors[Found.Cursor].Buffer;
    const Event &E = Facts.event(Found.At);
    if (!mayEnd(Facts, B) || Facts.buffer(B).Kind == BufferKind::Host ||
        isViewed(Facts, B) ||
        !Facts.Held.mustBeAllocated(B, {Found.At.Block, Found.At.Index + 1}))
      continue;
    const std::optional<StreamId> Stream = Facts.streamOf(B);
    if (!Stream) {
      tellStreams(Facts, B, E, Result);
      continue;
    }
    if (*Stream != DefaultStream && E.Stream != *Stream)
      continue;
    Directive End{B, Found.At,
                  DiscardDirective{*Stream, BelowCursor{Found.Cursor}, false,
                                   Found.Tests},
                  Anchor::After};
    if (!Found.Tests.empty()) {
      const Event &Reader = Facts.event(Found.Tests.front());
      End.Otherwise = Facts.about(B, RemarkId::NotDiscardedBehind)
                          .with("After", E.Name)
                          .with("Kernel", Reader.Name)
                          .with("CauseAt", describe(Reader.Where, E.Where));
    }
    Result.add(std::move(End), E.Where,
               Facts.about(B, RemarkId::DiscardedBehind).with("After", E.Name));
  }
}

} // namespace dragon
