//===- WorkLogTest.cpp - waiting for work in several queues ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/WorkLog.h"
#include "test/unit/support/device/LateDevice.h"
#include "test/unit/support/tier/FolderFixture.h"

#include <thread>
#include <utility>
#include <vector>

using namespace dragon;
using namespace dragon::test;

namespace {

/// On a device that works only when somebody waits.
class WorkLogTest : public FolderFixture {
protected:
  void SetUp() override {
    FolderFixture::SetUp();
    settings.poison = false;
    auto made = makeDevice();
    ASSERT_TRUE(made);
    late = std::make_unique<LateDevice>(std::move(made));
    for (Queue &queue : queues) {
      auto created = late->createQueue(0, 0);
      ASSERT_TRUE(created.ok());
      queue = *created;
    }
  }
  void TearDown() override {
    for (Queue queue : queues)
      EXPECT_OK(late->destroyQueue(queue));
    late.reset();
    FolderFixture::TearDown();
  }

  /// Puts 1 into the byte.
  void set(char &byte, Queue queue) {
    ASSERT_OK(late->fill(&byte, 1, 1, 1, queue));
  }

  /// The ticket of what does.
  uint64_t noteSet(WorkLog &log, char &byte, Queue queue) {
    set(byte, queue);
    auto ticket = log.note(queue);
    EXPECT_TRUE(ticket.ok());
    return ticket.ok() ? *ticket : 0;
  }

  std::unique_ptr<LateDevice> late;
  Queue queues[3] = {};
};

TEST_F(WorkLogTest, AQueueWaitsForTicketsAndNotForThoseInBetween) {
  WorkLog log(*late);
  char bytes[3] = {};
  uint64_t tickets[3];
  for (int i : {0, 1, 2}) {
    // The second in a queue of its own.
    tickets[i] = noteSet(log, bytes[i], queues[i == 1]);
  }
  ASSERT_OK(log.queueWaitsForEach(
      queues[2], std::vector<uint64_t>{tickets[0], tickets[2]}));
  ASSERT_OK(late->synchronize(queues[2]));
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[1], 0);
  EXPECT_EQ(bytes[2], 1);
  ASSERT_OK(
      log.queueWaitsForEach(queues[2], std::vector<uint64_t>{tickets[1], 0}));
  ASSERT_OK(late->synchronize(queues[2]));
  EXPECT_EQ(bytes[1], 1);
}

TEST_F(WorkLogTest, AQueueIsNotTheDestroyedOneWhoseHandleItGot) {
  WorkLog log(*late);
  char byte = 0;
  const uint64_t ticket = noteSet(log, byte, queues[0]);
  // In its own queue it is in order as it is; in another one it waits.
  log.queueEnds(queues[0]);
  ASSERT_OK(log.queueWaitsForOne(queues[0], ticket));
  ASSERT_OK(log.queueWaitsForOne(queues[1], ticket));
  EXPECT_EQ(late->waits(queues[0]), 1u);
  EXPECT_EQ(late->waits(queues[1]), 1u);
  ASSERT_OK(late->synchronizeAll());
}

TEST_F(WorkLogTest, EachThreadHasAQueueOfItsOwn) {
  WorkLog log(*late);
  const Queue own = Device::PerThreadQueue;
  auto ticket = log.note(own);
  ASSERT_TRUE(ticket.ok());
  ASSERT_OK(log.queueWaitsForOne(own, *ticket));
  EXPECT_EQ(late->waits(own), 0u);
  std::thread([&] { EXPECT_OK(log.queueWaitsForOne(own, *ticket)); }).join();
  EXPECT_EQ(late->waits(own), 1u);
}

/// What the test queues when somebody waits for it.
class QueuedLater : public WorkLog::Later {
public:
  QueuedLater(Device &device, Queue queue) : Dev(device), To(queue) {}

  /// Will put 1 into the byte; its number.
  uint64_t add(char &byte) {
    Bytes.push_back(&byte);
    return Bytes.size();
  }
  bool isQueued(uint64_t number) override { return Queued >= number; }
  Status awaitQueued(uint64_t number) override {
    for (; Queued < number; ++Queued)
      DRAGON_TRY(Dev.fill(Bytes[Queued], 1, 1, 1, To));
    return std::exchange(Failure, Status());
  }

  uint64_t Queued = 0;
  Status Failure;

private:
  Device &Dev;
  const Queue To;
  std::vector<char *> Bytes;
};

TEST_F(WorkLogTest, WhatOthersQueueIsWaitedFor) {
  WorkLog log(*late);
  QueuedLater later(*late, queues[0]);
  char bytes[4] = {};
  const uint64_t first = log.noteLater(queues[0], later, later.add(bytes[0]));
  // Queued at once, in the same queue: it may run before.
  const uint64_t second = noteSet(log, bytes[1], queues[0]);
  const uint64_t third = log.noteLater(queues[0], later, later.add(bytes[2]));
  const uint64_t last = log.noteLater(queues[0], later, later.add(bytes[3]));
  EXPECT_EQ(later.Queued, 0u);
  EXPECT_FALSE(log.done(first));
  ASSERT_OK(log.queueWaitsForOne(queues[1], first));
  EXPECT_EQ(later.Queued, 1u); // and no more
  ASSERT_OK(late->synchronize(queues[1]));
  EXPECT_EQ(bytes[0], 1);
  const uint64_t both[] = {second, third};
  ASSERT_OK(log.queueWaitsForEach(queues[2], both));
  EXPECT_EQ(later.Queued, 2u);
  ASSERT_OK(late->synchronize(queues[2]));
  EXPECT_EQ(bytes[1], 1);
  EXPECT_EQ(bytes[2], 1);
  EXPECT_TRUE(log.done(third));
  ASSERT_OK(log.waitFor(last));
  EXPECT_EQ(bytes[3], 1);
}

TEST_F(WorkLogTest, ALaterOneInTheSameQueueIsNoSignOfWhatOthersQueue) {
  WorkLog log(*late);
  QueuedLater later(*late, queues[0]);
  char bytes[2] = {};
  const uint64_t first = log.noteLater(queues[0], later, later.add(bytes[0]));
  const uint64_t second = noteSet(log, bytes[1], queues[0]);
  ASSERT_OK(late->synchronize(queues[0]));
  EXPECT_EQ(bytes[1], 1);
  EXPECT_FALSE(log.done(first));
  EXPECT_FALSE(log.done(second)); // with all before it
  ASSERT_OK(log.queueWaitsFor(queues[1], second));
  ASSERT_OK(late->synchronize(queues[1]));
  EXPECT_EQ(bytes[0], 1);
}

TEST_F(WorkLogTest, AFailureThatPollingMetIsToldToWhoWaits) {
  WorkLog log(*late);
  QueuedLater later(*late, queues[0]);
  char byte = 0;
  const uint64_t ticket = log.noteLater(queues[0], later, later.add(byte));
  later.Failure = Status::error(DRAGON_ERROR_FILE, "no");
  later.Queued = 1;
  log.poll();
  EXPECT_EQ(log.queueWaitsForOne(queues[1], ticket).code(), DRAGON_ERROR_FILE);
  ASSERT_OK(log.queueWaitsForOne(queues[1], ticket)); // once
  later.Failure = Status::error(DRAGON_ERROR_FILE, "no");
  log.noteLater(queues[0], later, later.add(byte));
  EXPECT_EQ(log.recordAll().code(), DRAGON_ERROR_FILE);
  ASSERT_OK(log.recordAll());
  ASSERT_OK(late->synchronizeAll());
}

} // namespace
