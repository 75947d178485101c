//===- StorageRunnerTest.cpp - a grid, some blocks at a time --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/StorageRunner.h"

#include <gtest/gtest.h>

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

} // namespace
