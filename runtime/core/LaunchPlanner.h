//===- LaunchPlanner.h - how a launch fits into the budget ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the footprint of a launch and the budget to one of:
//   resident     all it touches is on the device at once;
//   sliced       sub-grids run one after the other, each resident;
//   host-mapped  part of it stays in host memory, mapped;
//   impossible   with what is needed and what there is, for the message.
//
// Slices: the grid is cut along one dimension into boxes whose chunk-granular
// footprint fits; where one layer is too large, the layer is cut along the next
// dimension. The dimension with the least traffic is taken, the slowest one if
// it makes no difference. What all slices share is counted once; of the rest an
// eighth is used for a slice, so that others can arrive and leave while one
// runs. Example: c[i] = a[i] + b[i], 3 x 256 MiB, budget 64 MiB: slices of
// 8 MiB, a third of it of each buffer, cut at whole blocks.
//
// Pure: the footprint is a function. The boxes cover the grid exactly, in
// ascending order of the dimension they are cut along.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_LAUNCHPLANNER_H
#define DRAGON_RUNTIME_CORE_LAUNCHPLANNER_H

#include "dragon/FootprintEval.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace dragon {

/// Chunks [begin, end) of a buffer, by number.
struct ChunkInterval {
  uint32_t buffer;
  uint32_t begin;
  uint32_t end;
  bool operator==(const ChunkInterval &) const = default;
};
/// Sorted, disjoint.
using ChunkSet = std::vector<ChunkInterval>;

void normalize(ChunkSet &set);
ChunkSet intersection(const ChunkSet &a, const ChunkSet &b);

struct BufferShape {
  uint64_t bytes; ///< of all its chunks
  uint64_t chunkBytes;
};
uint64_t bytesOf(const ChunkSet &set, const std::vector<BufferShape> &shapes);

struct PlanInput {
  uint32_t grid[3];
  bool sliceable;
  bool hostMapped;
  /// What others have on the device is worth keeping: slice what would fit.
  bool sparing = false;
  uint64_t deviceBudget;
  uint64_t hostBudget; ///< what may stay in host memory at once
  std::vector<BufferShape> buffers;
  std::function<ChunkSet(const BlockBox &)> footprint;
};

struct LaunchPlan {
  enum Kind { Resident, Sliced, HostMapped, Impossible } kind;
  std::vector<BlockBox> boxes; ///< Sliced: two or more; else one, the grid
  ChunkSet whole;              ///< the footprint of the grid
  uint64_t wholeBytes;
  /// Impossible although sliceable: the smallest part that would not fit.
  uint64_t smallestBytes = 0;
};

LaunchPlan planLaunch(const PlanInput &input);

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_LAUNCHPLANNER_H
