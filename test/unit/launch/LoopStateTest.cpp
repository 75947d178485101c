//===- LoopStateTest.cpp - what threads keep between parts of a loop ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LoopState.h"
#include "test/unit/support/launch/TestKernels.h"
#include "test/unit/support/memory/MemoryFixture.h"

#include <gtest/gtest.h>

#include <array>

using namespace dragon;
using namespace dragon::test;

namespace {

/// A launch whose kernel can be cut along so many loops.
struct LoopArgumentsTest : testing::Test {
  LaunchCall callWith(uint32_t loops) {
    record.NumLoops = loops;
    kernel.record = &record;
    LaunchCall call{};
    call.kernel = &kernel;
    return call;
  }
  KernelRecord record{};
  KernelInfo kernel;
};

TEST_F(LoopArgumentsTest, SixFollowThoseOfTheKernel) {
  int one = 1, two = 2;
  void *args[] = {&one, &two};
  LaunchCall call = callWith(1);
  call.grid[0] = 4;
  call.grid[1] = 3;
  call.grid[2] = 5;
  call.args = args;
  call.numArgs = 2;
  call.dynamicSharedBytes = 77;
  const BlockBox box{{0, 0, 2, 7}, {4, 3, 4, 9}};
  EXPECT_EQ(blocksOf(box), 24u);
  const LoopArguments arguments(call, 0x1000, box, box);
  const std::span<void *const> all = arguments.all();
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(all[0], &one);
  EXPECT_EQ(all[1], &two);
  EXPECT_EQ(argument<uint64_t>(all.data(), 2), 0x1000u);
  EXPECT_EQ(argument<uint64_t>(all.data(), 3), 7u);
  EXPECT_EQ(argument<uint64_t>(all.data(), 4), 9u);
  EXPECT_EQ(argument<uint64_t>(all.data(), 5), 24u); // two layers before it
  EXPECT_EQ(argument<uint64_t>(all.data(), 6), 24u);
  EXPECT_EQ(argument<uint32_t>(all.data(), 7), 77u);
}

TEST_F(LoopArgumentsTest, TheLastPartGoesToTheEnd) {
  LaunchCall call = callWith(1);
  call.grid[0] = 1000;
  call.grid[1] = call.grid[2] = 1;
  const BlockBox panel{{250, 0, 0, 0}, {260, 1, 1, 7}};
  const BlockBox box{{253, 0, 0, 7}, {255, 1, 1, ToTheEnd}};
  const LoopArguments arguments(call, 0x1000, box, panel);
  const std::span<void *const> all = arguments.all();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(argument<uint64_t>(all.data(), 1), 7u);
  EXPECT_EQ(argument<uint64_t>(all.data(), 2), UINT64_MAX);
  EXPECT_EQ(argument<uint64_t>(all.data(), 3), 250u);
  EXPECT_EQ(argument<uint64_t>(all.data(), 4), 10u);
}

TEST_F(LoopArgumentsTest, OfSeveralLoopsEachHasAnEnd) {
  LaunchCall call = callWith(3);
  call.grid[0] = call.grid[1] = call.grid[2] = 1;
  call.loopEnds = {10, 30, 35};
  auto ends = [&](uint32_t lo, uint32_t hi) {
    const BlockBox box{{0, 0, 0, lo}, {1, 1, 1, hi}};
    const LoopArguments arguments(call, 0x1000, box, box);
    const std::span<void *const> all = arguments.all();
    EXPECT_EQ(all.size(), 9u);
    return std::array{argument<uint64_t>(all.data(), 6),
                      argument<uint64_t>(all.data(), 7),
                      argument<uint64_t>(all.data(), 8)};
  };
  using Ends = std::array<uint64_t, 3>;
  EXPECT_EQ(ends(0, 4), (Ends{4, 0, 0}));
  EXPECT_EQ(ends(4, 10), (Ends{UINT64_MAX, 0, 0}));
  EXPECT_EQ(ends(4, 12), (Ends{UINT64_MAX, 2, 0}));
  EXPECT_EQ(ends(12, 32), (Ends{UINT64_MAX, UINT64_MAX, 2}));
  EXPECT_EQ(ends(32, ToTheEnd), (Ends{UINT64_MAX, UINT64_MAX, UINT64_MAX}));
}

TEST_F(LoopArgumentsTest, OfALoopInRoundsTheRoundFollows) {
  LaunchCall call = callWith(1);
  record.LoopRounds[0] = 1;
  call.grid[0] = call.grid[1] = call.grid[2] = 1;
  call.loopEnds = {10};
  call.loopRounds = {3};
  const BlockBox box{{0, 0, 0, 4}, {1, 1, 1, 17}};
  const LoopArguments arguments(call, 0x1000, box, box);
  const std::span<void *const> all = arguments.all();
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(argument<uint64_t>(all.data(), 6), 7u);
  EXPECT_EQ(argument<uint64_t>(all.data(), 7), 1u);
}

/// Launches of "add" in blocks of 16 x 4 threads, as if it had a copy.
class LoopStateTest : public MemoryFixture {
protected:
  void start() {
    ASSERT_NO_FATAL_FAILURE(startParts(4));
    State.emplace(parts->Ctx, parts->Time, parts->OnDevice);
    Kernel = *Kernels.find("add");
    Record = *Kernel.record;
    Record.LoopThreadBytes = 12;
    Record.LoopBlockBytes = 272;
    Kernel.record = &Record;
    Kernel.looped = Kernel.handle;
    Call.kernel = &Kernel;
    for (unsigned axis = 0; axis < 3; ++axis)
      Call.grid[axis] = 1;
    Call.grid[0] = 64;
    Call.block[0] = 16;
    Call.block[1] = 4;
    Call.block[2] = 1;
    for (unsigned i = 0; i < 3; ++i) {
      Pointers[i] = Whole->base;
      Arguments[i] = &Pointers[i];
    }
    Arguments[3] = &Number;
    Call.args = Arguments;
    Call.numArgs = 4;
  }
  void TearDown() override {
    if (State)
      State->drop();
    MemoryFixture::TearDown();
  }
  uint64_t granules(uint64_t bytes) const {
    const uint64_t unit = parts->Ctx.caps().granularity;
    return (bytes + unit - 1) / unit * unit;
  }
  ResolvedLaunch resolved() {
    return ResolvedLaunch(Call, parts->Space.Allocations);
  }
  /// Each buffer leads to another allocation.
  void makeDistinct() {
    for (uintptr_t &pointer : Pointers) {
      Buffer *other = makeBuffer(1, "other");
      ASSERT_TRUE(other);
      pointer = other->base;
    }
  }

