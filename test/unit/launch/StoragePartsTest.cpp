//===- StoragePartsTest.cpp - a grid, some blocks at a time ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/StorageParts.h"

#include "runtime/launch/LoopState.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>
#include <tuple>

using namespace dragon;

namespace {

using Extent = std::tuple<uint32_t, uint32_t, uint32_t>;

/// All blocks once, in the order in which they are numbered; returns how many
/// runs that took.
unsigned runAll(Extent extent, uint64_t blocks) {
  const auto [x, y, z] = extent;
  const uint32_t grid[3] = {x, y, z};
  BlockRuns runs(grid);
  uint64_t next = 0;
  unsigned count = 0;
  for (; !runs.done(); ++count) {
    const BlockBox box = runs.next(blocks);
    EXPECT_EQ(box.Lo[LoopDimension], 0u);
    EXPECT_EQ(box.Hi[LoopDimension], 0u);
    uint64_t here = 0;
    for (uint64_t k = box.Lo[2]; k < box.Hi[2]; ++k)
      for (uint64_t j = box.Lo[1]; j < box.Hi[1]; ++j)
        for (uint64_t i = box.Lo[0]; i < box.Hi[0]; ++i, ++here)
          EXPECT_EQ((k * y + j) * x + i, next++);
    EXPECT_GT(here, 0u);
    EXPECT_LE(here, std::max<uint64_t>(blocks, 1));
  }
  EXPECT_EQ(next, uint64_t(x) * y * z);
  return count;
}

TEST(BlockRuns, EachBlockOnceAndInOrder) {
  EXPECT_EQ(runAll({10, 1, 1}, 3), 4u);
  EXPECT_EQ(runAll({10, 1, 1}, 100), 1u);
  EXPECT_EQ(runAll({4, 3, 1}, 8), 2u);
  EXPECT_EQ(runAll({4, 3, 2}, 12), 2u);
  EXPECT_EQ(runAll({4, 3, 2}, UINT64_MAX), 1u);
  EXPECT_EQ(runAll({1, 1, 5}, 2), 3u);
  for (uint64_t blocks = 0; blocks < 40; ++blocks)
    for (Extent extent :
         {Extent(1, 1, 1), Extent(7, 3, 2), Extent(1, 5, 3), Extent(3, 1, 4)})
      runAll(extent, blocks);
}

/// Slices of different sizes follow one another.
TEST(BlockRuns, WhatWasBegunIsEndedFirst) {
  const uint32_t grid[3] = {5, 4, 1};
  BlockRuns runs(grid);
  const BlockBox first = runs.next(3);
  EXPECT_EQ(first.Hi[0], 3u);
  const BlockBox rest = runs.next(100);
  EXPECT_EQ(rest.Lo[0], 3u);
  EXPECT_EQ(rest.Hi[0], 5u);
  EXPECT_EQ(rest.Hi[1], 1u);
  const BlockBox rows = runs.next(100);
  EXPECT_EQ(rows.Lo[1], 1u);
  EXPECT_EQ(rows.Hi[1], 4u);
  EXPECT_TRUE(runs.done());
}

TEST(BlockRuns, ABoxRunsAgainInSmallerOnes) {
  const uint32_t grid[3] = {5, 4, 1};
  BlockRuns runs(grid);
  runs.next(5);
  const BlockBox rows = runs.next(100);
  EXPECT_TRUE(runs.done());
  runs.again(rows);
  EXPECT_FALSE(runs.done());
  const BlockBox part = runs.next(2);
  EXPECT_EQ(part.Lo[0], 0u);
  EXPECT_EQ(part.Lo[1], 1u);
  EXPECT_EQ(part.Hi[0], 2u);
  EXPECT_EQ(part.Hi[1], 2u);
}

TEST(BlocksAtOnce, AsManyAsFindAnEighthOfTheFrames) {
  BlocksAtOnce size(8000, 50, true);
  EXPECT_EQ(size.blocks(), 5u); // four pages a thread
  size.took(10, 5);
  EXPECT_EQ(size.blocks(), 20u); // it grows step by step
  size.took(1000, 20);
  EXPECT_EQ(size.blocks(), 20u);
  size.took(4000, 20);
  EXPECT_EQ(size.blocks(), 5u);
  size.took(100000, 5);
  EXPECT_EQ(size.blocks(), 1u);
  size.took(0, 1);
  EXPECT_EQ(size.blocks(), 4u);
}

/// Who has begun with too many cannot take them back.
TEST(BlocksAtOnce, NoMoreThanAtFirst) {
  BlocksAtOnce size(8000, 50, false);
  EXPECT_EQ(size.blocks(), 5u);
  size.took(10, 5);
  EXPECT_EQ(size.blocks(), 5u);
  size.took(4000, 5);
  EXPECT_EQ(size.blocks(), 1u);
  size.took(1, 1);
  EXPECT_EQ(size.blocks(), 4u);
  size.took(1, 4);
  EXPECT_EQ(size.blocks(), 5u);
}

/// Runs all of a grid whose block b takes pages(b, i) in iteration i. Each
/// iteration of each block has to run once, behind the ones before.
class ModelRun {
public:
  ModelRun(uint32_t x, uint32_t y, StorageParts::Limits limits)
      : Frames(limits.frames), Trips(limits.trips), Width(x),
        NextOf(size_t(x) * y) {
    const uint32_t grid[3] = {x, y, 1};
    Parts.emplace(grid, limits);
    MostBlocks = limits.mostBlocks;
  }
  /// False: the smallest part is too large.
  template <typename Pages> bool run(Pages pages) {
    while (!Parts->done()) {
      const StorageParts::Part part = Parts->next();
      EXPECT_TRUE(part.isOfLoop());
      EXPECT_LE(blocksOf(part.panel), MostBlocks);
      const uint32_t begin = part.box.Lo[LoopDimension];
      uint32_t end = part.box.Hi[LoopDimension];
      EXPECT_NE(end, Trips);
      end = std::min(end, Trips);
      EXPECT_EQ(part.continues(), begin > 0);
      uint64_t taken = 0;
      eachBlock(part, [&](uint32_t block) {
        for (uint32_t i = begin; i < end; ++i)
          taken += pages(block, i);
      });
      if (taken > Frames) {
        ++Again;
        if (!Parts->again(true))
          return false;
        continue;
      }
      eachBlock(part, [&](uint32_t block) {
        EXPECT_EQ(NextOf[block], begin);
        NextOf[block] = end;
      });
      Parts->took(taken);
      ++Slices;
    }
    for (uint32_t next : NextOf)
      EXPECT_EQ(next, Trips);
    EXPECT_EQ(Parts->blocksDone(), NextOf.size());
    return true;
  }

