//===- LaunchPlannerTest.cpp - slices of many footprints ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchPlanner.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/launch/LinearFootprints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr uint64_t PlanChunk = 2 * MiB;

struct Problem {
  PlanInput input{};
  std::vector<Access> accesses;
  /// How often blocks read a chunk from host memory; by buffer, once unless it
  /// is said.
  std::vector<double> reads;
  void finish() {
    input.footprint = [this](const BlockBox &box) {
      return footprintOf(accesses, input.buffers, box);
    };
    input.placed = [this] {
      const BlockBox grid{{0, 0, 0},
                          {input.grid[0], input.grid[1], input.grid[2]}};
      std::vector<PlanInput::Placed> placed;
      for (const ChunkInterval &interval : input.footprint(grid))
        for (uint32_t i = interval.begin; i < interval.end; ++i) {
          PlacedChunk chunk;
          chunk.bytes = bytesOf({{interval.buffer, i, i + 1}}, input.buffers);
          chunk.accessBytes =
              double(chunk.bytes) *
              (interval.buffer < reads.size() ? reads[interval.buffer] : 1.0);
          chunk.mappable = true;
          placed.push_back({interval.buffer, i, chunk});
        }
      return placed;
    };
  }
};

void check(const Problem &problem, const LaunchPlan &plan) {
  const PlanInput &in = problem.input;
  uint64_t total = 0;
  for (const BlockBox &box : plan.boxes) {
    for (unsigned d = 0; d < 3; ++d) {
      ASSERT_LT(box.Lo[d], box.Hi[d]);
      ASSERT_LE(box.Hi[d], in.grid[d]);
    }
    total += volume(box);
    if (plan.kind != LaunchPlan::HostMapped &&
        plan.kind != LaunchPlan::Impossible)
      EXPECT_LE(bytesOf(difference(in.footprint(box), plan.onHost), in.buffers),
                in.deviceBudget);
  }
  if (plan.kind == LaunchPlan::Mixed) {
    EXPECT_GT(plan.boxes.size(), 1u);
    EXPECT_FALSE(plan.onHost.empty());
    EXPECT_LE(bytesOf(plan.onHost, in.buffers), in.hostRoom.bytes());
  } else {
    EXPECT_TRUE(plan.onHost.empty());
  }
  EXPECT_EQ(total, uint64_t(in.grid[0]) * in.grid[1] * in.grid[2]);
  if (plan.boxes.size() < 500)
    for (size_t i = 0; i < plan.boxes.size(); ++i)
      for (size_t j = i + 1; j < plan.boxes.size(); ++j)
        ASSERT_FALSE(overlap(plan.boxes[i], plan.boxes[j]));
}

TEST(LaunchPlannerTest, WhatFitsRunsAtOnce) {
  Problem p;
  p.input.grid[0] = 100;
  p.input.grid[1] = p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 64 * MiB;
  p.input.buffers = {{64 * MiB, PlanChunk}};
  p.accesses = {{0, {MiB, 0, 0}, MiB}};
  p.finish();
  LaunchPlan plan = planLaunch(p.input);
  EXPECT_EQ(plan.kind, LaunchPlan::Resident);
  EXPECT_EQ(plan.wholeBytes, 64 * MiB);
  ASSERT_EQ(plan.boxes.size(), 1u);
}

TEST(LaunchPlannerTest, VectorAddIsCutIntoEighthsOfTheBudget) {
  Problem p;
  p.input.grid[0] = 262144;
  p.input.grid[1] = p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 64 * MiB;
  p.input.buffers = {
      {256 * MiB, PlanChunk}, {256 * MiB, PlanChunk}, {256 * MiB, PlanChunk}};
  for (uint32_t b = 0; b < 3; ++b)
    p.accesses.push_back({b, {1024, 0, 0}, 1024});
  p.finish();
  LaunchPlan plan = planLaunch(p.input);
  ASSERT_EQ(plan.kind, LaunchPlan::Sliced);
  check(p, plan);
  for (size_t i = 0; i < plan.boxes.size(); ++i) {
    EXPECT_LE(bytesOf(p.input.footprint(plan.boxes[i]), p.input.buffers),
              p.input.deviceBudget / 8);
    if (i) {
      EXPECT_EQ(plan.boxes[i].Lo[0], plan.boxes[i - 1].Hi[0]);
    }
    // Whole chunks: no chunk is in two slices.
    EXPECT_EQ(plan.boxes[i].Lo[0] % 2048, 0u);
  }
  EXPECT_EQ(plan.boxes.size(), 128u); // 128 chunks of each, one a slice
}

