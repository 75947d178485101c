//===- WorkLogTest.cpp - waiting for work in several queues ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/WorkLog.h"
#include "LateDevice.h"
#include "RuntimeFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

/// On a device that works only when somebody waits.
class WorkLogTest : public RuntimeFixture {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.poison = false;
    std::string notes;
    auto made = createDevice(settings, notes);
    ASSERT_TRUE(made.ok()) << made.takeStatus().message();
    late = std::make_unique<LateDevice>(std::move(*made));
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
    RuntimeFixture::TearDown();
  }

  /// Puts 1 into the byte.
  void set(char &byte, Queue queue) {
    ASSERT_OK(late->fill(&byte, 1, 1, 1, queue));
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
    const Queue queue = queues[i == 1];
    set(bytes[i], queue);
    auto ticket = log.note(queue);
    ASSERT_TRUE(ticket.ok());
    tickets[i] = *ticket;
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

} // namespace
