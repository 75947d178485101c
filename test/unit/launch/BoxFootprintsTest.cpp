//===- BoxFootprintsTest.cpp - the same plan by any number of threads -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/launch/TestKernels.h"

#include "runtime/launch/BoxFootprints.h"
#include "test/unit/support/base/Expect.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace dragon;
using namespace dragon::test;

namespace {

/// A launch of "stencil" on addresses where nothing is.
class BoxFootprintsTest : public ::testing::Test {
protected:
  static constexpr int Count = 100 << 20;

  BoxFootprintsTest() : Buffers(2) {
    for (size_t i = 0; i < Buffers.size(); ++i) {
      Buffer &buffer = Buffers[i];
      buffer.bytes = size_t(Count) * 4;
      buffer.vaBytes = buffer.bytes;
      buffer.chunkBytes = 2 * MiB;
      buffer.base = (uintptr_t(1) << 44) + (uintptr_t(i) << 40);
      buffer.makeChunks();
      Pointers[i] = buffer.base;
      Index.insert({buffer.base, buffer.bytes, 0, false, "", &buffer});
    }
    Call.kernel = Kernels.find("stencil");
    Call.grid[0] = Count / 1024;
    Call.grid[1] = Call.grid[2] = 1;
    Call.block[0] = 1024;
    Call.block[1] = Call.block[2] = 1;
    Call.args = Args;
    Call.numArgs = 3;
    Launch.resolve(Call, Index);
    Whole = footprintOf(Launch, Index, wholeGrid(Call));
  }

  struct Planned {
    LaunchPlan plan;
    std::vector<LaunchFootprint> parts;
    size_t evaluated = 0;
  };
  Planned planWith(unsigned threads) {
    ThreadPool pool(threads);
    BoxFootprints footprints(Launch, Index, Whole, pool);
    Planned planned;
    PlanInput input{};
    std::copy(Call.grid, Call.grid + 3, input.grid);
    input.sliceable = true;
    input.deviceBudget = 64 * MiB;
    input.buffers = footprints.buffers();
    input.footprint = [&](const BlockBox &box) {
      ++planned.evaluated;
      return footprints.of(box);
    };
    input.foresee = [&](std::span<const BlockBox> boxes) {
      footprints.foresee(boxes);
    };
    planned.plan = planLaunch(input);
    for (const BlockBox &box : planned.plan.boxes)
      planned.parts.push_back(footprints.take(box));
    return planned;
  }