TEST(LaunchPlannerTest, FewFootprintsAreEvaluated) {
  // Chunks of all kinds of sizes beside the slices; many layers in a chunk.
  for (uint64_t budget : {16, 64, 512}) {
    Problem p;
    p.input.grid[0] = 1 << 20;
    p.input.grid[1] = p.input.grid[2] = 1;
    p.input.sliceable = true;
    p.input.deviceBudget = budget * MiB;
    p.input.buffers = {{2048 * MiB, PlanChunk}, {2048 * MiB, PlanChunk}};
    p.accesses = {{0, {2048, 0, 0}, 2048}, {1, {2048, 0, 0}, 2048}};
    p.finish();
    size_t evaluated = 0;
    p.input.footprint = [&, footprint = p.input.footprint](const BlockBox &b) {
      ++evaluated;
      return footprint(b);
    };
    LaunchPlan plan = planLaunch(p.input);
    ASSERT_EQ(plan.kind, LaunchPlan::Sliced);
    const size_t slices = plan.boxes.size();
    EXPECT_LE(slices, std::max<size_t>(1024, 2048 / (budget / 8) * 3));
    EXPECT_LE(evaluated, 4 * slices + 60);
    check(p, plan);
  }
}

TEST(LaunchPlannerTest, FewAreEvaluatedWhereLengthsAlternate) {
  // Layers end anywhere in a chunk, which is large beside a slice.
  Problem p;
  p.input.grid[0] = 256;
  p.input.grid[1] = 1364;
  p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 256 * MiB;
  for (uint32_t b = 0; b < 3; ++b) {
    p.input.buffers.push_back({342 * MiB, PlanChunk});
    p.accesses.push_back({b, {128, 262240, 0}, 262240});
  }
  p.finish();
  size_t evaluated = 0;
  p.input.footprint = [&, footprint = p.input.footprint](const BlockBox &b) {
    ++evaluated;
    return footprint(b);
  };
  LaunchPlan plan = planLaunch(p.input);
  ASSERT_EQ(plan.kind, LaunchPlan::Sliced);
  EXPECT_LE(evaluated, 6 * plan.boxes.size());
  check(p, plan);
  // No slice could take another layer.
  for (BlockBox box : plan.boxes)
    if (box.Hi[1]++ < p.input.grid[1])
      EXPECT_GT(bytesOf(footprintOf(p.accesses, p.input.buffers, box),
                        p.input.buffers),
                p.input.deviceBudget / 8);
}

TEST(LaunchPlannerTest, DimensionsThatTouchAllInEachLayerAreNotTried) {
  Problem p;
  p.input.grid[0] = 64;
  p.input.grid[1] = 64;
  p.input.grid[2] = 256;
  p.input.sliceable = true;
  p.input.deviceBudget = 64 * MiB;
  p.input.buffers = {{1024 * MiB, PlanChunk}};
  p.accesses = {{0, {65536 / 64, 65536, 4 * MiB}, 1024}};
  p.finish();
  size_t others = 0;
  p.input.footprint = [&, footprint = p.input.footprint](const BlockBox &b) {
    others += b.Hi[1] - b.Lo[1] < 64 || b.Hi[0] - b.Lo[0] < 64;
    return footprint(b);
  };
  LaunchPlan plan = planLaunch(p.input);
  ASSERT_EQ(plan.kind, LaunchPlan::Sliced);
  check(p, plan);
  for (const BlockBox &box : plan.boxes)
    EXPECT_EQ(box.Hi[1] - box.Lo[1], 64u);
  EXPECT_EQ(others, 4u); // the first and the last layer of each
}

