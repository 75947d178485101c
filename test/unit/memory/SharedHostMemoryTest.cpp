//===- SharedHostMemoryTest.cpp - host memory that programs divide --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostMemory.h"
#include "test/unit/support/memory/PlacesFixture.h"

#include <thread>

using namespace dragon;
using namespace dragon::test;

namespace {

/// 16 chunks of host memory for two programs, and twelve chunks with contents in
/// that of this one. It always has two.
class SharedHostMemoryTest : public PlacesFixture {
protected:
  static constexpr size_t Number = 12;
  static constexpr uint64_t Each = 2 * MiB, Total = 16 * Each, Least = 2 * Each;

  void SetUp() override {
    PlacesFixture::SetUp();
    settings.hostMemory = Total;
    settings.deviceMemory = Number * Each;
    ASSERT_NO_FATAL_FAILURE(startParts(Number));
    write(0, numbers(Number * Words, 5));
    parts->Time.Tracking = true;
    parts->Ctx.hostShare = join();
    ASSERT_TRUE(parts->Ctx.hostShare->reserve(slabs().Pool.held()));
    slabs().startSharing(Least);
    ASSERT_OK(evict(0, Number));
    ASSERT_OK(parts->Time.synchronizeAll());
    parts->Time.poll();
    parts->Ctx.pins.next();
    Other = join();
  }
  void TearDown() override {
    EXPECT_EQ(contentsBroughtIn(), Data);
    PlacesFixture::TearDown();
  }
  std::unique_ptr<DeviceShare> join() {
    DeviceShare::Terms terms;
    terms.total = Total;
    auto share = DeviceShare::join(folder.path(), "host", terms);
    EXPECT_TRUE(share.ok());
    return std::move(*share);
  }
  HostSlabs &slabs() { return parts->Slabs; }
  uint64_t budget() { return slabs().Pool.budget(); }

  std::unique_ptr<DeviceShare> Other;
};

TEST_F(SharedHostMemoryTest, WhatOthersWantGoesToFiles) {
  ASSERT_GE(slabs().Pool.held(), Number * Each);
  Other->wants(12 * Each);
  EXPECT_TRUE(slabs().mayHaveChanged());
  EXPECT_TRUE(parts->Host.follow());
  EXPECT_LE(slabs().Pool.held(), Total / 2);
  EXPECT_EQ(Other->held(), slabs().Pool.held());
  EXPECT_GT(parts->Ctx.hostShare->given.swapped, 0u);
}

TEST_F(SharedHostMemoryTest, ACallKeepsWhatItHolds) {
  for (Chunk *chunk : Chunks)
    parts->Ctx.pins.add(*chunk);
  Other->wants(Total);
  EXPECT_FALSE(parts->Host.follow());
  EXPECT_EQ(slabs().Pool.used(), Number * Each);
  EXPECT_GE(budget(), Number * Each + Least);
}

TEST_F(SharedHostMemoryTest, ACallThatNeedsMoreAtOnceExceedsItsPart) {
  Other->wants(Total);
  ASSERT_TRUE(parts->Host.follow());
  const uint64_t part = budget();
  ASSERT_LT(part, 12 * Each);
  EXPECT_TRUE(slabs().exceed(12 * Each));
  EXPECT_GE(budget(), 12 * Each);
  EXPECT_FALSE(slabs().exceed(12 * Each));    // nothing new to try
  EXPECT_FALSE(slabs().exceed(Total + Each)); // more than it ever may have
  // It is over.
  EXPECT_TRUE(parts->Host.follow());
  EXPECT_LE(budget(), part + Each);
}

TEST_F(SharedHostMemoryTest, WhoIsOwedWaits) {
  Other->wants(12 * Each);
  // It is below its part, and this program above its own.
  std::thread other([&] {
    EXPECT_EQ(Other->waitForRoom(7 * Each, 600), DeviceShare::Room::There);
  });
  EXPECT_TRUE(parts->Host.follow());
  other.join();
}

TEST_F(SharedHostMemoryTest, WhatNobodyWantsComesBack) {
  Other->wants(12 * Each);
  EXPECT_TRUE(parts->Host.follow());
  EXPECT_LT(budget(), Total);
  Other.reset();
  slabs().wants(Total);
  EXPECT_EQ(budget(), Total);
  // A buffer is freed.
  slabs().wantsNoMoreThan(2 * Each);
  EXPECT_EQ(parts->Ctx.hostShare->programs().front().wanted, 2 * Each);
}

} // namespace
