//===- WavefrontTest.cpp - the order of slices of several launches --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Wavefront.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace dragon;

namespace {

using Launches = std::vector<const WaveLaunch *>;

/// Each slice reads its chunk of `from` and the neighbouring ones, and
/// overwrites its chunk of `to`.
WaveLaunch stencil(uint32_t slices, uint32_t from, uint32_t to) {
  WaveLaunch launch(slices);
  for (uint32_t i = 0; i < slices; ++i) {
    for (uint32_t k = i ? i - 1 : 0; k < std::min(slices, i + 2); ++k)
      launch[i].push_back({from + k, false, false});
    launch[i].push_back({to + i, true, true});
  }
  return launch;
}

/// Each slice comes once, and no two that conflict change places.
void expectValid(const Launches &launches, const std::vector<WaveStep> &order) {
  std::map<std::pair<uint32_t, uint32_t>, size_t> place;
  for (size_t i = 0; i < order.size(); ++i)
    ASSERT_TRUE(
        place.emplace(std::pair(order[i].launch, order[i].slice), i).second);
  size_t slices = 0;
  for (const WaveLaunch *launch : launches)
    slices += launch->size();
  ASSERT_EQ(order.size(), slices);
  auto conflict = [](const WaveSlice &a, const WaveSlice &b) {
    for (const WaveUse &x : a)
      for (const WaveUse &y : b)
        if (x.chunk == y.chunk && (x.writes || y.writes))
          return true;
    return false;
  };
  for (uint32_t a = 0; a < launches.size(); ++a)
    for (uint32_t b = a + 1; b < launches.size(); ++b)
      for (uint32_t i = 0; i < launches[a]->size(); ++i)
        for (uint32_t k = 0; k < launches[b]->size(); ++k)
          if (conflict((*launches[a])[i], (*launches[b])[k]))
            ASSERT_LT((place[{a, i}]), (place[{b, k}]))
                << "slice " << i << " of launch " << a << ", slice " << k
                << " of launch " << b;
}

TEST(WavefrontTest, StepsOfAStencilFollowOneAnother) {
  const WaveLaunch there = stencil(4, 0, 4), back = stencil(4, 4, 0);
  const Launches launches = {&there, &back, &there};
  const std::vector<WaveStep> order = wavefront(launches);
  expectValid(launches, order);
  const std::vector<WaveStep> expected = {{0, 0}, {0, 1}, {1, 0}, {0, 2},
                                          {1, 1}, {2, 0}, {0, 3}, {1, 2},
                                          {2, 1}, {1, 3}, {2, 2}, {2, 3}};
  EXPECT_EQ(order, expected);
}

TEST(WavefrontTest, WhatNeedsAllOfTheLaunchBeforeWaitsForIt) {
  const WaveLaunch first = stencil(4, 0, 4);
  WaveLaunch second(2); // each slice reads all
  for (uint32_t slice = 0; slice < 2; ++slice) {
    for (uint32_t chunk = 4; chunk < 8; ++chunk)
      second[slice].push_back({chunk, false, false});
    second[slice].push_back({8 + slice, true, true});
  }
  const Launches launches = {&first, &second};
  const std::vector<WaveStep> expected = {{0, 0}, {0, 1}, {0, 2},
                                          {0, 3}, {1, 0}, {1, 1}};
  EXPECT_EQ(wavefront(launches), expected);
}

TEST(WavefrontTest, RandomLaunchesKeepTheirConflictsInOrder) {
  std::mt19937 random(7);
  auto upTo = [&](uint32_t n) { return uint32_t(random() % n); };
  for (int round = 0; round < 300; ++round) {
    std::vector<WaveLaunch> stored(1 + upTo(6));
    Launches launches;
    for (WaveLaunch &launch : stored) {
      launch.resize(1 + upTo(6));
      for (WaveSlice &slice : launch)
        for (uint32_t chunk = 0; chunk < 8; ++chunk)
          if (upTo(3) == 0)
            slice.push_back({chunk, upTo(2) == 0, false});
      launches.push_back(&launch);
    }
    ASSERT_NO_FATAL_FAILURE(expectValid(launches, wavefront(launches)));
  }
}

TEST(WavefrontTest, TogetherEachChunkMovesOnce) {
  constexpr uint32_t Slices = 64;
  const WaveLaunch there = stencil(Slices, 0, Slices),
                   back = stencil(Slices, Slices, 0);
  const std::vector<uint64_t> bytes(2 * Slices, 1);
  Launches launches;
  for (int i = 0; i < 4; ++i)
    launches.insert(launches.end(), {&there, &back});
  // Eight steps need chunks of about ten neighbouring slices at a time.
  const std::vector<WaveStep> order = wavefront(launches);
  // One buffer comes, the other one is overwritten first; both leave.
  EXPECT_EQ(bytesMoved(launches, order, bytes, 32), 3u * Slices);
  EXPECT_EQ(launchesTogether(launches, bytes, 32), 8u);
  // One slice at a time is all that fits.
  EXPECT_EQ(launchesTogether(launches, bytes, 5), 1u);
  EXPECT_EQ(bytesMoved(launches, order, bytes, 3), UINT64_MAX);
}

TEST(WavefrontTest, WhereNothingIsSharedLaunchesRunAlone) {
  std::vector<WaveLaunch> stored(4);
  Launches launches;
  std::vector<uint64_t> bytes;
  for (WaveLaunch &launch : stored) {
    launch.resize(8);
    for (WaveSlice &slice : launch) {
      slice.push_back({uint32_t(bytes.size()), true, false});
      bytes.push_back(1);
    }
    launches.push_back(&launch);
  }
  EXPECT_EQ(launchesTogether(launches, bytes, 4), 1u);
}

TEST(WavefrontTest, WhatIsOverwrittenNextIsNotKept) {
  // One slice makes a chunk, the next launch overwrites it unread.
  const WaveLaunch makes = {{{0, true, true}}}, uses = {{{1, true, false}}};
  const Launches launches = {&makes, &uses, &makes};
  const std::vector<WaveStep> order = {{0, 0}, {1, 0}, {2, 0}};
  const std::vector<uint64_t> bytes = {10, 100};
  // Chunk 0 goes in between and costs nothing; both leave in the end.
  EXPECT_EQ(bytesMoved(launches, order, bytes, 100), 100u + 100u + 10u);
}

} // namespace