  TestKernels Kernels;
  std::optional<LoopState> State;
  KernelInfo Kernel;
  KernelRecord Record{};
  LaunchCall Call{};
  uintptr_t Pointers[3];
  int Number = 64;
  void *Arguments[4];
};

TEST_F(LoopStateTest, EachThreadAndEachBlockKeepsSomething) {
  ASSERT_NO_FATAL_FAILURE(start());
  constexpr uint64_t Blocks = 100000, Threads = 64 * Blocks;
  const uint64_t least = Threads * 12 + Blocks * 272;
  EXPECT_GE(State->bytesToMake(Call, Blocks), granules(least));
  EXPECT_LE(State->bytesToMake(Call, Blocks), granules(least + 32));
  // What is dynamic, up to 16 bytes, if it is kept.
  Call.dynamicSharedBytes = 1000;
  EXPECT_LE(State->bytesToMake(Call, Blocks), granules(least + 32));
  Record.Flags |= KernelLoopKeepsDynamic;
  const uint64_t more = least + Blocks * 1008;
  EXPECT_GE(State->bytesToMake(Call, Blocks), granules(more));
  EXPECT_LE(State->bytesToMake(Call, Blocks), granules(more + 32));
  // And nothing but what a launch needs, where threads keep nothing.
  Record.LoopThreadBytes = Record.LoopBlockBytes = 0;
  Record.Flags &= ~KernelLoopKeepsDynamic;
  EXPECT_EQ(State->bytesToMake(Call, Blocks), granules(1));
}

TEST_F(LoopStateTest, OneAreaIsUsedAgain) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_FALSE(State->any());
  ASSERT_OK(State->begin(Call, 1000));
  ASSERT_TRUE(State->any());
  const AddressRange area = State->range();
  EXPECT_EQ(area.begin, State->address());
  EXPECT_EQ(area.begin % 16, 0u);
  EXPECT_GE(area.end - area.begin, 1000u * (64 * 12 + 272));
  // It can be used.
  EXPECT_OK(parts->Ctx.device->fill(pointer(area.begin), 7, 1,
                                    area.end - area.begin, nullptr));
  ASSERT_OK(State->end(Call));
  EXPECT_EQ(State->bytesToMake(Call, 1000), 0u);
  for (uint64_t blocks : {1, 999, 1000}) {
    ASSERT_OK(State->begin(Call, blocks));
    EXPECT_EQ(State->address(), area.begin);
    ASSERT_OK(State->end(Call));
  }
  EXPECT_EQ(State->range().end, area.end);
}

