//===- SliceUsesTest.cpp - when the slices of a launch need what ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/SliceUses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

using namespace dragon;

namespace {

/// Launches over a few chunks, whose slices are interleaved by chance.
class SliceUsesTest : public testing::Test {
protected:
  static constexpr size_t NumChunks = 5;
  static constexpr uint64_t Start = 1000;

  SliceUsesTest() {
    Mem.base = 1 << 20;
    Mem.bytes = Mem.vaBytes = NumChunks * 4096;
    Mem.chunkBytes = 4096;
    Mem.makeChunks();
  }
  void makeLaunches(std::mt19937 &random) {
    Footprints.clear();
    Launches.clear();
    Slices.clear();
    Overwritten.assign(1 + random() % 3, {});
    std::vector<uint32_t> left;
    for (std::set<Chunk *> &overwritten : Overwritten) {
      LaunchFootprint &whole = Footprints.emplace_back();
      std::vector<AddressRange> dying;
      for (Chunk &chunk : Mem.chunks) {
        const bool overwrites = random() % 3 == 0;
        if (overwrites)
          overwritten.insert(&chunk);
        whole.uses.push_back(useOfAll(chunk, overwrites ? LaunchNeed::Overwrite
                                                        : LaunchNeed::Write));
        if (random() % 4 == 0)
          dying.push_back({chunk.va(), chunk.usedEnd()});
      }
      Launches.push_back({nullptr, &whole, dying});
      left.push_back(1 + random() % 4);
    }
    for (size_t sum = 1; sum;) {
      const auto launch = uint32_t(random() % Launches.size());
      if (left[launch]) {
        --left[launch];
        LaunchFootprint &part = Footprints.emplace_back();
        for (Chunk &chunk : Mem.chunks)
          if (random() % 2)
            part.uses.push_back(useOfAll(
                chunk, random() % 2 ? LaunchNeed::Read : LaunchNeed::Write));
        Slices.push_back({launch, {}, &part});
      }
      sum = 0;
      for (uint32_t slices : left)
        sum += slices;
    }
    for (Chunk &chunk : Mem.chunks)
      switch (random() % 3) {
      case 0:
        After[chunk.index] = {};
        break;
      case 1:
        After[chunk.index] = {Start + 40 * LaunchTime, true, true};
        break;
      default: // may be wrong
        After[chunk.index] = {Start + 50 * LaunchTime, true, false};
        break;
      }
  }
  SliceUses make() {
    return SliceUses(Launches, Slices, Start,
                     [this](Chunk &chunk) { return After[chunk.index]; });
  }

  /// A use of one chunk, as the order of the slices says.
  struct Turn {
    uint32_t slice, launch;
    const SliceUses::Use *use;
  };
  std::vector<Turn> turnsOf(const SliceUses &uses, const Chunk &chunk) {
    std::vector<Turn> turns;
    for (uint32_t i = 0; i < uses.size(); ++i)
      for (const SliceUses::Use &use : uses.uses(i))
        if (use.use->chunk == &chunk)
          turns.push_back({i, uses.slice(i).launch, &use});
    return turns;
  }
  /// The launch overwrites the chunk before anybody needs its contents.
  bool overwrites(const std::vector<Turn> &turns, size_t k, Chunk &chunk) {
    const uint32_t launch = turns[k].launch;
    if (!Overwritten[launch].count(&chunk))
      return false;
    for (size_t i = 0; i < turns.size(); ++i)
      if (i < k ? turns[i].launch == launch : turns[i].launch < launch)
        return false;
    return true;
  }
  /// Nobody needs it behind one of the launches, and this is the last of those
  /// that come before.
  bool isLastBefore(const std::vector<Turn> &turns, size_t k,
                    const Chunk &chunk) {
    for (uint32_t launch = 0; launch < Launches.size(); ++launch) {
      if (!isWithin(chunk, Launches[launch].dying))
        continue;
      bool isLast = turns[k].launch <= launch;
      for (size_t i = 0; i < turns.size(); ++i)
        isLast &= i <= k ? turns[i].launch <= launch : turns[i].launch > launch;
      if (isLast)
        return true;
    }
    return false;
  }

