//===- TurnsTest.cpp - programs that do not fit together take turns -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/share/DeviceShare.h"
#include "runtime/share/Segment.h"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>

using namespace dragon;
using Answer = ShareBooks::Answer;

namespace {

/// Turns that do not end during a test, or at once.
constexpr uint64_t Hour = 3600'000'000'000, Moment = 1;

class TurnsTest : public testing::Test {
protected:
  TurnsTest() { Books->total = 100; }

  ShareProgram &add(uint64_t wanted, uint64_t turn = Hour) {
    ShareProgram &one = Books->programs[Added];
    one.pid = int32_t(++Added);
    one.weight = 1;
    one.most = Books->total;
    one.wanted = wanted;
    one.gang = Added;
    one.turn = turn;
    Books->divideAnew();
    return one;
  }
  /// A claim of the program has to wait.
  void asks(ShareProgram &one, uint64_t bytes = 10) {
    ASSERT_NE(Books->answer(one, bytes), Answer::Now);
    one.asksFor = bytes;
    one.askedAt = ++Books->asked;
  }
  /// The turn, in which a call has ended, is over before this returns, if it
  /// lasts a moment.
  bool passes(const ShareProgram &one) {
    const uint64_t before = Books->holder;
    Books->turnUsed = 1;
    for (int i = 0; i < 1000; ++i)
      if (Books->passTurn(one))
        return Books->holder != before;
    return false;
  }
  void ends(ShareProgram &one) {
    one = {};
    Books->divideAnew();
  }