TEST(LaunchPlannerTest, BoxesAreForeseen) {
  Problem p;
  p.input.grid[0] = 1 << 20;
  p.input.grid[1] = p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 64 * MiB;
  p.input.buffers = {{2048 * MiB, PlanChunk}};
  p.accesses = {{0, {2048, 0, 0}, 2048}};
  p.finish();
  const LaunchPlan alone = planLaunch(p.input);
  std::vector<BlockBox> told;
  size_t calls = 0;
  p.input.foresee = [&](std::span<const BlockBox> boxes) {
    told.insert(told.end(), boxes.begin(), boxes.end());
    ++calls;
  };
  const LaunchPlan plan = planLaunch(p.input);
  auto same = [](const BlockBox &a, const BlockBox &b) {
    return std::equal(a.Lo, a.Lo + 3, b.Lo) && std::equal(a.Hi, a.Hi + 3, b.Hi);
  };
  ASSERT_EQ(plan.boxes.size(), alone.boxes.size());
  for (size_t i = 0; i < plan.boxes.size(); ++i)
    EXPECT_TRUE(same(plan.boxes[i], alone.boxes[i]));
  // All but the first few, and that none could be longer.
  const auto foreseen =
      std::count_if(plan.boxes.begin(), plan.boxes.end(), [&](BlockBox box) {
        auto isTold = [&] {
          return std::any_of(
              told.begin(), told.end(),
              [&](const BlockBox &other) { return same(box, other); });
        };
        if (!isTold())
          return false;
        ++box.Hi[0];
        return box.Hi[0] > p.input.grid[0] || isTold();
      });
  EXPECT_GE(size_t(foreseen) + 4, plan.boxes.size());
  EXPECT_LE(told.size(), 2 * plan.boxes.size());
  EXPECT_LE(calls, plan.boxes.size() / 64 + 4);
}

/// Layers of about a chunk, which begin anywhere in one: no box is as long as
/// the one before.
Problem layersAnywhereInChunks() {
  Problem p;
  p.input.grid[0] = 1;
  p.input.grid[1] = 2000;
  p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 128 * MiB;
  constexpr uint64_t Layer = PlanChunk / 3 + 12344;
  p.input.buffers = {{2000 * Layer, PlanChunk}, {2002 * Layer, PlanChunk}};
  p.accesses = {{0, {0, Layer, 0}, Layer}, {1, {0, Layer, 0}, 3 * Layer}};
  return p;
}

TEST(LaunchPlannerTest, BoxesThatDriftAreExpected) {
  using Ends = std::set<std::pair<uint32_t, uint32_t>>;
  auto plan = [](Problem p, bool withExtents, Ends &evaluated) {
    p.finish();
    p.input.footprint = [&, footprint = p.input.footprint](const BlockBox &b) {
      evaluated.emplace(b.Lo[1], b.Hi[1]);
      return footprint(b);
    };
    std::vector<ByteInterval> extents;
    if (withExtents)
      p.input.extents =
          [&](const BlockBox &box) -> std::span<const ByteInterval> {
        extents.clear();
        for (const Access &access : p.accesses)
          extents.push_back(
              {access.buffer, int64_t(box.Lo[1] * access.step[1]),
               int64_t((box.Hi[1] - 1) * access.step[1] + access.width)});
        return extents;
      };
    LaunchPlan result = planLaunch(p.input);
    check(p, result);
    return result;
  };
  Ends sought, expected;
  const LaunchPlan one = plan(layersAnywhereInChunks(), false, sought);
  const LaunchPlan other = plan(layersAnywhereInChunks(), true, expected);
  ASSERT_EQ(one.kind, LaunchPlan::Sliced);
  ASSERT_EQ(other.boxes.size(), one.boxes.size());
  for (size_t i = 0; i < one.boxes.size(); ++i)
    EXPECT_EQ(other.boxes[i].Hi[1], one.boxes[i].Hi[1]);
  EXPECT_LE(expected.size(), one.boxes.size() + 20);
  EXPECT_GE(sought.size(), 2 * one.boxes.size());
}

TEST(LaunchPlannerTest, WhatIsExpectedWronglyIsFoundAnyway) {
  Problem p = layersAnywhereInChunks();
  p.finish();
  const LaunchPlan right = planLaunch(p.input);
  std::mt19937_64 random(1);
  std::vector<ByteInterval> extents;
  p.input.extents = [&](const BlockBox &box) -> std::span<const ByteInterval> {
    extents.clear();
    for (uint32_t i = 0; i < 1 + random() % 3; ++i)
      extents.push_back({i % 2, int64_t(random() % (box.Lo[1] * PlanChunk + 1)),
                         int64_t(random() % (box.Hi[1] * PlanChunk))});
    return extents;
  };
  const LaunchPlan plan = planLaunch(p.input);
  check(p, plan);
  ASSERT_EQ(plan.boxes.size(), right.boxes.size());
  for (size_t i = 0; i < plan.boxes.size(); ++i)
    EXPECT_EQ(plan.boxes[i].Hi[1], right.boxes[i].Hi[1]);
}

