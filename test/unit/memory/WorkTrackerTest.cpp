//===- WorkTrackerTest.cpp - work without tickets -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As long as nothing has to move, work on a chunk is known of only as "before
// or after everything was waited for". What comes after is busy, however close
// behind it comes. From then on each chunk is known by its tickets.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/device/LateDevice.h"
#include "test/unit/support/memory/MemoryFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class WorkTrackerTest : public MemoryFixture {
protected:
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    return std::make_unique<LateDevice>(std::move(cpu));
  }
  /// Puts 1 into the byte, as work that uses the chunk.
  void work(char &byte, size_t chunk) {
    ASSERT_OK(parts->Ctx.device->fill(&byte, 1, 1, 1, nullptr));
    ASSERT_OK(parts->Time.noteUse({&Chunks[chunk], 1}, nullptr));
  }
};

TEST_F(WorkTrackerTest, IsBusyUntilTheNextSynchronisation) {
  startParts(2);
  Chunk &chunk = *Chunks[0];
  EXPECT_FALSE(parts->Time.isBusy(chunk));
  for (int round = 0; round < 3; ++round) {
    // All at one time of the clock, as slices of one launch are.
    ASSERT_OK(parts->Time.noteUse({&Chunks[0], 1}, nullptr));
    EXPECT_TRUE(parts->Time.isBusy(chunk));
    ASSERT_OK(parts->Time.settle(chunk));
    EXPECT_FALSE(parts->Time.isBusy(chunk));
  }
}

TEST_F(WorkTrackerTest, WithTicketsChunksAreBusyOneByOne) {
  startParts(3);
  parts->Time.Tracking = true;
  char bytes[2] = {};
  work(bytes[0], 0);
  work(bytes[1], 1);
  EXPECT_TRUE(parts->Time.isBusy(*Chunks[0]));
  EXPECT_TRUE(parts->Time.isBusy(*Chunks[1]));
  EXPECT_FALSE(parts->Time.isBusy(*Chunks[2]));
  ASSERT_OK(parts->Time.settle(*Chunks[2]));
  EXPECT_EQ(bytes[0], 0);
  ASSERT_OK(parts->Time.settle(*Chunks[0]));
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[1], 0);
  EXPECT_FALSE(parts->Time.isBusy(*Chunks[0]));
  EXPECT_TRUE(parts->Time.isBusy(*Chunks[1]));
  ASSERT_OK(parts->Time.synchronizeAll());
  EXPECT_EQ(bytes[1], 1);
  EXPECT_FALSE(parts->Time.isBusy(*Chunks[1]));
}

TEST_F(WorkTrackerTest, AQueueWaitsForAllThatUsesTheChunk) {
  startParts(2);
  parts->Time.Tracking = true;
  Device &device = *parts->Ctx.device;
  // Work, a copy to the device and one from it, each in its queue.
  char used = 0, arrived = 0, departed = 0, other = 0;
  work(used, 0);
  work(other, 1);
  ASSERT_OK(device.fill(&arrived, 1, 1, 1, parts->Ctx.copyIn));
  auto ticket = parts->Time.Fetches.note(parts->Ctx.copyIn);
  ASSERT_TRUE(ticket.ok());
  Chunks[0]->transit.arrival = *ticket;
  ASSERT_OK(device.fill(&departed, 1, 1, 1, parts->Ctx.copyOut));
  ticket = parts->Time.Departures.note(parts->Ctx.copyOut);
  ASSERT_TRUE(ticket.ok());
  Chunks[0]->transit.departure = *ticket;
  EXPECT_TRUE(parts->Time.isBusy(*Chunks[0]));
  auto queue = device.createQueue(Device::NonBlocking, 0);
  ASSERT_TRUE(queue.ok());
  ASSERT_OK(parts->Time.queueWaitsFor(*queue, *Chunks[0]));
  EXPECT_EQ(used + arrived + departed, 0); // the host has not waited
  ASSERT_OK(device.synchronize(*queue));
  EXPECT_EQ(used, 1);
  EXPECT_EQ(arrived, 1);
  EXPECT_EQ(departed, 1);
  EXPECT_EQ(other, 0);
  EXPECT_FALSE(parts->Time.isBusy(*Chunks[0]));
  ASSERT_OK(device.destroyQueue(*queue));
  ASSERT_OK(parts->Time.synchronizeAll());
}

} // namespace
