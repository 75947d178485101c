//===- LaunchFootprint.h - what a launch does to which chunks ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a launch's arguments and the kernel's summary to chunks: which it may
// touch, may write, updates atomically, and surely overwrites.
//
// A pointer touches the allocation that it points into. One that points into
// none (one past the end, or a[-1] passed on purpose) touches whatever its
// footprint meets, unless it is in memory of others, which it touches then.
// What one pointer surely overwrites does not count where another pointer of
// the launch may read: it may read first. A kernel without a summary, or one
// whose pointers escape, may do anything to every buffer.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LAUNCHFOOTPRINT_H
#define DRAGON_RUNTIME_LAUNCH_LAUNCHFOOTPRINT_H

#include "runtime/launch/ResolvedLaunch.h"
#include "runtime/memory/ChunkUse.h"

#include <functional>
#include <vector>

namespace dragon {

/// What the blocks of a box do, chunk by chunk.
struct LaunchFootprint {
  std::vector<ChunkUse> uses; ///< by address; each chunk once
  bool anything = false;
};
std::vector<Chunk *> chunksOf(const LaunchFootprint &footprint);
/// The uses for which `second` is false, and the others.
std::pair<LaunchFootprint, LaunchFootprint>
split(const LaunchFootprint &chunks,
      const std::function<bool(const ChunkUse &)> &second);
struct ChunksAsked {
  /// False, for planning: nothing counts as surely overwritten.
  bool withMust = true;
  /// The chunks of buffers that the driver moves are asked for, and no others.
  bool ofDriver = false;
  /// Called for each buffer with the bytes that are touched, ascending; gaps in
  /// which no chunk lies may be filled.
  std::function<void(const Buffer &, const ByteSet &)> touch = {};
};
/// By the blocks of the box.
LaunchFootprint footprintOf(const ResolvedLaunch &launch,
                            AddressIndex &allocations, const BlockBox &box,
                            const ChunksAsked &asked = {});

/// What the compiler said of the blocks in the box, to the byte.
struct ObservedBlocks; // runtime/oracle/Observer.h
ObservedBlocks announced(const ResolvedLaunch &launch,
                         AddressIndex &allocations, const BlockBox &box);

/// Neighbouring chunks as ranges of addresses.
std::vector<AddressRange>
addressRanges(const LaunchFootprint &chunks,
              const std::function<bool(const ChunkUse &)> &which = nullptr);

/// All the bytes of the chunk that the program has lie in one of the ranges.
bool isWithin(const Chunk &chunk, std::span<const AddressRange> ranges);

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LAUNCHFOOTPRINT_H
