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
//   by loop      all blocks run some iterations of a loop at a time, each part
//                resident;
//   mixed        sub-grids, but some chunks that all of them use stay in host
//                memory, mapped;
//   host-mapped  all blocks run at once, part of what they use stays there;
//   impossible   with what is needed and what there is, for the message.
// Where slices fit and move little more than everything once, they are it. Of
// the others that is taken which keeps the link busy for the shortest time
// (LinkCost.h).
//
// Slices: the grid is cut along one dimension into boxes whose chunk-granular
// footprint fits; where one layer is too large, the layer is cut along the next
// dimension. The dimension with the least traffic is taken, the slowest one if
// it makes no difference. What all slices share is counted once; of the rest an
// eighth is used for a slice, so that others can arrive and leave while one
// runs. Example: c[i] = a[i] + b[i], 3 x 256 MiB, budget 64 MiB: slices of
// 8 MiB, a third of it of each buffer, cut at whole blocks.
//
// By loop: where each block needs nearly everything, some iterations of a loop
// may need little (KernelRecord::LoopName). All blocks run some iterations at a
// time, or, where what they keep meanwhile is too much, the blocks of a panel,
// one panel after the other, each of as many layers of the slowest dimension as
// take the least time to move data and what threads keep. Slices run in order,
// since each goes on where the one before stopped. What is behind the loop
// comes with a panel's last part, which is cut along the grid where that is
// much. Example: of a matrix product C = A B, with a quarter of the memory that
// it needs, some rows of A stay while all of B comes by, and then some rows of
// C are written.
//
// Mixed: where slices do not fit because of what they share, the hottest of
// that stays on the device and the rest in host memory. Example: a matrix
// product with half the memory that B needs: rows of A and C come and go, half
// of B stays, half of it is read over the link by each row of blocks.
//
// Pure: the footprint is a function. The boxes cover the grid exactly, in
// ascending order of the dimension they are cut along.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LAUNCHPLANNER_H
#define DRAGON_RUNTIME_LAUNCH_LAUNCHPLANNER_H

#include "dragon/FootprintEval.h"
#include "runtime/launch/ChunkSet.h"
#include "runtime/launch/LinkCost.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace dragon {

/// Bytes [begin, end) of a buffer, by number.
struct ByteInterval {
  uint32_t buffer;
  int64_t begin;
  int64_t end;
};

struct PlanInput {
  uint32_t grid[3];
  bool sliceable;
  bool hostMapped;
  /// What is in host memory comes by pages that blocks fetch (Paging.h): not
  /// accessed there, and in memory that need not be mapped.
  bool paged = false;
  /// What others have on the device is worth keeping: slice what would fit.
  bool sparing = false;
  /// Slices may take twice as much.
  bool largeSlices = false;
  uint64_t deviceBudget;
  /// Iterations of the loop that the kernel can be cut along, at most; 0: it
  /// cannot be cut along one.
  uint32_t trips = 0;
  /// What so many blocks take of the device between such slices.
  std::function<uint64_t(uint64_t blocks)> stateBytes;
  HostRoom hostRoom; ///< what may stay there at once
  std::vector<BufferShape> buffers;
  std::function<ChunkSet(const BlockBox &)> footprint;
  /// The bytes of a box whose footprint was asked for, by buffer, ascending;
  /// gaps in which no chunk lies may be filled. May be missing: they only help
  /// to guess.
  std::function<std::span<const ByteInterval>(const BlockBox &)> extents;
  /// The link's. `mapping` is shared by all launches that come again.
  LinkRates rates;
  /// A chunk of the launch, where it could stay in host memory.
  struct Placed {
    uint32_t buffer;
    uint32_t chunk;
    PlacedChunk placed;
  };
  /// All of them, by buffer and number. Asked only where it matters: access
  /// counts take time to find out.
  std::function<std::vector<Placed>()> placed;
  /// Told of boxes that are likely to be asked for, if it is there: the
  /// function can find out about them as it likes.
  std::function<void(std::span<const BlockBox>)> foresee;
};

struct LaunchPlan {
  enum Kind {
    Resident,
    Sliced,
    LoopSliced,
    Mixed,
    HostMapped,
    Impossible
  } kind;
  /// Sliced, LoopSliced, Mixed: two or more; else one, the grid.
  std::vector<BlockBox> boxes;
  ChunkSet onHost; ///< Mixed: what stays in host memory
  ChunkSet whole;  ///< the footprint of the grid
  uint64_t wholeBytes;
  /// Impossible although sliceable: the smallest part that would not fit.
  uint64_t smallestBytes = 0;
  /// What was compared, the one that was taken first.
  std::vector<LaunchCost> costs;
};

/// Slices that fetch everything so often are not taken without a look at the
/// alternatives.
constexpr uint64_t FewFetches = 2;

LaunchPlan planLaunch(const PlanInput &input);

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LAUNCHPLANNER_H
