//===- LaunchFootprintTest.cpp - which chunks blocks touch ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Held to what the kernels do, thread by thread.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchFootprint.h"
#include "test/unit/support/launch/CallFixture.h"

#include <functional>
#include <map>
#include <random>
#include <set>

using namespace dragon;
using namespace dragon::test;

namespace {

/// The bytes of a chunk that threads touch.
struct Touched {
  std::set<size_t> bytes, written, read;
};
using Model = std::map<const Chunk *, Touched>;

class LaunchFootprintTest : public CallFixture {
protected:
  /// A thread's access to four bytes.
  struct Access {
    uintptr_t address;
    bool writes;
  };
  using Thread = std::function<std::vector<Access>(int64_t i)>;

  Model modelOf(const BlockBox &box, const Thread &thread) {
    Model model;
    for (int64_t i = int64_t(box.Lo[0]) * Threads;
         i < int64_t(box.Hi[0]) * Threads; ++i)
      for (const Access &access : thread(i)) {
        Allocation *found = Index.find(access.address);
        if (!found)
          continue;
        Chunk &chunk = found->buffer->chunkAt(access.address);
        Touched &touched = model[&chunk];
        for (size_t k = 0; k < 4; ++k) {
          const size_t byte = access.address - chunk.va() + k;
          touched.bytes.insert(byte);
          (access.writes ? touched.written : touched.read).insert(byte);
        }
      }
    return model;
  }
  /// `exact`: what is said to be touched is, and what is overwritten is said to
  /// be.
  void check(const Call &call, const Thread &thread, bool exact) {
    const ResolvedLaunch launch(call.call, Index);
    std::mt19937 random(9);
    for (int round = 0; round < 12; ++round) {
      BlockBox box = wholeGrid(call.call);
      if (round) {
        box.Lo[0] = uint32_t(random() % call.call.grid[0]);
        box.Hi[0] = box.Lo[0] + 1 +
                    uint32_t(random() % (call.call.grid[0] - box.Lo[0]));
      }
      SCOPED_TRACE(testing::Message() << box.Lo[0] << " " << box.Hi[0]);
      const Model model = modelOf(box, thread);
      const LaunchFootprint footprint = footprintOf(launch, Index, box);
      EXPECT_FALSE(footprint.anything);
      std::set<const Chunk *> listed;
      uintptr_t last = 0;
      for (const ChunkUse &use : footprint.uses) {
        ASSERT_LT(last, use.chunk->va()); // by address, each once
        last = use.chunk->va();
        listed.insert(use.chunk);
        const auto found = model.find(use.chunk);
        if (exact)
          ASSERT_TRUE(found != model.end());
        const Touched touched =
            found == model.end() ? Touched() : found->second;
        auto covers = [](ChunkPart part, const std::set<size_t> &bytes) {
          return bytes.empty() ||
                 (part.begin <= *bytes.begin() && *bytes.rbegin() < part.end);
        };
        EXPECT_TRUE(covers(use.touched, touched.bytes));
        EXPECT_TRUE(covers(use.written, touched.written));
        EXPECT_LE(use.touched.end, use.chunk->used());
        EXPECT_EQ(use.mayWrite(), !use.written.empty());
        const bool all = touched.written.size() == use.chunk->used();
        if (use.mustWrite()) {
          EXPECT_TRUE(all);
          EXPECT_TRUE(touched.read.empty());
        } else if (exact && all) {
          EXPECT_FALSE(touched.read.empty());
        }
      }
      for (const auto &[chunk, touched] : model)
        EXPECT_TRUE(listed.count(chunk));
      // For planning nothing counts as overwritten, and the chunks are the same.
      ChunksAsked asked;
      asked.withMust = false;
      const LaunchFootprint planned = footprintOf(launch, Index, box, asked);
      ASSERT_EQ(planned.uses.size(), footprint.uses.size());
      for (size_t i = 0; i < planned.uses.size(); ++i) {
        EXPECT_EQ(planned.uses[i].chunk, footprint.uses[i].chunk);
        EXPECT_FALSE(planned.uses[i].mustWrite());
        EXPECT_EQ(planned.uses[i].mayWrite(), footprint.uses[i].mayWrite());
      }
    }
  }
};

constexpr int OddThreads = 9001; ///< not a whole number of blocks or chunks
constexpr unsigned OddBlocks = (OddThreads + 63) / 64;

TEST_F(LaunchFootprintTest, EachThreadHasItsWords) {
  // Buffers end where the arrays end, or further on; arrays begin anywhere.
  Buffer &a = add(OddThreads * 4 + 400), &b = add(OddThreads * 4),
         &c = add(OddThreads * 4);
  const uintptr_t from = a.base + 400;
  const Call call = make("add", OddBlocks, c.base, from, b.base, OddThreads);
  check(
      call,
      [&](int64_t i) -> std::vector<Access> {
        if (i >= OddThreads)
          return {};
        const auto at = uintptr_t(i) * 4;
        return {{from + at, false}, {b.base + at, false}, {c.base + at, true}};
      },
      true);
}

/// What another pointer reads is not overwritten before.
TEST_F(LaunchFootprintTest, WhatIsReadThroughAnotherPointerIsNeeded) {
  Buffer &a = add(OddThreads * 4), &b = add(OddThreads * 4);
  const Call call = make("add", OddBlocks, a.base, a.base, b.base, OddThreads);
  check(
      call,
      [&](int64_t i) -> std::vector<Access> {
        if (i >= OddThreads)
          return {};
        const auto at = uintptr_t(i) * 4;
        return {
            {a.base + at, false}, {b.base + at, false}, {a.base + at, true}};
      },
      true);
}

TEST_F(LaunchFootprintTest, NeighboursAreTouched) {
  Buffer &a = add(OddThreads * 4), &c = add(OddThreads * 4);
  const Call call = make("stencil", OddBlocks, c.base, a.base, OddThreads);
  check(
      call,
      [&](int64_t i) -> std::vector<Access> {
        if (i >= OddThreads)
          return {};
        auto word = [&](int64_t k) {
          return Access{a.base + uintptr_t(k) * 4, false};
        };
        return {word(std::max<int64_t>(i - 1, 0)),
                word(i),
                word(std::min<int64_t>(i + 1, OddThreads - 1)),
                {c.base + uintptr_t(i) * 4, true}};
      },
      false);
}

TEST_F(LaunchFootprintTest, AGuardIsSeen) {
  constexpr int From = 5000;
  Buffer &a = add(OddThreads * 4), &c = add(OddThreads * 4);
  const Call call =
      make("copyRest", OddBlocks, c.base, a.base, OddThreads, From);
  check(
      call,
      [&](int64_t i) -> std::vector<Access> {
        if (i >= OddThreads || i < From)
          return {};
        const auto at = uintptr_t(i) * 4;
        return {{a.base + at, false}, {c.base + at, true}};
      },
      true);
}

TEST_F(LaunchFootprintTest, WordsFarApartOverwriteNothing) {
  Buffer &a = add(OddThreads * 64), &c = add(OddThreads * 64);
  const Call spill = make("spill", OddBlocks, c.base, a.base, OddThreads);
  check(
      spill,
      [&](int64_t i) -> std::vector<Access> {
        if (i >= OddThreads)
          return {};
        return {{a.base + uintptr_t(i) * 4, false},
                {c.base + uintptr_t(i) * 64, true}};
      },
      true);
}

TEST_F(LaunchFootprintTest, SlicesTouchWhatTheWholeTouches) {
  Buffer &a = add(OddThreads * 4), &c = add(OddThreads * 4);
  const Call call = make("stencil", OddBlocks, c.base, a.base, OddThreads);
  const ResolvedLaunch launch(call.call, Index);
  std::set<const Chunk *> whole, slices;
  for (const ChunkUse &use :
       footprintOf(launch, Index, wholeGrid(call.call)).uses)
    whole.insert(use.chunk);
  for (uint32_t lo = 0; lo < OddBlocks; lo += 17) {
    BlockBox box = wholeGrid(call.call);
    box.Lo[0] = lo;
    box.Hi[0] = std::min(lo + 17, OddBlocks);
    for (const ChunkUse &use : footprintOf(launch, Index, box).uses)
      slices.insert(use.chunk);
  }
  EXPECT_EQ(whole, slices);
}

TEST_F(LaunchFootprintTest, OfWhatIsNotKnownAllChunksAreUsed) {
  Buffer &a = add(3 * 4096), &b = add(2 * 4096);
  b.driverMoved = true;
  // An arena's allocations have its chunks once.
  Index.erase(a.base);
  Index.insert({a.base, 100, 0, false, "", &a});
  Index.insert({a.base + 512, 100, 0, false, "", &a});
  const Call call = make("mix", 1, a.base, 64, 3);
  const ResolvedLaunch launch(call.call, Index);
  const LaunchFootprint all = footprintOf(launch, Index, wholeGrid(call.call));
  EXPECT_TRUE(all.anything);
  ASSERT_EQ(all.uses.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all.uses[i].chunk, &a.chunks[i]);
    EXPECT_EQ(all.uses[i].need, LaunchNeed::Write);
    EXPECT_EQ(all.uses[i].written, a.chunks[i].whole());
  }
  ChunksAsked asked;
  asked.ofDriver = true;
  EXPECT_EQ(footprintOf(launch, Index, wholeGrid(call.call), asked).uses.size(),
            2u);
}

