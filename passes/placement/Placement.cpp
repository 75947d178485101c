//===- Placement.cpp - buffer program -> directives -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions in their order. Those on the ends of contents come after the
// maps and the sinks, and the last of them looks at what the others have
// discarded.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"

namespace dragon {

Placement place(const BufferProgram &Program, const PlacementOptions &Options) {
  PlacementBuilder Result;
  const BufferProgram Filled =
      Options.Zeros ? fillWithZeros(Program, Result) : Program;
  const ProgramFacts Facts(Filled, Options.Staging);
  elideStaging(Facts, Result);
  if (Options.Deferral) {
    deferCopies(Facts, Result);
    placeResults(Facts, Result);
    settleSources(Facts, Result);
  }
  mapBuffers(Facts, Result);
  placeSinks(Facts, Result);
  discardAfterLastUse(Facts, Result);
  discardByPointer(Facts, Result);
  discardIfOverwritten(Facts, Result);
  discardElements(Facts, Result);
  discardBeforeEnd(Facts, Result);
  discardBehindCursors(Facts, Result);
  reportUnknownCalls(Facts, Result);
  if (Options.NextUses)
    tellNextUses(Facts, Result);
  if (Options.Wavefront)
    runTogether(Facts, Result);
  return Result.take();
}

} // namespace dragon
