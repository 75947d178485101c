//===- BoxFootprints.h - the chunks of parts of a grid ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the planner asks of a launch: the chunks of a box of blocks, hundreds of
// times. Each box is evaluated once. Those that the planner foresees are
// evaluated by several threads: a footprint depends on its box alone, so the
// plan is the same whatever the number of threads.
//
// Nobody asks which of its chunks a slice overwrites by itself: the launch as a
// whole counts.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_BOXFOOTPRINTS_H
#define DRAGON_RUNTIME_LAUNCH_BOXFOOTPRINTS_H

#include "runtime/base/ThreadPool.h"
#include "runtime/launch/LaunchFootprint.h"
#include "runtime/launch/LaunchPlanner.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace dragon {

/// Fewer boxes than these are not worth a thread's waking up.
constexpr size_t BoxesPerThread = 4;

class BoxFootprints {
public:
  /// All of these outlive it, and do not change. `whole`: of the grid.
  BoxFootprints(const ResolvedLaunch &launch, AddressIndex &allocations,
                const LaunchFootprint &whole,
                ThreadPool &threads = hostThreads());

  /// The launch's buffers, by their number in chunk sets.
  const std::vector<BufferShape> &buffers() const { return Shapes; }

  uint32_t numberOf(const Chunk &chunk) const {
    return Numbers.at(chunk.buffer);
  }

  const ChunkSet &of(const BlockBox &box);
  /// The bytes behind of(box), for PlanInput::extents; after it. Empty for the
  /// grid, and where a kernel may touch everything.
  std::span<const ByteInterval> extentsOf(const BlockBox &box) const;
  /// These will be asked for, or most of them.
  void foresee(std::span<const BlockBox> boxes);
  /// The chunks of a box that was asked for and is not the grid; once.
  LaunchFootprint take(const BlockBox &box);

private:
  struct Known {
    LaunchFootprint chunks;
    ChunkSet set;
    std::vector<ByteInterval> extents;
  };
  struct Hash {
    size_t operator()(const BlockBox &box) const;
  };
  struct Same {
    bool operator()(const BlockBox &a, const BlockBox &b) const;
  };
  ChunkSet setOf(const LaunchFootprint &chunks) const;
  Known evaluate(const BlockBox &box) const;

  const ResolvedLaunch &Launch;
  AddressIndex &Allocations;
  ThreadPool &Threads;
  std::vector<BufferShape> Shapes;
  std::unordered_map<const Buffer *, uint32_t> Numbers;
  std::unordered_map<BlockBox, Known, Hash, Same> Seen;
};

/// Of blocks together, an index that another index leads to may be any of more
/// than theirs: the first one of the last block with as many as the first block
/// has. Groups of so many of the grid are told apart.
constexpr uint32_t GroupsOfGrid = 16;

/// Of `whole`, the grid's footprint, what the groups of its blocks touch.
LaunchFootprint narrowed(const ResolvedLaunch &launch,
                         AddressIndex &allocations,
                         const LaunchFootprint &whole);

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_BOXFOOTPRINTS_H
