//===- StreamedChunks.h - what comes and goes in each period ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches that repeat themselves and read more than fits, such as the layers
// of a network for one token after another, go round a circle of chunks. So
// many have to be moved in each round as do not fit. By Belady's rule alone it
// is always what was used last that goes, which is another chunk in each round:
// in time each of them has gone and come back, so that all of them need a copy
// in host memory, and they come from there in bunches, while the link has
// nothing to do in between.
//
// So the chunks that come and go are chosen once, at equal distances along the
// round, and marked (Chunk::streams): they leave before others (Eviction.h).
// As much as before moves; from the next round on the others stay.
//
// Chosen from are chunks that nothing writes and that are used in one part of
// the round. They stay chosen; where they are too few or too many, some others
// are, or are not any more.
//
// Source: a cyclic reference string has no better schedule than to keep a part
// of it (Smith and Goodman, "A study of instruction cache organizations and
// replacement policies", ISCA 1983); at equal distances: Bresenham's line.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_STREAMEDCHUNKS_H
#define DRAGON_RUNTIME_LAUNCH_STREAMEDCHUNKS_H

#include "runtime/launch/NextUses.h"
#include "runtime/memory/DeviceChunks.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace dragon {

/// A chunk that a period uses.
struct PeriodicChunk {
  uint64_t bytes;
  bool clean;         ///< it can go without a copy
  bool streams;       ///< it was chosen before
  size_t first, last; ///< of the launches that use it
  size_t gap = 0;     ///< the longest from one of them to the next

  /// A launch, of which none after comes before, uses it as well.
  void add(size_t launch) {
    gap = std::max(gap, launch - last);
    last = launch;
  }
  /// Launches from the first to the last that uses it, wherever the round
  /// begins.
  size_t span(size_t period) const {
    return period - std::max(gap, first + period - last);
  }
};

/// Sets `streams` of all, which are in the order of their first uses: of so
/// many chunks that the others fit into `room` bytes with `ring` bytes of those
/// that come. None where all of it fits, or where too little can be chosen.
void chooseStreamed(std::span<PeriodicChunk> chunks, size_t period,
                    uint64_t room, uint64_t ring);

class StreamedChunks {
public:
  StreamedChunks(Context &context, WorkTracker &time, AddressSpace &space,
                 DeviceChunks &deviceChunks, const NextUses &next)
      : Ctx(context), Time(time), Space(space), OnDevice(deviceChunks),
        Next(next) {}

  /// A launch has been queued. Once in a period: marks what streams.
  void update();

private:
  struct Used;
  /// Marks what streams in that period; false: nothing does.
  bool choose(size_t period);
  /// In the order of their first uses; nothing: a launch alone is too large.
  std::vector<Used> usedInPeriod() const;
  void forget();

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  DeviceChunks &OnDevice;
  const NextUses &Next;
  size_t Period = 0;      ///< of the marks; 0: there are none
  uint64_t LookAgain = 0; ///< the launch at which the period is looked at
  uint64_t LastSure = 0;  ///< the last launch of which it was known
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_STREAMEDCHUNKS_H
