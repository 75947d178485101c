//===- RecorderTest.cpp - accesses, steps, waves and footprints -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "runtime/oracle/AccessRecorder.h"
#include "runtime/oracle/FootprintTable.h"

#include <gtest/gtest.h>

using namespace dragon;
using namespace dragon::oracle;

namespace {

struct Seen : AccessRecorder::Consumer {
  void step(std::span<const PageAccess> accesses) override {
    steps.emplace_back(accesses.begin(), accesses.end());
  }
  void wave(std::span<const uint64_t> pages) override {
    waves.emplace_back(pages.begin(), pages.end());
  }
  std::vector<std::vector<PageAccess>> steps;
  std::vector<std::vector<uint64_t>> waves;
};

TEST(AccessRecorder, GathersBytesByPage) {
  Seen seen;
  AccessRecorder recorder(1 << 20, seen);
  recorder.addBuffer({8 * PageBytes, 10 * PageBytes});
  recorder.blockBegins(32);
  recorder.access(7 * PageBytes, 8, DRAGON_CPU_READ); // in no buffer
  recorder.access(9 * PageBytes - 4, 8, DRAGON_CPU_READ);
  recorder.access(9 * PageBytes, 8, DRAGON_CPU_WRITE);
  recorder.access(9 * PageBytes + 4, 8, DRAGON_CPU_READ);
  recorder.finish();
  ASSERT_EQ(seen.steps.size(), 1u);
  ASSERT_EQ(seen.steps[0].size(), 2u);
  EXPECT_EQ(seen.steps[0][0].page, 8u);
  EXPECT_EQ(seen.steps[0][0].read.count(), 4u);
  EXPECT_EQ(seen.steps[0][1].page, 9u);
  // The first four bytes before they were written, then four that were not.
  EXPECT_EQ(seen.steps[0][1].read.count(), 8u);
  EXPECT_TRUE(seen.steps[0][1].read.test(3));
  EXPECT_FALSE(seen.steps[0][1].read.test(4));
  EXPECT_TRUE(seen.steps[0][1].read.test(8));
  EXPECT_EQ(seen.steps[0][1].write.count(), 8u);
  EXPECT_EQ(seen.waves, (std::vector<std::vector<uint64_t>>{{8, 9}}));
}

TEST(AccessRecorder, StepsEndByBytesAndWavesByThreads) {
  Seen seen;
  AccessRecorder recorder(64, seen);
  recorder.addBuffer({0, PageBytes});
  for (unsigned block = 0; block < 6; ++block) {
    recorder.blockBegins(AccessRecorder::ThreadsPerWave / 4);
    recorder.access(0, 4, DRAGON_CPU_READ); // the same bytes count once
    recorder.access(64 * block, 32, DRAGON_CPU_READ);
  }
  recorder.finish();
  EXPECT_EQ(seen.waves.size(), 2u);
  EXPECT_EQ(seen.steps.size(), 3u);
  recorder.removeBuffer({0, PageBytes});
  recorder.access(0, 4, DRAGON_CPU_READ);
  recorder.finish();
  EXPECT_EQ(seen.waves.size(), 2u);
}

TEST(FootprintTable, ComparesWhatWasSaidWithWhatWasDone) {
  FootprintTable table;
  table.launchBegins("k");
  table.blocksRun(
      {{{0, 100}, {200, 300}}, {{200, 300}}, {{0, 100}, {200, 300}}});
  PageAccess first{0, {}, {}}, second{0, {}, {}};
  first.add(0, 50, true, false);
  first.add(200, 250, false, true);
  second.add(240, 260, true, false); // ten of them were written before
  second.add(250, 280, false, true);
  second.add(400, 404, false, true); // not announced
  table.step({&first, 1});
  table.step({&second, 1});
  table.launchEnds();
  const StatsFootprint &row = table.rows().at("k");
  EXPECT_EQ(row.launches, 1u);
  EXPECT_EQ(row.slices, 1u);
  EXPECT_EQ(row.touched, 50u + 80u + 4u);
  EXPECT_EQ(row.announced, 200u);
  EXPECT_EQ(row.missed, 4u);
  EXPECT_EQ(row.inVain, 50u + 20u);
  EXPECT_EQ(row.affine, 200u);
  EXPECT_EQ(row.affineInVain, 50u + 20u);
  EXPECT_EQ(row.overwritten, 100u);
  // Twenty never, and ten only after they had been read.
  EXPECT_EQ(row.notOverwritten, 30u);
}

TEST(FootprintTable, EachSliceIsJudgedByItself) {
  FootprintTable table;
  PageAccess first{0, {}, {}}, second{0, {}, {}};
  first.add(0, 50, true, false);
  second.add(50, 100, true, false);
  table.launchBegins("k");
  table.blocksRun({{{0, 100}}, {}, {}});
  table.step({&first, 1});
  table.blocksRun({{{0, 100}}, {}, {}});
  table.step({&second, 1});
  table.launchEnds();
  const StatsFootprint &row = table.rows().at("k");
  EXPECT_EQ(row.launches, 1u);
  EXPECT_EQ(row.slices, 2u);
  EXPECT_EQ(row.touched, 100u);
  EXPECT_EQ(row.announced, 200u);
  EXPECT_EQ(row.inVain, 100u);
}

TEST(FootprintTable, WhatDependsOnDataIsCountedApart) {
  FootprintTable table;
  PageAccess access{0, {}, {}};
  access.add(0, 90, true, false);
  access.add(200, 210, true, false);
  table.launchBegins("k");
  table.blocksRun({{{0, 100}, {200, 300}}, {}, {{0, 100}}, true, false});
  table.step({&access, 1});
  table.launchEnds();
  table.launchBegins("k");
  table.blocksRun({{}, {}, {}, false, false, true}); // nothing is known
  table.step({&access, 1});
  table.launchEnds();
  const StatsFootprint &row = table.rows().at("k");
  EXPECT_EQ(row.launches, 2u);
  EXPECT_EQ(row.unknown, 1u);
  EXPECT_TRUE(row.indirect);
  EXPECT_FALSE(row.conditional);
  EXPECT_EQ(row.touched, 200u);
  EXPECT_EQ(row.inVain, 10u + 90u);
  EXPECT_EQ(row.affine, 100u);
  EXPECT_EQ(row.affineInVain, 10u);
  EXPECT_EQ(row.missed, 0u);
}

} // namespace
