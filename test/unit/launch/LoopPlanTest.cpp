//===- LoopPlanTest.cpp - launches in slices along a loop -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchPlanner.h"
#include "test/unit/support/base/Expect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace dragon;

namespace {

using test::MiB;
constexpr uint64_t LoopChunk = 2 * MiB;

/// Bytes from lo * step on, in x, y, z and iterations, up to the last one's
/// width.
struct LoopAccess {
  uint32_t buffer;
  uint64_t step[4];
  uint64_t width;
  bool behind = false; ///< the loop
};

bool overlap(const BlockBox &a, const BlockBox &b) {
  for (unsigned d = 0; d < 3; ++d)
    if (a.Hi[d] <= b.Lo[d] || b.Hi[d] <= a.Lo[d])
      return false;
  return true;
}

uint64_t numBlocks(const BlockBox &box) {
  return uint64_t(box.Hi[0] - box.Lo[0]) * (box.Hi[1] - box.Lo[1]) *
         (box.Hi[2] - box.Lo[2]);
}

class LoopPlanTest : public testing::Test {
protected:
  LoopPlanTest() {
    Input.sliceable = true;
    Input.footprint = [this](const BlockBox &box) { return chunksOf(box); };
    Input.stateBytes = [this](uint64_t blocks) {
      return blocks * StatePerBlock;
    };
  }
  void begin(uint32_t x, uint32_t y, uint32_t z, uint32_t trips,
             uint64_t budget) {
    const uint32_t grid[3] = {x, y, z};
    std::copy(grid, grid + 3, Input.grid);
    Input.trips = trips;
    Input.deviceBudget = budget;
  }
  void touch(uint64_t bytes, LoopAccess access) {
    access.buffer = uint32_t(Input.buffers.size());
    Input.buffers.push_back({bytes, LoopChunk});
    Accesses.push_back(access);
  }
  /// Without a range of iterations, those of all.
  ChunkSet chunksOf(BlockBox box) const {
    uint32_t &end = box.Hi[LoopDimension];
    const bool toTheEnd = !end || end == ToTheEnd;
    if (toTheEnd)
      end = std::max(Input.trips, 1u);
    ChunkSet set;
    for (const LoopAccess &access : Accesses) {
      if (access.behind && !toTheEnd)
        continue;
      uint64_t begin = 0, last = 0;
      for (unsigned d = 0; d < 4; ++d) {
        begin += box.Lo[d] * access.step[d];
        last += (box.Hi[d] - 1) * access.step[d];
      }
      const uint64_t after =
          std::min(last + access.width, Input.buffers[access.buffer].bytes);
      if (begin < after)
        set.push_back({access.buffer, uint32_t(begin / LoopChunk),
                       uint32_t((after + LoopChunk - 1) / LoopChunk)});
    }
    normalize(set);
    return set;
  }
  uint64_t bytes(const BlockBox &box) const {
    return bytesOf(chunksOf(box), Input.buffers);
  }

  /// All blocks of a panel go through all iterations, once and in order, the
  /// last of them perhaps some blocks at a time; one panel of consecutive blocks
  /// behind the other; and each part fits beside the state.
  void check(const LaunchPlan &plan) {
    ASSERT_EQ(plan.kind, LaunchPlan::LoopSliced);
    ASSERT_GT(plan.boxes.size(), 1u);
    unsigned slowest = 2;
    while (slowest && Input.grid[slowest] == 1)
      --slowest;
    Panels = LastParts = 0;
    BlockBox panel{};
    std::vector<BlockBox> last;
    uint32_t iterations = ToTheEnd;
    auto isDone = [&] {
      uint64_t blocks = 0;
      for (const BlockBox &box : last)
        blocks += numBlocks(box);
      return iterations == ToTheEnd && blocks == numBlocks(panel);
    };
    for (const BlockBox &box : plan.boxes) {
      if (box.Lo[LoopDimension] == 0) {
        ASSERT_TRUE(isDone());
        ASSERT_EQ(box.Lo[slowest], panel.Hi[slowest]);
        for (unsigned d = 0; d < 3; ++d) {
          if (d != slowest) {
            EXPECT_EQ(box.Lo[d], 0u);
            EXPECT_EQ(box.Hi[d], Input.grid[d]);
          }
        }
        panel = box;
        last.clear();
        ++Panels;
      } else if (iterations == ToTheEnd) {
        ASSERT_EQ(box.Lo[LoopDimension], last.back().Lo[LoopDimension]);
        ASSERT_EQ(box.Hi[LoopDimension], ToTheEnd);
      } else {
        ASSERT_EQ(box.Lo[LoopDimension], iterations);
      }
      for (unsigned d = 0; d < 3; ++d) {
        ASSERT_GE(box.Lo[d], panel.Lo[d]);
        ASSERT_GT(box.Hi[d], box.Lo[d]);
        ASSERT_LE(box.Hi[d], panel.Hi[d]);
      }
      iterations = box.Hi[LoopDimension];
      if (iterations == ToTheEnd) {
        for (const BlockBox &other : last)
          ASSERT_FALSE(overlap(box, other));
        last.push_back(box);
        ++LastParts;
      } else {
        ASSERT_GT(iterations, box.Lo[LoopDimension]);
        ASSERT_LT(iterations, Input.trips);
        ASSERT_EQ(numBlocks(box), numBlocks(panel));
      }
      EXPECT_LE(bytes(box) + numBlocks(panel) * StatePerBlock,
                Input.deviceBudget);
    }
    EXPECT_TRUE(isDone());
    EXPECT_EQ(panel.Hi[slowest], Input.grid[slowest]);
  }

