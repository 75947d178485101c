//===- OrdinaryMemoryTest.cpp - evicted contents that are not pinned ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/OrdinaryMemory.h"
#include "test/unit/support/memory/LatePlacesFixture.h"

#include <algorithm>
#include <cstring>

using namespace dragon;
using namespace dragon::test;

namespace {

TEST(OrdinaryMemory, PlacesAreOfTheBudgetAndUsedAgain) {
  int64_t charged = 0;
  bool hasRoom = true;
  OrdinaryMemory memory;
  EXPECT_EQ(memory.allocate(1).bytes, 0U); // nobody has said how much
  memory.setBudget(8 * MiB, [&](int64_t bytes) {
    if (bytes > 0 && !hasRoom)
      return false;
    charged += bytes;
    return true;
  });
  const SwapFile::Slot first = memory.allocate(3 * MiB);
  ASSERT_EQ(first.bytes, 4 * MiB); // whole huge pages
  EXPECT_TRUE(first.file->isMemory());
  EXPECT_EQ(first.offset % int64_t(2 * MiB), 0);
  std::memset(reinterpret_cast<void *>(first.offset), 1, first.bytes);
  const SwapFile::Slot second = memory.allocate(2 * MiB);
  ASSERT_EQ(second.bytes, 2 * MiB);
  EXPECT_EQ(memory.allocate(4 * MiB).bytes, 0U);
  EXPECT_EQ(charged, int64_t(6 * MiB));
  EXPECT_EQ(memory.held(), 6 * MiB);

  hasRoom = false;
  EXPECT_EQ(memory.allocate(2 * MiB).bytes, 0U);
  memory.release(first);
  EXPECT_EQ(memory.held(), 6 * MiB);
  EXPECT_EQ(memory.allocate(4 * MiB).offset, first.offset);
  memory.release(second);
  hasRoom = true;
  const SwapFile::Slot small = memory.allocate(5000);
  EXPECT_EQ(small.bytes, 8192U);
  std::memset(reinterpret_cast<void *>(small.offset), 2, small.bytes);
  memory.release(small);
  memory.trim();
  EXPECT_EQ(memory.held(), 4 * MiB);
  EXPECT_EQ(charged, int64_t(4 * MiB));
  memory.release(first);
}

/// The device is asynchronous, and pinned memory is scarce: what waits to be
/// written may take more than there is ever ready.
class EvictionToOrdinaryMemoryTest : public LatePlacesFixture {
protected:
  void SetUp() override {
    LatePlacesFixture::SetUp();
    settings.hostMemory = 256 * MiB;
    ASSERT_NO_FATAL_FAILURE(put(At::Device));
    ASSERT_OK(parts->Time.synchronizeAll());
  }
  OrdinaryMemory &memory() { return parts->Store.Ordinary; }
  bool allAreThere() {
    return std::all_of(Chunks.begin(), Chunks.end(), [](const Chunk *chunk) {
      return chunk->storage.inProgramMemory() && chunk->copies.storage &&
             !chunk->copies.host && !chunk->host.id && !chunk->device.id;
    });
  }
  void change() {
    for (Chunk *chunk : Chunks) {
      ASSERT_OK(bringIn(*chunk, LaunchNeed::Write));
      ASSERT_OK(parts->Data.wroteDevice(*chunk));
    }
  }
};

TEST_F(EvictionToOrdinaryMemoryTest, ContentsComeBackFromThere) {
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_TRUE(allAreThere());
  EXPECT_EQ(memory().held(), Count * 2 * MiB);
  EXPECT_GE(parts->Slabs.Pool.used(), memory().held());
  EXPECT_EQ(moved(Direction::HostToSwap), 0U);
  EXPECT_TRUE(contents() == Data);

  // What changes on the device needs its place no more: others have it.
  ASSERT_NO_FATAL_FAILURE(change());
  EXPECT_EQ(Chunks[0]->slot.bytes, 0U);
  write(0, numbers(Count * Words, 7));
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_TRUE(allAreThere());
  EXPECT_EQ(memory().held(), Count * 2 * MiB);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(EvictionToOrdinaryMemoryTest, WhatLeavesAgainAndAgainGetsPinnedMemory) {
  for (int time = 0; time < 3; ++time) {
    if (time)
      ASSERT_NO_FATAL_FAILURE(change());
    ASSERT_OK(evict(0, Count));
    ASSERT_OK(parts->Writes.finishAll());
    EXPECT_EQ(allAreThere(), time < 2);
  }
  for (const Chunk *chunk : Chunks)
    EXPECT_EQ(chunk->host.place, Place::Pinned);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(EvictionToOrdinaryMemoryTest, TheProgramChangesWhatIsOnItsWay) {
  ASSERT_OK(evict(0, Count));
  write(0, numbers(Count * Words, 8));
  EXPECT_TRUE(contents() == Data);
  ASSERT_NO_FATAL_FAILURE(change());
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Data.forget(*Chunks[1]));
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_EQ(Chunks[1]->slot.bytes, 0U);
  EXPECT_EQ(Chunks[0]->slot.bytes, 2 * MiB);
  memory().trim();
  EXPECT_EQ(memory().held(), 2 * (Count - 1) * MiB);
}

TEST_F(EvictionToOrdinaryMemoryTest, ContentsGoToSwapWhereHostMemoryIsShort) {
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_EQ(memory().held(), Count * 2 * MiB);
  ASSERT_OK(parts->Host.makeRoom(256 * MiB - 2 * MiB, true));
  EXPECT_LE(memory().held(), 2 * MiB);
  EXPECT_GE(moved(Direction::HostToSwap), (Count - 1) * 2 * MiB);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(EvictionToOrdinaryMemoryTest, WhatHasCameToPinnedMemoryIsNotKeptTwice) {
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  ASSERT_OK(
      parts->Resident.bringToHost(*Chunks[1], LaunchNeed::Read, Cause::Demand));
  auto freed = parts->Slabs.freeOrdinary();
  ASSERT_TRUE(freed.ok() && *freed);
  EXPECT_EQ(memory().held(), (Count - 1) * 2 * MiB);
  EXPECT_EQ(moved(Direction::HostToSwap), 0U);
  EXPECT_FALSE(Chunks[1]->copies.storage);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(EvictionToOrdinaryMemoryTest, MemoryThatIsReadStaysWhereItIs) {
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  std::vector<char> bytes(4096);
  ReadPlan plan;
  parts->Store.planRead(*Chunks[0], 0, bytes.size(), bytes.data(), plan);
  auto freed = parts->Slabs.freeOrdinary();
  ASSERT_TRUE(freed.ok());
  EXPECT_FALSE(*freed);
  ASSERT_OK(parts->Store.run(plan, Cause::Copy));
  plan = {};
  freed = parts->Slabs.freeOrdinary();
  ASSERT_TRUE(freed.ok());
  EXPECT_TRUE(*freed);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(EvictionToOrdinaryMemoryTest,
       MemoryThatNobodyHasGoesBackWhenItIsNeeded) {
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  ASSERT_NO_FATAL_FAILURE(change());
  EXPECT_EQ(memory().held(), Count * 2 * MiB);
  fillHost();
  ASSERT_OK(parts->Host.makeRoom(2 * MiB, false));
  EXPECT_EQ(memory().held(), 0U);
  // There is no room for it now.
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_EQ(memory().held(), 0U);
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

} // namespace
