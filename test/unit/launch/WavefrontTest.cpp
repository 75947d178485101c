//===- WavefrontTest.cpp - the order of slices of several launches --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Wavefront.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace dragon;

namespace {

using Launches = std::vector<WaveLaunch>;

/// Each slice reads its chunk of `from` and the neighbouring ones, and
/// overwrites its chunk of `to`.
WaveSlices stencil(uint32_t slices, uint32_t from, uint32_t to) {
  WaveSlices launch(slices);
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
  for (const WaveLaunch &launch : launches)
    slices += launch.slices->size();
  ASSERT_EQ(order.size(), slices);
  auto conflict = [](const WaveSlice &a, const WaveSlice &b) {
    for (const WaveUse &x : a)
      for (const WaveUse &y : b)
        if (x.chunk == y.chunk &&
            ((x.writes && intersects(x.written, y.touched)) ||
             (y.writes && intersects(y.written, x.touched))))
          return true;
    return false;
  };
  for (uint32_t a = 0; a < launches.size(); ++a)
    for (uint32_t b = a + 1; b < launches.size(); ++b)
      for (uint32_t i = 0; i < launches[a].slices->size(); ++i)
        for (uint32_t k = 0; k < launches[b].slices->size(); ++k)
          if (conflict((*launches[a].slices)[i], (*launches[b].slices)[k]))
            ASSERT_LT((place[{a, i}]), (place[{b, k}]))
                << "slice " << i << " of launch " << a << ", slice " << k
                << " of launch " << b;
}

TEST(WavefrontTest, StepsOfAStencilFollowOneAnother) {
  const WaveSlices there = stencil(4, 0, 4), back = stencil(4, 4, 0);
  const Launches launches = {{&there, {}}, {&back, {}}, {&there, {}}};
  const std::vector<WaveStep> order = wavefront(launches);
  expectValid(launches, order);
  const std::vector<WaveStep> expected = {{0, 0}, {0, 1}, {1, 0}, {0, 2},
                                          {1, 1}, {2, 0}, {0, 3}, {1, 2},
                                          {2, 1}, {1, 3}, {2, 2}, {2, 3}};
  EXPECT_EQ(order, expected);
}

TEST(WavefrontTest, WhatNeedsAllOfTheLaunchBeforeWaitsForIt) {
  const WaveSlices first = stencil(4, 0, 4);
  WaveSlices second(2); // each slice reads all
  for (uint32_t slice = 0; slice < 2; ++slice) {
    for (uint32_t chunk = 4; chunk < 8; ++chunk)
      second[slice].push_back({chunk, false, false});
    second[slice].push_back({8 + slice, true, true});
  }
  const Launches launches = {{&first, {}}, {&second, {}}};
  const std::vector<WaveStep> expected = {{0, 0}, {0, 1}, {0, 2},
                                          {0, 3}, {1, 0}, {1, 1}};
  EXPECT_EQ(wavefront(launches), expected);
}

TEST(WavefrontTest, RandomLaunchesKeepTheirConflictsInOrder) {
  std::mt19937 random(7);
  auto upTo = [&](uint32_t n) { return uint32_t(random() % n); };
  for (int round = 0; round < 300; ++round) {
    std::vector<WaveSlices> stored(1 + upTo(6));
    Launches launches;
    for (WaveSlices &launch : stored) {
      launch.resize(1 + upTo(6));
      for (WaveSlice &slice : launch)
        for (uint32_t chunk = 0; chunk < 8; ++chunk)
          if (upTo(3) == 0) {
            // All of the chunk, or a part of it.
            WaveUse use{chunk, upTo(2) == 0, false, {0, 8}, {0, 8}};
            if (upTo(2)) {
              use.touched.begin = upTo(8);
              use.touched.end = use.touched.begin + 1 + upTo(3);
              use.written = use.touched;
            }
            slice.push_back(use);
          }
      launches.push_back({&launch, {}});
    }
    ASSERT_NO_FATAL_FAILURE(expectValid(launches, wavefront(launches)));
  }
}

TEST(WavefrontTest, PartsOfAChunkAreUsedOneByOne) {
  // A chunk that each launch overwrites part by part, by what the one before
  // has left in the other one's part.
  WaveSlices there(4), back(4);
  for (uint32_t i = 0; i < 4; ++i) {
    const ChunkPart part{i, i + 1};
    there[i] = {{0, false, false, part, {}}, {1, true, true, part, part}};
    back[i] = {{1, false, false, part, {}}, {0, true, true, part, part}};
  }
  const Launches launches = {{&there, {}}, {&back, {}}, {&there, {}}};
  const std::vector<WaveStep> order = wavefront(launches);
  expectValid(launches, order);
  const std::vector<WaveStep> expected = {{0, 0}, {1, 0}, {2, 0}, {0, 1},
                                          {1, 1}, {2, 1}, {0, 2}, {1, 2},
                                          {2, 2}, {0, 3}, {1, 3}, {2, 3}};
  EXPECT_EQ(order, expected);
  // The first launch drops what chunk 1 held. The second one cannot drop chunk
  // 0, which the first one still reads, nor the third one chunk 1.
  EXPECT_EQ(bytesMoved(launches, order, std::vector<uint64_t>(2, 10), 20),
            10u + 20u);
  // With room for nothing but the two it is the same.
  WaveSlices other = {{{2, true, true}}};
  const Launches more = {{&there, {}}, {&back, {}}, {&other, {}}};
  const std::vector<WaveStep> between = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1},
                                         {0, 2}, {1, 2}, {0, 3}, {1, 3}};
  // One of the two leaves for chunk 2 and comes back; it is dirty.
  EXPECT_EQ(bytesMoved(more, between, std::vector<uint64_t>(3, 10), 20),
            10u + 20u + 30u);
}