  unsigned Slices = 0, Again = 0;
  std::optional<StorageParts> Parts;
  uint64_t Frames;

private:
  template <typename Do>
  void eachBlock(const StorageParts::Part &part, Do what) {
    for (uint32_t y = part.box.Lo[1]; y < part.box.Hi[1]; ++y)
      for (uint32_t x = part.box.Lo[0]; x < part.box.Hi[0]; ++x) {
        for (unsigned d = 0; d < 2; ++d) {
          EXPECT_GE((d ? y : x), part.panel.Lo[d]);
          EXPECT_LT((d ? y : x), part.panel.Hi[d]);
        }
        what(y * Width + x);
      }
  }

  uint32_t Trips, Width;
  uint64_t MostBlocks;
  std::vector<uint32_t> NextOf;
};

TEST(StorageParts, IterationsOfAPanelFollowOneAnother) {
  // Eight blocks of one page an iteration fit into an eighth of the frames.
  ModelRun run(100, 3, {64, 1, true, 50, 8});
  EXPECT_TRUE(run.run([](uint32_t, uint32_t) { return 1; }));
  EXPECT_EQ(run.Again, 0u);
  EXPECT_LT(run.Slices, 300u * 50 / 8 + 100);
}

TEST(StorageParts, FewPagesGiveLongParts) {
  ModelRun run(16, 1, {1 << 16, 256, true, 1000, 32});
  EXPECT_TRUE(run.run([](uint32_t, uint32_t) { return 1; }));
  EXPECT_LT(run.Slices, 10u);
}

/// What parts took before says nothing of those that need more.
TEST(StorageParts, TooLargePartsComeAgainInSmallerOnes) {
  for (uint32_t seed = 1; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const uint32_t blocks = random() % 12 + 1, rows = random() % 3 + 1;
    const uint64_t frames = 40 + random() % 400;
    std::vector<uint64_t> pages(size_t(blocks) * rows * 30);
    for (uint64_t &count : pages)
      count = random() % 10 ? random() % 3 : random() % (frames + 1);
    SCOPED_TRACE(seed);
    ModelRun run(blocks, rows,
                 {frames, random() % 4 + 1, true, 30, random() % 9 + 1});
    EXPECT_TRUE(run.run([&](uint32_t block, uint32_t iteration) {
      return pages[block * 30 + iteration];
    }));
  }
}

TEST(StorageParts, TheSmallestPartGoesOnWithMoreFrames) {
  ModelRun run(5, 1, {100, 4, true, 10, 6});
  auto pages = [](uint32_t block, uint32_t i) {
    return block == 3 && i == 7 ? 150u : 2u;
  };
  EXPECT_FALSE(run.run(pages));
  EXPECT_EQ(blocksOf(run.Parts->last().box), 1u);
  EXPECT_EQ(run.Parts->last().box.Lo[LoopDimension], 7u);
  run.Frames = 200;
  run.Parts->resize(200);
  EXPECT_TRUE(run.run(pages));
}

/// Who cannot run a part again has one iteration of few blocks at a time.
TEST(StorageParts, WithoutRepeatingPartsStaySmall) {
  ModelRun run(40, 1, {320, 2, false, 6, 20});
  EXPECT_TRUE(run.run([](uint32_t, uint32_t) { return 1; }));
  EXPECT_EQ(run.Slices, 40u / 5 * 6);
}

/// Without a loop: all threads at once have all the frames.
TEST(StorageParts, FramesForWhoeverMayNeedAll) {
  EXPECT_TRUE(StorageParts::mayNeedAll(1000, 256));
  EXPECT_FALSE(StorageParts::mayNeedAll(4000, 256));
}

TEST(StorageParts, BlocksComeAgainWithAllFramesFirst) {
  const uint32_t grid[3] = {4, 1, 1};
  StorageParts parts(grid, {64, 8, true});
  EXPECT_EQ(blocksOf(parts.next().box), 1u);
  EXPECT_FALSE(parts.last().isOfLoop());
  EXPECT_TRUE(parts.again(false));
  EXPECT_EQ(parts.next().box.Lo[0], 0u);
  EXPECT_FALSE(parts.again(true));
  parts.resize(640);
  EXPECT_FALSE(parts.done());
  EXPECT_EQ(parts.next().box.Lo[0], 0u);
  parts.took(1);
  EXPECT_EQ(parts.blocksDone(), 1u);
  while (!parts.done()) {
    parts.next();
    parts.took(1);
  }
  EXPECT_EQ(parts.blocksDone(), 4u);
}

} // namespace