  TestKernels Kernels;
  std::vector<Buffer> Buffers;
  AddressIndex Index;
  uintptr_t Pointers[2];
  int Number = Count;
  void *Args[3] = {&Pointers[0], &Pointers[1], &Number};
  LaunchCall Call{};
  ResolvedLaunch Launch;
  LaunchFootprint Whole;
};

TEST_F(BoxFootprintsTest, ThePlanIsTheSameByAnyNumberOfThreads) {
  const Planned alone = planWith(1);
  ASSERT_EQ(alone.plan.kind, LaunchPlan::Sliced);
  ASSERT_GT(alone.parts.size(), 64u);
  for (unsigned threads : {2, 5}) {
    const Planned many = planWith(threads);
    EXPECT_EQ(many.evaluated, alone.evaluated);
    ASSERT_EQ(many.parts.size(), alone.parts.size());
    for (size_t i = 0; i < many.parts.size(); ++i) {
      const BlockBox &a = many.plan.boxes[i], &b = alone.plan.boxes[i];
      EXPECT_TRUE(std::equal(a.Lo, a.Lo + 3, b.Lo));
      EXPECT_TRUE(std::equal(a.Hi, a.Hi + 3, b.Hi));
      auto same = [](const ChunkUse &x, const ChunkUse &y) {
        return x.chunk == y.chunk && x.need == y.need &&
               x.written.begin == y.written.begin &&
               x.written.end == y.written.end;
      };
      EXPECT_TRUE(std::equal(
          many.parts[i].uses.begin(), many.parts[i].uses.end(),
          alone.parts[i].uses.begin(), alone.parts[i].uses.end(), same));
    }
  }
}

TEST_F(BoxFootprintsTest, IterationsArePartsAsBlocksAre) {
  Call.kernel = Kernels.find("walk");
  Call.grid[0] = 1024; // an iteration is two chunks of each buffer
  Launch.resolve(Call, Index);
  Whole = footprintOf(Launch, Index, wholeGrid(Call));
  ThreadPool pool(3);
  BoxFootprints footprints(Launch, Index, Whole, pool);
  auto iterations = [&](uint32_t lo, uint32_t hi) {
    BlockBox box = wholeGrid(Call);
    box.Lo[LoopDimension] = lo;
    box.Hi[LoopDimension] = hi;
    return box;
  };
  std::vector<BlockBox> foreseen;
  for (uint32_t i = 10; i < 30; ++i)
    foreseen.push_back(iterations(i, i + 1));
  footprints.foresee(foreseen);
  for (uint32_t i : {0, 1, 9, 10, 29, 99})
    EXPECT_EQ(footprints.of(iterations(i, i + 1)),
              (ChunkSet{{0, 2 * i, 2 * i + 2}, {1, 2 * i, 2 * i + 2}}));
  EXPECT_EQ(footprints.of(iterations(3, 7)),
            (ChunkSet{{0, 6, 14}, {1, 6, 14}}));
  // The grid's own is another box.
  EXPECT_EQ(footprints.of(wholeGrid(Call)),
            (ChunkSet{{0, 0, 200}, {1, 0, 200}}));
  const LaunchFootprint chunks = footprints.take(iterations(9, 10));
  ASSERT_EQ(chunks.uses.size(), 4u);
  EXPECT_EQ(chunks.uses[0].chunk, &Buffers[0].chunks[18]);
  EXPECT_TRUE(chunks.uses[0].mayWrite());
  EXPECT_EQ(footprints.take(iterations(10, 11)).uses.size(), 4u);
  EXPECT_TRUE(footprints.of(iterations(100, 101)).empty());
}

TEST_F(BoxFootprintsTest, APartHasNoBufferThatTheGridHasNot) {
  const Buffer &other = Buffers[1];
  std::erase_if(Whole.uses, [&](const ChunkUse &use) {
    return use.chunk->buffer == &other;
  });
  BoxFootprints footprints(Launch, Index, Whole);
  ASSERT_EQ(footprints.buffers().size(), 1u);
  const BlockBox part{{0, 0, 0}, {1024, 1, 1}};
  ASSERT_FALSE(footprints.of(part).empty());
  EXPECT_FALSE(footprints.extentsOf(part).empty());
  for (const ChunkUse &use : footprints.take(part).uses)
    EXPECT_NE(use.chunk->buffer, &other);
}

TEST_F(BoxFootprintsTest, ABoxHasTheChunksOfItsLaunchesFootprint) {
  ThreadPool pool(1);
  BoxFootprints footprints(Launch, Index, Whole, pool);
  ASSERT_EQ(footprints.buffers().size(), 2u);
  // Two chunks of the result, and the input's with a neighbour on each side.
  const BlockBox box{{1024, 0, 0}, {2048, 1, 1}};
  EXPECT_EQ(footprints.of(box), (ChunkSet{{0, 2, 4}, {1, 1, 5}}));
  EXPECT_EQ(footprints.of(wholeGrid(Call)),
            (ChunkSet{{0, 0, 200}, {1, 0, 200}}));
  const LaunchFootprint chunks = footprints.take(box);
  ASSERT_EQ(chunks.uses.size(), 6u);
  EXPECT_EQ(chunks.uses[0].chunk, &Buffers[0].chunks[2]);
  EXPECT_TRUE(chunks.uses[0].mayWrite());
  EXPECT_FALSE(chunks.uses[0].mustWrite()); // not asked for
  EXPECT_EQ(chunks.uses[2].chunk, &Buffers[1].chunks[1]);
  EXPECT_FALSE(chunks.uses[2].mayWrite());
}

/// Long lists come first. With as many numbers as the first one has, the last
/// one would end in what lies behind all lists, and nobody knows.
TEST_F(BoxFootprintsTest, GroupsTellListsApart) {
  constexpr uint32_t Blocks = 256;
  struct List {
    int32_t begin, count;
  };
  std::vector<List> lists;
  std::vector<int32_t> numbers;
  for (uint32_t b = 0; b < Blocks; ++b) {
    const auto count = int32_t(Blocks / (b + 1));
    lists.push_back({int32_t(numbers.size()), std::max(count, 1)});
    for (int32_t i = 0; i < lists.back().count; ++i)
      numbers.push_back(i % 8 * 1024); // each in a chunk of its own
  }
  constexpr uint64_t At[] = {uint64_t(1) << 30, uint64_t(1) << 31};
  auto known = std::make_shared<KnownMemory>();
  auto add = [&known](uint64_t address, const void *from, size_t bytes) {
    const auto *begin = static_cast<const char *>(from);
    known->Parts.push_back({address, {begin, begin + bytes}, 0});
  };
  add(At[0], lists.data(), lists.size() * sizeof(List));
  add(At[1], numbers.data(), numbers.size() * sizeof(int32_t));
  uint64_t addresses[] = {Pointers[0], At[0], At[1]};
  void *args[] = {&addresses[0], &addresses[1], &addresses[2]};
  Call.kernel = Kernels.find("pagesOfLists");
  Call.grid[0] = Blocks;
  Call.args = args;
  Call.memory = known;
  Launch.resolve(Call, Index);
  const LaunchFootprint whole = footprintOf(Launch, Index, wholeGrid(Call));
  EXPECT_EQ(whole.uses.size(), Buffers[0].chunks.size());
  const LaunchFootprint narrow = narrowed(Launch, Index, whole);
  ASSERT_EQ(narrow.uses.size(), 8u);
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(narrow.uses[i].chunk, &Buffers[0].chunks[i * 2]);
    EXPECT_EQ(narrow.uses[i].need, LaunchNeed::Read);
  }
}

} // namespace
