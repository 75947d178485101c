//===- LoopEnds.cpp - where the loops of launches end ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LoopEnds.h"

#include "runtime/launch/LaunchKey.h"

namespace dragon {

/// More than a program's launches that repeat themselves.
static constexpr size_t MostKnown = 4096;

void LoopEnds::find(LaunchCall &call) {
  const SummaryView *summary = call.kernel->summary;
  const KernelRecord *record = call.kernel->record;
  if (!summary || !record || call.numArgs < record->NumArgs ||
      !hasLoopEnds(*record))
    return;
  if (Known.size() >= MostKnown)
    Known.clear();
  Found &found = Known[contentsKey(call)];
  if (found.record != record) {
    found = {record};
    if (!loopEnds(*summary, *record, dimsOf(call), found.ends.data(),
                  found.rounds.data()))
      found = {record};
  }
  call.loopEnds = found.ends;
  call.loopRounds = found.rounds;
}

} // namespace dragon
