//===- LoopRangeTest.cpp - footprints of some iterations of a loop --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/footprint/Model.h"

#include <gtest/gtest.h>

#include <random>

using namespace dragon;
using namespace dragon::model;

namespace {

constexpr uint32_t LoopNumber = 3;

GuardRecord guard(uint32_t Lhs, GuardPred Pred, uint32_t Rhs,
                  uint32_t Loop = NoIndex) {
  return {Lhs, Rhs, Loop, Pred, {}};
}

/// A kernel with one pointer, which can be cut along the loop LoopNumber. Its
/// argument 0 is a number, 1 the pointer.
class LoopRangeTest : public testing::Test {
protected:
  LoopRangeTest() {
    ExprPool &E = Module.Exprs;
    auto wide = [&](ExprOp Op) {
      return E.cast(ExprOp::ZExt, E.launchValue(Op, 0), 64);
    };
    const uint32_t Block = wide(ExprOp::BlockIdx);
    const uint32_t Threads = wide(ExprOp::BlockDim);
    Tid = plus(times(Block, Threads), wide(ExprOp::ThreadIdx));
    Step = times(wide(ExprOp::GridDim), Threads);
    N = E.argument(0, 64);
    K = E.loop(LoopNumber);
    I = plus(Tid, times(K, Step)); // for (i = tid; i < n; i += step)
  }
  uint32_t plus(uint32_t A, uint32_t B) {
    return Module.Exprs.binary(ExprOp::Add, A, B, NoSignedWrap);
  }
  uint32_t times(uint32_t A, uint32_t B) {
    return Module.Exprs.binary(ExprOp::Mul, A, B, NoSignedWrap);
  }
  uint32_t number(int64_t Value) { return Module.Exprs.constant(Value); }

  /// Four bytes at 4 * Index.
  AccessSummary &touch(uint32_t Index, uint8_t Flags,
                       std::vector<GuardRecord> Guards = {}) {
    AccessSummary A;
    A.Offset = times(Index, number(4));
    A.Width = 4;
    A.Flags = Flags;
    A.Guards = std::move(Guards);
    Pointer.Accesses.push_back(A);
    return Pointer.Accesses.back();
  }
  std::vector<GuardRecord> whileLess(uint32_t Index) {
    return {guard(Index, GuardPred::SLT, N, K)};
  }

  /// Grid of 4 blocks of 8 threads.
  ByteFootprint evaluate(int64_t Number, BlockBox Box) {
    open();
    const void *Args[2] = {&Number, nullptr};
    return evaluateFootprint(View, View.kernel(0), 0, launch(Args), Box);
  }
  uint64_t trips(int64_t Number) {
    open();
    const void *Args[2] = {&Number, nullptr};
    return evaluateTrips(View, View.kernel(0), launch(Args));
  }
  static BlockBox all(uint32_t Lo, uint32_t Hi) {
    return {{0, 0, 0, Lo}, {4, 1, 1, Hi}};
  }
  /// Elements [Lo, Hi).
  static ByteSet elements(int64_t Lo, int64_t Hi) {
    ByteSet Set;
    Set.Ranges.push_back({4 * Lo, 4 * Hi});
    return Set;
  }
  static void expect(const ByteSet &Found, const ByteSet &Wanted) {
    EXPECT_TRUE(Found == Wanted)
        << describe(Found) << " and not" << describe(Wanted);
  }

