//===- RefinementTest.cpp - how many cases are looked at ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/detail/Refinement.h"

#include <gtest/gtest.h>

#include <utility>

using namespace dragon;
using namespace dragon::detail;

namespace {

constexpr int64_t Rows = 1000, Columns = 100, Offsets = 54;

/// for (k = 0; k < Offsets; ++k)
///   if (y + 2 * k < Rows) use(a[y * Columns + x + k * Distance]);
struct Access {
  LinearSystem System;
  Linear Form;
  explicit Access(int64_t Distance) : Distance(Distance) {
    const uint32_t Y = System.addVariable({0, Rows - 1}, false);
    const uint32_t X = System.addVariable({0, Columns - 1}, false);
    const uint32_t K = System.addVariable({0, Offsets - 1}, false);
    EXPECT_TRUE(Form.add(Linear::variable(Y), 4 * Columns) &&
                Form.add(Linear::variable(X), 4) &&
                Form.add(Linear::variable(K), 4 * Distance));
    Linear Test(Rows - 1);
    EXPECT_TRUE(Test.add(Linear::variable(Y), -1) &&
                Test.add(Linear::variable(K), -2));
    System.require(Test);
  }
  /// With gaps filled: the bytes, and how often some were enumerated.
  std::pair<ByteSet, size_t> bytes(int64_t MergeGap) const {
    RefinedImage Image(System, Form, 4, /*MaxRanges=*/4096, MergeGap);
    const AccessBytes Bytes = Image.compute();
    ByteSet Set;
    append(Set, Bytes);
    normalize(Set, SIZE_MAX);
    // Of each k, all rows that it has.
    for (int64_t K = 0; K < Offsets; ++K)
      EXPECT_TRUE(covers(Set, {4 * K * Distance,
                               4 * (K * Distance + (Rows - 2 * K) * Columns)}));
    return {Set, Image.images()};
  }

private:
  int64_t Distance;
};

TEST(RefinementTest, EachValueIsACase) {
  const auto [Bytes, Images] = Access(Columns).bytes(/*MergeGap=*/0);
  ASSERT_EQ(Bytes.Ranges.size(), 1u);
  EXPECT_EQ(Bytes.Ranges[0].End, 4 * Rows * Columns);
  EXPECT_GE(Images, size_t(Offsets));
}

TEST(RefinementTest, CasesThatAddNothingAreNotLookedAt) {
  const auto [Bytes, Images] = Access(Columns).bytes(/*MergeGap=*/4095);
  ASSERT_EQ(Bytes.Ranges.size(), 1u);
  EXPECT_EQ(Bytes.Ranges[0].Begin, 0);
  EXPECT_EQ(Bytes.Ranges[0].End, 4 * Rows * Columns);
  EXPECT_LE(Images, 6u);
}

TEST(RefinementTest, CasesAreBoundedWhereGapsMayBeFilled) {
  // Each has bytes of its own.
  const Access Apart(2 * Rows * Columns);
  const auto [Exact, All] = Apart.bytes(/*MergeGap=*/0);
  EXPECT_EQ(Exact.Ranges.size(), size_t(Offsets));
  EXPECT_GE(All, size_t(Offsets));
  const auto [Coarse, Some] = Apart.bytes(/*MergeGap=*/4095);
  EXPECT_LE(Some, 32u);
  // What is not a case of its own has no rows that no value has.
  EXPECT_EQ(Coarse.Ranges.size(), size_t(Offsets));
  for (const ByteRange &R : Coarse.Ranges)
    EXPECT_LE(R.End - R.Begin, 4 * Rows * Columns);
}

} // namespace
