//===- SlicerTest.cpp - cutting a grid into boxes -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Slicer.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/launch/LinearFootprints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

using namespace dragon;
using namespace dragon::test;
using testing::ElementsAre;

namespace {

constexpr uint64_t ChunkBytes = 2 * MiB;

class SlicerTest : public testing::Test {
protected:
  /// Chunks of 2 MiB; the grid begins empty.
  void begin(uint32_t x, uint32_t y, uint32_t z, uint64_t budget) {
    Input = {};
    Accesses.clear();
    Evaluated = 0;
    Foreseen.clear();
    Touched = nullptr;
    Grid = {{0, 0, 0}, {x, y, z}};
    std::copy_n(Grid.Hi, 3, Input.grid);
    Input.sliceable = true;
    Input.deviceBudget = budget;
    Input.footprint = [this](const BlockBox &box) {
      ++Evaluated;
      return chunksOf(box);
    };
  }
  void touch(uint64_t bytes, Access access, uint64_t chunkBytes = ChunkBytes) {
    access.buffer = uint32_t(Input.buffers.size());
    Input.buffers.push_back({bytes, chunkBytes});
    Accesses.push_back(access);
  }
  ChunkSet chunksOf(const BlockBox &box) const {
    if (!Touched)
      return footprintOf(Accesses, Input.buffers, box);
    const auto [buffer, begin, end] = Touched(box);
    return {{buffer, uint32_t(uint64_t(begin) / ChunkBytes),
             uint32_t((uint64_t(end) + ChunkBytes - 1) / ChunkBytes)}};
  }
  uint64_t bytes(const BlockBox &box) const {
    return bytesOf(chunksOf(box), Input.buffers);
  }
  /// The planner is told the bytes as well.
  void giveExtents() {
    Input.extents = [this](const BlockBox &box) {
      Extents.clear();
      if (Touched)
        Extents.push_back(Touched(box));
      for (const Access &access : Accesses) {
        uint64_t first = 0, last = 0;
        for (unsigned d = 0; d < 3; ++d) {
          first += box.Lo[d] * access.step[d];
          last += (box.Hi[d] - 1) * access.step[d];
        }
        const uint64_t most = Input.buffers[access.buffer].bytes;
        if (access.everything)
          first = 0, last = most;
        Extents.push_back({access.buffer, int64_t(std::min(first, most)),
                           int64_t(std::min(last + access.width, most))});
      }
      return std::span<const ByteInterval>(Extents);
    };
  }
  void giveForesight() {
    Input.foresee = [this](std::span<const BlockBox> boxes) {
      for (const BlockBox &box : boxes)
        for (unsigned d = 0; d < 3; ++d) {
          EXPECT_LT(box.Lo[d], box.Hi[d]);
          EXPECT_LE(box.Hi[d], Grid.Hi[d]);
        }
      Foreseen.insert(Foreseen.end(), boxes.begin(), boxes.end());
    };
  }
  /// The boxes are the grid, each of them fits, and their traffic is what each
  /// has that the one before it had not.
  void check(const Slicer &slicer, uint64_t limit) {
    uint64_t total = 0, traffic = 0;
    ChunkSet last;
    for (size_t i = 0; i < slicer.Boxes.size(); ++i) {
      const BlockBox &box = slicer.Boxes[i];
      for (unsigned d = 0; d < 3; ++d) {
        ASSERT_LT(box.Lo[d], box.Hi[d]);
        ASSERT_LE(box.Hi[d], Grid.Hi[d]);
      }
      total += volume(box);
      for (size_t j = 0; j < i; ++j)
        ASSERT_FALSE(overlap(slicer.Boxes[j], box));
      const ChunkSet chunks = chunksOf(box);
      const uint64_t size = bytesOf(chunks, Input.buffers);
      ASSERT_LE(size, Input.deviceBudget);
      if (size > limit)
        ++OverLimit;
      traffic += size - bytesOf(intersection(chunks, last), Input.buffers);
      last = chunks;
    }
    EXPECT_EQ(total, volume(Grid));
    EXPECT_EQ(slicer.Traffic, traffic);
    EXPECT_EQ(slicer.TooLarge, 0u);
  }
  void makeRandom(std::mt19937 &random) {
    begin(1 + random() % 60, random() % 2 ? 1 : 1 + random() % 20,
          random() % 3 ? 1 : 1 + random() % 6, 0);
    const unsigned count = 1 + random() % 3;
    for (unsigned i = 0; i < count; ++i) {
      Access access{0, {}, 1 + random() % (3 * MiB)};
      for (uint64_t &step : access.step)
        step = random() % 3 ? random() % (2 * MiB) : 0;
      access.everything = random() % 6 == 0;
      const uint64_t chunk = ChunkBytes << random() % 2;
      touch((1 + random() % 40) * chunk, access, chunk);
    }
    const uint64_t whole = bytes(Grid);
    Input.deviceBudget = ChunkBytes + random() % (whole + 1);
    if (random() % 2)
      giveExtents();
    if (random() % 2)
      giveForesight();
  }