  ModuleSummary Module;
  PointerSummary Pointer;
  uint32_t Tid, Step, N, K, I;

private:
  void open() {
    Pointer.ArgIndex = 1;
    Pointer.Mode = AccessMode::ReadWrite;
    Pointer.Flags &= ~PointerEscapes;
    if (!ReadsFirst)
      Pointer.Flags &= ~PointerReadBeforeWrite;
    KernelSummary Kernel;
    Kernel.Name = "k";
    Kernel.Flags = KernelSliceable;
    Kernel.ArgSizes = {8, 8};
    Kernel.LoopName = "copy";
    Kernel.LoopNumbers = Numbers;
    Kernel.LoopRounds = Rounds;
    Kernel.Pointers = {Pointer};
    Module.Kernels = {Kernel};
    Blob = Module.write();
    std::string Error;
    ASSERT_TRUE(SummaryView::open(Blob.data(), Blob.size(), View, Error))
        << Error;
  }
  LaunchDims launch(const void *const *Args) const {
    LaunchDims Dims{{4, 1, 1}, {8, 1, 1}, Args};
    if (Numbers.size() > 1 || !Rounds.empty())
      EXPECT_TRUE(
          loopEnds(View, View.kernel(0), Dims, Dims.LoopEnds, Dims.LoopRounds));
    return Dims;
  }
  std::vector<char> Blob;
  SummaryView View;

protected:
  bool ReadsFirst = false; ///< PointerReadBeforeWrite
  std::vector<uint32_t> Numbers = {LoopNumber};
  std::vector<uint32_t> Rounds; ///< LoopRounds
};

constexpr uint8_t Write = AccessWrite | AccessExact;
constexpr uint8_t Read = AccessRead | AccessExact;

TEST_F(LoopRangeTest, ARangeHasWhatItsIterationsTouch) {
  touch(I, Write, whileLess(I));
  const ByteFootprint Two = evaluate(200, all(2, 4));
  expect(Two.MayWrite, elements(64, 128));
  expect(Two.MustWrite, elements(64, 128));
  EXPECT_TRUE(Two.MayRead.Ranges.empty());
  const ByteFootprint First = evaluate(200, all(0, 1));
  expect(First.MayWrite, elements(0, 32));
  expect(First.MustWrite, elements(0, 32));
  // The last one, as long as the loop.
  const ByteFootprint Last = evaluate(200, all(6, 7));
  expect(Last.MayWrite, elements(192, 200));
  expect(Last.MustWrite, elements(192, 200));
  expect(evaluate(200, all(6, 1000)).MayWrite, elements(192, 200));
  // Behind it there is none.
  EXPECT_TRUE(evaluate(200, all(7, 9)).MayWrite.Ranges.empty());
  EXPECT_TRUE(evaluate(200, all(7, 9)).MustWrite.Ranges.empty());
}

TEST_F(LoopRangeTest, OfSomeBlocks) {
  touch(I, Write, whileLess(I));
  const ByteFootprint Found = evaluate(200, {{1, 0, 0, 5}, {2, 1, 1, 7}});
  expect(Found.MayWrite, elements(168, 176)); // and none from 200 on
  expect(Found.MustWrite, elements(168, 176));
  const ByteFootprint Both = evaluate(1000, {{1, 0, 0, 5}, {2, 1, 1, 7}});
  ByteSet Wanted = elements(168, 176);
  Wanted.Ranges.push_back({4 * 200, 4 * 208});
  expect(Both.MayWrite, Wanted);
}

TEST_F(LoopRangeTest, WithoutARangeAllIterationsCount) {
  touch(I, Write, whileLess(I));
  const ByteFootprint Found = evaluate(200, all(0, 0));
  expect(Found.MayWrite, elements(0, 200));
  expect(Found.MustWrite, elements(0, 200));
}

TEST_F(LoopRangeTest, WhatDoesNotCountTheIterationsIsNoMustWriteOfARange) {
  // Behind the loop, or in front of it: nobody says where.
  touch(Tid, Write);
  expect(evaluate(200, all(0, 0)).MustWrite, elements(0, 32));
  for (uint32_t Lo : {0, 2, 6}) {
    const ByteFootprint Found = evaluate(200, all(Lo, Lo + 1));
    expect(Found.MayWrite, elements(0, 32));
    EXPECT_TRUE(Found.MustWrite.Ranges.empty()) << describe(Found.MustWrite);
  }
}

/// What stands behind the loop happens once, with the last iterations.
TEST_F(LoopRangeTest, WhatIsBehindTheLoopIsOfTheLastRangeAlone) {
  touch(I, AccessRead, whileLess(I));
  touch(plus(Tid, number(100000)), AccessWrite | AccessExact).Place =
      LoopPlace::Last;
  expect(evaluate(320, all(0, 10)).MayWrite, {});
  expect(evaluate(320, all(4, 10)).MustWrite, {});
  const ByteFootprint Last = evaluate(320, all(4, ToTheEnd));
  expect(Last.MayRead, elements(128, 320));
  expect(Last.MayWrite, elements(100000, 100032));
  expect(Last.MustWrite, elements(100000, 100032));
  // Of some blocks, those of these blocks.
  BlockBox some = all(4, ToTheEnd);
  some.Lo[0] = 1;
  some.Hi[0] = 2;
  expect(evaluate(320, some).MayWrite, elements(100008, 100016));
  expect(evaluate(320, all(0, 0)).MayWrite, elements(100000, 100032));
}

TEST_F(LoopRangeTest, WhatIsInFrontAloneIsOfTheFirstRange) {
  touch(I, AccessRead, whileLess(I));
  touch(plus(Tid, number(100000)), AccessWrite | AccessExact).Place =
      LoopPlace::First;
  const ByteFootprint First = evaluate(320, all(0, 4));
  expect(First.MayWrite, elements(100000, 100032));
  expect(First.MustWrite, elements(100000, 100032));
  expect(evaluate(320, all(1, 4)).MayWrite, {});
  expect(evaluate(320, all(1, ToTheEnd)).MustWrite, {});
  expect(evaluate(320, all(0, 0)).MustWrite, elements(100000, 100032));
}

TEST_F(LoopRangeTest, AnotherLoopIsNotCut) {
  // for (j = 0; j <= 9; ++j) a[32 * j + tid] = ..
  const uint32_t J = Module.Exprs.loop(LoopNumber + 1, number(9));
  touch(plus(Tid, times(J, number(32))), Write);
  const ByteFootprint Found = evaluate(200, all(2, 3));
  expect(Found.MayWrite, elements(0, 320));
  EXPECT_TRUE(Found.MustWrite.Ranges.empty());
  EXPECT_EQ(trips(200), 0u);
}

TEST_F(LoopRangeTest, TheLoopInsideRunsToItsEndInEach) {
  // for (k..) for (j = 0; j <= 7; ++j) a[1000 * k + j] = ..
  const uint32_t J = Module.Exprs.loop(LoopNumber + 1, number(7));
  const uint32_t Counted = Module.Exprs.loop(LoopNumber, number(49));
  touch(plus(times(Counted, number(1000)), J), Write);
  const ByteFootprint Found = evaluate(200, all(48, 60));
  ByteSet Wanted = elements(48000, 48008);
  Wanted.Ranges.push_back({4 * 49000, 4 * 49008});
  expect(Found.MayWrite, Wanted);
  expect(Found.MustWrite, Wanted);
  EXPECT_EQ(trips(200), 50u);
}

TEST_F(LoopRangeTest, WhatOtherIterationsMayReadIsNoMustWrite) {
  // for (k = 0; k <= 9; ++k) a[k + 1] = a[k]
  ReadsFirst = true;
  const uint32_t Counted = Module.Exprs.loop(LoopNumber, number(9));
  touch(Counted, Read);
  touch(plus(Counted, number(1)), Write);
  const ByteFootprint Found = evaluate(0, all(3, 5));
  expect(Found.MayRead, elements(3, 5));
  expect(Found.MayWrite, elements(4, 6));
  EXPECT_TRUE(Found.MustWrite.Ranges.empty()) << describe(Found.MustWrite);
  expect(evaluate(0, all(9, 10)).MustWrite, elements(10, 11));
}

TEST_F(LoopRangeTest, WhatIsCarriedAlongIsOfIterationsBefore) {
  // least = 3; for (k = 0; k <= 9; ++k) { use(a[least]); least = min(least, k)
  ExprPool &E = Module.Exprs;
  const uint32_t Counted = E.loop(LoopNumber, number(9));
  const uint32_t Before = E.opaque(64, NoIndex, NoIndex);
  const uint32_t Next = E.binary(ExprOp::SMin, Before, Counted);
  touch(E.carried(number(3), Next, Before), AccessRead);
  const ByteSet Read = evaluate(0, all(5, 6)).MayRead;
  EXPECT_TRUE(covers(Read, {0, 4})) << describe(Read);
}

TEST_F(LoopRangeTest, TripsAreThoseOfTheThreadThatHasMost) {
  touch(I, Read, whileLess(I));
  EXPECT_EQ(trips(0), 0u);
  EXPECT_EQ(trips(-7), 0u);
  EXPECT_EQ(trips(1), 1u);
  EXPECT_EQ(trips(32), 1u);
  EXPECT_EQ(trips(33), 2u);
  EXPECT_EQ(trips(200), 7u);
  EXPECT_EQ(trips(int64_t(1) << 40), uint64_t(1) << 35);
}

TEST_F(LoopRangeTest, TripsAreThoseOfTheAccessThatHasMost) {
  std::vector<GuardRecord> Some = whileLess(I);
  Some.push_back(guard(K, GuardPred::SLT, number(2)));
  touch(I, Read, Some);
  EXPECT_EQ(trips(200), 2u);
  touch(I, Read, whileLess(I));
  EXPECT_EQ(trips(200), 7u);
}

TEST_F(LoopRangeTest, TripsAreKnownWhereTheAddressIsNot) {
  touch(I, Read | AccessUnbounded, whileLess(I));
  EXPECT_EQ(trips(200), 7u);
  EXPECT_TRUE(evaluate(200, all(2, 3)).MayRead.Everything);
}

TEST_F(LoopRangeTest, TripsThatNothingBoundsAreNotKnown) {
  touch(I, Read);
  EXPECT_EQ(trips(200), 0u);
}

TEST_F(LoopRangeTest, WhatCountsNoIterationsHasNoTrips) {
  touch(Tid, Write, {guard(Tid, GuardPred::SLT, N)});
  EXPECT_EQ(trips(200), 0u);
}

/// An access of random form under two loops, the outer one of which, number 0,
/// is cut.
class RandomAccess {
public:
  explicit RandomAccess(uint64_t Seed) : Random(Seed) {
    for (unsigned D = 0; D < 3; ++D) {
      L.Grid[D] = D ? 1 : 1 + upTo(5);
      L.Block[D] = D ? 1 : 1 + upTo(6);
    }
    L.Box = {{upTo(L.Grid[0]), 0, 0, upTo(8)}, {0, 1, 1, 0}};
    L.Box.Hi[0] = L.Box.Lo[0] + 1 + upTo(L.Grid[0] - L.Box.Lo[0]);
    L.Box.Hi[3] = L.Box.Lo[3] + 1 + upTo(6);
    L.Args = {int64_t(upTo(200))};
    const uint32_t N = E.argument(0, 64);
    const bool Tested = upTo(2);
    K = E.loop(0, Tested ? NoIndex : E.constant(upTo(12)));
    const uint32_t J = E.loop(1, E.constant(upTo(4)));
    const uint32_t Place = sum({K});
    if (Tested)
      A.Steps.push_back({Step::TestedLoop,
                         guard(E.binary(ExprOp::Add, Place, K, NoSignedWrap),
                               GuardPred::SLT, N, K),
                         K});
    else
      A.Steps.push_back({Step::CountedLoop, {}, K});
    if (upTo(3) == 0)
      A.Steps.push_back({Step::Guard, guard(sum({K}), GuardPred::SLE, N)});
    const bool Inner = upTo(2);
    if (Inner)
      A.Steps.push_back({Step::CountedLoop, {}, J});
    A.Offset = Inner ? sum({K, J}) : sum({K});
    A.Width = 1 + upTo(8);
  }