TEST(LaunchPlannerTest, LayersMayTakeMoreThanTheFirst) {
  // Blocks go through a buffer, and each needs all of its image of another one.
  // The first image is within a chunk, where others begin in one and end in the
  // next: no box of theirs fits into what the first layer takes.
  constexpr uint64_t BlocksOfImage = 9408, Image = 559872;
  for (bool withExtents : {false, true}) {
    Problem p;
    p.input.grid[0] = 16 * BlocksOfImage;
    p.input.grid[1] = p.input.grid[2] = 1;
    p.input.sliceable = true;
    p.input.deviceBudget = 20 * MiB;
    p.input.buffers = {
        {148 * MiB, PlanChunk}, {148 * MiB, PlanChunk}, {10 * MiB, PlanChunk}};
    p.accesses = {{0, {1024, 0, 0}, 1024}, {1, {1024, 0, 0}, 1024}};
    p.finish();
    std::set<std::pair<uint32_t, uint32_t>> evaluated;
    auto imagesOf = [](const BlockBox &box) {
      return ByteInterval{
          2, int64_t(box.Lo[0] / BlocksOfImage * Image),
          int64_t(((box.Hi[0] - 1) / BlocksOfImage + 1) * Image)};
    };
    p.input.footprint = [&, footprint = p.input.footprint](const BlockBox &b) {
      evaluated.emplace(b.Lo[0], b.Hi[0]);
      const ByteInterval images = imagesOf(b);
      ChunkSet set = footprint(b);
      set.push_back({2, uint32_t(images.begin / PlanChunk),
                     uint32_t((images.end + PlanChunk - 1) / PlanChunk)});
      return set;
    };
    size_t foreseen = 0;
    std::vector<ByteInterval> extents;
    if (withExtents) {
      p.input.extents =
          [&](const BlockBox &box) -> std::span<const ByteInterval> {
        const int64_t begin = box.Lo[0] * 1024, end = box.Hi[0] * 1024;
        extents = {{0, begin, end}, {1, begin, end}, imagesOf(box)};
        return extents;
      };
      p.input.foresee = [&](std::span<const BlockBox> boxes) {
        foreseen += boxes.size();
      };
    }
    const LaunchPlan plan = planLaunch(p.input);
    ASSERT_EQ(plan.kind, LaunchPlan::Sliced);
    check(p, plan);
    EXPECT_LE(plan.boxes.size(), 200u);
    EXPECT_LE(evaluated.size(), 12 * plan.boxes.size());
    EXPECT_LE(foreseen, 8 * plan.boxes.size());
  }
}

TEST(LaunchPlannerTest, WhatFitsIsSlicedToSpareOthers) {
  Problem p;
  p.input.grid[0] = 16384;
  p.input.grid[1] = p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 64 * MiB;
  p.input.buffers = {{64 * MiB, PlanChunk}};
  p.accesses = {{0, {4096, 0, 0}, 4096}};
  p.finish();
  p.input.sparing = true;
  LaunchPlan plan = planLaunch(p.input);
  ASSERT_EQ(plan.kind, LaunchPlan::Sliced);
  check(p, plan);
  EXPECT_EQ(plan.boxes.size(), 8u);
  p.input.sliceable = false;
  EXPECT_EQ(planLaunch(p.input).kind, LaunchPlan::Resident);
}

