//===- StorageParts.h - what of a launch finds frames -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where each page that a part of a launch touches must find a frame
// (StorageRunner.h), nobody knows how many a part will touch. So parts are as
// large as those before let expect: some blocks of the grid, or, of a kernel
// that can be cut along a loop (LoopState.h), some iterations of a panel of
// blocks:
//
//   grid of 100 blocks, 60 iterations
//     blocks 0 to 9: iterations 0 to 4, 5 to 23, 24 to 59; blocks 10 to 49: ..
//
// A part for which frames are too few is as if it had not run, and comes again
// in smaller ones.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_STORAGEPARTS_H
#define DRAGON_RUNTIME_LAUNCH_STORAGEPARTS_H

#include "dragon/BlockBox.h"

#include <cstdint>
#include <vector>

namespace dragon {

/// The blocks of a grid, some at a time, in their order.
class BlockRuns {
public:
  explicit BlockRuns(const uint32_t grid[3])
      : Grid{grid[0], grid[1], grid[2]} {}
  /// About so many of the next blocks, and one at least; in a box.
  BlockBox next(uint64_t blocks);
  bool done() const { return At[2] >= Grid[2]; }
  /// The last box comes again, in other ones.
  void again(const BlockBox &box);

private:
  uint32_t Grid[3];
  uint32_t At[3] = {0, 0, 0};
};

/// How many blocks, or iterations of a block, should find frames for their
/// pages.
class BlocksAtOnce {
public:
  /// `again`: a slice for which they are too few may run again. Else it never
  /// has more blocks than the first one.
  BlocksAtOnce(uint64_t frames, uint64_t blockThreads, bool again);
  uint64_t blocks() const { return Blocks; }
  /// A slice of so many blocks took so many frames.
  void took(uint64_t frames, uint64_t blocks);
  /// There are so many frames now.
  void resize(uint64_t frames);

private:
  uint64_t Wanted; ///< frames that a slice should take
  uint64_t Blocks;
  uint64_t Most; ///< of blocks
};

class StorageParts {
public:
  struct Limits {
    uint64_t frames;
    uint64_t blockThreads;
    /// A part for which they are too few may run again.
    bool repeats;
    /// Of the loop along which it is cut; less than two: it is not.
    uint32_t trips = 0;
    /// Of a panel.
    uint64_t mostBlocks = 1;
  };
  struct Part {
    BlockBox box;   ///< with iterations, if it is of a loop
    BlockBox panel; ///< then: its blocks are some of these
    bool isOfLoop() const { return box.Hi[LoopDimension] != 0; }
    /// What its blocks keep in a loop is that of the iterations before.
    bool continues() const { return box.Lo[LoopDimension] != 0; }
  };

  /// Blocks that a panel should have at most, where there are so many frames.
  static uint64_t blocksOfPanel(uint64_t frames, uint64_t blockThreads);

  /// One block may need more of them than are free when it begins.
  static bool mayNeedAll(uint64_t frames, uint64_t blockThreads);

  StorageParts(const uint32_t grid[3], const Limits &limits);

  bool done() const { return Rest.empty() && Runs.done(); }
  /// Blocks, of those that are done as a whole.
  uint64_t blocksDone() const { return Done; }
  const Part &next();
  const Part &last() const { return Last; }
  /// The last part is complete, and took so many frames.
  void took(uint64_t frames);
  /// The last part found too few frames; it had all of them, if `hadAll`.
  /// Returns false if there is no smaller one: then it is the next one.
  bool again(bool hadAll);
  /// There are so many frames now.
  void resize(uint64_t frames);

private:
  uint64_t units() const;

  const Limits Given;
  uint64_t Frames;
  BlockRuns Runs;
  BlocksAtOnce Size; ///< in units: a block, or one iteration of it
  BlockBox Panel = {};
  /// Of the panel, the next one last; each with its iterations.
  std::vector<BlockBox> Rest;
  Part Last = {};
  uint64_t Done = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_STORAGEPARTS_H
