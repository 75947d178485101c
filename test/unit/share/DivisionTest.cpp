//===- DivisionTest.cpp - who gets how much of one memory -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/share/Division.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace dragon;

namespace {

using Limits = std::vector<uint64_t>;

uint64_t sum(const Limits &limits) {
  return std::accumulate(limits.begin(), limits.end(), uint64_t(0));
}

TEST(DivisionTest, OneAloneHasAll) {
  EXPECT_EQ(divide(100, std::vector<ShareWish>{{1, 100, 10}}), Limits{100});
  EXPECT_EQ(divide(100, std::vector<ShareWish>{{1, 30, 10}}), Limits{30});
  EXPECT_EQ(divide(100, {}), Limits{});
}

TEST(DivisionTest, WhoWantsLessGetsItAndTheOthersDivideTheRest) {
  EXPECT_EQ(
      divide(100,
             std::vector<ShareWish>{{1, 100, 20}, {1, 100, 90}, {1, 100, 60}}),
      (Limits{20, 40, 40}));
  EXPECT_EQ(divide(100, std::vector<ShareWish>{{1, 100, 90}, {3, 100, 90}}),
            (Limits{25, 75}));
}

TEST(DivisionTest, WhatNobodyWantsIsLent) {
  EXPECT_EQ(divide(100, std::vector<ShareWish>{{1, 100, 10}, {1, 100, 30}}),
            (Limits{40, 60}));
  // Up to what each takes at most.
  EXPECT_EQ(divide(100, std::vector<ShareWish>{{1, 15, 10}, {1, 100, 30}}),
            (Limits{15, 85}));
}

TEST(DivisionTest, WhoYieldsComesLastAndKeepsWhatNobodyWants) {
  const ShareWish waits{1, 100, 80, true};
  EXPECT_EQ(divide(100, std::vector<ShareWish>{waits, {1, 100, 20}}),
            (Limits{80, 20}));
  EXPECT_EQ(divide(100, std::vector<ShareWish>{waits, {1, 100, 70}}),
            (Limits{30, 70}));
  EXPECT_EQ(divide(100, std::vector<ShareWish>{waits, {1, 100, 100}}),
            (Limits{0, 100}));
}

/// Whoever comes first otherwise, and whoever yields.
TEST(DivisionTest, WhatCannotBeGivenBackIsLeft) {
  ShareWish holds{1, 100, 90};
  const ShareWish wants{3, 100, 90};
  holds.firm = 20; // less than its part, which stays as it is
  EXPECT_EQ(divide(100, std::vector<ShareWish>{holds, wants}),
            (Limits{25, 75}));
  holds.firm = 60;
  EXPECT_EQ(divide(100, std::vector<ShareWish>{holds, wants}),
            (Limits{60, 40}));
  holds.yields = true;
  EXPECT_EQ(divide(100, std::vector<ShareWish>{wants, holds}),
            (Limits{40, 60}));
  // What is left may be less than another one cannot give back.
  const ShareWish small{1, 100, 90, false, 0, false, 20};
  EXPECT_EQ(divide(100, std::vector<ShareWish>{holds, wants, small}),
            (Limits{60, 20, 20}));
  // More than there is, where the driver has less than it said.
  holds.firm = 150;
  EXPECT_EQ(divide(100, std::vector<ShareWish>{holds, wants}),
            (Limits{100, 0}));
}

TEST(DivisionTest, WhoTakesWhatIsSpareComesBehindAllOthers) {
  ShareWish spare{1, 100, 80};
  spare.spare = true;
  const ShareWish waits{1, 100, 50, true};
  EXPECT_EQ(divide(100, std::vector<ShareWish>{spare}), Limits{80});
  EXPECT_EQ(divide(100, std::vector<ShareWish>{spare, {1, 100, 30}}),
            (Limits{70, 30}));
  EXPECT_EQ(divide(100, std::vector<ShareWish>{spare, waits, {1, 100, 30}}),
            (Limits{20, 50, 30}));
  EXPECT_EQ(divide(100, std::vector<ShareWish>{spare, {1, 100, 100}}),
            (Limits{0, 100}));
  // What nobody wants is lent to the others; a call's least is no claim of it.
  spare.wanted = 10;
  spare.least = 90;
  EXPECT_EQ(divide(100, std::vector<ShareWish>{spare, {1, 100, 30}}),
            (Limits{10, 90}));
}

TEST(DivisionTest, WhatACallNeedsComesFirst) {
  EXPECT_EQ(divide(100, std::vector<ShareWish>{{1, 100, 90, false, 30},
                                               {9, 100, 90}}),
            (Limits{37, 63}));
  // Weights do not count for it.
  EXPECT_EQ(divide(100, std::vector<ShareWish>{{1, 100, 90, false, 60},
                                               {9, 100, 90, false, 60}}),
            (Limits{50, 50}));
  // All of it cannot be had by all.
  EXPECT_EQ(divide(100, std::vector<ShareWish>{{1, 100, 90, false, 80},
                                               {1, 100, 90, false, 80}}),
            (Limits{50, 50}));
}

TEST(DivisionTest, LargeNumbersDoNotOverflow) {
  const uint64_t all = UINT64_MAX / 2;
  const Limits limits =
      divide(all, std::vector<ShareWish>{{1000, all, all}, {1000, all, all}});
  EXPECT_EQ(limits, (Limits{all / 2, all / 2}));
}

/// Nobody has more than it takes, all together no more than there is, and all
/// that is wanted is given as far as that goes. No program could have more of
/// what it wants but for one with less for each of its shares.
TEST(DivisionTest, Random) {
  std::mt19937 engine{1};
  auto pick = [&](uint64_t lo, uint64_t hi) {
    return std::uniform_int_distribution<uint64_t>(lo, hi)(engine);
  };
  for (int round = 0; round < 3000; ++round) {
    const uint64_t total = pick(0, 1000);
    std::vector<ShareWish> wishes(pick(1, 6));
    for (ShareWish &wish : wishes)
      wish = {pick(1, 4), pick(0, 1200),  pick(0, 1200), pick(0, 3) == 0,
              0,          pick(0, 5) == 0};
    const Limits limits = divide(total, wishes);
    ASSERT_LE(sum(limits), total);
    uint64_t wanted = 0, given = 0;
    for (size_t i = 0; i < wishes.size(); ++i) {
      const uint64_t own = std::min(wishes[i].wanted, wishes[i].most);
      ASSERT_LE(limits[i], wishes[i].most);
      wanted += own;
      given += std::min(own, limits[i]);
    }
    // Parts are whole bytes.
    ASSERT_GE(given + wishes.size(), std::min(total, wanted));
    auto rank = [&](size_t i) {
      return wishes[i].spare ? 2 : wishes[i].yields ? 1 : 0;
    };
    for (size_t i = 0; i < wishes.size(); ++i)
      for (size_t j = 0; j < wishes.size(); ++j) {
        const uint64_t own = std::min(wishes[i].wanted, wishes[i].most);
        if (rank(i) > rank(j) || limits[i] >= own || limits[j] == 0)
          continue;
        // i lacks something: who comes behind it has nothing but what rounding
        // leaves, and its equals have no more for each of their shares.
        if (rank(i) < rank(j))
          ASSERT_LE(limits[j], 6u);
        else
          ASSERT_LE((limits[j] - std::min<uint64_t>(limits[j], 6)) *
                        wishes[i].weight,
                    (limits[i] + 6) * wishes[j].weight);
      }
  }
}

} // namespace
