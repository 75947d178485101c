//===- WorkTrackerTest.cpp - work without tickets -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As long as nothing has to move, work on a chunk is known of only as "before
// or after everything was waited for". What comes after is busy, however close
// behind it comes.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/device/LateDevice.h"
#include "test/unit/support/memory/MemoryFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class WorkTrackerTest : public MemoryFixture {
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    return std::make_unique<LateDevice>(std::move(cpu));
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

} // namespace