TEST(LaunchPlannerTest, WhatSlicesWouldFetchAgainIsNotSlicedToSpareOthers) {
  // Each block goes to another chunk, and back.
  constexpr uint32_t Blocks = 4096, Chunks = 24;
  Problem p;
  p.input.grid[0] = Blocks;
  p.input.grid[1] = p.input.grid[2] = 1;
  p.input.sliceable = p.input.sparing = true;
  p.input.deviceBudget = 64 * MiB;
  p.input.buffers = {{Chunks * PlanChunk, PlanChunk}};
  size_t evaluated = 0;
  p.input.footprint = [&](const BlockBox &box) {
    ++evaluated;
    ChunkSet set;
    for (uint32_t i = box.Lo[0]; i < std::min(box.Hi[0], box.Lo[0] + Chunks);
         ++i)
      set.push_back({0, i * 7 % Chunks, i * 7 % Chunks + 1});
    normalize(set);
    return set;
  };
  EXPECT_EQ(planLaunch(p.input).kind, LaunchPlan::Resident);
  EXPECT_LT(evaluated, 200u); // and not for all of the slices
}

TEST(LaunchPlannerTest, WhatAllSlicesShareIsCountedOnce) {
  // y = A x: x is in every slice.
  Problem p;
  p.input.grid[0] = 1024;
  p.input.grid[1] = p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 64 * MiB;
  p.input.buffers = {{512 * MiB, PlanChunk}, {40 * MiB, PlanChunk}};
  p.accesses = {{0, {MiB / 2, 0, 0}, MiB / 2}, {1, {0, 0, 0}, 0, true}};
  p.finish();
  LaunchPlan plan = planLaunch(p.input);
  ASSERT_EQ(plan.kind, LaunchPlan::Sliced);
  check(p, plan);
  EXPECT_EQ(plan.boxes.size(), 256u); // of 2 MiB: an eighth of what is left
}

TEST(LaunchPlannerTest, TheDimensionWithTheLeastTrafficIsCut) {
  // Rows along x: cutting y would touch everything in each slice.
  Problem p;
  p.input.grid[0] = 256;
  p.input.grid[1] = 256;
  p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 32 * MiB;
  p.input.buffers = {{512 * MiB, PlanChunk}};
  p.accesses = {{0, {2 * MiB, 8192, 0}, 8192}};
  p.finish();
  LaunchPlan plan = planLaunch(p.input);
  ASSERT_EQ(plan.kind, LaunchPlan::Sliced);
  check(p, plan);
  for (const BlockBox &box : plan.boxes) {
    EXPECT_EQ(box.Lo[1], 0u);
    EXPECT_EQ(box.Hi[1], 256u);
  }
}

TEST(LaunchPlannerTest, ALayerThatIsTooLargeIsCutFurther) {
  Problem p;
  p.input.grid[0] = 512;
  p.input.grid[1] = 4;
  p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 16 * MiB;
  p.input.buffers = {{1024 * MiB, PlanChunk}};
  p.accesses = {{0, {MiB / 2, 256 * MiB, 0}, MiB / 2}};
  p.finish();
  LaunchPlan plan = planLaunch(p.input);
  ASSERT_EQ(plan.kind, LaunchPlan::Sliced);
  check(p, plan);
}

TEST(LaunchPlannerTest, OneBlockThatIsTooLargeGoesToTheHostOrNowhere) {
  Problem p;
  p.input.grid[0] = 8;
  p.input.grid[1] = p.input.grid[2] = 1;
  p.input.sliceable = true;
  p.input.deviceBudget = 16 * MiB;
  p.input.buffers = {{64 * MiB, PlanChunk}};
  p.accesses = {{0, {0, 0, 0}, 0, true}};
  p.finish();
  LaunchPlan plan = planLaunch(p.input);
  EXPECT_EQ(plan.kind, LaunchPlan::Impossible);
  EXPECT_EQ(plan.smallestBytes, 64 * MiB);
  p.input.hostMapped = true;
  p.input.hostRoom = {47 * MiB};
  EXPECT_EQ(planLaunch(p.input).kind, LaunchPlan::Impossible);
  p.input.hostRoom = {48 * MiB};
  EXPECT_EQ(planLaunch(p.input).kind, LaunchPlan::HostMapped);
}

TEST(LaunchPlannerTest, WhatIsNotSliceableIsNotSliced) {
  Problem p;
  p.input.grid[0] = 1024;
  p.input.grid[1] = p.input.grid[2] = 1;
  p.input.deviceBudget = 16 * MiB;
  p.input.buffers = {{64 * MiB, PlanChunk}};
  p.accesses = {{0, {65536, 0, 0}, 65536}};
  p.finish();
  EXPECT_EQ(planLaunch(p.input).kind, LaunchPlan::Impossible);
}

