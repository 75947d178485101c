//===- JointAccessTest.cpp - accesses that touch the same -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/footprint/Model.h"

#include <gtest/gtest.h>

using namespace dragon;
using namespace dragon::model;

namespace {

constexpr int64_t Threads = 8;
constexpr uint8_t Write = AccessWrite | AccessExact;
constexpr uint8_t Read = AccessRead | AccessExact;

class JointAccessTest : public testing::Test {
protected:
  /// Four bytes at 4 * (threadIdx.x + First), by threads below `Below`.
  Access touch(uint8_t Flags, int64_t First = 0, int64_t Below = Threads) {
    const uint32_t Tid =
        E.cast(ExprOp::ZExt, E.launchValue(ExprOp::ThreadIdx, 0), 64);
    Access A;
    model::Step S{};
    S.What = model::Step::Guard;
    S.Test = {Tid, E.constant(Below), NoIndex, GuardPred::ULT, {}};
    A.Steps = {S};
    A.Offset =
        E.binary(ExprOp::Mul, E.binary(ExprOp::Add, Tid, E.constant(First)),
                 E.constant(4));
    A.Width = 4;
    A.Flags = Flags;
    return A;
  }
  ByteFootprint evaluate(const std::vector<Access> &Accesses,
                         uint8_t PointerFlags) {
    Launch L;
    L.Block[0] = Threads;
    return Evaluation(E, Accesses, L, {}, PointerFlags).Footprint;
  }
  static ByteSet elements(int64_t First, int64_t End) {
    ByteSet Set;
    if (First < End)
      Set.Ranges = {{4 * First, 4 * End}};
    return Set;
  }

  ExprPool E;
};

TEST_F(JointAccessTest, WhatIsReadFirstIsNoMustWrite) {
  for (const auto &Both : {std::vector{touch(Read), touch(Write)},
                           std::vector{touch(Write), touch(Read)}}) {
    const ByteFootprint Found = evaluate(Both, PointerReadBeforeWrite);
    EXPECT_TRUE(Found.MayRead == elements(0, Threads));
    EXPECT_TRUE(Found.MayWrite == elements(0, Threads));
    EXPECT_TRUE(Found.MustWrite == ByteSet());
  }
}

TEST_F(JointAccessTest, WhatIsReadBehindTheWriteIsOne) {
  const ByteFootprint Found = evaluate({touch(Write), touch(Read)}, 0);
  EXPECT_TRUE(Found.MayRead == elements(0, Threads));
  EXPECT_TRUE(Found.MustWrite == elements(0, Threads));
  // One of two writes is by all threads for sure.
  const ByteFootprint Twice = evaluate({touch(AccessWrite), touch(Write)}, 0);
  EXPECT_TRUE(Twice.MayRead == ByteSet());
  EXPECT_TRUE(Twice.MayWrite == elements(0, Threads));
  EXPECT_TRUE(Twice.MustWrite == elements(0, Threads));
}

TEST_F(JointAccessTest, OthersAreApart) {
  // The same bytes, by some of the threads alone.
  const ByteFootprint Some = evaluate(
      {touch(Read, 0, Threads / 2), touch(Write)}, PointerReadBeforeWrite);
  EXPECT_TRUE(Some.MayRead == elements(0, Threads / 2));
  EXPECT_TRUE(Some.MayWrite == elements(0, Threads));
  EXPECT_TRUE(Some.MustWrite == elements(Threads / 2, Threads));
  // Three that touch the same, and one behind them.
  const ByteFootprint Four =
      evaluate({touch(Read), touch(Write), touch(Read), touch(Write, Threads)},
               PointerReadBeforeWrite);
  EXPECT_TRUE(Four.MayRead == elements(0, Threads));
  EXPECT_TRUE(Four.MayWrite == elements(0, 2 * Threads));
  EXPECT_TRUE(Four.MustWrite == elements(Threads, 2 * Threads));
}

} // namespace
