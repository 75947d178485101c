//===- SlabPoolTest.cpp - memory under a budget --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/SlabPool.h"
#include "test/unit/support/base/Expect.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace dragon;

namespace {

using test::MiB;

struct Slabs {
  std::mutex lock;
  std::condition_variable changed;
  bool open = true; ///< false: who creates waits
  unsigned creating = 0;
  uint64_t made = 0;
  std::set<uint64_t> alive;
  uint64_t bytes = 0;
  uint64_t limit = UINT64_MAX; ///< what "the host" has

  SlabPool::Create create() {
    return [this](size_t size, Place place) -> StatusOr<Physical> {
      std::unique_lock guard(lock);
      ++creating;
      changed.notify_all();
      changed.wait(guard, [this] { return open; });
      --creating;
      if (bytes + size > limit)
        return Status::error(DRAGON_ERROR_OUT_OF_MEMORY, "host is full");
      bytes += size;
      alive.insert(++made);
      changed.notify_all();
      return Physical{made, place, size, nullptr};
    };
  }
  SlabPool::Destroy destroy() {
    return [this](const Physical &slab) -> Status {
      std::lock_guard guard(lock);
      EXPECT_EQ(alive.erase(slab.id), 1u);
      bytes -= slab.bytes;
      return {};
    };
  }
  void wait(uint64_t count) {
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return made >= count; });
  }
  void setOpen(bool value) {
    std::lock_guard guard(lock);
    open = value;
    changed.notify_all();
  }
  void waitForCreators(unsigned count = 1) {
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return creating >= count; });
  }
};

