//===- HostSlabsTest.cpp - slabs of pinned host memory --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostSlabs.h"
#include "test/unit/support/device/LateDevice.h"
#include "test/unit/support/memory/MemoryFixture.h"

#include <random>

using namespace dragon;
using namespace dragon::test;

namespace {

/// On a device that copies when somebody waits for it.
class HostSlabsTest : public MemoryFixture {
protected:
  void SetUp() override {
    MemoryFixture::SetUp();
    settings.poison = false;
    ASSERT_NO_FATAL_FAILURE(startParts(4));
  }
  void TearDown() override {
    ASSERT_OK(parts->Time.synchronizeAll());
    ASSERT_OK(parts->Slabs.recycleTransit(false));
    parts->Slabs.Pool.trim();
    EXPECT_EQ(Late->misused(), 0u);
    MemoryFixture::TearDown();
  }
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto late = std::make_unique<LateDevice>(std::move(cpu));
    Late = late.get();
    return late;
  }
  /// A transfer to the device; the slab is given when it is queued.
  void transfer(Chunk &chunk) {
    auto slab = parts->Slabs.Pool.take(2 * MiB);
    ASSERT_TRUE(slab.ok());
    ASSERT_OK(parts->Ctx.device->copy(pointer(chunk.va()), slab->hostView,
                                      2 * MiB, CopyKind::HostToDevice,
                                      parts->Ctx.copyIn));
    auto ticket = parts->Time.Fetches.note(parts->Ctx.copyIn);
    ASSERT_TRUE(ticket.ok());
    parts->Slabs.giveTransit(*slab, *ticket);
  }
  uint64_t used() const { return parts->Slabs.Pool.used(); }

  LateDevice *Late = nullptr;
};

TEST_F(HostSlabsTest, TransitMemoryIsInUseUntilItsCopyIsDone) {
  transfer(*Chunks[0]);
  transfer(*Chunks[1]);
  EXPECT_TRUE(parts->Slabs.anyTransit());
  ASSERT_OK(parts->Slabs.recycleTransit(/*wait=*/false));
  EXPECT_EQ(used(), 4 * MiB);
  // Waits for the first one, and for no more.
  ASSERT_OK(parts->Slabs.recycleTransit(/*wait=*/true));
  EXPECT_EQ(used(), 2 * MiB);
  ASSERT_OK(parts->Slabs.recycleTransit(/*wait=*/true));
  EXPECT_EQ(used(), 0u);
  EXPECT_FALSE(parts->Slabs.anyTransit());
  ASSERT_OK(parts->Slabs.recycleTransit(/*wait=*/true)); // nothing to wait for
}

TEST_F(HostSlabsTest, WhatIsDoneGoesBackAtOnce) {
  auto slab = parts->Slabs.Pool.take(2 * MiB);
  ASSERT_TRUE(slab.ok());
  parts->Slabs.giveTransit(*slab, 0);
  EXPECT_FALSE(parts->Slabs.anyTransit());
  EXPECT_EQ(used(), 0u);
}

TEST_F(HostSlabsTest, RoomIsWhatTransitDoesNotKeep) {
  const uint64_t transit = parts->Ctx.limits.transitBytes;
  ASSERT_GT(transit, 0u);
  EXPECT_EQ(parts->Slabs.mappedBytes(), 16 * MiB - transit);
  EXPECT_TRUE(parts->Slabs.hasRoom(16 * MiB - transit));
  EXPECT_FALSE(parts->Slabs.hasRoom(16 * MiB - transit + 1));
}

TEST_F(HostSlabsTest, ARefusalLowersTheBudgetToWhatIsHeld) {
  const Status none = Status::error(DRAGON_ERROR_OUT_OF_MEMORY, "no memory");
  HostSlabs &slabs = parts->Slabs;
  std::vector<Physical> held;
  auto take = [&] {
    auto slab = slabs.Pool.take(2 * MiB);
    ASSERT_TRUE(slab.ok());
    held.push_back(*slab);
  };
  take();
  // Too little to go on with.
  EXPECT_FALSE(slabs.lowerBudget(none));
  EXPECT_EQ(slabs.Pool.budget(), 16 * MiB);
  take();
  take();
  EXPECT_FALSE(slabs.lowerBudget(Status::error(DRAGON_ERROR_DEVICE, "else")));
  EXPECT_EQ(slabs.Pool.budget(), 16 * MiB);
  EXPECT_TRUE(slabs.lowerBudget(none));
  EXPECT_EQ(slabs.Pool.budget(), 6 * MiB);
  EXPECT_EQ(parts->Ctx.limits.hostBytes, 6 * MiB);
  EXPECT_LT(parts->Ctx.limits.transitBytes, 6 * MiB);
  EXPECT_FALSE(slabs.Pool.take(2 * MiB).ok());
  for (const Physical &slab : held)
    slabs.Pool.give(slab);
}

TEST(SetListedTest, EachChunkKnowsItsPlace) {
  std::mt19937 random(2);
  std::vector<Chunk> chunks(20);
  std::vector<bool> listed(chunks.size());
  std::vector<Chunk *> list;
  for (int step = 0; step < 2000; ++step) {
    const size_t which = random() % chunks.size();
    const bool present = random() % 2;
    setListed(list, &Chunk::hostSlot, chunks[which], present);
    listed[which] = present;
    ASSERT_EQ(list.size(),
              size_t(std::count(listed.begin(), listed.end(), true)));
    for (size_t i = 0; i < chunks.size(); ++i) {
      ASSERT_EQ(chunks[i].hostSlot >= 0, listed[i]);
      if (listed[i])
        ASSERT_EQ(list[size_t(chunks[i].hostSlot)], &chunks[i]);
      ASSERT_EQ(chunks[i].deviceSlot, -1);
    }
  }
}

} // namespace
