//===- NextUsesTest.cpp - when chunks are needed next ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/NextUses.h"
#include "runtime/launch/WaitingLaunch.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/launch/CallFixture.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr int UsedWords = 1000;

/// Launches on three buffers of a chunk each: `make` overwrites A, `change`
/// changes B, and `mix` adds A and B to C.
class NextUsesTest : public CallFixture {
protected:
  void SetUp() override {
    CallFixture::SetUp();
    Settings settings;
    settings.backend = "cpu";
    std::string notes;
    auto device = createDevice(settings, notes);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    Ctx.emplace(settings, std::move(*device), Budget{});
    Time.emplace(*Ctx->device);
    Next.emplace(*Ctx, *Time);
    for (Buffer **buffer : {&A, &B, &C})
      *buffer = &add(UsedWords * 4);
  }
  Call makeCall() { return make("iota", 16, A->base, UsedWords, 3); }
  Call changeCall() { return make("scale", 16, B->base, UsedWords, 3); }
  Call mixCall() {
    return make("add", 16, C->base, A->base, B->base, UsedWords);
  }

  LaunchFootprint footprint(const ResolvedLaunch &launch) {
    return footprintOf(launch, Index, wholeGrid(launch));
  }
  void run(const Call &call) {
    const ResolvedLaunch launch(call.call, Index);
    Next->beginLaunch();
    Next->remember(launch, footprint(launch));
  }
  /// Twice the three of them, of which the second time is foreseen.
  void runTwice() {
    for (int round = 0; round < 2; ++round) {
      run(makeCall());
      run(changeCall());
      run(mixCall());
    }
  }
  Forecast foresee(const Buffer *buffer) const {
    return Next->foresee(buffer->chunks[0]);
  }
  uint64_t inLaunches(uint64_t number) const {
    return (Ctx->launches + number) * LaunchTime;
  }

  std::optional<Context> Ctx;
  std::optional<WorkTracker> Time;
  std::optional<NextUses> Next;
  Buffer *A = nullptr, *B = nullptr, *C = nullptr;
};

TEST_F(NextUsesTest, EachLaunchHasItsTimeOnTheClock) {
  EXPECT_EQ(Next->beginLaunch(), 1u);
  EXPECT_EQ(Ctx->clock, LaunchTime);
  Ctx->clock += 100; // copies
  EXPECT_EQ(Next->beginLaunch(), 2u);
  EXPECT_EQ(Ctx->clock, 2 * LaunchTime);
  // More copies than a launch has time: the clock never goes back.
  Ctx->clock += 2 * LaunchTime;
  EXPECT_EQ(Next->beginLaunch(), 3u);
  EXPECT_EQ(Ctx->clock, 4 * LaunchTime + 1);
  EXPECT_EQ(Ctx->launches, 3u);
}

TEST_F(NextUsesTest, WhatWasSeenComesAgain) {
  run(makeCall());
  run(changeCall());
  run(mixCall());
  EXPECT_FALSE(Next->foresees());
  for (const Buffer *buffer : {A, B, C})
    EXPECT_EQ(foresee(buffer).clock, 0u);
  run(makeCall());
  EXPECT_TRUE(Next->foresees());
  EXPECT_EQ(Next->launchClock(), Ctx->clock);
  EXPECT_EQ(foresee(B).clock, inLaunches(1));
  EXPECT_EQ(foresee(A).clock, inLaunches(2));
  EXPECT_EQ(foresee(C).clock, inLaunches(2));
  EXPECT_FALSE(foresee(A).overwritten || foresee(B).overwritten);
  EXPECT_TRUE(foresee(C).overwritten);
  EXPECT_FALSE(foresee(C).certain);
  EXPECT_EQ(Ctx->ledger.counter(Counter::ForeseenLaunches), 0u);
  run(changeCall());
  run(mixCall());
  EXPECT_EQ(Ctx->ledger.counter(Counter::ForeseenLaunches), 2u);
  EXPECT_EQ(foresee(A).clock, inLaunches(1));
  EXPECT_TRUE(foresee(A).overwritten);
  run(mixCall()); // another one
  EXPECT_EQ(Ctx->ledger.counter(Counter::ForeseenLaunches), 2u);
}

TEST_F(NextUsesTest, TheSameKernelOnOtherBuffersIsAnotherLaunch) {
  runTwice();
  const uint64_t foreseen = Ctx->ledger.counter(Counter::ForeseenLaunches);
  run(make("iota", 16, C->base, UsedWords, 3)); // where A was expected
  EXPECT_EQ(Ctx->ledger.counter(Counter::ForeseenLaunches), foreseen);
}

