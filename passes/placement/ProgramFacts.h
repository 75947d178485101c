//===- ProgramFacts.h - what all decisions know of a program -- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph, who points where, which staging buffers are elided, and what is
// live and allocated. All of it is computed once, before the first decision,
// and does not change: a decision adds directives (PlacementBuilder.h) and
// nothing else.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_PROGRAMFACTS_H
#define DRAGON_PASSES_PLACEMENT_PROGRAMFACTS_H

#include "passes/placement/Liveness.h"
#include "passes/placement/StagingPlan.h"

namespace dragon {

class ProgramFacts {
public:
  /// ElideStaging: if not, no staging buffer is.
  ProgramFacts(const BufferProgram &Program, bool ElideStaging);
  ProgramFacts(const ProgramFacts &) = delete;
  ProgramFacts &operator=(const ProgramFacts &) = delete;

  const BufferProgram &Program;
  const FlowGraph Graph;
  const PointerFlow Pointers;
  const StagingPlan Staging;
  const Liveness Live;
  /// As long as nothing is discarded.
  const Contents Held;

  const Buffer &buffer(unsigned B) const { return Program.Buffers[B]; }
  const Event &event(EventRef At) const { return Program.event(At); }
  /// The one stream in which the buffer is used, or nothing.
  std::optional<StreamId> streamOf(unsigned B) const;

  // For the user.
  Reason about(unsigned B, RemarkId Id) const {
    return Reason(Id).with("Buffer", buffer(B).Name);
  }
  std::string at(EventRef Where, const Position &From) const {
    return describe(event(Where).Where, From);
  }
};

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_PROGRAMFACTS_H
