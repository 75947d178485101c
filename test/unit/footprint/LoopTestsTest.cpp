//===- LoopTestsTest.cpp - what conditions of loops say of counters -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops that compare signed counters with unsigned sizes, as
//   for (int i = tid; i < n / 8u; i += threads)          // size_t n
//   int i = (n + 7) / 8 + tid - threads;
//   for (; (i + 1) * 8u > n; i -= threads) ...           // the rest of a vector
//   for (; i >= 0; i -= threads) ...                     // goes on from there
// compared with what each thread does.
//
//===----------------------------------------------------------------------===//

#include "test/unit/footprint/Model.h"

#include <gtest/gtest.h>

#include <set>

using namespace dragon;
using namespace dragon::model;

namespace {

constexpr int Threads = 8;
using Elements = std::set<int64_t>;

class LoopTestsTest : public testing::Test {
protected:
  LoopTestsTest() {
    Tid = E.launchValue(ExprOp::ThreadIdx, 0);
    Step = E.launchValue(ExprOp::BlockDim, 0);
    N = E.argument(0, 64);
    // (n + 7) / 8 + tid - threads
    const uint32_t Groups = E.cast(
        ExprOp::Trunc,
        E.binary(ExprOp::UDiv, plus(N, E.constant(7)), E.constant(8)), 32);
    Start = plus(minus(Groups, Step), Tid);
  }
  uint32_t plus(uint32_t A, uint32_t B) { return E.binary(ExprOp::Add, A, B); }
  uint32_t minus(uint32_t A, uint32_t B) { return E.binary(ExprOp::Sub, A, B); }
  uint32_t times(uint32_t A, uint32_t B) { return E.binary(ExprOp::Mul, A, B); }
  uint32_t wide(uint32_t A) { return E.cast(ExprOp::SExt, A, 64); }
  uint32_t rounds(uint32_t Counter) {
    return times(E.cast(ExprOp::Trunc, Counter, 32), Step);
  }
  /// Four bytes at 4 * Index are read in the loop, while Lhs Pred Rhs.
  void touch(uint32_t Index, uint32_t Loop, uint32_t Lhs, GuardPred Pred,
             uint32_t Rhs) {
    Access A;
    model::Step S{};
    S.What = model::Step::TestedLoop;
    S.Loop = Loop;
    S.Test = {Lhs, Rhs, Loop, Pred, {}};
    A.Steps = {S};
    A.Offset = times(wide(Index), E.constant(4));
    A.Width = 4;
    A.Flags = AccessRead;
    Accesses.push_back(A);
  }
  /// While (i + 1) * 8 > n, unsigned.
  void touchAbove(uint32_t I, uint32_t Loop) {
    touch(I, Loop, N, GuardPred::ULT,
          times(wide(plus(I, E.constant(1, 32))), E.constant(8)));
  }
  /// In the loop that takes what is above, and in one that goes on from there.
  void touchInBothLoops() {
    const uint32_t First = E.loop(1), K = E.loop(2);
    const uint32_t Before = minus(Start, rounds(First));
    const uint32_t I = minus(Before, rounds(K));
    touchAbove(Before, First);
    touch(I, K, E.constant(-1, 32), GuardPred::SLT, I);
  }
  ByteSet evaluate(int64_t Number) {
    Launch L;
    L.Block[0] = Threads;
    L.Args = {Number};
    return Evaluation(E, Accesses, L).Footprint.MayRead;
  }
  void expect(int64_t Number, const Elements &Touched) {
    const ByteSet Found = evaluate(Number);
    ByteSet Wanted;
    for (const int64_t Element : Touched)
      if (!Wanted.Ranges.empty() && Wanted.Ranges.back().End == 4 * Element)
        Wanted.Ranges.back().End += 4;
      else
        Wanted.Ranges.push_back({4 * Element, 4 * Element + 4});
    EXPECT_TRUE(Found == Wanted) << "n " << Number << ": " << describe(Found)
                                 << " and not" << describe(Wanted);
  }

  ExprPool E;
  std::vector<Access> Accesses;
  uint32_t Tid, Step, N, Start;
};

TEST_F(LoopTestsTest, ASignedCounterBelowAnUnsignedNumber) {
  const uint32_t K = E.loop(1), I = plus(Tid, rounds(K));
  touch(I, K, wide(I), GuardPred::ULT,
        E.binary(ExprOp::UDiv, N, E.constant(8)));
  for (const int64_t Number : {1, 8, 100, 803, 4096}) {
    Elements Touched;
    for (int64_t Element = 0; Element < Number / 8; ++Element)
      Touched.insert(Element);
    expect(Number, Touched);
  }
}

TEST_F(LoopTestsTest, AMultipleOfTheCounterAboveIt) {
  const uint32_t K = E.loop(1), I = minus(Start, rounds(K));
  touchAbove(I, K);
  for (const int64_t Number : {64, 100, 803, 4096}) {
    Elements Touched;
    for (int32_t Thread = 0; Thread < Threads; ++Thread)
      for (int32_t At = int32_t((Number + 7) / 8) + Thread - Threads;
           uint64_t(int64_t(At) + 1) * 8 > uint64_t(Number); At -= Threads)
        Touched.insert(At);
    expect(Number, Touched);
  }
}

TEST_F(LoopTestsTest, WhatALoopGoesOnFromIsNoFurtherThanTheOneBeforeWent) {
  touchInBothLoops();
  for (const int64_t Number : {64, 100, 803, 4096}) {
    Elements Touched;
    for (int64_t Element = 0; Element < (Number + 7) / 8; ++Element)
      Touched.insert(Element);
    expect(Number, Touched);
  }
}

/// Thread 0 begins at -7, of which the loop makes more than n.
TEST_F(LoopTestsTest, ACounterThatFallsBelowZeroGoesOn) {
  touchInBothLoops();
  const ByteSet Found = evaluate(8);
  ASSERT_FALSE(Found.Everything);
  EXPECT_LE(Found.Ranges.front().Begin, 4 * int64_t(INT32_MIN));
  EXPECT_GE(Found.Ranges.back().End, 4 * int64_t(INT32_MAX));
}

} // namespace
