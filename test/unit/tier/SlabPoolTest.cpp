//===- SlabPoolTest.cpp - memory under a budget --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/SlabPool.h"

#include <gtest/gtest.h>

#include <set>

using namespace dragon;

namespace {

constexpr size_t MiB = 1 << 20;

struct Slabs {
  uint64_t made = 0;
  std::set<uint64_t> alive;
  uint64_t bytes = 0;
  uint64_t limit = UINT64_MAX; ///< what "the host" has

  SlabPool::Create create() {
    return [this](size_t size, Place place) -> StatusOr<Physical> {
      if (bytes + size > limit)
        return Status::error(DRAGON_ERROR_OUT_OF_MEMORY, "host is full");
      bytes += size;
      alive.insert(++made);
      return Physical{made, place, size, nullptr};
    };
  }
  SlabPool::Destroy destroy() {
    return [this](const Physical &slab) -> Status {
      EXPECT_EQ(alive.erase(slab.id), 1u);
      bytes -= slab.bytes;
      return {};
    };
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

} // namespace