  std::unique_ptr<ShareBooks> Books = std::make_unique<ShareBooks>();
  unsigned Added = 0;
};

TEST_F(TurnsTest, WhoFitTogetherTakeNone) {
  ShareProgram &a = add(40), &b = add(60);
  EXPECT_FALSE(passes(a));
  EXPECT_FALSE(passes(b));
  EXPECT_EQ(Books->holder, 0u);
  EXPECT_EQ(Books->answer(b, 60), Answer::Now);
}

/// It disturbs nobody but itself.
TEST_F(TurnsTest, OneThatWantsMoreThanItsShareTakesNone) {
  ShareProgram &a = add(90), &b = add(50);
  EXPECT_FALSE(passes(a));
  EXPECT_EQ(a.limit, 50u);
  EXPECT_EQ(b.limit, 50u);
}

TEST_F(TurnsTest, WhoClaimsFirstHasTheTurnAndAllThatItWants) {
  ShareProgram &a = add(70), &b = add(70);
  EXPECT_EQ(a.limit, 50u); // nobody has the turn yet
  EXPECT_TRUE(passes(a));
  EXPECT_EQ(a.limit, 70u);
  EXPECT_EQ(b.limit, 30u);
  EXPECT_EQ(Books->answer(a, 70), Answer::Now);
  EXPECT_EQ(Books->answer(b, 1), Answer::Later);
  asks(b);
  EXPECT_FALSE(passes(b));
  EXPECT_FALSE(Books->anyAsks());
  EXPECT_EQ(Books->answer(a, 70), Answer::Now); // whoever asked before
}

TEST_F(TurnsTest, WhatStaysIsNoMatterOfTurns) {
  ShareProgram &a = add(70), &b = add(70);
  EXPECT_TRUE(passes(a));
  a.stays = 60;
  EXPECT_EQ(Books->answer(b, 41), Answer::Never);
  EXPECT_EQ(Books->answer(b, 40), Answer::Later);
}

TEST_F(TurnsTest, WhoHasItsShareDoesNotWait) {
  ShareProgram &a = add(90), &b = add(90), &small = add(20);
  EXPECT_FALSE(passes(small));
  EXPECT_TRUE(passes(a));
  EXPECT_EQ(a.limit, 80u);
  EXPECT_EQ(b.limit, 0u);
  EXPECT_EQ(small.limit, 20u);
  EXPECT_EQ(Books->answer(small, 20), Answer::Now);
}

TEST_F(TurnsTest, WhoFitsBesideTheOneThatHasTheTurnDoesNotWait) {
  ShareProgram &a = add(50), &b = add(60), &c = add(40, Moment);
  EXPECT_TRUE(passes(a));
  EXPECT_TRUE(b.waits);
  EXPECT_FALSE(c.waits);
  EXPECT_EQ(c.limit, 40u);
  // Also where another one that would fit asks: until the turn ends.
  ShareProgram &d = add(45);
  asks(d);
  Books->divideAnew();
  EXPECT_TRUE(d.waits);
  EXPECT_FALSE(c.waits);
  a.yields = 1;
  Books->divideAnew();
  EXPECT_EQ(Books->holder, d.gang);
  EXPECT_FALSE(c.waits);
  EXPECT_TRUE(b.waits);
}

TEST_F(TurnsTest, ATurnThatIsOverPassesToWhoAskedFirst) {
  ShareProgram &a = add(70, Moment), &b = add(70, Moment), &c = add(70, Moment);
  EXPECT_TRUE(passes(a));
  EXPECT_FALSE(passes(a)); // nobody asks
  asks(c);
  asks(b);
  EXPECT_TRUE(passes(b)); // whoever finds out
  EXPECT_EQ(Books->holder, c.gang);
  EXPECT_FALSE(c.waits);
  EXPECT_EQ(c.limit, 70u);
  EXPECT_TRUE(a.waits && b.waits);
  c.asksFor = 0;
  asks(a);
  EXPECT_TRUE(passes(c)); // also the one that has it
  EXPECT_EQ(Books->holder, b.gang);
}

/// Memory that a call holds is not there for the next one: its turn begins when
/// a call of its own has ended.
TEST_F(TurnsTest, ATurnBeginsWhenItsFirstCallHasEnded) {
  ShareProgram &a = add(70, Moment), &b = add(70);
  EXPECT_TRUE(passes(a));
  a.claim = 95;
  asks(b);
  EXPECT_TRUE(passes(b));
  EXPECT_EQ(a.limit, 95u);
  EXPECT_EQ(Books->answer(b, 10), Answer::Later);
  EXPECT_TRUE(Books->anyAsks()); // who ends a call says so
  a.claim = 0;
  EXPECT_EQ(Books->answer(b, 10), Answer::Now);
  Books->turnBegan = 0;
  Books->useTurn(a); // not its turn
  EXPECT_EQ(Books->turnBegan, 0u);
  Books->useTurn(b);
  const uint64_t began = Books->turnBegan;
  EXPECT_NE(began, 0u);
  Books->useTurn(b);
  EXPECT_EQ(Books->turnBegan, began);
}

/// It would bring in its data for nothing.
TEST_F(TurnsTest, ATurnDoesNotEndBeforeItWasUsed) {
  ShareProgram &a = add(70, Moment), &b = add(70, Moment);
  EXPECT_TRUE(passes(a));
  asks(b);
  Books->turnUsed = 0;
  EXPECT_FALSE(Books->passTurn(b));
  // But in the end.
  Books->turnBegan -= 6'000'000'000;
  EXPECT_TRUE(Books->passTurn(b));
  EXPECT_EQ(Books->holder, b.gang);
}

/// Of another machine start: nobody waits for the clock.
TEST_F(TurnsTest, ATurnThatBeginsInTheFutureIsOver) {
  ShareProgram &a = add(70), &b = add(70);
  EXPECT_TRUE(passes(a));
  asks(b);
  EXPECT_FALSE(passes(b));
  Books->turnBegan = UINT64_MAX;
  EXPECT_TRUE(passes(b));
}

TEST_F(TurnsTest, WhoYieldsOrEndsGivesItsTurnAway) {
  ShareProgram &a = add(70), &b = add(70), &c = add(70);
  EXPECT_TRUE(passes(a));
  asks(b);
  asks(c);
  a.yields = 1;
  Books->divideAnew();
  EXPECT_EQ(Books->holder, b.gang);
  EXPECT_EQ(b.limit, 70u);
  ends(b);
  // One is left that works.
  EXPECT_EQ(Books->holder, 0u);
  EXPECT_FALSE(c.waits);
  a.yields = 0;
  Books->divideAnew();
  EXPECT_EQ(Books->holder, c.gang); // it still asks
  EXPECT_TRUE(a.waits);
}

TEST_F(TurnsTest, ThoseOfAGangHaveTheirTurnsTogether) {
  ShareProgram &a = add(70), &b = add(70);
  b.gang = a.gang;
  Books->divideAnew();
  EXPECT_FALSE(passes(a)); // nobody else
  EXPECT_EQ(a.limit, 50u);
  ShareProgram &c = add(70);
  EXPECT_TRUE(passes(b));
  EXPECT_FALSE(a.waits || b.waits);
  EXPECT_EQ(a.limit, 50u);
  EXPECT_EQ(b.limit, 50u);
  EXPECT_TRUE(c.waits);
  b.yields = 1; // it waits for the other one
  Books->divideAnew();
  EXPECT_EQ(Books->holder, a.gang);
  EXPECT_EQ(a.limit, 70u);
  EXPECT_TRUE(c.waits);
}

TEST_F(TurnsTest, WhoTakesNoneDoesNotWait) {
  ShareProgram &a = add(70), &b = add(70, 0);
  EXPECT_FALSE(passes(a));
  EXPECT_FALSE(passes(b));
  EXPECT_EQ(a.limit, 50u);
  ShareProgram &c = add(70);
  EXPECT_TRUE(passes(a));
  EXPECT_FALSE(b.waits);
  EXPECT_EQ(a.limit, 50u);
  EXPECT_EQ(b.limit, 50u);
  EXPECT_TRUE(c.waits);
}

TEST_F(TurnsTest, AStoppedProgramHasNoTurn) {
  ShareProgram &a = add(70), &b = add(70), &c = add(70);
  EXPECT_TRUE(passes(a));
  EXPECT_EQ(a.turns, 1u);
  a.held = 60;
  asks(b);
  asks(c);
  b.stopped = 1;
  Books->divideAnew();
  EXPECT_EQ(Books->holder, a.gang); // b is not the next one
  a.stopped = 1;
  Books->divideAnew();
  // One is left that works, with what the others do not hold.
  EXPECT_EQ(Books->holder, 0u);
  EXPECT_FALSE(c.waits);
  EXPECT_EQ(c.limit, 40u);
  EXPECT_EQ(Books->answer(c, 40), Answer::Now); // although b has asked before
  EXPECT_EQ(Books->answer(c, 41), Answer::Later);
  b.stopped = 0;
  Books->divideAnew();
  EXPECT_EQ(Books->holder, b.gang);
  EXPECT_EQ(b.limit, 40u);
  EXPECT_EQ(b.turns, 1u);
  EXPECT_EQ(c.turns, 0u);
}

TEST_F(TurnsTest, APauseIsAsLongAsToMoveTheBuffers) {
  using namespace std::chrono;
  EXPECT_EQ(DeviceShare::pauseWithin(2s, 0ns), 200ms); // not known
  EXPECT_EQ(DeviceShare::pauseWithin(2s, 50ms), 50ms);
  EXPECT_EQ(DeviceShare::pauseWithin(2s, 1us), 10ms);
  EXPECT_EQ(DeviceShare::pauseWithin(50s, 5s), 1s); // as where nobody waits
}

} // namespace