  PlanInput Input;
  BlockBox Grid{};
  std::vector<Access> Accesses;
  /// What is touched is not linear: then there are no accesses.
  std::function<ByteInterval(const BlockBox &)> Touched;
  std::vector<ByteInterval> Extents;
  std::vector<BlockBox> Foreseen;
  unsigned Evaluated = 0;
  unsigned OverLimit = 0; ///< boxes that take what one layer takes
};

TEST_F(SlicerTest, BoxesAreTheGridAndFit) {
  std::mt19937 random(14);
  unsigned whole = 0, cut = 0;
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    makeRandom(random);
    const uint64_t limit = 1 + random() % Input.deviceBudget;
    const unsigned dimension = random() % 3;
    Slicer slicer(Input, limit, UINT64_MAX);
    if (slicer.cut(Grid, dimension)) {
      check(slicer, limit);
      (slicer.Boxes.size() > 1 ? cut : whole) += 1;
    } else {
      // Blocks of which none can be left out take too much.
      EXPECT_GT(slicer.TooLarge, Input.deviceBudget);
    }
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(cut, 500u);
  EXPECT_GT(whole, 50u);
}

/// A box stays within the limit, unless one layer alone takes more.
TEST_F(SlicerTest, OnlyWhatALayerTakesExceedsTheLimit) {
  std::mt19937 random(15);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    makeRandom(random);
    Grid.Hi[1] = Grid.Hi[2] = 1;
    uint64_t layer = 0;
    for (uint32_t x = 0; x < Grid.Hi[0]; ++x)
      layer = std::max(layer, bytes({{x, 0, 0}, {x + 1, 1, 1}}));
    if (layer > Input.deviceBudget)
      continue;
    const uint64_t limit = 1 + random() % Input.deviceBudget;
    Slicer slicer(Input, limit, UINT64_MAX);
    ASSERT_TRUE(slicer.cut(Grid, 0));
    for (const BlockBox &box : slicer.Boxes)
      EXPECT_LE(bytes(box), std::max(limit, layer));
    check(slicer, std::max(limit, layer));
  }
  EXPECT_EQ(OverLimit, 0u);
}

TEST_F(SlicerTest, BoxesAreAboutAsLargeAsTheLimit) {
  for (bool hints : {false, true}) {
    begin(1 << 20, 1, 1, 512 * MiB);
    for (int i = 0; i < 3; ++i)
      touch(1024 * MiB, {0, {1024, 0, 0}, 1024});
    if (hints) {
      giveExtents();
      giveForesight();
    }
    constexpr uint64_t Limit = 64 * MiB;
    Slicer slicer(Input, Limit, UINT64_MAX);
    ASSERT_TRUE(slicer.cut(Grid, 0));
    check(slicer, Limit);
    EXPECT_EQ(OverLimit, 0u);
    for (size_t i = 0; i + 1 < slicer.Boxes.size(); ++i)
      EXPECT_GE(bytes(slicer.Boxes[i]), Limit - Limit / 8);
    // One for a box's length and one for its chunks, once that is known.
    EXPECT_LE(Evaluated, 2 * slicer.Boxes.size() + 16);
    EXPECT_EQ(Foreseen.empty(), !hints);
  }
}

/// Chunks that are large beside the limit make each box another length.
TEST_F(SlicerTest, WhatTwoBoxesLetExpectSavesTheSearch) {
  unsigned evaluated[2];
  for (bool hints : {false, true}) {
    begin(100000, 1, 1, 64 * MiB);
    touch(3000 * MiB, {0, {31234, 0, 0}, 31234});
    if (hints)
      giveExtents();
    constexpr uint64_t Limit = 8 * MiB; // four chunks
    Slicer slicer(Input, Limit, UINT64_MAX);
    ASSERT_TRUE(slicer.cut(Grid, 0));
    check(slicer, Limit);
    EXPECT_EQ(OverLimit, 0u);
    for (size_t i = 0; i + 1 < slicer.Boxes.size(); ++i)
      EXPECT_EQ(bytes(slicer.Boxes[i]), Limit);
    evaluated[hints] = Evaluated;
    if (hints)
      EXPECT_LE(Evaluated, 2 * slicer.Boxes.size() + 32);
  }
  EXPECT_LT(evaluated[true], evaluated[false]);
}

