//===- Legality.h - what may be done to a staging buffer ------ -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A staging buffer may be elided if its contents are looked at by nothing but
// file calls and copies, or by host code in front of which they can be made
// real. What host code does to the bytes between the file and the device makes
// elision useless, and what keeps the address makes it wrong.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_LEGALITY_H
#define DRAGON_PASSES_PLACEMENT_LEGALITY_H

#include "passes/Remarks.h"
#include "passes/placement/Directive.h"
#include "passes/placement/FlowGraph.h"

#include <optional>
#include <vector>

namespace dragon {

/// A pair of events: bytes that come in by From leave by To, undisturbed.
struct StagingFlow {
  unsigned Staging;
  EventRef From; ///< FileRead or CopyOut
  EventRef To;   ///< CopyIn or FileWrite
};

/// What passes through host buffers.
struct StagingFlows {
  std::vector<StagingFlow> OfFiles; ///< between files and device buffers
  std::vector<StagingFlow> Back; ///< from a device buffer to one, or the same
};
StagingFlows stagingFlows(const BufferProgram &Program, const FlowGraph &Graph);

/// Whether the buffer, elided, may stand for other bytes in front of At: not
/// before the first transfer into it.
bool mayBeDeferred(const BufferProgram &Program, const FlowGraph &Graph,
                   unsigned Buffer, EventRef At);

/// Why the buffer may not be elided, or nothing if it may. Elided: those not
/// ruled out so far.
std::optional<Finding> whyNotElided(const BufferProgram &Program,
                                    const FlowGraph &Graph, unsigned Buffer,
                                    const std::vector<bool> &Elided);

/// Whether every path from At to a return that reports success passes Through.
bool alwaysReaches(const BufferProgram &Program, EventRef At, EventRef Through);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_LEGALITY_H