TEST_F(NextUsesTest, WorkOfOthersIsRememberedAsWell) {
  std::vector<ChunkUse> uses;
  for (Chunk &chunk : B->chunks)
    uses.push_back(useOfAll(chunk, LaunchNeed::Read));
  for (Chunk &chunk : C->chunks)
    uses.push_back(useOfAll(chunk, LaunchNeed::Overwrite));
  for (int round = 0; round < 2; ++round) {
    Next->beginLaunch();
    Next->remember(77, uses);
    run(makeCall());
  }
  EXPECT_EQ(Next->launchClock(), Ctx->clock);
  EXPECT_EQ(foresee(B).clock, inLaunches(1));
  EXPECT_FALSE(foresee(B).overwritten);
  EXPECT_TRUE(foresee(C).overwritten);
}

TEST_F(NextUsesTest, ACopyThatComesAgainOverwrites) {
  for (bool tracking : {false, true}) {
    Time->Tracking = tracking;
    Next.emplace(*Ctx, *Time);
    for (int round = 0; round < 3; ++round) {
      run(makeCall());
      Next->overwritten(B->base, B->end());
      run(changeCall());
    }
    run(makeCall());
    // Until data has to move, nobody asks.
    EXPECT_EQ(foresee(B).overwritten, tracking);
    EXPECT_NE(foresee(B).clock, 0u);
  }
}

TEST_F(NextUsesTest, TheCompilerAnnouncesUses) {
  run(makeCall());
  EXPECT_EQ(foresee(B).clock, 0u);
  Next->announce(*B, 0); // the next launch
  EXPECT_EQ(foresee(B).clock, inLaunches(1));
  Next->announce(*B, 2);
  EXPECT_EQ(foresee(B).clock, inLaunches(3));
  Next->beginLaunch();
  EXPECT_EQ(foresee(B).clock, inLaunches(2));
  Next->beginLaunch();
  Next->beginLaunch(); // it is that one
  EXPECT_EQ(foresee(B).clock, 0u);
  Next->announce(*B, NextUses::NeverAgain);
  EXPECT_GT(foresee(B).clock, inLaunches(100000));
  EXPECT_FALSE(foresee(B).overwritten);
  EXPECT_EQ(foresee(A).clock, 0u);
}

TEST_F(NextUsesTest, WhatWasSeenCountsMoreThanWhatWasAnnounced) {
  runTwice();
  Next->announce(*A, 10);
  EXPECT_EQ(foresee(A).clock, inLaunches(1));
  Buffer &other = add(UsedWords * 4);
  Next->announce(other, 10);
  EXPECT_EQ(foresee(&other).clock, inLaunches(11));
}

TEST_F(NextUsesTest, WhatWaitsCountsMost) {
  runTwice();
  const uint64_t seen = foresee(A).clock;
  std::vector<WaitingLaunch> waiting;
  for (const Call &one : {makeCall(), changeCall()}) {
    const ResolvedLaunch launch(one.call, Index);
    auto planned = std::make_shared<PlannedLaunch>();
    planned->isFor(footprint(launch));
    waiting.emplace_back(launch, planned, 90000 + waiting.size());
  }
  ComingUses coming(waiting);
  Next->setComing(&coming);
  EXPECT_EQ(foresee(A).clock, 90001u);
  EXPECT_TRUE(foresee(A).certain && foresee(A).overwritten);
  EXPECT_EQ(foresee(B).clock, 90002u);
  EXPECT_FALSE(foresee(B).overwritten);
  EXPECT_FALSE(foresee(C).certain); // nobody who waits uses it
  EXPECT_NE(foresee(C).clock, 0u);
  coming.begun(1);
  EXPECT_EQ(foresee(A).clock, seen);
  Next->setComing(nullptr);
  EXPECT_FALSE(foresee(B).certain);
}

TEST_F(NextUsesTest, AForecastIsFoundOnceInALaunch) {
  run(makeCall());
  Chunk &chunk = B->chunks[0];
  EXPECT_EQ(Next->nextUseOf(chunk).clock, 0u);
  Next->announce(*B, 3); // it had none: it is asked again
  const uint64_t first = inLaunches(4);
  EXPECT_EQ(Next->nextUseOf(chunk).clock, first);
  Next->announce(*B, 7);
  EXPECT_EQ(Next->nextUseOf(chunk).clock, first);
  EXPECT_EQ(Next->foresee(chunk).clock, inLaunches(8));
  run(makeCall());
  EXPECT_EQ(Next->nextUseOf(chunk).clock, inLaunches(7));
  // Or when the predictions are for another one.
  Next->announce(*B, 1);
  EXPECT_EQ(Next->nextUseOf(chunk).clock, inLaunches(7));
  Next->setLaunchClock(Next->launchClock() + 5);
  EXPECT_EQ(Next->nextUseOf(chunk).clock, inLaunches(2));
}

} // namespace
