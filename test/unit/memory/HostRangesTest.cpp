//===- HostRangesTest.cpp - which addresses the kernel cannot be given ----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/HostRanges.h"

#include <gtest/gtest.h>

using namespace dragon;

namespace {

constexpr uintptr_t Unit = HostRanges::UnitBytes;
const void *at(uintptr_t address) {
  return reinterpret_cast<const void *>(address);
}

TEST(HostRanges, KnowsWhatWasAdded) {
  const uintptr_t begin = 1000 * Unit;
  EXPECT_FALSE(HostRanges::any());
  HostRanges::add(begin, begin + 2 * Unit);
  HostRanges::add(begin + 70 * Unit, begin + 71 * Unit);
  EXPECT_TRUE(HostRanges::any());
  EXPECT_TRUE(HostRanges::overlaps(at(begin), 1));
  EXPECT_TRUE(HostRanges::overlaps(at(begin + 2 * Unit - 1), 1));
  EXPECT_FALSE(HostRanges::overlaps(at(begin + 2 * Unit), 68 * Unit));
  EXPECT_TRUE(HostRanges::overlaps(at(begin + 2 * Unit), 68 * Unit + 1));
  EXPECT_TRUE(HostRanges::overlaps(at(begin - 1), 2));
  EXPECT_FALSE(HostRanges::overlaps(at(begin - 1), 1));
  EXPECT_FALSE(HostRanges::overlaps(at(begin), 0));
  EXPECT_TRUE(HostRanges::overlaps(at(0), SIZE_MAX));
  EXPECT_FALSE(HostRanges::overlaps(at(UINTPTR_MAX), 100));
  HostRanges::remove(begin, begin + 2 * Unit);
  EXPECT_FALSE(HostRanges::overlaps(at(begin), 2 * Unit));
  EXPECT_TRUE(HostRanges::any());
  HostRanges::remove(begin + 70 * Unit, begin + 71 * Unit);
  EXPECT_FALSE(HostRanges::any());
}

TEST(HostRanges, CutsRangesWhereTheirKindChanges) {
  const uintptr_t begin = 1000 * Unit;
  HostRanges::add(begin, begin + 2 * Unit);
  bool isOne = false;
  EXPECT_EQ(HostRanges::runAt(at(begin - 5), 3 * Unit, isOne), 5u);
  EXPECT_FALSE(isOne);
  EXPECT_EQ(HostRanges::runAt(at(begin + 7), 3 * Unit, isOne), 2 * Unit - 7);
  EXPECT_TRUE(isOne);
  EXPECT_EQ(HostRanges::runAt(at(begin + 7), 9, isOne), 9u);
  EXPECT_TRUE(isOne);
  EXPECT_EQ(HostRanges::runAt(at(begin + 2 * Unit), 5 * Unit, isOne), 5 * Unit);
  EXPECT_FALSE(isOne);
  EXPECT_EQ(HostRanges::runAt(at(UINTPTR_MAX - 3), 100, isOne), 100u);
  EXPECT_FALSE(isOne);
  HostRanges::remove(begin, begin + 2 * Unit);
}

} // namespace
