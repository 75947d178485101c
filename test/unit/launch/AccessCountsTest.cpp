//===- AccessCountsTest.cpp - what launches were seen to access ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/AccessCounts.h"
#include "test/unit/support/base/Expect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

using namespace dragon;
using testing::ElementsAre;

namespace {

using test::MiB;
constexpr uintptr_t Base = uintptr_t(64) << 30;

AccessCounters countersAt(uintptr_t base, uint32_t blocks, uint32_t lanes) {
  AccessCounters counters;
  counters.base = base;
  counters.count = 4;
  counters.shift = AccessCounts::Shift;
  counters.blocks = blocks;
  counters.lanes = lanes;
  return counters;
}

TEST(AccessCountsTest, LaunchesCountOftenAtFirst) {
  AccessCounts log;
  std::vector<int> counting;
  for (int launch = 1; launch <= 64; ++launch)
    if (log.begins(7))
      counting.push_back(launch);
  EXPECT_THAT(counting, ElementsAre(1, 2, 4, 8, 16, 32, 48, 64));
  EXPECT_TRUE(log.begins(8)); // another shape is another matter
}

TEST(AccessCountsTest, WhatIsKnownIsOfTheShape) {
  AccessCounts log;
  EXPECT_EQ(log.accessBytes(1, Base, Base + 8 * MiB), std::nullopt);
  const std::vector<uint32_t> counts{5, 0, 1, 0};
  log.counted(1, countersAt(Base, 3, 31), counts);
  const double each = 4 * 32 * AccessCounts::AccessBytes;
  EXPECT_EQ(log.accessBytes(1, Base, Base + 2 * MiB), 5 * each);
  EXPECT_EQ(log.accessBytes(1, Base + 2 * MiB, Base + 4 * MiB), 0);
  EXPECT_EQ(log.accessBytes(1, Base + 2 * MiB, Base + 8 * MiB), each);
  EXPECT_EQ(log.accessBytes(1, Base + 64 * MiB, Base + 66 * MiB), 0);
  EXPECT_EQ(log.accessBytes(2, Base, Base + 2 * MiB), std::nullopt);
  log.clear();
  EXPECT_EQ(log.accessBytes(1, Base, Base + 2 * MiB), std::nullopt);
}

TEST(AccessCountsTest, LaterCountsOutweighEarlierOnes) {
  AccessCounts log;
  const std::vector<uint32_t> first{8, 0, 0, 0}, then{0, 8, 0, 0};
  const double each = AccessCounts::AccessBytes;
  log.counted(1, countersAt(Base, 0, 0), first);
  log.counted(1, countersAt(Base, 0, 0), then);
  EXPECT_EQ(log.accessBytes(1, Base, Base + 2 * MiB), 4 * each);
  EXPECT_EQ(log.accessBytes(1, Base + 2 * MiB, Base + 4 * MiB), 4 * each);
  log.counted(1, countersAt(Base, 0, 0), then);
  EXPECT_EQ(log.accessBytes(1, Base, Base + 2 * MiB), 2 * each);
  EXPECT_EQ(log.accessBytes(1, Base + 2 * MiB, Base + 4 * MiB), 6 * each);
  // The same counters elsewhere are for other addresses.
  log.counted(1, countersAt(Base + 2 * MiB, 0, 0), first);
  EXPECT_EQ(log.accessBytes(1, Base + 2 * MiB, Base + 4 * MiB), 7 * each);
}

TEST(AccessCountsTest, EnoughThreadsCount) {
  AccessCounters counters;
  chooseSample(10, 256, counters); // all of few
  EXPECT_EQ(counters.blocks, 0u);
  EXPECT_EQ(counters.lanes, 0u);
  for (uint64_t blocks : {600, 5000, 100000, 2000000000}) {
    chooseSample(blocks, 256, counters);
    EXPECT_EQ(counters.blocks & (counters.blocks + 1), 0u);
    EXPECT_EQ(counters.lanes & (counters.lanes + 1), 0u);
    EXPECT_LE(counters.lanes, 31u);
    const double threads = double(blocks) * 256 / counters.scale();
    EXPECT_GE(threads, 65536);
    EXPECT_LT(threads, 2 * 65536 * (counters.blocks >= (1 << 20) - 1 ? 2 : 1));
  }
}

} // namespace
