//===- LaunchCacheTest.cpp - which launches are the same ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchCache.h"
#include "test/unit/support/launch/TestKernels.h"

#include <gtest/gtest.h>

using namespace dragon;
using namespace dragon::test;

namespace {

class LaunchCacheTest : public testing::Test {
protected:
  /// scale(pointer, n, factor): the factor has nothing to do with addresses.
  std::shared_ptr<PlannedLaunch> launch(uintptr_t pointer, int n, int factor,
                                        uint32_t blocks = 1) {
    void *args[] = {&pointer, &n, &factor};
    LaunchCall call{};
    call.kernel = kernels.find("scale");
    call.grid[0] = blocks;
    call.grid[1] = call.grid[2] = 1;
    call.block[0] = call.block[1] = call.block[2] = 1;
    call.args = args;
    call.numArgs = 3;
    return cache.entry(call, allocations, isNew);
  }

  TestKernels kernels;
  AddressIndex allocations;
  LaunchCache cache;
  bool isNew = false;
};

TEST_F(LaunchCacheTest, OnlyWhatFootprintsDependOnCounts) {
  const auto first = launch(4096, 10, 1);
  EXPECT_TRUE(isNew);
  EXPECT_EQ(launch(4096, 10, 2), first);
  EXPECT_FALSE(isNew);
  EXPECT_NE(launch(8192, 10, 1), first);
  EXPECT_TRUE(isNew);
  EXPECT_NE(launch(4096, 11, 1), first);
  EXPECT_TRUE(isNew);
  EXPECT_NE(launch(4096, 10, 1, 2), first);
  EXPECT_TRUE(isNew);
  EXPECT_EQ(launch(4096, 10, 3), first);
  EXPECT_FALSE(isNew);
}

TEST_F(LaunchCacheTest, AStepOfManyLaunchesFits) {
  for (int round = 0; round < 2; ++round)
    for (int n = 1; n <= 4000; ++n) {
      launch(4096, n, round);
      ASSERT_EQ(isNew, round == 0) << n;
    }
}

TEST_F(LaunchCacheTest, WhatHoldsMuchGoes) {
  Buffer buffer;
  Chunk chunk;
  chunk.buffer = &buffer;
  ChunkUse use{};
  use.chunk = &chunk;
  launch(4096, 1, 1)->isFor({std::vector<ChunkUse>(10, use), false});
  const LaunchFootprint many{
      std::vector<ChunkUse>(LaunchCache::MaxHeld / 2, use), false};
  Slicing slicing{};
  slicing.plan.kind = LaunchPlan::Sliced;
  slicing.parts = {many, many};
  const auto large = launch(4096, 2, 1);
  large->keep(slicing);
  launch(4096, 3, 1);
  EXPECT_TRUE(isNew);
  launch(4096, 2, 1); // just at the limit with the one above
  EXPECT_FALSE(isNew);
  large->keep(slicing);
  launch(4096, 4, 1); // too much: all but this one go
  launch(4096, 2, 1);
  EXPECT_TRUE(isNew);
}

/// What it holds is what adding it up gives; the last plans are kept.
TEST_F(LaunchCacheTest, ALaunchKeepsItsLatestPlans) {
  Buffer buffers[2];
  Chunk chunks[2];
  std::vector<ChunkUse> uses(3);
  for (size_t i = 0; i < 3; ++i) {
    chunks[i / 2].buffer = &buffers[i / 2];
    uses[i].chunk = &chunks[i / 2];
  }
  PlannedLaunch planned;
  planned.isFor({uses, false});
  EXPECT_EQ(planned.buffers,
            (std::vector<const Buffer *>{&buffers[0], &buffers[1]}));
  auto conditions = [](uint64_t budget) {
    return Slicing::Conditions{budget, {}, false, false};
  };
  constexpr size_t Most = PlannedLaunch::MaxSlicings;
  for (uint64_t budget = 1; budget <= Most; ++budget) {
    Slicing slicing{};
    slicing.conditions = conditions(budget);
    slicing.parts.assign(budget, {std::vector<ChunkUse>(2), false});
    slicing.mappedParts.assign(1, {std::vector<ChunkUse>(5), false});
    slicing.mapped.uses.resize(7);
    EXPECT_EQ(&planned.keep(std::move(slicing)), &planned.slicings.front());
  }
  size_t held = 3;
  for (uint64_t budget = 1; budget <= Most; ++budget)
    held += 2 * budget + 12;
  EXPECT_EQ(planned.held(), held);
  // The first is asked for again, so the second goes.
  ASSERT_TRUE(planned.find(conditions(1)));
  Slicing last{};
  last.conditions = conditions(100);
  planned.keep(std::move(last));
  EXPECT_EQ(planned.held(), held - (2 * 2 + 12));
  EXPECT_FALSE(planned.find(conditions(2)));
  for (uint64_t budget : {1, 3, 4, 8, 100}) {
    const Slicing *found = planned.find(conditions(budget));
    ASSERT_TRUE(found) << budget;
    EXPECT_EQ(found->conditions.deviceBudget, budget);
  }
  auto other = conditions(3);
  other.pieces = 2;
  EXPECT_FALSE(planned.find(other));
}

TEST_F(LaunchCacheTest, AnotherAllocationMakesAllOfItVoid) {
  const auto first = launch(4096, 10, 1);
  EXPECT_EQ(cache.generation(), allocations.generation());
  allocations.insert({1 << 20, 4096, 0, false, "", nullptr});
  EXPECT_NE(launch(4096, 10, 1), first);
  EXPECT_TRUE(isNew);
  EXPECT_EQ(cache.generation(), allocations.generation());
  launch(4096, 10, 1);
  EXPECT_FALSE(isNew);
}

} // namespace