TEST_F(LaunchFootprintTest, RangesAreOfChunksSideBySide) {
  Buffer &a = add(4 * 4096 + 100), &b = add(4096);
  LaunchFootprint chunks;
  for (size_t i : {0, 1, 3, 4})
    chunks.uses.push_back(
        useOfAll(a.chunks[i], i % 2 ? LaunchNeed::Write : LaunchNeed::Read));
  chunks.uses.push_back(useOfAll(b.chunks[0], LaunchNeed::Overwrite));
  auto ranges = addressRanges(chunks);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].begin, a.base);
  EXPECT_EQ(ranges[0].end, a.base + 2 * 4096);
  EXPECT_EQ(ranges[1].begin, a.base + 3 * 4096);
  EXPECT_EQ(ranges[1].end, a.base + a.vaBytes);
  EXPECT_EQ(ranges[2].begin, b.base);
  EXPECT_TRUE(isWithin(a.chunks[4], ranges));
  EXPECT_FALSE(isWithin(a.chunks[2], ranges));
  ranges[1].end = a.end(); // of it all that is used
  EXPECT_TRUE(isWithin(a.chunks[4], ranges));
  ranges[1].end = a.end() - 1;
  EXPECT_FALSE(isWithin(a.chunks[4], ranges));
  auto writes = [](const ChunkUse &use) { return use.mayWrite(); };
  EXPECT_EQ(addressRanges(chunks, writes).size(), 3u);
  const auto [reads, others] = split(chunks, writes);
  EXPECT_EQ(reads.uses.size(), 2u);
  EXPECT_EQ(others.uses.size(), 3u);
  for (const ChunkUse &use : reads.uses)
    EXPECT_EQ(use.need, LaunchNeed::Read);
}

} // namespace