TEST(SlabPoolTest, SlabsAreKeptForTheNextTaker) {
  Slabs slabs;
  SlabPool pool("host", 8 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  auto a = pool.take(2 * MiB);
  ASSERT_TRUE(a.ok());
  pool.give(*a);
  EXPECT_EQ(pool.used(), 0u);
  auto b = pool.take(2 * MiB);
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(slabs.made, 1u);
  pool.give(*b);
}

TEST(SlabPoolTest, EachPlaceHasItsOwn) {
  Slabs slabs;
  SlabPool pool("host", 8 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  auto pinned = pool.take(4 * MiB);
  ASSERT_TRUE(pinned.ok());
  EXPECT_EQ(pinned->place, Place::Pinned);
  pool.give(*pinned);
  auto mappable = pool.take(4 * MiB, 0, Place::Host);
  ASSERT_TRUE(mappable.ok());
  EXPECT_EQ(mappable->place, Place::Host);
  // What is kept makes room.
  auto another = pool.take(4 * MiB, 0, Place::Host);
  ASSERT_TRUE(another.ok());
  EXPECT_EQ(slabs.alive.size(), 2u);
  pool.give(*mappable);
  pool.give(*another);
}

TEST(SlabPoolTest, WhatCanBeMappedServesWhoNeedsNoMapping) {
  Slabs slabs;
  SlabPool pool("host", 4 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  auto mappable = pool.take(2 * MiB, 0, Place::Host);
  ASSERT_TRUE(mappable.ok());
  pool.give(*mappable);
  // Not while there is room for another one.
  auto pinned = pool.take(2 * MiB);
  ASSERT_TRUE(pinned.ok());
  EXPECT_EQ(pinned->place, Place::Pinned);
  auto other = pool.take(2 * MiB);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->place, Place::Host);
  EXPECT_EQ(slabs.made, 2u);
  pool.give(*pinned);
  // The other way round it cannot.
  auto again = pool.take(2 * MiB, 0, Place::Host);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->place, Place::Host);
  EXPECT_EQ(slabs.made, 3u);
}

TEST(SlabPoolTest, WhatCanBeMappedServesWhereTheHostGivesNoMore) {
  Slabs slabs;
  slabs.limit = 4 * MiB;
  SlabPool pool("host", 64 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  auto first = pool.take(2 * MiB, 0, Place::Host);
  auto second = pool.take(2 * MiB, 0, Place::Host);
  ASSERT_TRUE(first.ok() && second.ok());
  pool.give(*first);
  pool.give(*second);
  EXPECT_TRUE(pool.take(2 * MiB).ok());
  EXPECT_TRUE(pool.take(2 * MiB).ok());
  EXPECT_EQ(slabs.made, 2u);
  EXPECT_EQ(pool.used(), 4 * MiB);
}

TEST(SlabPoolTest, NeverAboveTheBudget) {
  Slabs slabs;
  SlabPool pool("host", 8 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  std::vector<Physical> held;
  for (int i = 0; i < 4; ++i) {
    auto slab = pool.take(2 * MiB);
    ASSERT_TRUE(slab.ok());
    held.push_back(*slab);
  }
  EXPECT_EQ(pool.take(2 * MiB).takeStatus().code(), DRAGON_ERROR_OUT_OF_MEMORY);
  pool.give(held[0]);
  EXPECT_FALSE(pool.take(2 * MiB, 2 * MiB).ok()); // a reserve is kept
  pool.give(held[1]);
  pool.give(held[2]);
  // Idle slabs of another size make room.
  auto large = pool.take(6 * MiB);
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(slabs.bytes, 8 * MiB);
  pool.give(held[3]);
  pool.give(*large);
  pool.trim();
  EXPECT_EQ(pool.most(), 8 * MiB); // held and kept, not just held
}

/// Others wait for the memory: each of them may have what has gone.
TEST(SlabPoolTest, NoneIsKeptWhereMoreIsHeldThanThereMayBe) {
  Slabs slabs;
  SlabPool pool("device", 6 * MiB, Place::Device, slabs.create(),
                slabs.destroy());
  std::vector<Physical> held;
  for (int i = 0; i < 3; ++i) {
    auto slab = pool.take(2 * MiB);
    ASSERT_TRUE(slab.ok());
    held.push_back(*slab);
  }
  pool.setLimit(2 * MiB);
  pool.give(held[0]);
  EXPECT_EQ(slabs.bytes, 4 * MiB);
  EXPECT_EQ(pool.held(), 4 * MiB);
  pool.give(held[1]);
  EXPECT_EQ(slabs.bytes, 2 * MiB);
  pool.give(held[2]);
  EXPECT_EQ(slabs.bytes, 2 * MiB); // for the next taker
  EXPECT_EQ(pool.held(), 2 * MiB);
}

TEST(SlabPoolTest, IdleSlabsAreGivenUpWhenTheHostIsFull) {
  Slabs slabs;
  slabs.limit = 6 * MiB;
  SlabPool pool("host", 64 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  auto a = pool.take(4 * MiB);
  ASSERT_TRUE(a.ok());
  pool.give(*a);
  auto b = pool.take(6 * MiB);
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(slabs.alive.size(), 1u);
  pool.give(*b);
  pool.trim();
  EXPECT_TRUE(slabs.alive.empty());
}

TEST(SlabPoolTest, ExpectedSlabsAreMadeAFewAhead) {
  Slabs slabs;
  constexpr size_t Size = 32 * MiB;
  SlabPool pool("host", 4096 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy(), {4 * Size, 1});
  pool.expect(Size, 1024 * MiB);
  slabs.wait(4);
  auto a = pool.take(Size);
  ASSERT_TRUE(a.ok());
  slabs.wait(5);
  auto other = pool.take(2 * MiB); // of another size: by the taker
  ASSERT_TRUE(other.ok());
  pool.rest();
  EXPECT_EQ(slabs.made, 6u);
  pool.give(*a);
  pool.give(*other);
}

TEST(SlabPoolTest, AsManyAreMadeAheadAsAreTaken) {
  Slabs slabs;
  SlabPool pool("host", 4096 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy(), {4 * MiB, 3});
  pool.expect(2 * MiB, 34 * MiB);
  std::vector<Physical> held;
  auto take = [&](unsigned count) {
    while (count--) {
      auto slab = pool.take(2 * MiB);
      ASSERT_TRUE(slab.ok());
      held.push_back(*slab);
    }
  };
  take(2);
  slabs.wait(4);
  take(6); // 8 now
  slabs.wait(16);
  EXPECT_TRUE(pool.isReady(2 * MiB));
  EXPECT_FALSE(pool.isReady(4 * MiB));
  take(4);
  slabs.wait(17); // what is expected
  pool.rest();
  EXPECT_EQ(slabs.made, 17u);
  EXPECT_EQ(pool.most(), 34 * MiB);
  for (const Physical &slab : held)
    pool.give(slab);
}

TEST(SlabPoolTest, SeveralThreadsMakeThem) {
  Slabs slabs;
  slabs.open = false;
  SlabPool pool("host", 64 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy(), {64 * MiB, 3});
  pool.expect(2 * MiB, 64 * MiB);
  slabs.waitForCreators(3);
  // Three takers wait for these; a fourth has none to wait for.
  std::vector<std::thread> takers;
  takers.reserve(4);
  std::mutex lock;
  std::vector<Physical> held;
  for (int i = 0; i < 4; ++i)
    takers.emplace_back([&] {
      auto slab = pool.take(2 * MiB);
      ASSERT_TRUE(slab.ok());
      std::lock_guard guard(lock);
      held.push_back(*slab);
    });
  slabs.waitForCreators(4);
  slabs.setOpen(true);
  for (std::thread &taker : takers)
    taker.join();
  slabs.wait(32);
  pool.rest();
  EXPECT_EQ(slabs.bytes, 64 * MiB); // and no more
  for (const Physical &slab : held)
    pool.give(slab);
}

TEST(SlabPoolTest, WhoNeedsTheRoomComesBeforeWhatIsExpected) {
  Slabs slabs;
  slabs.open = false;
  SlabPool pool("host", 8 * MiB, Place::Pinned, slabs.create(), slabs.destroy(),
                {8 * MiB, 2});
  pool.expect(2 * MiB, 8 * MiB);
  slabs.waitForCreators(2);
  std::thread opener([&] { slabs.setOpen(true); });
  auto large = pool.take(6 * MiB); // beside these there is room for 4
  opener.join();
  ASSERT_TRUE(large.ok());
  pool.rest();
  EXPECT_LE(slabs.bytes, 8 * MiB);
  EXPECT_LE(pool.most(), 8 * MiB);
  pool.give(*large);
}

TEST(SlabPoolTest, TakersOnManyThreadsStayWithinTheBudget) {
  Slabs slabs;
  SlabPool pool("host", 16 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy(), {4 * MiB, 3});
  pool.expect(2 * MiB, 16 * MiB);
  std::vector<std::thread> takers;
  takers.reserve(4);
  for (int t = 0; t < 4; ++t)
    takers.emplace_back([&pool, t] {
      for (int i = 0; i < 200; ++i) {
        const Place place = (i + t) % 5 ? Place::Pinned : Place::Host;
        auto slab = pool.take((1 + (i + t) % 2) * 2 * MiB, 0, place);
        ASSERT_TRUE(slab.ok()) << slab.takeStatus().message();
        pool.give(*slab);
      }
    });
  for (std::thread &taker : takers)
    taker.join();
  pool.rest();
  EXPECT_EQ(pool.used(), 0u);
  EXPECT_LE(pool.most(), 16 * MiB);
}

TEST(SlabPoolTest, NoMoreAreMadeThanAreExpected) {
  Slabs slabs;
  SlabPool pool("host", 64 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  auto held = pool.take(2 * MiB);
  ASSERT_TRUE(held.ok());
  pool.expect(2 * MiB, 7 * MiB);
  slabs.wait(3); // and a fourth would be too many
  pool.rest();
  EXPECT_EQ(slabs.made, 3u);
  // Nor more than the budget has room for.
  pool.expect(2 * MiB, 1024 * MiB);
  slabs.wait(32);
  pool.rest();
  EXPECT_EQ(slabs.bytes, 64 * MiB);
  pool.give(*held);
}

TEST(SlabPoolTest, NothingIsMadeWhereNothingIsExpected) {
  Slabs slabs;
  SlabPool pool("host", 64 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  pool.expect(2 * MiB, 0);
  pool.expect(2 * MiB, MiB);
  pool.rest();
  EXPECT_EQ(slabs.made, 0u);
}

TEST(SlabPoolTest, TakerWaitsForTheSlabThatIsBeingMade) {
  Slabs slabs;
  slabs.open = false;
  SlabPool pool("host", 4 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  pool.expect(4 * MiB, 4 * MiB);
  slabs.waitForCreators();
  std::thread opener([&] { slabs.setOpen(true); });
  // There is no room for another one, and no need.
  auto slab = pool.take(4 * MiB);
  opener.join();
  ASSERT_TRUE(slab.ok());
  EXPECT_EQ(slabs.made, 1u);
  pool.give(*slab);
}

TEST(SlabPoolTest, SlabsThatWereMadeInVainGiveWay) {
  Slabs slabs;
  SlabPool pool("host", 8 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  pool.expect(2 * MiB, 8 * MiB);
  auto large = pool.take(8 * MiB);
  ASSERT_TRUE(large.ok());
  EXPECT_LE(slabs.bytes, 8 * MiB);
  pool.give(*large);
}

TEST(SlabPoolTest, WhenTheHostIsFullTakersAreTold) {
  Slabs slabs;
  slabs.limit = 4 * MiB;
  SlabPool pool("host", 64 * MiB, Place::Pinned, slabs.create(),
                slabs.destroy());
  pool.expect(2 * MiB, 64 * MiB);
  std::vector<Physical> held;
  for (int i = 0; i < 2; ++i) {
    auto slab = pool.take(2 * MiB);
    ASSERT_TRUE(slab.ok());
    held.push_back(*slab);
  }
  EXPECT_EQ(pool.take(2 * MiB).takeStatus().code(), DRAGON_ERROR_OUT_OF_MEMORY);
  for (const Physical &slab : held)
    pool.give(slab);
}

} // namespace
