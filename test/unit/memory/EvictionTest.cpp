//===- EvictionTest.cpp - who leaves to make room -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Eviction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dragon;
using testing::ElementsAre;

namespace {

EvictionCandidate candidate(uint32_t index, uint64_t lastTouch) {
  EvictionCandidate c{};
  c.index = index;
  c.bytes = 1;
  c.lastTouch = lastTouch;
  return c;
}

TEST(EvictionTest, WithoutKnowledgeTheLeastRecentlyUsedGoes) {
  EXPECT_THAT(
      chooseVictims({candidate(0, 5), candidate(1, 2), candidate(2, 9)}, 10, 2),
      ElementsAre(1, 0));
}

TEST(EvictionTest, WhatIsNeededLastGoesFirst) {
  auto soon = candidate(0, 1), later = candidate(1, 99);
  soon.nextUse = 101;
  later.nextUse = 150;
  EXPECT_THAT(chooseVictims({soon, later, candidate(2, 60)}, 100, 3),
              ElementsAre(1, 2, 0));
}

TEST(EvictionTest, EmptyOnesGoFirstBusyOnesLaterKeptOnesLast) {
  auto empty = candidate(0, 99), busy = candidate(1, 50),
       kept = candidate(2, 0), used = candidate(4, 99);
  empty.empty = busy.busy = kept.keepLast = used.empty = used.busy = true;
  EXPECT_THAT(
      chooseVictims({kept, busy, used, candidate(3, 50), empty}, 100, 5),
      ElementsAre(0, 4, 3, 1, 2));
}

TEST(EvictionTest, WhatCostsMoreMustBeNeededLater) {
  auto dirty = candidate(0, 1), clean = candidate(1, 1), dead = candidate(2, 1);
  dirty.copies = true;
  dead.returns = false;
  dirty.nextUse = 190;
  clean.nextUse = 150;
  dead.nextUse = 110;
  EXPECT_THAT(chooseVictims({dirty, clean, dead}, 100, 3),
              ElementsAre(2, 1, 0));
  dirty.nextUse = 210;
  EXPECT_THAT(chooseVictims({dirty, clean, dead}, 100, 3),
              ElementsAre(2, 0, 1));
}

TEST(EvictionTest, TiesGoToWhatCostsNoCopy) {
  auto dirty = candidate(0, 5), clean = candidate(1, 5);
  dirty.copies = true;
  EXPECT_THAT(chooseVictims({dirty, clean}, 10, 1), ElementsAre(1));
}

/// In a loop over more than fits, the farthest is what was used just now.
TEST(EvictionTest, OfThoseAlmostAsFarTheOneThatIsFreeFirst) {
  auto last = candidate(0, 199), before = candidate(1, 198),
       nearer = candidate(2, 190);
  last.nextUse = 1200;
  before.nextUse = 1190;
  nearer.nextUse = 1100;
  last.busy = before.busy = true;
  EXPECT_THAT(chooseVictims({last, before, nearer}, 200, 3),
              ElementsAre(1, 0, 2));
  before.busy = false;
  EXPECT_THAT(chooseVictims({last, before, nearer}, 200, 1), ElementsAre(1));
  // A tenth of the way is too much.
  before.nextUse = 1099;
  EXPECT_THAT(chooseVictims({last, before, nearer}, 200, 3),
              ElementsAre(0, 2, 1));
}

/// To wait for work costs more than to fetch again a little earlier.
TEST(EvictionTest, WhatIsInUseWaitsForThoseAlmostAsFar) {
  auto busy = candidate(0, 199), idle = candidate(1, 150);
  busy.nextUse = 1200;
  busy.busy = true;
  idle.nextUse = 1150;
  EXPECT_THAT(chooseVictims({busy, idle}, 200, 1), ElementsAre(1));
  // A tenth of the way is too much.
  idle.nextUse = 1099;
  EXPECT_THAT(chooseVictims({busy, idle}, 200, 1), ElementsAre(0));
}

/// What comes and goes leaves the others where they are.
TEST(EvictionTest, WhatStreamsGoesFirstUnlessItIsNeededSoon) {
  auto stays = candidate(0, 199), streams = candidate(1, 150),
       inUse = candidate(2, 199);
  stays.nextUse = 1200;
  streams.nextUse = 700;
  inUse.nextUse = 1190;
  streams.streams = inUse.streams = inUse.busy = true;
  EXPECT_THAT(chooseVictims({stays, streams, inUse}, 200, 3),
              ElementsAre(1, 2, 0));
  // It has come for the next launch.
  streams.nextUse = 250;
  EXPECT_THAT(chooseVictims({stays, streams, inUse}, 200, 3),
              ElementsAre(2, 0, 1));
}

/// What a launch works on is empty when it has: where the next slice could come
/// meanwhile, what takes a copy goes.
TEST(EvictionTest, WhatIsEmptyIsNotWaitedFor) {
  auto used = candidate(0, 99), written = candidate(1, 20),
       needed = candidate(2, 90);
  used.empty = used.busy = true;
  used.copies = written.copies = true;
  needed.nextUse = 101;
  used.waits = 1;
  EXPECT_THAT(chooseVictims({used, written, needed}, 100, 3),
              ElementsAre(0, 1, 2));
  used.waits = 4;
  EXPECT_THAT(chooseVictims({used, written, needed}, 100, 3),
              ElementsAre(1, 0, 2));
  used.waits = 0;
  EXPECT_THAT(chooseVictims({used, written, needed}, 100, 1), ElementsAre(0));
}

TEST(EvictionTest, NoMoreThanNeeded) {
  EXPECT_THAT(chooseVictims({candidate(0, 1), candidate(1, 2)}, 10, 1),
              ElementsAre(0));
  EXPECT_TRUE(chooseVictims({candidate(0, 1)}, 10, 0).empty());
}

/// In a wave what was just left goes, if it is needed so much later; where
/// copies run while others leave, what is in use goes last.
TEST(EvictionTest, WaitingCountsAsCopies) {
  auto left = candidate(0, 99), inside = candidate(1, 50);
  left.nextUse = 300;
  inside.nextUse = 180;
  left.copies = inside.copies = true;
  left.waits = 1;
  EXPECT_THAT(chooseVictims({left, inside}, 100, 1), ElementsAre(0));
  left.waits = 4;
  EXPECT_THAT(chooseVictims({left, inside}, 100, 1), ElementsAre(1));
  // Waiting for one that costs nothing else is a cost, too.
  left.copies = left.returns = false;
  EXPECT_THAT(chooseVictims({left, inside}, 100, 1), ElementsAre(0));
  inside.nextUse = 220;
  EXPECT_THAT(chooseVictims({left, inside}, 100, 1), ElementsAre(1));
}

} // namespace