TEST(WavefrontTest, TogetherEachChunkMovesOnce) {
  constexpr uint32_t Slices = 64;
  const WaveSlices there = stencil(Slices, 0, Slices),
                   back = stencil(Slices, Slices, 0);
  const std::vector<uint64_t> bytes(2 * Slices, 1);
  Launches launches;
  for (int i = 0; i < 4; ++i)
    launches.insert(launches.end(),
                    {WaveLaunch{&there, {}}, WaveLaunch{&back, {}}});
  // Eight steps need chunks of about ten neighbouring slices at a time.
  const std::vector<WaveStep> order = wavefront(launches);
  // One buffer comes, the other one is overwritten first; both leave.
  EXPECT_EQ(bytesMoved(launches, order, bytes, 32), 3u * Slices);
  EXPECT_EQ(wavesOf(launches, bytes, 32), std::vector<size_t>{8});
  // One slice at a time is all that fits.
  EXPECT_EQ(wavesOf(launches, bytes, 5), std::vector<size_t>(8, 1));
  EXPECT_EQ(bytesMoved(launches, order, bytes, 3), UINT64_MAX);
}

TEST(WavefrontTest, WhereNothingIsSharedLaunchesRunAlone) {
  std::vector<WaveSlices> stored(4);
  Launches launches;
  std::vector<uint64_t> bytes;
  for (WaveSlices &launch : stored) {
    launch.resize(8);
    for (WaveSlice &slice : launch) {
      slice.push_back({uint32_t(bytes.size()), true, false});
      bytes.push_back(1);
    }
    launches.push_back({&launch, {}});
  }
  EXPECT_EQ(wavesOf(launches, bytes, 4), std::vector<size_t>(4, 1));
}

TEST(WavefrontTest, WhatIsOverwrittenNextIsNotKept) {
  // One slice makes a chunk, the next launch overwrites it unread.
  const WaveSlices makes = {{{0, true, true}}}, uses = {{{1, true, false}}};
  const Launches launches = {{&makes, {}}, {&uses, {}}, {&makes, {}}};
  const std::vector<WaveStep> order = {{0, 0}, {1, 0}, {2, 0}};
  const std::vector<uint64_t> bytes = {10, 100};
  // Chunk 0 goes in between and costs nothing; both leave in the end.
  EXPECT_EQ(bytesMoved(launches, order, bytes, 100), 100u + 100u + 10u);
}

/// Each slice reads its chunk of `from` and overwrites its chunk of `to`.
WaveSlices copying(uint32_t slices, uint32_t from, uint32_t to) {
  WaveSlices launch(slices);
  for (uint32_t i = 0; i < slices; ++i)
    launch[i] = {{from + i, false, false}, {to + i, true, true}};
  return launch;
}