/// C = A B in tiles: rows of A and C, columns of B, of which each is in all of
/// its chunks.
Problem matrixProduct(uint64_t budget) {
  Problem p;
  p.input.grid[0] = p.input.grid[1] = 256;
  p.input.grid[2] = 1;
  p.input.sliceable = p.input.hostMapped = true;
  p.input.deviceBudget = budget;
  p.input.hostRoom = {4096 * MiB};
  p.input.buffers.assign(3, {256 * MiB, PlanChunk});
  p.accesses = {
      {0, {0, MiB, 0}, MiB}, {1, {0, 0, 0}, 0, true}, {2, {0, MiB, 0}, MiB}};
  p.reads = {256, 256, 1};
  return p;
}

TEST(LaunchPlannerTest, WhatAllSlicesShareStaysInHostMemoryInPart) {
  Problem p = matrixProduct(192 * MiB);
  p.finish();
  LaunchPlan plan = planLaunch(p.input);
  ASSERT_EQ(plan.kind, LaunchPlan::Mixed);
  check(p, plan);
  for (const BlockBox &box : plan.boxes)
    EXPECT_EQ(box.Hi[0] - box.Lo[0], 256u); // rows
  ASSERT_FALSE(plan.onHost.empty());
  for (const ChunkInterval &interval : plan.onHost)
    EXPECT_EQ(interval.buffer, 1u);
  // The room that is left for rows is an eighth.
  EXPECT_EQ(bytesOf(plan.onHost, p.input.buffers), (256 - 192 + 24) * MiB);
  // What was compared is told, the best one first.
  ASSERT_EQ(plan.costs.size(), 3u);
  EXPECT_STREQ(plan.costs[0].name, "mixed");
  EXPECT_DOUBLE_EQ(plan.costs[0].mapped, 256.0 * (256 - 192 + 24) * MiB);
  EXPECT_LE(plan.costs[0].copied, (168 + 2 * 256) * MiB);
  EXPECT_STREQ(plan.costs[1].name, "host-mapped");
  EXPECT_GT(plan.costs[1].seconds, 2 * plan.costs[0].seconds);
  // With more memory than B needs it comes and stays.
  p = matrixProduct(320 * MiB);
  p.finish();
  plan = planLaunch(p.input);
  EXPECT_EQ(plan.kind, LaunchPlan::Sliced);
  check(p, plan);
}

TEST(LaunchPlannerTest, WhatIsUpdatedAtomicallyStaysOnTheDevice) {
  Problem p = matrixProduct(192 * MiB);
  p.finish();
  // All of B must stay, but it does not fit: it runs in no such way.
  auto all = p.input.placed;
  p.input.placed = [&] {
    std::vector<PlanInput::Placed> placed = all();
    for (PlanInput::Placed &chunk : placed)
      chunk.placed.mustStay = chunk.buffer == 1;
    return placed;
  };
  EXPECT_EQ(planLaunch(p.input).kind, LaunchPlan::HostMapped);
  EXPECT_FALSE(planLaunch(p.input).costs.front().possible);
  // A few of its chunks do, however cold they are.
  p.input.placed = [&] {
    std::vector<PlanInput::Placed> placed = all();
    for (PlanInput::Placed &chunk : placed)
      if (chunk.buffer == 1 && chunk.chunk >= 120) {
        chunk.placed.mustStay = true;
        chunk.placed.accessBytes = 0;
      }
    return placed;
  };
  LaunchPlan plan = planLaunch(p.input);
  ASSERT_EQ(plan.kind, LaunchPlan::Mixed);
  for (const ChunkInterval &interval : plan.onHost)
    EXPECT_LE(interval.end, 120u);
}

