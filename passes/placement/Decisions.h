//===- Decisions.h - the decisions of placement --------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each decision; a file has one decision, or a few that are
// alike. All of them look at the same facts. Placement.cpp says in which order
// they come.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_DECISIONS_H
#define DRAGON_PASSES_PLACEMENT_DECISIONS_H

#include "passes/placement/PlacementBuilder.h"
#include "passes/placement/ProgramFacts.h"

namespace dragon {

/// ZeroCopies.cpp: copies of memory that nothing has been written to. What the
/// others look at is the program in which these are fills.
BufferProgram fillWithZeros(const BufferProgram &Program,
                            PlacementBuilder &Result);

/// ElideStaging.cpp: staging calls instead of file calls and copies.
void elideStaging(const ProgramFacts &Facts, PlacementBuilder &Result);

/// DeferCopies.cpp: copies to the device that may come later.
void deferCopies(const ProgramFacts &Facts, PlacementBuilder &Result);
/// In front of what changes or frees memory that stands for device buffers, by
/// the decisions so far.
void settleSources(const ProgramFacts &Facts, PlacementBuilder &Result);

/// PlaceResults.cpp: results that go straight to host memory.
void placeResults(const ProgramFacts &Facts, PlacementBuilder &Result);

/// MapBuffers.cpp: what each device buffer is mapped as.
void mapBuffers(const ProgramFacts &Facts, PlacementBuilder &Result);

/// PlaceSinks.cpp: output that goes straight to its file.
void placeSinks(const ProgramFacts &Facts, PlacementBuilder &Result);

/// DiscardAfterLastUse.cpp: where the contents of a buffer die.
void discardAfterLastUse(const ProgramFacts &Facts, PlacementBuilder &Result);
/// The same where they are dead if a test at run time says so.
void discardIfOverwritten(const ProgramFacts &Facts, PlacementBuilder &Result);

/// DiscardByPointer.cpp: where what a pointer points to dies.
void discardByPointer(const ProgramFacts &Facts, PlacementBuilder &Result);

/// DiscardParts.cpp: elements of arrays, and what loops leave behind them.
void discardElements(const ProgramFacts &Facts, PlacementBuilder &Result);
void discardBehindCursors(const ProgramFacts &Facts, PlacementBuilder &Result);

/// DiscardBeforeEnd.cpp: in front of frees and of what overwrites all of a
/// buffer, unless its contents have been discarded by then.
void discardBeforeEnd(const ProgramFacts &Facts, PlacementBuilder &Result);
/// Buffers that are never discarded because of a call.
void reportUnknownCalls(const ProgramFacts &Facts, PlacementBuilder &Result);

/// TellNextUses.cpp: when contents are needed again.
void tellNextUses(const ProgramFacts &Facts, PlacementBuilder &Result);

/// RunTogether.cpp: launches that share data.
void runTogether(const ProgramFacts &Facts, PlacementBuilder &Result);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_DECISIONS_H