TEST(WavefrontTest, WhatDiesInTheWaveIsMovedNowhere) {
  constexpr uint32_t Slices = 16;
  // 0 -> 16 -> 32 -> 48: what lies in between is of use for the next one only.
  const WaveSlices a = copying(Slices, 0, 16), b = copying(Slices, 16, 32),
                   c = copying(Slices, 32, 48);
  std::vector<uint32_t> first, second;
  for (uint32_t i = 0; i < Slices; ++i) {
    first.push_back(16 + i);
    second.push_back(32 + i);
  }
  const std::vector<uint64_t> bytes(4 * Slices, 1);
  const Launches dying = {{&a, {}}, {&b, first}, {&c, second}};
  const std::vector<WaveStep> order = wavefront(dying);
  EXPECT_EQ(bytesMoved(dying, order, bytes, 8), 2u * Slices);
  EXPECT_EQ(wavesOf(dying, bytes, 8), std::vector<size_t>{3});
  // Were they needed later they would leave as well.
  const Launches living = {{&a, {}}, {&b, {}}, {&c, {}}};
  EXPECT_EQ(bytesMoved(living, order, bytes, 8), 4u * Slices);
  // What died is not dead for a launch that comes later and uses it.
  const Launches again = {{&a, first}, {&b, {}}};
  EXPECT_EQ(bytesMoved(again, wavefront(again), bytes, 8), 3u * Slices);
}

/// The steps of consecutive waves, which are all of the launches.
std::vector<WaveStep> inWaves(const Launches &launches,
                              std::span<const size_t> lengths) {
  std::vector<WaveStep> order;
  uint32_t first = 0;
  for (size_t length : lengths) {
    for (WaveStep step : wavefront(std::span(launches).subspan(first, length)))
      order.push_back({first + step.launch, step.slice});
    first += uint32_t(length);
  }
  EXPECT_EQ(first, launches.size());
  return order;
}

TEST(WavefrontTest, LongWavesDoNotKeepShorterOnesFromGainingMore) {
  constexpr uint32_t Slices = 32;
  // Layers: each slice of the first launch makes a workspace from thirteen
  // chunks, the second one makes the next layer from that.
  auto slices = [Slices](uint32_t from, uint32_t to, uint32_t also,
                         uint32_t reach) {
    WaveSlices launch(Slices);
    for (uint32_t i = 0; i < Slices; ++i) {
      for (uint32_t k = i < reach ? 0 : i - reach;
           k < std::min(Slices, i + reach + 1); ++k)
        launch[i].push_back({from + k, false, false});
      if (also)
        launch[i].push_back({also + i, false, false});
      launch[i].push_back({to + i, true, true});
    }
    return launch;
  };
  std::vector<WaveSlices> stored;
  for (uint32_t layer = 0; layer < 4; ++layer) {
    const uint32_t in = (2 + layer) * Slices, work = Slices, out = in + Slices;
    stored.push_back(slices(in, work, 0, 6));
    stored.push_back(slices(work, out, in, 0));
  }
  Launches launches;
  for (size_t i = 0; i < stored.size(); ++i) {
    launches.push_back({&stored[i], {}});
    if (i % 2)
      for (uint32_t k = 0; k < Slices; ++k)
        launches.back().dying.push_back(Slices + k);
  }
  const std::vector<uint64_t> bytes(7 * Slices, 1);
  auto movedInWaves = [&](std::span<const size_t> lengths, uint64_t budget) {
    return bytesMoved(launches, inWaves(launches, lengths), bytes, budget);
  };
  for (uint64_t budget : {20, 24, 28, 32, 36, 40, 48, 56}) {
    const uint64_t moved =
        movedInWaves(wavesOf(launches, bytes, budget), budget);
    for (size_t length : {1, 2, 4, 8}) {
      const std::vector<size_t> alike(launches.size() / length, length);
      EXPECT_LE(moved * 10, movedInWaves(alike, budget) * 11)
          << "waves of " << length << ", budget " << budget;
    }
  }
}