  PlanInput Input{};
  std::vector<LoopAccess> Accesses;
  uint64_t StatePerBlock = 1024;
  // Of the plan that was checked:
  unsigned Panels = 0;
  unsigned LastParts = 0; ///< of all panels
};

/// x[i] for i = block; i < n; i += grid: an iteration is a megabyte.
TEST_F(LoopPlanTest, AllBlocksRunSomeIterationsAtATime) {
  begin(256, 1, 1, 256, 16 * MiB);
  touch(256 * MiB, {0, {4096, 0, 0, MiB}, 4096});
  const LaunchPlan plan = planLaunch(Input);
  check(plan);
  EXPECT_EQ(Panels, 1u);
  EXPECT_STREQ(plan.costs.front().name, "by loop");
  EXPECT_EQ(plan.costs.front().copied, 256 * MiB); // each byte once
  EXPECT_EQ(plan.costs.front().parts, plan.boxes.size());
  EXPECT_TRUE(plan.onHost.empty());
}

TEST_F(LoopPlanTest, WithoutItSuchALaunchIsNotPossible) {
  begin(256, 1, 1, 256, 16 * MiB);
  touch(256 * MiB, {0, {4096, 0, 0, MiB}, 4096});
  Accesses[0].width += 255 * MiB;
  Accesses[0].step[LoopDimension] = 0;
  // Nothing but the loop's steps was a way to cut it.
  EXPECT_EQ(planLaunch(Input).kind, LaunchPlan::Impossible);
  Accesses[0] = {0, {4096, 0, 0, MiB}, 4096};
  Input.trips = 0;
  Input.footprint = [this](const BlockBox &box) {
    BlockBox whole = box;
    whole.Hi[LoopDimension] = 256;
    return chunksOf(whole);
  };
  EXPECT_EQ(planLaunch(Input).kind, LaunchPlan::Impossible);
  Input.trips = 1; // no way to cut it either
  EXPECT_EQ(planLaunch(Input).kind, LaunchPlan::Impossible);
}

TEST_F(LoopPlanTest, ThreeDimensionsOfBlocks) {
  begin(4, 3, 5, 64, 16 * MiB);
  touch(256 * MiB, {0, {4096, 16384, 65536, 4 * MiB}, 4096});
  check(planLaunch(Input));
  EXPECT_EQ(Panels, 1u);
}

TEST_F(LoopPlanTest, ThePartsWithoutAGapEndWithTheLoop) {
  for (uint32_t trips : {2u, 3u, 127u, 129u, 1000u}) {
    begin(16, 1, 1, trips, 12 * MiB);
    Input.buffers.clear();
    Accesses.clear();
    touch(trips * 8 * MiB, {0, {0, 0, 0, 8 * MiB}, 8 * MiB});
    SCOPED_TRACE(trips);
    check(planLaunch(Input));
    EXPECT_EQ(Panels, 1u);
  }
}

TEST_F(LoopPlanTest, PanelsWhereTheStateOfAllBlocksIsLarge) {
  begin(64, 1, 1, 256, 16 * MiB);
  touch(256 * MiB, {0, {4096, 0, 0, MiB}, 4096});
  StatePerBlock = MiB;
  check(planLaunch(Input));
  EXPECT_GE(Panels, 5u); // of 16 blocks the state alone is too large
  // What panels of a grid of two dimensions have is rows.
  begin(8, 8, 1, 256, 16 * MiB);
  Accesses[0] = {0, {4096, 32768, 0, MiB}, 4096};
  check(planLaunch(Input));
  EXPECT_GE(Panels, 5u);
}

/// Each row of blocks updates what is its own, with what all of them read.
TEST_F(LoopPlanTest, PanelsWhereBlocksShareAPart) {
  begin(4, 16, 1, 256, 96 * MiB);
  touch(256 * MiB, {0, {4 * MiB, 16 * MiB, 0, 0}, 4 * MiB});
  touch(256 * MiB, {0, {0, 0, 0, MiB}, MiB});
  const LaunchPlan plan = planLaunch(Input);
  check(plan);
  // Four rows at a time: of eight, what is their own does not fit; of two, what
  // all read comes by twice as often.
  EXPECT_EQ(Panels, 4u);
  EXPECT_STREQ(plan.costs.front().name, "by loop");
  EXPECT_EQ(plan.costs.front().copied, (256 + 4 * 256) * MiB);
}

/// What is written behind the loop does not take room while it runs: rows of
/// blocks of a product of matrices.
TEST_F(LoopPlanTest, ResultsBehindTheLoopAreWrittenPieceByPiece) {
  begin(4, 64, 1, 256, 64 * MiB);
  touch(256 * MiB, {0, {0, 0, 0, MiB}, MiB});             // all read
  touch(256 * MiB, {0, {MiB, 4 * MiB, 0, 0}, MiB, true}); // C
  StatePerBlock = 128 << 10;
  const LaunchPlan plan = planLaunch(Input);
  check(plan);
  EXPECT_EQ(Panels, 1u); // the state of all blocks is 32 MiB, C 256 MiB
  EXPECT_GT(LastParts, 16u);
  EXPECT_EQ(plan.costs.front().copied, 512 * MiB); // each byte once
  // Where it fits, the last iterations are one part as the others.
  Input.buffers.back().bytes = LoopChunk;
  check(planLaunch(Input));
  EXPECT_EQ(LastParts, 1u);
}

TEST_F(LoopPlanTest, ABlocksResultsThatAreTooLargeAreTold) {
  begin(16, 1, 1, 256, 16 * MiB);
  touch(256 * MiB, {0, {0, 0, 0, MiB}, MiB});
  touch(512 * MiB, {0, {32 * MiB, 0, 0, 0}, 32 * MiB, true});
  EXPECT_EQ(planLaunch(Input).kind, LaunchPlan::Impossible);
}

TEST_F(LoopPlanTest, AnIterationThatIsTooLargeIsTold) {
  begin(256, 1, 1, 8, 16 * MiB);
  // Each iteration of each block has 32 MiB.
  touch(256 * MiB, {0, {0, 0, 0, 32 * MiB}, 32 * MiB});
  const LaunchPlan plan = planLaunch(Input);
  EXPECT_EQ(plan.kind, LaunchPlan::Impossible);
  EXPECT_GE(plan.smallestBytes, 32 * MiB);
  EXPECT_LE(plan.smallestBytes, 32 * MiB + StatePerBlock);
  EXPECT_EQ(plan.boxes.size(), 1u);
  EXPECT_EQ(plan.boxes[0].Hi[LoopDimension], 0u);
}

TEST_F(LoopPlanTest, StateThatIsTooLargeForOneLayerIsRefused) {
  begin(4, 1, 1, 256, 16 * MiB);
  touch(256 * MiB, {0, {4096, 0, 0, MiB}, 4096});
  StatePerBlock = 16 * MiB;
  EXPECT_EQ(planLaunch(Input).kind, LaunchPlan::Impossible);
  StatePerBlock = 15 * MiB; // leaves less than a chunk
  EXPECT_EQ(planLaunch(Input).kind, LaunchPlan::Impossible);
  StatePerBlock = 12 * MiB;
  check(planLaunch(Input));
  EXPECT_EQ(Panels, 4u);
}

TEST_F(LoopPlanTest, PartsAreAsSmallAsTheStateMakesThem) {
  begin(1, 1, 1, 256, 64 * MiB);
  touch(256 * MiB, {0, {0, 0, 0, MiB}, MiB});
  StatePerBlock = 60 * MiB;
  check(planLaunch(Input));
}

TEST_F(LoopPlanTest, SlicesByBlocksThatAreCheapAreTaken) {
  begin(256, 1, 1, 64, 16 * MiB);
  unsigned asked = 0;
  Input.footprint = [&](const BlockBox &box) {
    asked += box.Hi[LoopDimension] != 0;
    return chunksOf(box);
  };
  touch(256 * MiB, {0, {MiB, 0, 0, 16384}, 16384});
  const LaunchPlan plan = planLaunch(Input);
  EXPECT_EQ(plan.kind, LaunchPlan::Sliced);
  for (const BlockBox &box : plan.boxes)
    EXPECT_EQ(box.Hi[LoopDimension], 0u);
  EXPECT_EQ(asked, 0u); // not even looked at
}

TEST_F(LoopPlanTest, SlicesThatFetchTheSameAgainAndAgainAreNot) {
  // Every second block uses the even chunks, the others the odd ones; each in
  // an iteration of its own.
  begin(64, 1, 1, 30, 16 * LoopChunk);
  Input.buffers = {{30 * LoopChunk, LoopChunk}};
  Input.footprint = [](const BlockBox &box) {
    const uint32_t end =
        box.Hi[LoopDimension] ? std::min(box.Hi[LoopDimension], 30u) : 30;
    ChunkSet set;
    for (uint32_t chunk = box.Lo[LoopDimension]; chunk < end; ++chunk)
      if (box.Hi[0] - box.Lo[0] > 1 || chunk % 2 == box.Lo[0] % 2)
        set.push_back({0, chunk, chunk + 1});
    normalize(set);
    return set;
  };
  const LaunchPlan plan = planLaunch(Input);
  ASSERT_EQ(plan.kind, LaunchPlan::LoopSliced);
  EXPECT_EQ(plan.costs.front().copied, 30 * LoopChunk);
  ASSERT_GE(plan.costs.size(), 2u);
  EXPECT_STREQ(plan.costs[1].name, "sliced");
  EXPECT_EQ(plan.costs[1].copied, 64 * 15 * LoopChunk);
  Input.trips = 0;
  EXPECT_EQ(planLaunch(Input).kind, LaunchPlan::Sliced);
}

TEST_F(LoopPlanTest, WhatFitsIsNotCut) {
  begin(256, 1, 1, 256, 512 * MiB);
  touch(256 * MiB, {0, {4096, 0, 0, MiB}, 4096});
  const LaunchPlan plan = planLaunch(Input);
  EXPECT_EQ(plan.kind, LaunchPlan::Resident);
  ASSERT_EQ(plan.boxes.size(), 1u);
  EXPECT_EQ(plan.boxes[0].Hi[LoopDimension], 0u);
}

TEST_F(LoopPlanTest, KernelsThatAreNotSliceableByBlocksMayBeByLoop) {
  begin(256, 1, 1, 256, 16 * MiB);
  touch(256 * MiB, {0, {4096, 0, 0, MiB}, 4096});
  Input.sliceable = false;
  check(planLaunch(Input));
}

TEST_F(LoopPlanTest, RandomLaunchesAreCoveredOnceInOrderAndFit) {
  std::mt19937_64 random(26);
  auto upTo = [&](uint64_t n) { return random() % n; };
  unsigned byLoop = 0, withPanels = 0;
  for (unsigned round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Input.buffers.clear();
    Accesses.clear();
    begin(uint32_t(1 + upTo(40)), uint32_t(upTo(2) ? 1 : 1 + upTo(20)),
          uint32_t(upTo(3) ? 1 : 1 + upTo(6)), uint32_t(upTo(300)),
          (2 + upTo(30)) * LoopChunk);
    Input.sliceable = upTo(2);
    StatePerBlock = upTo(3) ? upTo(4096) : upTo(4 * MiB);
    const uint64_t count = 1 + upTo(3);
    for (uint64_t i = 0; i < count; ++i) {
      LoopAccess access{0, {}, 1 + upTo(2 * LoopChunk), upTo(4) == 0};
      for (uint64_t &step : access.step)
        step = upTo(2) ? upTo(LoopChunk) : 0;
      touch((1 + upTo(128)) * LoopChunk, access);
    }
    const LaunchPlan plan = planLaunch(Input);
    if (plan.kind != LaunchPlan::LoopSliced) {
      for (const BlockBox &box : plan.boxes)
        EXPECT_EQ(box.Hi[LoopDimension], 0u);
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(check(plan));
    ++byLoop;
    withPanels += Panels > 1;
  }
  EXPECT_GT(byLoop, 30u);
  EXPECT_GT(withPanels, 5u);
}

} // namespace