TEST_F(SlicerTest, WhatIsExpectedIsNotTakenForGranted) {
  begin(20000, 1, 1, 64 * MiB);
  Input.buffers = {{3000 * MiB, ChunkBytes}};
  // From the middle of the grid on it is twice as much.
  auto edge = [](int64_t x) { return (x + std::max(x - 10000, int64_t(0))); };
  Touched = [edge](const BlockBox &box) {
    return ByteInterval{0, edge(box.Lo[0]) * 61234, edge(box.Hi[0]) * 61234};
  };
  giveExtents();
  giveForesight();
  Slicer slicer(Input, 8 * MiB, UINT64_MAX);
  ASSERT_TRUE(slicer.cut(Grid, 0));
  check(slicer, 8 * MiB);
  EXPECT_EQ(OverLimit, 0u);
  EXPECT_LE(Evaluated, 2 * slicer.Boxes.size() + 64);
}

/// Rows of which each has another length: the expected end is missed by little.
TEST_F(SlicerTest, TheEndOfABoxIsSoughtWhereItWasExpected) {
  constexpr uint32_t Rows = 200000;
  begin(Rows, 1, 1, 64 * MiB);
  std::vector<int64_t> edge(Rows + 1);
  for (uint32_t i = 0; i < Rows; ++i)
    edge[i + 1] = edge[i] + 1000 + (i * 2654435761u >> 20);
  Input.buffers = {{uint64_t(edge.back()), ChunkBytes}};
  Touched = [&edge](const BlockBox &box) {
    return ByteInterval{0, edge[box.Lo[0]], edge[box.Hi[0]]};
  };
  giveExtents();
  Slicer slicer(Input, 8 * MiB, UINT64_MAX);
  ASSERT_TRUE(slicer.cut(Grid, 0));
  check(slicer, 8 * MiB);
  EXPECT_EQ(OverLimit, 0u);
  EXPECT_GT(slicer.Boxes.size(), 60u);
  for (size_t i = 0; i + 1 < slicer.Boxes.size(); ++i)
    EXPECT_EQ(bytes(slicer.Boxes[i]), 8 * MiB);
  EXPECT_LE(Evaluated, 4 * slicer.Boxes.size());
}

/// Layers that share their chunks go together, also if they take more than the
/// layers before them.
TEST_F(SlicerTest, LayersOfTheSameChunksAreOneBox) {
  begin(2 * 640, 1, 1, 16 * MiB);
  Input.buffers = {{256 * MiB, ChunkBytes}};
  // Ten times 64 layers with one chunk, then with three.
  Touched = [](const BlockBox &box) {
    auto chunk = [](uint32_t x) {
      return int64_t(x < 640 ? x / 64 : 10 + (x - 640) / 64 * 3);
    };
    const uint32_t last = box.Hi[0] - 1;
    return ByteInterval{0, chunk(box.Lo[0]) * int64_t(ChunkBytes),
                        (chunk(last) + (last < 640 ? 1 : 3)) *
                            int64_t(ChunkBytes)};
  };
  Slicer slicer(Input, ChunkBytes, UINT64_MAX);
  ASSERT_TRUE(slicer.cut(Grid, 0));
  check(slicer, ChunkBytes);
  EXPECT_EQ(slicer.Boxes.size(), 20u);
  EXPECT_EQ(OverLimit, 10u);
}

TEST_F(SlicerTest, ALayerThatIsTooLargeIsCutFurther) {
  // Rows of 16 MiB, of which 6 fit not even one.
  begin(32, 4, 1, 6 * MiB);
  touch(64 * MiB, {0, {MiB / 2, 16 * MiB, 0}, MiB / 2});
  Slicer slicer(Input, 6 * MiB, UINT64_MAX);
  ASSERT_TRUE(slicer.cut(Grid, 1));
  check(slicer, 6 * MiB);
  EXPECT_EQ(OverLimit, 0u);
  uint32_t row = 0;
  for (const BlockBox &box : slicer.Boxes) {
    EXPECT_EQ(box.Hi[1], box.Lo[1] + 1);
    EXPECT_GE(box.Lo[1], row); // one after the other
    row = box.Lo[1];
    EXPECT_EQ(box.Lo[0] % 4, 0u); // whole chunks
  }
}

TEST_F(SlicerTest, TheSlowestDimensionIsCutNext) {
  // Neighbours in y lie together, then those in z.
  begin(2, 4, 4, 8 * MiB);
  touch(64 * MiB, {0, {32 * MiB, 2 * MiB, 8 * MiB}, 2 * MiB});
  Slicer slicer(Input, 8 * MiB, UINT64_MAX);
  ASSERT_TRUE(slicer.cut(Grid, 0));
  check(slicer, 8 * MiB);
  EXPECT_EQ(slicer.Boxes.size(), 8u);
  for (const BlockBox &box : slicer.Boxes)
    EXPECT_EQ(box.Hi[1] - box.Lo[1], 4u);
}

