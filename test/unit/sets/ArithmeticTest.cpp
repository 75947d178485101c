//===- ArithmeticTest.cpp - linear forms and progressions -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear forms with coefficients at the limits of 64 bits, against arithmetic
// of 128 bits: an operation is right or says that it overflows. Sums of
// progressions, against their members. Seeds are fixed.
//
//===----------------------------------------------------------------------===//

#include "test/unit/sets/Presburger.h"

#include <gtest/gtest.h>

#include "test/unit/sets/RandomSystem.h"
#include "test/unit/support/base/Sampled.h"

#include <set>

using namespace dragon;
using namespace dragon::sets;
using namespace dragon::detail;

namespace {

constexpr uint32_t Variables = 4;

int64_t largeNumber(Random &R) {
  switch (R.pick(0, 3)) {
  case 0:
    return R.pick(-5, 5);
  case 1:
    return R.pick(INT64_MIN, INT64_MAX);
  case 2:
    return INT64_MAX - R.pick(0, 3);
  default:
    return INT64_MIN + R.pick(0, 3);
  }
}

Linear largeForm(Random &R) {
  Linear L(largeNumber(R));
  for (uint32_t V = 0; V < Variables; ++V)
    if (R.oneIn(2))
      EXPECT_TRUE(L.add(Linear::variable(V), largeNumber(R)));
  return L;
}

bool fits(Wide Value) { return Value == Wide(int64_t(Value)); }

TEST(LinearTest, SumsAreRightOrOverflow) {
  int Right = 0, Overflowing = 0;
  for (uint32_t Seed = 1; Seed <= test::sampled(20000); ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    Random R(Seed);
    const Linear A = largeForm(R), B = largeForm(R);
    const int64_t Scale = R.oneIn(2) ? R.pick(-3, 3) : largeNumber(R);
    bool Possible = fits(Wide(A.C) + Wide(B.C) * Scale);
    for (uint32_t V = 0; V < Variables; ++V)
      Possible &= fits(Wide(A.coefficient(V)) + Wide(B.coefficient(V)) * Scale);
    Linear Sum = A;
    ASSERT_EQ(Sum.add(B, Scale), Possible);
    (Possible ? Right : Overflowing) += 1;
    if (!Possible)
      continue;
    ASSERT_TRUE(Wide(Sum.C) == Wide(A.C) + Wide(B.C) * Scale);
    for (uint32_t V = 0; V < Variables; ++V)
      ASSERT_TRUE(Wide(Sum.coefficient(V)) ==
                  Wide(A.coefficient(V)) + Wide(B.coefficient(V)) * Scale);
    for (const Linear::Term &T : Sum)
      ASSERT_NE(T.Coefficient, 0);
  }
  EXPECT_GT(Right, int(test::sampled(1000)));
  EXPECT_GT(Overflowing, int(test::sampled(1000)));
}

TEST(LinearTest, SubstitutionKeepsValues) {
  for (uint32_t Seed = 1; Seed <= test::sampled(20000); ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    Random R(Seed);
    Linear L = largeForm(R);
    const auto Var = uint32_t(R.pick(0, Variables - 1));
    Linear Value(R.pick(-9, 9));
    for (uint32_t V = 0; V < Variables; ++V)
      if (V != Var)
        ASSERT_TRUE(Value.add(Linear::variable(V), R.pick(-2, 2)));
    std::vector<int64_t> Point;
    for (uint32_t V = 0; V < Variables; ++V)
      Point.push_back(R.pick(-100, 100));
    Point[Var] = int64_t(valueOf(Value, Point));
    const Wide Before = valueOf(L, Point);
    if (L.substitute(Var, Value))
      ASSERT_TRUE(valueOf(L, Point) == Before);
  }
}

TEST(LinearTest, BoundsOfLargeFormsAreThoseOfPresburger) {
  for (uint32_t Seed = 1; Seed <= 1000; ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    Random R(Seed);
    LinearSystem System;
    for (uint32_t V = 0; V < Variables; ++V) {
      const int64_t Lo = R.oneIn(2) ? R.pick(-9, 9) : R.pick(-(1L << 62), 0);
      System.addVariable({Lo, Lo + R.pick(0, 1L << 62)}, false);
    }
    const Linear Form = largeForm(R);
    if (Form.C == INT64_MIN)
      continue;
    const IntegerPolyhedron Set = [&] {
      for (const Linear::Term &T : Form)
        if (T.Coefficient == INT64_MIN)
          return IntegerPolyhedron(PresburgerSpace::getSetSpace(1));
      return addressesOf(System, Form, 1);
    }();
    if (Set.getNumLocalVars() == 0)
      continue;
    const auto Least = Set.findIntegerLexMin();
    ASSERT_TRUE(Least.isBounded());
    const Wide Lower = System.lower(Form);
    if (isFinite(Lower))
      // Larger than 64 bits: compared by halves.
      ASSERT_TRUE((*Least)[0] ==
                  llvm::DynamicAPInt(int64_t(Lower >> 32)) *
                          llvm::DynamicAPInt(int64_t(1) << 32) +
                      llvm::DynamicAPInt(int64_t(Lower & 0xffffffff)));
  }
}

std::set<int64_t> membersOf(const Progressions &Set) {
  std::set<int64_t> Members;
  for (const Progression &P : Set)
    for (Wide I = 0; I < P.Count; ++I)
      Members.insert(int64_t(P.Lo + I * P.Step));
  return Members;
}

Progressions randomProgressions(Random &R) {
  Progressions Set;
  for (int64_t N = R.pick(1, 3); N > 0; --N)
    Set.push_back({R.pick(-20, 20), R.pick(1, 6), R.pick(1, 6)});
  return Set;
}

TEST(ProgressionsTest, SumsAndMultiplesHaveTheirMembers) {
  int Summed = 0;
  for (uint32_t Seed = 1; Seed <= test::sampled(10000); ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    Random R(Seed);
    const Progressions A = randomProgressions(R), B = randomProgressions(R);
    int64_t Factor = R.pick(-5, 4);
    Factor += Factor >= 0;
    Progressions Scaled = A;
    ASSERT_TRUE(scaleProgressions(Scaled, Factor));
    std::set<int64_t> Multiples, Sums;
    for (int64_t X : membersOf(A)) {
      Multiples.insert(X * Factor);
      for (int64_t Y : membersOf(B))
        Sums.insert(X + Y);
    }
    ASSERT_EQ(membersOf(Scaled), Multiples);
    const std::set<int64_t> Hull = membersOf({hullOfSums({A, B})});
    for (int64_t X : Sums)
      ASSERT_TRUE(Hull.count(X));
    const int64_t Constant = R.pick(-30, 30), Divisor = R.pick(1, 5);
    Progressions Clamped = A;
    clampProgressions(Clamped, Constant, Divisor);
    for (int64_t X : membersOf(A))
      ASSERT_EQ(membersOf(Clamped).count(X) != 0, Constant + Divisor * X >= 0);
    Progressions Sum;
    const auto Limit = size_t(R.pick(1, 60));
    if (!sumProgressions({A, B}, Limit, Sum))
      continue;
    ++Summed;
    ASSERT_EQ(membersOf(Sum), Sums);
  }
  EXPECT_GT(Summed, int(test::sampled(3000)));
}

} // namespace
