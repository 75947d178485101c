//===- PinnedRangesTest.cpp - what the device may write to ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/PinnedRanges.h"

#include <gtest/gtest.h>

namespace dragon {
namespace {

using Kind = PinnedRanges::Kind;

TEST(PinnedRanges, AreOnlyReadUntilAWriteIsNoted) {
  PinnedRanges ranges;
  EXPECT_FALSE(ranges.any());
  EXPECT_FALSE(ranges.holds(0x1000));
  ranges.add({0x1000, 0x2000, Kind::Allocated});
  ranges.add({0x2000, 0x3000, Kind::Registered});
  EXPECT_TRUE(ranges.any());
  EXPECT_TRUE(ranges.holds(0x1fff));
  EXPECT_FALSE(ranges.holds(0x3000));

  auto range = ranges.onlyRead(0x1800, 0x2000);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->begin, 0x1000U);
  EXPECT_EQ(range->end, 0x2000U);
  EXPECT_EQ(range->kind, Kind::Allocated);
  EXPECT_FALSE(ranges.onlyRead(0x1800, 0x2001)); // it lies in two
  EXPECT_FALSE(ranges.onlyRead(0xfff, 0x1800));

  EXPECT_TRUE(ranges.noteWrites(0x3000, 0x4000).empty());
  const auto written = ranges.noteWrites(0x1fff, 0x2000);
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].begin, 0x1000U);
  EXPECT_TRUE(ranges.noteWrites(0x1000, 0x1001).empty()); // is known
  EXPECT_FALSE(ranges.onlyRead(0x1000, 0x1001));
  EXPECT_TRUE(ranges.onlyRead(0x2000, 0x3000));

  EXPECT_EQ(ranges.noteWrites(0, UINTPTR_MAX).size(), 1U);
  EXPECT_FALSE(ranges.onlyRead(0x2000, 0x3000));
}

TEST(PinnedRanges, BeginAnewWhereOneHasEnded) {
  PinnedRanges ranges;
  ranges.add({0x1000, 0x2000, Kind::Allocated});
  ranges.add({0x4000, 0x5000, Kind::Registered});
  ranges.noteWrites(0, UINTPTR_MAX);
  EXPECT_FALSE(ranges.remove(0x1001, false));
  EXPECT_FALSE(ranges.remove(0x1000, true));
  EXPECT_EQ(ranges.remove(0x1000, false)->end, 0x2000U);
  ranges.add({0x1000, 0x3000, Kind::WriteCombined});
  EXPECT_EQ(ranges.onlyRead(0x1000, 0x3000)->kind, Kind::WriteCombined);

  const auto removed = ranges.removeAllocated();
  ASSERT_EQ(removed.size(), 1U);
  EXPECT_EQ(removed[0].end, 0x3000U);
  EXPECT_TRUE(ranges.holds(0x4000));
  ranges.remove(0x4000, true);
  EXPECT_FALSE(ranges.any());
}

TEST(PinnedRanges, AreNotOnlyReadWhereWritesAreUnseen) {
  PinnedRanges ranges;
  ranges.noteUnseenWrites();
  ranges.add({0x1000, 0x2000, Kind::Allocated});
  EXPECT_FALSE(ranges.onlyRead(0x1000, 0x2000));
}

} // namespace
} // namespace dragon
