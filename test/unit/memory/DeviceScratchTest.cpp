//===- DeviceScratchTest.cpp - device memory of the runtime's own ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/DeviceScratch.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/memory/PlacesFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr uint64_t Slab = 2 * MiB;

class DeviceScratchTest : public PlacesFixture {
protected:
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto faulty = std::make_unique<FaultyDevice>(std::move(cpu), 0);
    Faulty = faulty.get();
    return faulty;
  }
  void SetUp() override {
    PlacesFixture::SetUp();
    settings.deviceMemory = 4 * Slab;
    ASSERT_NO_FATAL_FAILURE(startParts(4));
    Memory.emplace(parts->Ctx, parts->OnDevice);
    parts->Ctx.pins.next();
  }
  void TearDown() override {
    Memory.reset();
    PlacesFixture::TearDown();
  }
  uint64_t budget() const { return parts->OnDevice.Pool.budget(); }
  uint64_t usedBesideChunks() const {
    return parts->OnDevice.Pool.used() - parts->OnDevice.Chunks.size() * Slab;
  }

  FaultyDevice *Faulty = nullptr;
  std::optional<DeviceScratch> Memory;
};

TEST_F(DeviceScratchTest, IsNoneOfTheBudgetWhileItIsThere) {
  ASSERT_OK(Memory->make(2 * Slab, Slab));
  EXPECT_TRUE(Memory->any());
  EXPECT_EQ(Memory->bytes(), 2 * Slab);
  EXPECT_EQ(budget(), 2 * Slab);
  ASSERT_OK(parts->Ctx.device->fill(reinterpret_cast<void *>(Memory->address()),
                                    1, 1, 2 * Slab, nullptr));
  Memory->drop();
  EXPECT_FALSE(Memory->any());
  EXPECT_EQ(budget(), 4 * Slab);
  EXPECT_EQ(usedBesideChunks(), 0u);
}

TEST_F(DeviceScratchTest, ChunksLeaveForIt) {
  write(0, numbers(4 * Words, 3));
  parts->Ctx.pins.next();
  ASSERT_OK(Memory->make(2 * Slab, 2 * Slab));
  EXPECT_LE(parts->OnDevice.Chunks.size(), 2u);
  Memory->drop();
}

TEST_F(DeviceScratchTest, GoesBackWhereOthersNeedTheRoom) {
  ASSERT_OK(Memory->make(2 * Slab, Slab));
  EXPECT_FALSE(parts->OnDevice.holds(3 * Slab)) << "nobody gives it back";
  parts->OnDevice.addScratch([this] {
    const bool any = Memory->any();
    Memory->drop();
    return any;
  });
  EXPECT_TRUE(parts->OnDevice.holds(2 * Slab));
  EXPECT_TRUE(Memory->any()) << "there was room beside it";
  EXPECT_FALSE(parts->OnDevice.holds(5 * Slab));
  EXPECT_FALSE(Memory->any());
  ASSERT_OK(Memory->make(2 * Slab, Slab));
  // A buffer that is to stay, as large as the device.
  ASSERT_OK(parts->Resident.keep(*Whole));
  EXPECT_FALSE(Memory->any());
  EXPECT_FALSE(parts->OnDevice.dropScratch());
}

TEST_F(DeviceScratchTest, WhatCannotBeUnmappedIsGivenToNobody) {
  ASSERT_OK(Memory->make(2 * Slab, Slab));
  Faulty->failAt(1);
  Memory->drop();
  ASSERT_EQ(Faulty->failedCall(), DeviceCall::Unmap);
  EXPECT_FALSE(Memory->any());
  EXPECT_EQ(budget(), 3 * Slab);
  // The rest serves.
  write(0, numbers(4 * Words, 5));
  ASSERT_OK(Memory->make(2 * Slab, Slab));
  Memory->drop();
}

TEST_F(DeviceScratchTest, NothingIsLeftOfWhatCannotBeMade) {
  for (uint64_t n = 1;; ++n) {
    Faulty->failAt(n);
    Status made = Memory->make(2 * Slab, Slab);
    const bool failed = Faulty->hasFailed();
    Faulty->failAt(0);
    if (!failed) {
      ASSERT_OK(std::move(made));
      break;
    }
    ASSERT_LT(n, 20u);
    EXPECT_FALSE(made.ok());
    EXPECT_FALSE(Memory->any());
    EXPECT_EQ(budget(), 4 * Slab);
    EXPECT_EQ(usedBesideChunks(), 0u);
  }
  Memory->drop();
}

} // namespace
