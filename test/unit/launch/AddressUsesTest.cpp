//===- AddressUsesTest.cpp - which launches use an address ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/AddressUses.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace dragon;

namespace {

using Launches = std::vector<uint32_t>;

TEST(AddressUsesTest, ARangeHoldsItsBeginAndNotItsEnd) {
  AddressUses uses;
  uses.add({0x1000000, 0x3000000}, 4);
  EXPECT_EQ(uses.of(0xffffff, 0, 9), Launches());
  EXPECT_EQ(uses.of(0x1000000, 0, 9), Launches{4});
  EXPECT_EQ(uses.of(0x2ffffff, 0, 9), Launches{4});
  EXPECT_EQ(uses.of(0x3000000, 0, 9), Launches());
}

TEST(AddressUsesTest, EachLaunchOnceInOrderAndOnlyThoseAskedFor) {
  AddressUses uses;
  for (uint32_t launch : {1, 3, 3, 6, 8}) {
    uses.add({0, 1 << 20}, launch);
    uses.add({0, uint64_t(1) << 34}, launch);
  }
  uses.add({0, 1 << 20}, 9);
  EXPECT_EQ(uses.of(0, 0, 9), (Launches{1, 3, 6, 8, 9}));
  EXPECT_EQ(uses.of(0, 3, 8), (Launches{3, 6, 8}));
  EXPECT_EQ(uses.of(1 << 20, 2, 5), Launches{3});
}

TEST(AddressUsesTest, WhatIsClearedIsForgotten) {
  AddressUses uses;
  uses.add({0, 100}, 1);
  uses.clear();
  EXPECT_EQ(uses.of(0, 0, 9), Launches());
  uses.add({0, 100}, 0);
  EXPECT_EQ(uses.of(0, 0, 9), Launches{0});
}

TEST(AddressUsesTest, AnEmptyRangeIsNone) {
  AddressUses uses;
  uses.add({100, 100}, 1);
  EXPECT_EQ(uses.of(100, 0, 9), Launches());
}

/// Ranges of all sizes, wherever they lie, against a look at each of them.
TEST(AddressUsesTest, FindsWhatALookAtAllFinds) {
  std::mt19937_64 random(5);
  AddressUses uses;
  std::vector<std::pair<AddressRange, uint32_t>> all;
  size_t found = 0;
  for (uint32_t launch = 0; launch < 300; ++launch) {
    for (unsigned n = unsigned(random() % 4); n-- > 0;) {
      const uint64_t bytes =
          1 + random() % (uint64_t(1) << (8 + random() % 30));
      const uintptr_t begin = random() % (uint64_t(1) << 38);
      all.push_back({{begin, begin + bytes}, launch});
      if (random() % 2) // one that was there before
        all.push_back({all[random() % all.size()].first, launch});
    }
  }
  for (const auto &[range, launch] : all)
    uses.add(range, launch);
  for (int question = 0; question < 2000; ++question) {
    const AddressRange &of = all[random() % all.size()].first;
    const uintptr_t address = random() % 2 ? of.begin : of.end;
    const auto first = uint32_t(random() % 300), last = first + 100;
    std::set<uint32_t> expected;
    for (const auto &[range, launch] : all)
      if (range.holds(address) && first <= launch && launch <= last)
        expected.insert(launch);
    EXPECT_EQ(uses.of(address, first, last),
              Launches(expected.begin(), expected.end()));
    found += expected.size();
  }
  EXPECT_GT(found, 1000u);
}

} // namespace