TEST(LaunchPlannerTest, SlicesThatFetchTheSameAgainAndAgainAreNotTaken) {
  // Every second block uses the even chunks, the others the odd ones.
  Problem p;
  p.input.grid[0] = 64;
  p.input.grid[1] = p.input.grid[2] = 1;
  p.input.sliceable = p.input.hostMapped = true;
  p.input.deviceBudget = 16 * PlanChunk;
  p.input.hostRoom = {64 * PlanChunk};
  p.input.buffers = {{30 * PlanChunk, PlanChunk}};
  p.reads = {4};
  p.finish();
  p.input.footprint = [](const BlockBox &box) {
    ChunkSet set;
    for (uint32_t i = box.Lo[0]; i < std::min(box.Hi[0], box.Lo[0] + 2); ++i)
      for (uint32_t chunk = i % 2; chunk < 30; chunk += 2)
        set.push_back({0, chunk, chunk + 1});
    normalize(set);
    return set;
  };
  LaunchPlan plan = planLaunch(p.input);
  EXPECT_EQ(plan.kind, LaunchPlan::HostMapped);
  check(p, plan);
  // If each access from host memory costs more than that, they are.
  p.reads = {400};
  plan = planLaunch(p.input);
  EXPECT_EQ(plan.kind, LaunchPlan::Sliced);
  check(p, plan);
  p.reads = {4};
  p.input.hostMapped = false;
  EXPECT_EQ(planLaunch(p.input).kind, LaunchPlan::Sliced);
}

TEST(LaunchPlannerTest, RandomFootprintsAreCoveredExactlyAndFit) {
  std::mt19937 random(20251);
  auto upTo = [&](uint64_t n) { return random() % n; };
  int sliced = 0, mixed = 0;
  for (int round = 0; round < 300; ++round) {
    Problem p;
    p.input.grid[0] = uint32_t(1 + upTo(300));
    p.input.grid[1] = uint32_t(1 + (upTo(3) ? 0 : upTo(40)));
    p.input.grid[2] = uint32_t(1 + (upTo(4) ? 0 : upTo(9)));
    p.input.sliceable = true;
    p.input.hostMapped = upTo(2);
    p.input.hostRoom = {upTo(256) * MiB};
    p.input.deviceBudget = (1 + upTo(40)) * PlanChunk;
    uint64_t count = 1 + upTo(4);
    for (uint32_t b = 0; b < count; ++b) {
      p.input.buffers.push_back(
          {(1 + upTo(128)) * PlanChunk, PlanChunk << upTo(2)});
      Access access{b, {0, 0, 0}, 1 + upTo(3 * PlanChunk), upTo(12) == 0};
      for (uint64_t &step : access.step)
        step = upTo(2) ? upTo(PlanChunk) : 0;
      p.accesses.push_back(access);
      p.reads.push_back(double(1 + upTo(64)));
    }
    p.finish();
    LaunchPlan plan = planLaunch(p.input);
    ASSERT_NO_FATAL_FAILURE(check(p, plan)) << "round " << round;
    bool fits = plan.wholeBytes <= p.input.deviceBudget;
    EXPECT_EQ(plan.kind == LaunchPlan::Resident, fits);
    sliced += plan.kind == LaunchPlan::Sliced;
    mixed += plan.kind == LaunchPlan::Mixed;
    if (plan.kind == LaunchPlan::HostMapped)
      EXPECT_LE(plan.wholeBytes,
                p.input.deviceBudget + p.input.hostRoom.bytes());
  }
  EXPECT_GT(sliced, 50);
  EXPECT_GT(mixed, 5);
}

TEST(LaunchPlannerTest, SetsOfChunks) {
  ChunkSet set{{1, 5, 9}, {0, 2, 4}, {0, 4, 6}, {1, 7, 12}, {0, 8, 8}};
  normalize(set);
  EXPECT_EQ(set, (ChunkSet{{0, 2, 6}, {1, 5, 12}}));
  EXPECT_EQ(intersection(set, {{0, 0, 3}, {0, 5, 9}, {1, 11, 20}}),
            (ChunkSet{{0, 2, 3}, {0, 5, 6}, {1, 11, 12}}));
  EXPECT_EQ(difference(set, {{0, 0, 3}, {0, 5, 9}, {1, 7, 8}, {1, 11, 20}}),
            (ChunkSet{{0, 3, 5}, {1, 5, 7}, {1, 8, 11}}));
  EXPECT_EQ(difference(set, {}), set);
  EXPECT_EQ(difference(set, set), ChunkSet());
  // The last chunk of a buffer is shorter.
  EXPECT_EQ(bytesOf(set, {{11 * MiB, PlanChunk}, {24 * MiB, PlanChunk}}),
            7 * MiB + 14 * MiB);
}

} // namespace