TEST_F(SlicerTest, WhatCannotBeCutIsTold) {
  begin(32, 4, 1, 6 * MiB);
  touch(64 * MiB, {0, {MiB / 2, 16 * MiB, 0}, MiB / 2});
  touch(10 * MiB, {0, {}, 1, /*everything=*/true});
  Slicer slicer(Input, 6 * MiB, UINT64_MAX);
  EXPECT_FALSE(slicer.cut(Grid, 0));
  EXPECT_EQ(slicer.TooLarge, 12 * MiB); // a chunk and all of the other
}

TEST_F(SlicerTest, AWayThatIsNoBetterIsGivenUp) {
  begin(64, 1, 1, 16 * MiB);
  touch(128 * MiB, {0, {2 * MiB, 0, 0}, 2 * MiB});
  Slicer all(Input, 8 * MiB, UINT64_MAX);
  ASSERT_TRUE(all.cut(Grid, 0));
  EXPECT_EQ(all.Traffic, 128 * MiB);
  Slicer same(Input, 8 * MiB, all.Traffic);
  EXPECT_FALSE(same.cut(Grid, 0));
  EXPECT_EQ(same.TooLarge, 0u);
  Slicer less(Input, 8 * MiB, all.Traffic + 1);
  EXPECT_TRUE(less.cut(Grid, 0));
  // At once, and not at the end of the grid.
  Slicer little(Input, 8 * MiB, 20 * MiB);
  EXPECT_FALSE(little.cut(Grid, 0));
  EXPECT_LE(little.Boxes.size(), 3u);
}

TEST_F(SlicerTest, WhatTheBoxBeforeHadDoesNotMoveAgain) {
  begin(64, 1, 1, 64 * MiB);
  touch(128 * MiB, {0, {2 * MiB, 0, 0}, 2 * MiB});
  touch(4 * MiB, {0, {}, 1, /*everything=*/true});
  // Each box has a chunk in common with its neighbour.
  touch(132 * MiB, {0, {2 * MiB, 0, 0}, 4 * MiB});
  Slicer slicer(Input, 20 * MiB, UINT64_MAX);
  ASSERT_TRUE(slicer.cut(Grid, 0));
  check(slicer, 20 * MiB);
  EXPECT_GT(slicer.Boxes.size(), 5u);
  EXPECT_EQ(slicer.Traffic, (128 + 4 + 130) * MiB);
}

TEST(DriftTest, TwoBoxesLetTheNextBeExpected) {
  Drift drift;
  const std::vector<BufferShape> shapes = {{100, 10}, {1000, 100}};
  auto box = [&](uint32_t lo, uint32_t hi, std::vector<ByteInterval> extents) {
    drift.add(lo, hi, extents);
  };
  EXPECT_FALSE(drift.isKnown());
  box(0, 2, {{0, 0, 8}, {1, 0, 100}});
  EXPECT_FALSE(drift.isKnown());
  box(2, 5, {{0, 8, 20}, {1, 0, 100}});
  EXPECT_TRUE(drift.isKnown());
  ChunkSet set;
  drift.expect(5, 10, shapes, set); // [20, 40) and what does not move
  EXPECT_THAT(set, ElementsAre(ChunkInterval{0, 2, 4}, ChunkInterval{1, 0, 1}));
  drift.expect(20, 40, shapes, set); // [80, 160), cut at the buffer's end
  EXPECT_THAT(set,
              ElementsAre(ChunkInterval{0, 8, 10}, ChunkInterval{1, 0, 1}));
  drift.expect(30, 40, shapes, set); // behind it
  EXPECT_THAT(set, ElementsAre(ChunkInterval{1, 0, 1}));
  // The last two count.
  box(5, 9, {{0, 50, 90}, {1, 0, 100}});
  drift.expect(5, 9, shapes, set);
  EXPECT_THAT(set, ElementsAre(ChunkInterval{0, 5, 9}, ChunkInterval{1, 0, 1}));
  // Without two that differ in both ends there is no line.
  box(5, 10, {{0, 50, 95}, {1, 0, 100}});
  EXPECT_FALSE(drift.isKnown());
  box(6, 10, {{0, 60, 95}, {1, 0, 100}});
  EXPECT_FALSE(drift.isKnown());
  box(7, 11, {{0, 60, 95}});
  EXPECT_FALSE(drift.isKnown()); // other buffers
  box(8, 12, {{0, 60, 95}});
  EXPECT_TRUE(drift.isKnown());
  drift.clear();
  EXPECT_FALSE(drift.isKnown());
}

} // namespace
