//===- ProgramFacts.cpp - what all decisions know of a program ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/ProgramFacts.h"

namespace dragon {

ProgramFacts::ProgramFacts(const BufferProgram &Program, bool ElideStaging)
    : Program(Program), Graph(Program), Pointers(Program, Graph),
      Staging(ElideStaging
                  ? planStaging(Program, Graph)
                  : StagingPlan{std::vector<bool>(Program.Buffers.size()),
                                {},
                                {},
                                {}}),
      Live(Program, Graph, &Pointers, Staging.Elided), Held(Program, Graph) {}

std::optional<StreamId> ProgramFacts::streamOf(unsigned B) const {
  std::optional<StreamId> Stream;
  for (EventRef At : Program.uses(B)) {
    StreamId S = event(At).Stream;
    if (S == Synchronous)
      continue;
    if (S == UnknownStream || (Stream && *Stream != S))
      return std::nullopt;
    Stream = S;
  }
  return Stream ? *Stream : static_cast<StreamId>(DefaultStream);
}

} // namespace dragon