  /// The same, in the box's iterations alone.
  Access restricted() {
    Access Some = A;
    const GuardRecord From = guard(E.constant(L.Box.Lo[3]), GuardPred::ULE, K);
    const GuardRecord To = guard(K, GuardPred::ULT, E.constant(L.Box.Hi[3]));
    Some.Steps.push_back({Step::Guard, From});
    Some.Steps.push_back({Step::Guard, To});
    return Some;
  }

  ExprPool E;
  Launch L;
  Access A;

private:
  uint32_t upTo(uint64_t Count) { return uint32_t(Random() % Count); }
  uint32_t sum(std::vector<uint32_t> Variables) {
    for (ExprOp Op : {ExprOp::BlockIdx, ExprOp::ThreadIdx})
      Variables.push_back(E.cast(ExprOp::ZExt, E.launchValue(Op, 0), 64));
    uint32_t Sum = E.constant(int64_t(upTo(40)) - 20);
    for (uint32_t V : Variables)
      Sum =
          E.binary(ExprOp::Add, Sum,
                   E.binary(ExprOp::Mul, V, E.constant(upTo(24)), NoSignedWrap),
                   NoSignedWrap);
    return Sum;
  }
  std::mt19937_64 Random;
  uint32_t K;
};

TEST(LoopRangePropertyTest, MayHasWhatIsTouchedAndMustNoMore) {
  unsigned Exact = 0, None = 0;
  for (uint64_t Seed = 1; Seed <= 3000; ++Seed) {
    SCOPED_TRACE(Seed);
    RandomAccess R(Seed);
    ByteSet Touched;
    const Access Some = R.restricted();
    if (!touched(R.E, R.L, Some, Touched))
      continue;
    const Evaluation Found(R.E, {R.A}, R.L);
    ASSERT_EQ(Found.Error, "");
    for (const ByteRange &Range : Touched.Ranges)
      ASSERT_TRUE(covers(Found.Footprint.MayWrite, Range))
          << describe(Touched) << " but" << describe(Found.Footprint.MayWrite);
    for (const ByteRange &Range : Found.Footprint.MustWrite.Ranges)
      ASSERT_TRUE(covers(Touched, Range))
          << describe(Touched) << " but" << describe(Found.Footprint.MustWrite);
    Exact += !Touched.Ranges.empty() && Found.Footprint.MustWrite == Touched;
    None += Touched.Ranges.empty();
  }
  EXPECT_GT(Exact, 1000u);
  EXPECT_GT(None, 100u);
}

/// Two loops by the same steps: the first one has the iterations [0, 7) where
/// the argument is 200, the second one the ten behind them.
class LoopsRangeTest : public LoopRangeTest {
protected:
  LoopsRangeTest() {
    Numbers = {LoopNumber, LoopNumber + 1};
    touch(I, Read, whileLess(I));
    const uint32_t Counted = Module.Exprs.loop(LoopNumber + 1, number(9));
    AccessSummary &Second = touch(plus(Tid, times(Counted, Step)), Write);
    Second.FirstLoop = Second.LastLoop = 1;
  }
};

TEST_F(LoopsRangeTest, IterationsAreCountedOn) {
  EXPECT_EQ(trips(200), 17u);
  // A loop without iterations has one, for what stands in front of it.
  EXPECT_EQ(trips(0), 11u);
}

TEST_F(LoopsRangeTest, ARangeIsOfOneLoop) {
  const ByteFootprint First = evaluate(200, all(2, 4));
  expect(First.MayRead, elements(64, 128));
  EXPECT_TRUE(First.MayWrite.Ranges.empty());
  const ByteFootprint Second = evaluate(200, all(8, 10));
  EXPECT_TRUE(Second.MayRead.Ranges.empty());
  expect(Second.MayWrite, elements(32, 96));
  expect(Second.MustWrite, elements(32, 96));
}

TEST_F(LoopsRangeTest, ARangeMayBeOfBoth) {
  const ByteFootprint Both = evaluate(200, all(5, 8));
  expect(Both.MayRead, elements(160, 200));
  expect(Both.MayWrite, elements(0, 32));
  const ByteFootprint Rest = evaluate(200, all(6, ToTheEnd));
  expect(Rest.MayRead, elements(192, 200));
  expect(Rest.MayWrite, elements(0, 320));
  expect(evaluate(200, all(0, 0)).MayWrite, elements(0, 320));
}

TEST_F(LoopsRangeTest, WhatStandsBetweenIsOfTheSecondOnesFirstIteration) {
  AccessSummary &Between = touch(plus(Tid, number(1000)), Write);
  Between.Place = LoopPlace::First;
  Between.FirstLoop = Between.LastLoop = 1;
  EXPECT_TRUE(evaluate(200, all(6, 7)).MayWrite.Ranges.empty());
  ByteSet Wanted = elements(0, 32);
  Wanted.Ranges.push_back({4 * 1000, 4 * 1032});
  expect(evaluate(200, all(6, 8)).MayWrite, Wanted);
  expect(evaluate(200, all(7, 8)).MustWrite, Wanted);
  expect(evaluate(200, all(8, 9)).MayWrite, elements(32, 64));
}

TEST_F(LoopsRangeTest, WhatMayBeInSeveralIsInTheirRanges) {
  AccessSummary &Anywhere = touch(plus(Tid, number(1000)), Write);
  Anywhere.LastLoop = 1;
  for (uint32_t Lo : {0, 3, 7, 16}) {
    const ByteFootprint Found = evaluate(200, all(Lo, Lo + 1));
    EXPECT_TRUE(covers(Found.MayWrite, {4 * 1000, 4 * 1032})) << Lo;
    EXPECT_FALSE(covers(Found.MustWrite, {4 * 1000, 4 * 1032})) << Lo;
  }
}

/// for (i = tid, j = n - 1 - tid; i < j; i += step, j -= step)
TEST_F(LoopRangeTest, PositionsThatMoveTowardsEachOtherMeet) {
  ExprPool &E = Module.Exprs;
  const uint32_t J = E.binary(ExprOp::Sub, plus(N, number(-1)), I);
  touch(I, Read, {guard(I, GuardPred::SLT, J, K)});
  touch(J, Read, {guard(I, GuardPred::SLT, J, K)});
  EXPECT_EQ(trips(200), 4u);
  ByteSet First = elements(0, 32);
  First.Ranges.push_back({4 * 168, 4 * 200});
  expect(evaluate(200, all(0, 1)).MayRead, First);
  expect(evaluate(200, all(0, 0)).MayRead, elements(0, 200));
}

/// Rounds of a loop of `count` iterations that tid + step * k < N allows; the
/// inner loop goes through the same elements in each of three.
class RoundsRangeTest : public LoopRangeTest {
protected:
  RoundsRangeTest() {
    Rounds = {RoundsNumber + 1};
    Round = Module.Exprs.loop(RoundsNumber);
  }
  std::vector<GuardRecord> inRounds(int64_t Count, uint32_t Index) {
    std::vector<GuardRecord> Guards = {
        guard(Round, GuardPred::SLT, number(Count), Round)};
    Guards.push_back(whileLess(Index).front());
    return Guards;
  }
  static constexpr uint32_t RoundsNumber = LoopNumber + 1;
  uint32_t Round;
};

TEST_F(RoundsRangeTest, IterationsGoOnFromRoundToRound) {
  touch(I, Read, inRounds(3, I));
  EXPECT_EQ(trips(200), 21u);
  expect(evaluate(200, all(0, 2)).MayRead, elements(0, 64));
  expect(evaluate(200, all(9, 11)).MayRead, elements(64, 128));
  // The end of a round, and the beginning of the next one.
  ByteSet Both = elements(0, 32);
  Both.Ranges.push_back({4 * 192, 4 * 200});
  expect(evaluate(200, all(6, 8)).MayRead, Both);
  expect(evaluate(200, all(5, 16)).MayRead, elements(0, 200));
  EXPECT_TRUE(evaluate(200, all(21, 22)).MayRead.Ranges.empty());
}

TEST_F(RoundsRangeTest, WhatIsInARoundIsOfAllItsRanges) {
  touch(I, Read, inRounds(3, I));
  AccessSummary &Behind =
      touch(plus(number(1000), times(Round, number(100))), Write,
            {guard(Round, GuardPred::SLT, number(3), Round)});
  Behind.LastLoop = 0;
  auto Of = [&](uint32_t Lo, uint32_t Hi) {
    return evaluate(200, all(Lo, Hi));
  };
  expect(Of(0, 2).MayWrite, elements(1000, 1001));
  EXPECT_TRUE(Of(0, 2).MustWrite.Ranges.empty());
  expect(Of(8, 9).MayWrite, elements(1100, 1101));
  // With the whole round it is surely written.
  expect(Of(7, 14).MustWrite, elements(1100, 1101));
  ByteSet Two = elements(1100, 1101);
  Two.Ranges.push_back({4 * 1200, 4 * 1201});
  expect(Of(13, 15).MayWrite, Two);
}

TEST_F(RoundsRangeTest, WhatIsInFrontIsOfTheFirstRound) {
  touch(I, Read, inRounds(3, I));
  touch(plus(Tid, number(100000)), Write).Place = LoopPlace::First;
  EXPECT_FALSE(evaluate(200, all(0, 1)).MayWrite.Ranges.empty());
  EXPECT_TRUE(evaluate(200, all(7, 8)).MayWrite.Ranges.empty());
}

} // namespace
