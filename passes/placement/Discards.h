//===- Discards.h - what the ends of contents share ----------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_DISCARDS_H
#define DRAGON_PASSES_PLACEMENT_DISCARDS_H

#include "passes/placement/PlacementBuilder.h"
#include "passes/placement/ProgramFacts.h"

namespace dragon {

/// Whether all of the buffer's contents may end at one place: it is one buffer,
/// the program's own, and not of the host unless elided.
bool mayEnd(const ProgramFacts &Facts, unsigned B);

/// Why there is no stream in which the buffer can be discarded after Last.
void tellStreams(const ProgramFacts &Facts, unsigned B, const Event &Last,
                 PlacementBuilder &Result);

/// By block and index: the buffers that are live in front of the event.
using LiveWithin = std::vector<std::vector<llvm::BitVector>>;
LiveWithin liveEverywhere(const ProgramFacts &Facts, const Liveness &Live);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_DISCARDS_H