  Buffer Mem;
  std::deque<LaunchFootprint> Footprints;
  std::vector<SlicedLaunch> Launches;
  std::vector<Slice> Slices;
  std::vector<std::set<Chunk *>> Overwritten; ///< by launch
  Forecast After[NumChunks];
};

TEST_F(SliceUsesTest, NextUsesAndDeathsAreThoseOfTheOrder) {
  std::mt19937 random(77);
  unsigned overwriting = 0, dying = 0, dead = 0;
  for (int round = 0; round < 1500; ++round) {
    makeLaunches(random);
    const SliceUses uses = make();
    std::set<Chunk *> deadBefore;
    for (Chunk &chunk : Mem.chunks) {
      const std::vector<Turn> turns = turnsOf(uses, chunk);
      for (size_t k = 0; k < turns.size(); ++k) {
        SCOPED_TRACE(testing::Message() << round << ", " << k);
        const SliceUses::Use &use = *turns[k].use;
        const bool isLast = k + 1 == turns.size();
        EXPECT_EQ(use.first, turns[0].slice);
        EXPECT_EQ(use.next, isLast ? SliceUses::None : turns[k + 1].slice);
        EXPECT_EQ(use.overwrites, overwrites(turns, k, chunk));
        EXPECT_EQ(use.need(),
                  use.overwrites ? LaunchNeed::Overwrite : use.use->need);
        const Forecast &after = After[chunk.index];
        const bool overwrittenNext = isLast ? after.certain && after.overwritten
                                            : overwrites(turns, k + 1, chunk);
        EXPECT_EQ(use.overwrittenNext, overwrittenNext);
        EXPECT_EQ(use.dies, overwrittenNext || isLastBefore(turns, k, chunk));
        overwriting += use.overwrites;
        dying += use.dies && !overwrittenNext;
      }
      if (!turns.empty() && turns[0].slice > 0 && overwrites(turns, 0, chunk))
        deadBefore.insert(&chunk);
      ASSERT_FALSE(HasFailure());
    }
    EXPECT_EQ(
        std::set<Chunk *>(uses.deadBefore().begin(), uses.deadBefore().end()),
        deadBefore);
    dead += !deadBefore.empty();
  }
  EXPECT_GT(overwriting, 100u);
  EXPECT_GT(dying, 100u);
  EXPECT_GT(dead, 50u);
}

/// As slices run, what is next is always what comes behind them.
TEST_F(SliceUsesTest, ChunksKnowTheirNextUse) {
  std::mt19937 random(78);
  for (int round = 0; round < 300; ++round) {
    makeLaunches(random);
    for (Chunk &chunk : Mem.chunks)
      chunk.nextUse = {7};
    SliceUses uses = make();
    uses.ran(0); // nobody was told: nothing changes
    for (Chunk &chunk : Mem.chunks)
      ASSERT_EQ(chunk.nextUse.clock, 7u);
    uses.announce(99);
    for (uint32_t slice = 0; slice < uses.size(); ++slice) {
      for (Chunk &chunk : Mem.chunks) {
        const std::vector<Turn> turns = turnsOf(uses, chunk);
        if (turns.empty()) {
          ASSERT_EQ(chunk.nextUse.clock, 7u);
          continue;
        }
        ASSERT_EQ(chunk.nextUseOf, 99u);
        auto next = std::find_if(turns.begin(), turns.end(), [&](Turn turn) {
          return turn.slice >= slice;
        });
        if (next != turns.end())
          ASSERT_EQ(chunk.nextUse.clock, uses.timeOf(next->slice));
        else if (After[chunk.index].clock)
          ASSERT_EQ(chunk.nextUse.clock, After[chunk.index].clock);
        else // in the same slice of launches like these
          ASSERT_EQ(chunk.nextUse.clock,
                    uses.timeOf(turns[0].slice) + Launches.size() * LaunchTime);
      }
      // Slices divide the time of their launches.
      ASSERT_GT(uses.timeOf(slice), slice ? uses.timeOf(slice - 1) : Start);
      ASSERT_LE(uses.timeOf(slice), Start + Launches.size() * LaunchTime);
      uses.ran(slice);
    }
  }
}

TEST_F(SliceUsesTest, WhatRunsAtATimeIsInUse) {
  LaunchFootprint none;
  Launches.assign(2, {nullptr, &none, {}});
  for (uint32_t i = 0; i < 20; ++i)
    Slices.push_back({i % 2, {}, &none});
  SliceUses uses = make();
  EXPECT_EQ(uses.numLaunches(), 2u);
  for (unsigned atATime : {1u, 3u}) {
    uses.runAtATime(atATime);
    const size_t behind = (1 + atATime) * 2;
    for (size_t slice = 0; slice < 20; ++slice) {
      const uint64_t since = uses.inUseSince(slice);
      // Those of so many slices before, and of no others.
      for (size_t other = 0; other < slice; ++other)
        EXPECT_EQ(uses.clockOf(other) >= since, other + behind >= slice)
            << other << " " << slice;
    }
  }
}

TEST_F(SliceUsesTest, SlicesWhoseChunksAreThereComeFirst) {
  for (size_t i : {1, 3})
    Mem.chunks[i].device.id = 5;
  auto part = [&](std::vector<size_t> chunks) {
    LaunchFootprint made;
    for (size_t i : chunks)
      made.uses.push_back(useOfAll(Mem.chunks[i], LaunchNeed::Read));
    return made;
  };
  const std::vector<LaunchFootprint> parts = {part({0}), part({1, 3}),
                                              part({1, 2}), part({3})};
  EXPECT_EQ(sliceOrder(parts), (std::vector<uint32_t>{1, 3, 0, 2}));
  const std::vector<LaunchFootprint> shared = {part({1, 0}), part({1, 3}),
                                               part({1, 2})};
  EXPECT_EQ(sliceOrder(shared), (std::vector<uint32_t>{1, 0, 2}));
  Mem.chunks[1].device.id = 0;
  EXPECT_EQ(sliceOrder(shared), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(sliceOrder(shared, /*ofOwn=*/true),
            (std::vector<uint32_t>{1, 0, 2}));
}

} // namespace
