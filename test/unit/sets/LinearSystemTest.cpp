//===- LinearSystemTest.cpp - systems against their points ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random systems are compared with what enumerating their points gives, and
// with what MLIR's Presburger library says of the same constraints:
//   bounds and narrowed boxes hold every point,
//   an image holds every byte, and no other if it says that it is exact.
// Emptiness that is found is true. Seeds are fixed; a failure names its own.
//
//===----------------------------------------------------------------------===//

#include "test/unit/sets/Presburger.h"

#include <gtest/gtest.h>

#include "test/unit/sets/RandomSystem.h"
#include "test/unit/support/base/Sampled.h"

using namespace dragon;
using namespace dragon::sets;
using namespace dragon::detail;

namespace {

constexpr uint32_t Seeds = test::sampled(20000),
                   PresburgerSeeds = test::sampled(2500);

ByteSet bytesOf(const AccessBytes &Bytes) {
  ByteSet Set;
  append(Set, Bytes);
  normalize(Set, SIZE_MAX);
  return Set;
}

bool contains(const ByteSet &Set, const ByteSet &Other) {
  for (const ByteRange &Range : Other.Ranges)
    if (!covers(Set, Range))
      return false;
  return true;
}

std::string describe(const ByteSet &Set) {
  std::string Text = Set.Everything ? "everything" : "{";
  for (const ByteRange &R : Set.Ranges)
    Text += " [" + std::to_string(R.Begin) + "," + std::to_string(R.End) + ")";
  return Text + " }";
}

TEST(LinearSystemTest, BoundsAndNarrowedBoxesHoldEveryPoint) {
  int WithPoints = 0, FoundEmpty = 0, Tight = 0;
  for (uint32_t Seed = 1; Seed <= Seeds; ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    RandomSystem Case(Seed);
    const LinearSystem &S = Case.System;
    const Linear Other = Case.combination();
    bool Any = false;
    Wide Least = Infinity, Greatest = -Infinity;
    Case.forEachPoint([&](const std::vector<int64_t> &Point) {
      Any = true;
      for (size_t V = 0; V < Point.size(); ++V)
        ASSERT_TRUE(S.Vars[V].Range.Lo <= Point[V] &&
                    Point[V] <= S.Vars[V].Range.Hi);
      const Wide Value = valueOf(Other, Point);
      Least = std::min(Least, Value);
      Greatest = std::max(Greatest, Value);
    });
    if (HasFatalFailure())
      return;
    FoundEmpty += S.Empty;
    if (!Any)
      continue;
    ++WithPoints;
    ASSERT_FALSE(S.Empty);
    ASSERT_TRUE(S.boxLower(Other) <= Least && Greatest <= S.boxUpper(Other));
    const Interval Bounds = S.bounds(Other);
    ASSERT_TRUE(Bounds.contains({Least, Greatest}));
    Tight += Bounds.Lo == Least && Bounds.Hi == Greatest;
  }
  // The test means something only if systems are of all kinds, and bounds are
  // more than true.
  EXPECT_GT(WithPoints, int(Seeds / 2));
  EXPECT_GT(FoundEmpty, int(Seeds / 50));
  EXPECT_GT(Tight, WithPoints / 2);
}

/// \p Bytes, computed for \p Case, against what its points touch.
void checkImage(const ByteSet &Touched, const AccessBytes &Bytes) {
  const ByteSet Set = bytesOf(Bytes);
  ASSERT_TRUE(contains(Set, Touched))
      << describe(Touched) << " is not in " << describe(Set);
  if (Bytes.Exact)
    ASSERT_EQ(describe(Set), describe(Touched));
}

TEST(LinearSystemTest, ImagesHoldWhatIsTouchedAndExactOnesNothingElse) {
  int Exact = 0, Refined = 0, Touching = 0;
  for (uint32_t Seed = 1; Seed <= Seeds; ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    RandomSystem Case(Seed);
    const ByteSet Touched = Case.touched();
    Touching += !Touched.Ranges.empty();
    Random R(Seed);
    const size_t MaxRanges = R.oneIn(3) ? size_t(R.pick(1, 6)) : 4096;
    LinearSystem Copy = Case.System;
    const AccessBytes Plain =
        AccessImage(Copy, Case.Form, Case.Width, MaxRanges, 0).compute();
    checkImage(Touched, Plain);
    const AccessBytes Better =
        RefinedImage(Case.System, Case.Form, Case.Width, MaxRanges, 0)
            .compute();
    checkImage(Touched, Better);
    const AccessBytes Filled = RefinedImage(Case.System, Case.Form, Case.Width,
                                            MaxRanges, R.pick(1, 100))
                                   .compute();
    checkImage(Touched, Filled);
    if (HasFatalFailure())
      return;
    Exact += Plain.Exact;
    Refined += Better.Exact && !Plain.Exact;
  }
  EXPECT_GT(Touching, int(Seeds / 2));
  EXPECT_GT(Exact, int(Seeds / 4));
  EXPECT_GT(Refined, int(Seeds / 50));
}

/// Whether \p Set, whose addresses lie between \p Bytes' first and last, has
/// none in the gaps. (To project the locals away and to subtract takes minutes
/// for some of these systems; emptiness is found at once.)
bool staysIn(const IntegerPolyhedron &Set, const ByteSet &Bytes) {
  for (size_t I = 1; I < Bytes.Ranges.size(); ++I) {
    IntegerPolyhedron Gap = Set;
    Gap.addBound(BoundType::LB, 0, Bytes.Ranges[I - 1].End);
    Gap.addBound(BoundType::UB, 0, Bytes.Ranges[I].Begin - 1);
    if (!Gap.isIntegerEmpty())
      return false;
  }
  return true;
}

TEST(LinearSystemTest, PresburgerFindsTheSame) {
  for (uint32_t Seed = 1; Seed <= PresburgerSeeds; ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    RandomSystem Case(Seed);
    const ByteSet Touched = Case.touched();
    const IntegerPolyhedron Set =
        addressesOf(Case.System, Case.Form, Case.Width);
    ASSERT_EQ(Set.isIntegerEmpty() || Case.System.Empty,
              Touched.Ranges.empty());
    if (Touched.Ranges.empty())
      continue;
    const auto Least = Set.findIntegerLexMin();
    ASSERT_TRUE(Least.isBounded());
    ASSERT_EQ(int64_t((*Least)[0]), Touched.Ranges.front().Begin);
    ASSERT_TRUE(staysIn(Set, Touched));
    const ByteSet Ours = bytesOf(
        RefinedImage(Case.System, Case.Form, Case.Width, 4096, 0).compute());
    ASSERT_TRUE(staysIn(Set, Ours));
    for (const ByteRange &Range : Touched.Ranges)
      for (int64_t Byte : {Range.Begin, Range.End - 1}) {
        ASSERT_TRUE(Set.containsPointNoLocal({Byte}));
        ASSERT_TRUE(covers(Ours, {Byte, Byte + 1}));
      }
  }
}

} // namespace
