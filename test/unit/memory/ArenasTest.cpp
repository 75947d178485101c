//===- ArenasTest.cpp - small allocations share chunks --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Arenas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

using namespace dragon;

namespace {

constexpr size_t ArenaBytes = 16 << 10;
constexpr uintptr_t Base = uintptr_t(1) << 30;

/// Arenas side by side, every second of them for the host, and what was taken.
class ArenasTest : public testing::Test {
protected:
  struct Taken {
    size_t bytes;
    Buffer *arena;
  };
  void addArena(bool hostAccessible) {
    auto arena = std::make_unique<Buffer>();
    arena->base = Base + Made * ArenaBytes;
    arena->bytes = arena->vaBytes = ArenaBytes;
    arena->hostAccessible = hostAccessible;
    arenas.add(*arena);
    Live.push_back(std::move(arena));
    ++Made;
  }
  /// Where there is room for it and for the gap behind it, as the allocations
  /// say.
  bool hasRoom(size_t bytes, bool hostAccessible) const {
    for (const auto &arena : Live) {
      if (arena->hostAccessible != hostAccessible)
        continue;
      uintptr_t free = arena->base;
      auto fits = [&](uintptr_t until) {
        return until > free && until - free > bytes;
      };
      for (const auto &[base, taken] : All)
        if (taken.arena == arena.get()) {
          if (fits(base))
            return true;
          free = (base + taken.bytes + 512) / 512 * 512;
        }
      if (fits(arena->base + ArenaBytes))
        return true;
    }
    return false;
  }
  bool take(size_t bytes, bool hostAccessible) {
    const bool room = hasRoom(bytes, hostAccessible);
    const auto place = arenas.take(bytes, hostAccessible);
    EXPECT_EQ(place.has_value(), room) << bytes;
    if (!place)
      return false;
    const auto [base, arena] = *place;
    EXPECT_EQ(arena->hostAccessible, hostAccessible);
    EXPECT_EQ(base % 512, 0u);
    EXPECT_GE(base, arena->base);
    EXPECT_LT(base + bytes, arena->base + ArenaBytes);
    auto next = All.lower_bound(base);
    // No allocation begins where another one ends.
    if (next != All.end())
      EXPECT_LT(base + bytes, next->first);
    if (next != All.begin())
      EXPECT_LT(std::prev(next)->first + std::prev(next)->second.bytes, base);
    All[base] = {bytes, arena};
    return true;
  }
  void give(std::map<uintptr_t, Taken>::iterator which) {
    const auto [base, taken] = *which;
    All.erase(which);
    const bool last =
        std::none_of(All.begin(), All.end(), [&](const auto &other) {
          return other.second.arena == taken.arena;
        });
    EXPECT_EQ(arenas.give(base, taken.bytes, *taken.arena), last);
    if (last)
      std::erase_if(Live, [&](const std::unique_ptr<Buffer> &arena) {
        return arena.get() == taken.arena;
      });
  }

  Arenas arenas;
  std::vector<std::unique_ptr<Buffer>> Live; ///< in the books
  std::map<uintptr_t, Taken> All;
  size_t Made = 0;
};

TEST_F(ArenasTest, NothingOverlapsAndNothingIsLost) {
  std::mt19937 random(5);
  unsigned ended = 0;
  for (int step = 0; step < 6000; ++step) {
    // Now more is taken, now more is given.
    const bool grows = random() % 8 < (step / 500 % 2 ? 2 : 6);
    if (grows || All.empty()) {
      const size_t bytes =
          random() % 2 ? 1 + random() % 600 : 512 * (1 + random() % 8);
      const bool host = random() % 2;
      if (!take(bytes, host)) {
        addArena(host);
        ASSERT_TRUE(take(bytes, host));
      }
    } else {
      const size_t before = Live.size();
      give(std::next(All.begin(), long(random() % All.size())));
      ended += Live.size() < before;
    }
    ASSERT_FALSE(HasFailure()) << step;
  }
  EXPECT_GT(ended, 10u);
  while (!All.empty())
    give(All.begin());
  EXPECT_TRUE(Live.empty());
  EXPECT_FALSE(arenas.take(1, false));
}

TEST_F(ArenasTest, ThereIsAGapBehindWhatFillsItsUnits) {
  addArena(false);
  EXPECT_TRUE(Live[0]->arena);
  ASSERT_TRUE(take(512, false));
  ASSERT_TRUE(take(512, false));
  EXPECT_EQ(All.rbegin()->first - All.begin()->first, 1024u);
  // All but the gap.
  EXPECT_FALSE(arenas.take(ArenaBytes, false));
}

} // namespace
