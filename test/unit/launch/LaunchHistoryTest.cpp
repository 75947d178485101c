//===- LaunchHistoryTest.cpp - what is foreseen, and what it saves --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchHistory.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

using namespace dragon;

namespace {

/// Launches named by letters; each uses the page of its letter.
class Sequence {
public:
  void run(const std::string &launches) {
    for (char c : launches) {
      history.begin(uint64_t(c), {{{page(c), page(c) + 100}}}, ++clock);
      foreseen += history.foreseen();
    }
  }
  static uintptr_t page(char c) { return uintptr_t(c) * 1000; }
  /// In how many launches the page of `c` is needed; 0 = not foreseen.
  uint64_t distance(char c, uintptr_t offset = 0) const {
    Forecast next = history.nextUse(page(c) + offset);
    return next.clock ? next.clock - clock : 0;
  }
  LaunchHistory history;
  uint64_t clock = 0;
  int foreseen = 0;
};

/// What is kept for later questions gives the answers that are found anew.
TEST(LaunchHistoryTest, AnswersDoNotDependOnEarlierQuestions) {
  struct Step {
    uint64_t signature;
    std::vector<AddressRange> uses, overwrites, after;
  };
  std::mt19937 random(11);
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  auto someRanges = [&] {
    std::vector<AddressRange> ranges;
    for (uintptr_t at = below(4) * 100; at < 1200 && ranges.size() < 3;
         at += 100 + below(6) * 100)
      ranges.push_back({at, at + 100});
    return ranges;
  };
  unsigned foreseen = 0;
  for (int sequence = 0; sequence < 40; ++sequence) {
    std::vector<Step> period(1 + below(9));
    for (Step &step : period)
      step = {below(5), someRanges(),
              below(3) ? std::vector<AddressRange>{} : someRanges(),
              below(3) ? std::vector<AddressRange>{} : someRanges()};
    std::vector<Step> steps;
    for (int i = 0; i < 60; ++i) {
      steps.push_back(period[size_t(i) % period.size()]);
      if (below(25) == 0) // something else now and then, and for good
        steps.back().signature = below(7);
      if (below(25) == 0)
        steps.back().uses = someRanges();
      if (below(25) == 0)
        steps.back().after = someRanges();
      if (below(40) == 0)
        period[below(unsigned(period.size()))].uses = someRanges();
    }
    LaunchHistory asked;
    for (size_t now = 0; now < steps.size(); ++now) {
      LaunchHistory anew;
      for (size_t i = 0; i <= now; ++i) {
        const Step &step = steps[i];
        for (LaunchHistory *history : {&anew, &asked}) {
          if (history == &asked && i < now)
            continue;
          history->begin(step.signature, {step.uses, step.overwrites},
                         10 * i + 1);
          for (const AddressRange &range : step.after)
            history->overwritten(range);
        }
      }
      foreseen += asked.foresees();
      for (uintptr_t address = 50; address < 1300; address += 100) {
        const Forecast a = asked.nextUse(address), b = anew.nextUse(address);
        ASSERT_EQ(a.clock, b.clock) << sequence << " " << now << " " << address;
        ASSERT_EQ(a.overwritten, b.overwritten);
      }
    }
  }
  EXPECT_GT(foreseen, 1000u);
}

TEST(LaunchHistoryTest, NothingIsForeseenOfWhatIsNew) {
  Sequence s;
  s.run("abcd");
  EXPECT_FALSE(s.history.foresees());
  EXPECT_EQ(s.distance('a'), 0u);
  EXPECT_EQ(s.foreseen, 0);
}

TEST(LaunchHistoryTest, ALoopRepeats) {
  Sequence s;
  s.run("abcabcab");
  EXPECT_EQ(s.distance('c'), 1u);
  EXPECT_EQ(s.distance('a'), 2u);
  EXPECT_EQ(s.distance('b'), 3u);
  EXPECT_EQ(s.distance('z'), 0u);
  EXPECT_EQ(s.foreseen, 4); // from the second b on
  EXPECT_EQ(s.history.period(), 3u);
  EXPECT_EQ(s.history.repeated(), 5u); // from the second a on
  std::vector<LaunchHistory::Addresses> next;
  s.history.forPeriod([&](const auto &launch) { next.push_back(launch); });
  ASSERT_EQ(next.size(), 3u);
  EXPECT_EQ(next[2].uses.front().begin, s.page('b'));
}

TEST(LaunchHistoryTest, AnInnerLoopEndsWhereItEndedBefore) {
  Sequence s;
  s.run("aaaabaaaab");
  s.run("aaaa");
  EXPECT_EQ(s.distance('b'), 1u);
  s.foreseen = 0;
  s.run("b");
  EXPECT_EQ(s.foreseen, 1);
}

TEST(LaunchHistoryTest, ABrokenHabitIsForgotten) {
  Sequence s;
  s.run("abababab");
  s.run("x");
  EXPECT_EQ(s.distance('a'), 0u);
  s.run("cxcx");
  EXPECT_EQ(s.distance('c'), 1u);
  EXPECT_EQ(s.distance('a'), 0u);
}

TEST(LaunchHistoryTest, ALongLaunchNeedsItsEndLater) {
  LaunchHistory history;
  for (uint64_t clock : {0, 100, 200})
    history.begin(1, {{{1000, 2000}}}, clock);
  EXPECT_EQ(history.nextUse(1000).clock, 300u);
  EXPECT_EQ(history.nextUse(1500).clock, 350u);
  EXPECT_EQ(history.nextUse(1999).clock, 399u);
  EXPECT_EQ(history.nextUse(2000).clock, 0u);
}

/// The layers of a network: the same kernels on the same buffers.
TEST(LaunchHistoryTest, LayersAreToldApartByTheirAddresses) {
  constexpr uintptr_t Layers = 40;
  LaunchHistory history;
  uint64_t clock = 0;
  auto page = [](uintptr_t layer, char kernel) {
    return layer * 10000 + Sequence::page(kernel);
  };
  auto run = [&](uintptr_t layers) {
    for (uintptr_t layer = 0; layer < layers; ++layer)
      for (char kernel : {'a', 'b', 'a'})
        history.begin(uint64_t(kernel),
                      {{{page(layer, kernel), page(layer, kernel) + 100}}},
                      ++clock);
  };
  run(Layers);
  run(20); // and again, the first 20
  auto distance = [&](uintptr_t layer, char kernel) {
    const Forecast next = history.nextUse(page(layer, kernel));
    return next.clock ? next.clock - clock : 0;
  };
  EXPECT_EQ(distance(20, 'a'), 1u);
  EXPECT_EQ(distance(20, 'b'), 2u);
  EXPECT_EQ(distance(39, 'b'), 3 * 19 + 2u);
  EXPECT_EQ(distance(0, 'b'), 3 * 20 + 2u);
  EXPECT_EQ(distance(19, 'b'), 3 * (Layers - 1) + 2u);
}

/// One kernel of each layer reads more with each token: it is where it was, not
/// in the layer before.
TEST(LaunchHistoryTest, ALaunchOnMoreThanBeforeKeepsItsPlace) {
  constexpr uintptr_t Layers = 40, Cache = 1 << 20;
  LaunchHistory history;
  uint64_t clock = 0;
  auto weights = [](uintptr_t layer) { return layer * 10000; };
  auto launch = [&](uint64_t kernel, uintptr_t base, size_t bytes) {
    history.begin(kernel, {{{base, base + bytes}}}, ++clock);
  };
  for (size_t token = 1; token <= 4; ++token)
    for (uintptr_t layer = 0; layer < Layers; ++layer) {
      launch('a', weights(layer), 100);
      launch('g', Cache + layer * 10000, 100 * token);
      if (token == 4 && layer == 20)
        break;
      launch('b', weights(layer) + 1000, 100);
    }
  for (uintptr_t address : {weights(39) + 1000, weights(39)}) {
    const Forecast next = history.nextUse(address);
    EXPECT_EQ(next.clock - clock, address == weights(39) ? 56u : 58u);
    EXPECT_TRUE(history.foreseen());
  }
}

/// Where data may say what a launch touches, it makes no difference to its
/// place whether they have been looked at.
TEST(LaunchHistoryTest, WhatDataMaySayIsNoPlace) {
  Sequence s;
  constexpr AddressRange Table{5000, 9000}, Row{6000, 6100};
  // The table is not looked at the first time, nor the last.
  for (bool looked : {false, true, true, true, false}) {
    const std::vector<AddressRange> touched{looked ? Row : Table};
    s.history.begin('e', {touched, {}, {}, {}, touched}, ++s.clock);
    EXPECT_EQ(s.history.period(), s.clock == 1 ? 0u : 5u);
    s.run("abcd");
  }
}

TEST(LaunchHistoryTest, WhatWillBeOverwrittenIsNotNeeded) {
  LaunchHistory history;
  // A query: its input is copied in, two kernels, the second overwrites what
  // the first one reads next time.
  auto query = [&](uint64_t clock) {
    history.overwritten({1000, 1500});
    history.overwritten({1500, 2000});
    history.begin(1, {{{1000, 2000}, {3000, 4000}}}, clock);
    history.begin(2, {{{5000, 6000}}, {{3000, 4000}}}, clock + 10);
  };
  query(100);
  EXPECT_EQ(history.nextUse(1000).clock, 0u);
  query(200);
  query(300);
  EXPECT_EQ(history.nextUse(1700).clock, 400u);
  EXPECT_TRUE(history.nextUse(1700).overwritten);
  EXPECT_EQ(history.nextUse(3000).clock, 400u);
  EXPECT_FALSE(history.nextUse(3000).overwritten);
  // Once it has been copied in, it is to be read.
  history.overwritten({1000, 2000});
  EXPECT_FALSE(history.nextUse(1700).overwritten);
  EXPECT_EQ(history.nextUse(1000).clock, 400u);
  history.begin(1, {{{1000, 2000}, {3000, 4000}}}, 400);
  EXPECT_TRUE(history.nextUse(3000).overwritten);
  EXPECT_EQ(history.nextUse(3000).clock, 410u);
}

TEST(LaunchHistoryTest, WhatDataSayIsSeenButNotReadAhead) {
  LaunchHistory history;
  // A layer, its experts 1 and 2 and later 2 and 3, and what comes behind.
  auto token = [&](std::vector<AddressRange> experts, uint64_t clock) {
    history.begin(1, {{{100, 200}}, {}, std::move(experts)}, clock);
    history.begin(2, {{{200, 300}}}, clock + 10);
  };
  token({{1000, 1100}, {2000, 2100}}, 100);
  token({{1000, 1100}, {2000, 2100}}, 200);
  token({{2000, 2100}, {3000, 3100}}, 300);
  // The period is that of the layers, whatever the data say.
  EXPECT_TRUE(history.foreseen());
  EXPECT_EQ(history.nextUse(3000).clock, 500u);
  EXPECT_EQ(history.nextUse(2000).clock, 400u);
  EXPECT_EQ(history.nextUse(1000).clock, 0u);
  std::vector<uintptr_t> read;
  history.forNext(2, [&](const LaunchHistory::Addresses &launch) {
    for (const AddressRange &range : launch.fetched())
      read.push_back(range.begin);
    return true;
  });
  EXPECT_EQ(read, (std::vector<uintptr_t>{100, 200}));
}

TEST(LaunchHistoryTest, OfChunksWhatIsTouchedIsReadAhead) {
  LaunchHistory history;
  for (uint64_t clock = 10; clock < 50; clock += 10)
    history.begin(1, {{{1000, 2000}}, {}, {}, {{1000, 1100}, {1900, 2000}}},
                  clock);
  std::vector<AddressRange> read;
  history.forNext(1, [&](const LaunchHistory::Addresses &launch) {
    read = launch.fetched();
    return true;
  });
  EXPECT_EQ(read, (std::vector<AddressRange>{{1000, 1100}, {1900, 2000}}));
  // The chunk is needed next, as a whole.
  EXPECT_EQ(history.nextUse(1000).clock, 50u);
}

/// Of what data said once nobody knows whether they will say it again.
TEST(LaunchHistoryTest, WhatDataSaidOnceIsNeededAfterWhatIsCertain) {
  LaunchHistory history;
  uint64_t clock = 0;
  auto token = [&](uintptr_t expert, uintptr_t second) {
    history.begin(1, {{{0, 100}}, {}, {{expert, expert + 100}}}, clock += 10);
    history.begin(2, {{{100, 200}}, {}, {{second, second + 100}}}, clock += 10);
  };
  auto distance = [&](uintptr_t address) {
    const Forecast next = history.nextUse(address);
    return next.clock ? next.clock - clock : 0;
  };
  token(1000, 2000);
  token(1100, 2000);
  EXPECT_EQ(distance(0), 10u);
  EXPECT_EQ(distance(100), 20u);
  EXPECT_EQ(distance(2000), 20u) << "twice in a row";
  EXPECT_EQ(distance(1100), 10u + 20u) << "once, and not the time before";
  EXPECT_EQ(distance(1000), 0u);
  token(1100, 2100);
  EXPECT_EQ(distance(1100), 10u);
  EXPECT_EQ(distance(2100), 20u + 20u);
}

TEST(LaunchHistoryTest, WhatIsReadNextIsListedInItsOrder) {
  Sequence s;
  auto next = [&](size_t launches, size_t most = 100) {
    std::string pages;
    s.history.forNext(launches, [&](const LaunchHistory::Addresses &launch) {
      for (const AddressRange &range : launch.fetched())
        pages += char(range.begin / 1000);
      return pages.size() < most;
    });
    return pages;
  };
  s.run("abcd");
  EXPECT_EQ(next(4), "");
  s.run("abcdab");
  EXPECT_EQ(next(3), "cda");
  EXPECT_EQ(next(3, 2), "cd");
  // No further than a period.
  EXPECT_EQ(next(100), "cdab");
  // Where it goes another way nothing is known.
  s.run("x");
  EXPECT_EQ(next(3), "");
}

TEST(LaunchHistoryTest, TheOldestIsForgottenAndNothingElse) {
  Sequence s;
  for (int i = 0; i < 20000; ++i)
    s.run("abc");
  EXPECT_EQ(s.distance('a'), 1u);
  EXPECT_EQ(s.distance('c'), 3u);
  EXPECT_EQ(s.foreseen, 3 * 20000 - 4);
}

} // namespace