TEST(WavefrontTest, EachWaveHasItsOwnLength) {
  constexpr uint32_t Slices = 16;
  // Two chains that share nothing, one of three launches and one of two, and
  // between them a launch each slice of which needs all that the first made.
  const WaveSlices a = copying(Slices, 0, 16), b = copying(Slices, 16, 32),
                   c = copying(Slices, 32, 48), d = copying(Slices, 64, 80),
                   e = copying(Slices, 80, 96);
  WaveSlices all(2);
  for (WaveSlice &slice : all)
    for (uint32_t i = 0; i < Slices; ++i)
      slice.push_back({48 + i, false, false});
  std::vector<std::vector<uint32_t>> dying(3);
  for (uint32_t i = 0; i < Slices; ++i) {
    dying[0].push_back(16 + i);
    dying[1].push_back(32 + i);
    dying[2].push_back(80 + i);
  }
  const std::vector<uint64_t> bytes(7 * Slices, 1);
  const Launches launches = {{&a, {}},   {&b, dying[0]}, {&c, dying[1]},
                             {&all, {}}, {&d, {}},       {&e, dying[2]}};
  const std::vector<size_t> lengths = wavesOf(launches, bytes, 20);
  const std::vector<WaveStep> order = inWaves(launches, lengths);
  // Inputs come, outputs leave; the chains' own contents never do.
  EXPECT_EQ(bytesMoved(launches, order, bytes, 20), 4u * Slices);
}

TEST(WavefrontTest, WhatClearsAResultRunsSoonBeforeItIsNeeded) {
  constexpr uint32_t Slices = 16;
  // Layers: one launch clears the result, the next one adds to it.
  std::vector<WaveSlices> stored;
  for (uint32_t layer = 0; layer < 3; ++layer) {
    const uint32_t from = layer * Slices, to = from + Slices;
    WaveSlices clears(Slices), adds(Slices);
    for (uint32_t i = 0; i < Slices; ++i) {
      clears[i] = {{to + i, true, true}};
      adds[i] = {{from + i, false, false}, {to + i, true, false}};
    }
    stored.push_back(std::move(clears));
    stored.push_back(std::move(adds));
  }
  Launches launches;
  for (const WaveSlices &slices : stored)
    launches.push_back({&slices, {}});
  // What was read of the first two results is dead.
  for (uint32_t i = 0; i < Slices; ++i) {
    launches[3].dying.push_back(Slices + i);
    launches[5].dying.push_back(2 * Slices + i);
  }
  const std::vector<uint64_t> bytes(4 * Slices, 1);
  const std::vector<WaveStep> order = wavefront(launches);
  expectValid(launches, order);
  EXPECT_EQ(bytesMoved(launches, order, bytes, 4), 2u * Slices);
  EXPECT_EQ(wavesOf(launches, bytes, 4), std::vector<size_t>{6});
}

TEST(WavefrontTest, LaunchesThatReadTheSameKeepStep) {
  constexpr uint32_t Slices = 8;
  const WaveSlices first = copying(Slices, 0, 8),
                   second = copying(Slices, 0, 16);
  const Launches launches = {{&first, {}}, {&second, {}}};
  const std::vector<uint64_t> bytes(3 * Slices, 1);
  const std::vector<WaveStep> order = wavefront(launches);
  expectValid(launches, order);
  EXPECT_EQ(bytesMoved(launches, order, bytes, 3), 3u * Slices);
}

TEST(WavefrontTest, ChainsThatShareNothingRunOneAfterTheOther) {
  constexpr uint32_t Slices = 8;
  // In turns: 0 -> 8 -> 16 and 24 -> 32 -> 40.
  const WaveSlices a = copying(Slices, 0, 8), b = copying(Slices, 24, 32),
                   c = copying(Slices, 8, 16), d = copying(Slices, 32, 40);
  const Launches launches = {{&a, {}}, {&b, {}}, {&c, {}}, {&d, {}}};
  const std::vector<uint64_t> bytes(6 * Slices, 1);
  const std::vector<WaveStep> order = wavefront(launches);
  expectValid(launches, order);
  // Two inputs, and all four results.
  EXPECT_EQ(bytesMoved(launches, order, bytes, 3), 6u * Slices);
}

} // namespace