TEST_F(LoopStateTest, ItGrowsAndGoes) {
  ASSERT_NO_FATAL_FAILURE(start());
  SlabPool &pool = parts->OnDevice.Pool;
  const uint64_t budget = pool.budget();
  ASSERT_OK(State->begin(Call, 10));
  ASSERT_OK(State->end(Call));
  const uint64_t small = State->range().end - State->range().begin;
  EXPECT_EQ(pool.budget(), budget - small); // the others' is what is left
  const uint64_t wanted = State->bytesToMake(Call, 4000);
  ASSERT_GT(wanted, small);
  ASSERT_OK(State->begin(Call, 4000));
  ASSERT_OK(State->end(Call));
  EXPECT_EQ(State->range().end - State->range().begin, wanted);
  EXPECT_EQ(pool.budget(), budget - wanted); // one area
  EXPECT_EQ(State->bytesToMake(Call, 4000), 0u);
  State->drop();
  EXPECT_FALSE(State->any());
  EXPECT_EQ(pool.budget(), budget);
  EXPECT_EQ(State->bytesToMake(Call, 4000), wanted);
  State->drop(); // nothing is there
}

TEST_F(LoopStateTest, OthersMakeRoom) {
  settings.deviceMemory = 8 * MiB;
  ASSERT_NO_FATAL_FAILURE(start());
  write(0, numbers(4 * Words, 3));
  for (Chunk *chunk : Chunks)
    ASSERT_OK(bringIn(*chunk, LaunchNeed::Read));
  ASSERT_OK(State->begin(Call, 1000));
  ASSERT_OK(State->end(Call));
  EXPECT_LT(parts->OnDevice.Chunks.size(), Chunks.size());
  EXPECT_EQ(contents(), Data);
}

TEST_F(LoopStateTest, WhatDoesNotFitIsRefusedAndNothingIsLeft) {
  settings.deviceMemory = 8 * MiB;
  ASSERT_NO_FATAL_FAILURE(start());
  const uint64_t budget = parts->OnDevice.Pool.budget();
  Status status = State->begin(Call, 100000);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("the state of 'add'"), std::string::npos)
      << status.message();
  EXPECT_FALSE(State->any());
  EXPECT_EQ(parts->OnDevice.Pool.budget(), budget);
  ASSERT_OK(State->begin(Call, 1000));
  ASSERT_OK(State->end(Call));
}

TEST_F(LoopStateTest, LaunchesThatCanBeCut) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_TRUE(State->canCut(resolved()));
  Kernel.looped.reset();
  EXPECT_FALSE(State->canCut(resolved()));
  Kernel.looped = Kernel.handle;
  Call.cooperative = true;
  EXPECT_FALSE(State->canCut(resolved()));
  Call.cooperative = false;
  ResolvedLaunch anything = resolved();
  anything.anything = true;
  EXPECT_FALSE(State->canCut(anything));
  ResolvedLaunch unknown = resolved();
  Kernel.record = nullptr;
  EXPECT_FALSE(State->canCut(unknown));
}

TEST_F(LoopStateTest, SomeNeedBuffersThatAreDistinct) {
  ASSERT_NO_FATAL_FAILURE(start());
  Record.Flags |= KernelLoopNeedsDistinct;
  EXPECT_FALSE(State->canCut(resolved())); // all are one
  ASSERT_NO_FATAL_FAILURE(makeDistinct());
  EXPECT_TRUE(State->canCut(resolved()));
}

} // namespace
