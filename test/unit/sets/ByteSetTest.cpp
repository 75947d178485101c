//===- ByteSetTest.cpp - sets of bytes against Presburger's ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of FootprintEval.h on random sets of bytes, compared with
// those of MLIR's Presburger library. Seeds are fixed.
//
//===----------------------------------------------------------------------===//

#include "test/unit/sets/Presburger.h"

#include <gtest/gtest.h>

#include "test/unit/sets/RandomSystem.h"

using namespace dragon;
using namespace dragon::sets;

namespace {

ByteSet randomSet(Random &R) {
  ByteSet Set;
  for (int64_t N = R.pick(0, 6); N > 0; --N) {
    const int64_t Begin = R.pick(-40, 40);
    Set.Ranges.push_back({Begin, Begin + R.pick(0, 9)});
  }
  normalize(Set, SIZE_MAX);
  return Set;
}

void checkIsNormal(const ByteSet &Set) {
  for (size_t I = 0; I < Set.Ranges.size(); ++I) {
    ASSERT_LT(Set.Ranges[I].Begin, Set.Ranges[I].End);
    if (I)
      ASSERT_LT(Set.Ranges[I - 1].End, Set.Ranges[I].Begin);
  }
}

TEST(ByteSetTest, OperationsAreThoseOfPresburger) {
  for (uint32_t Seed = 1; Seed <= 1000; ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    Random R(Seed);
    const ByteSet A = randomSet(R), B = randomSet(R);
    const PresburgerSet X = addressesOf(A), Y = addressesOf(B);
    ByteSet Union = A;
    unite(Union, B);
    checkIsNormal(Union);
    ASSERT_TRUE(addressesOf(Union).isEqual(X.unionSet(Y)));
    const ByteSet Difference = subtract(A, B);
    checkIsNormal(Difference);
    ASSERT_TRUE(addressesOf(Difference).isEqual(X.subtract(Y)));
    // A & B = A - (A - B).
    const ByteSet Common = subtract(A, Difference);
    checkIsNormal(Common);
    ASSERT_TRUE(addressesOf(Common).isEqual(X.intersect(Y)));
    const int64_t Begin = R.pick(-45, 45);
    const ByteRange Range{Begin, Begin + R.pick(0, 12)};
    const PresburgerSet Wanted(addressesOf(Range));
    ASSERT_EQ(covers(A, Range), Wanted.isSubsetOf(X));
    ASSERT_EQ(intersects(A, Range), !Wanted.intersect(X).isIntegerEmpty());
  }
}

TEST(ByteSetTest, EverythingHoldsAndLeavesEverything) {
  ByteSet All, Some;
  All.Everything = true;
  Some.Ranges = {{0, 8}};
  EXPECT_TRUE(covers(All, {-5, 5}));
  EXPECT_TRUE(intersects(All, {-5, 5}));
  EXPECT_FALSE(intersects(All, {5, 5}));
  EXPECT_TRUE(subtract(Some, All).Ranges.empty());
  EXPECT_TRUE(subtract(All, Some).Everything);
  unite(Some, All);
  EXPECT_TRUE(Some.Everything);
  EXPECT_TRUE(Some.Ranges.empty());
}

TEST(ByteSetTest, MergingToALimitFillsTheSmallestGaps) {
  for (uint32_t Seed = 1; Seed <= 2000; ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    Random R(Seed);
    const ByteSet Set = randomSet(R);
    const auto Limit = size_t(R.pick(1, 5));
    ByteSet Merged = Set;
    normalize(Merged, Limit);
    checkIsNormal(Merged);
    ASSERT_LE(Merged.Ranges.size(), Limit);
    ASSERT_TRUE(subtract(Set, Merged).Ranges.empty());
    const ByteSet Filled = subtract(Merged, Set);
    int64_t Widest = 0;
    for (const ByteRange &Gap : Filled.Ranges)
      Widest = std::max(Widest, Gap.End - Gap.Begin);
    for (size_t I = 1; I < Merged.Ranges.size(); ++I)
      ASSERT_GT(Merged.Ranges[I].Begin - Merged.Ranges[I - 1].End, Widest);
  }
}

} // namespace
