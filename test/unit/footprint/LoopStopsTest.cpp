//===- LoopStopsTest.cpp - which iterations a box of them has -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/FootprintEval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace dragon;

namespace {

TEST(LoopPartTest, EndsAreThoseOfTheLoop) {
  KernelRecord Kernel{};
  Kernel.NumLoops = 2;
  LaunchDims Dims{{1, 1, 1}, {1, 1, 1}, nullptr};
  Dims.LoopEnds[0] = 7;
  Dims.LoopEnds[1] = 17;
  auto Part = [&](uint32_t Lo, uint32_t Hi) {
    const std::vector<LoopPart> Found =
        partsOfLoop(Kernel, Dims, {{0, 0, 0, Lo}, {1, 1, 1, Hi}}, 1);
    EXPECT_LE(Found.size(), 1u);
    return Found.empty() ? std::pair<uint64_t, uint64_t>()
                         : std::pair(Found[0].Lo, Found[0].Hi);
  };
  using Pair = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(Part(3, 7), Pair(0, 0)); // it does not get there
  EXPECT_EQ(Part(3, 8), Pair(0, 1));
  EXPECT_EQ(Part(9, 12), Pair(2, 5));
  EXPECT_EQ(Part(9, 17), Pair(2, UINT64_MAX));
  EXPECT_EQ(Part(9, ToTheEnd), Pair(2, UINT64_MAX));
  EXPECT_EQ(Part(17, 20), Pair(0, 0));
}

/// Loops of 10 and 20 iterations in three rounds, and then one of 5.
class LoopStopsTest : public ::testing::Test {
protected:
  LoopStopsTest() {
    Kernel.NumLoops = 3;
    Kernel.LoopRounds[0] = Kernel.LoopRounds[1] = 8;
    const uint32_t Ends[] = {10, 30, 95}, Rounds[] = {3, 3, 1};
    std::copy(Ends, Ends + 3, Dims.LoopEnds);
    std::copy(Rounds, Rounds + 3, Dims.LoopRounds);
  }
  static BlockBox box(uint32_t Lo, uint32_t Hi) {
    return {{0, 0, 0, Lo}, {1, 1, 1, Hi}};
  }
  using Numbers = std::vector<uint64_t>;
  /// The ends of the loops, and the round.
  Numbers stops(uint32_t Hi) const {
    const LoopStops Stops = loopStops(Kernel, Dims, box(0, Hi));
    return {Stops.Ends[0], Stops.Ends[1], Stops.Ends[2], Stops.Rounds[0]};
  }
  /// Rounds, and iterations in them.
  std::vector<Numbers> parts(uint32_t Lo, uint32_t Hi, uint32_t Loop) const {
    std::vector<Numbers> Found;
    for (const LoopPart &P : partsOfLoop(Kernel, Dims, box(Lo, Hi), Loop))
      Found.push_back({P.FirstRound, P.EndRound, P.Lo, P.Hi, P.WholeRounds});
    return Found;
  }
  static constexpr uint64_t Most = UINT64_MAX;
  KernelRecord Kernel{};
  LaunchDims Dims{{1, 1, 1}, {1, 1, 1}, nullptr};
};

TEST_F(LoopStopsTest, ARangeEndsInARound) {
  EXPECT_EQ(numNests(Kernel), 1u);
  EXPECT_EQ(allIterations(Kernel, Dims), 95u);
  EXPECT_EQ(stops(4), (Numbers{4, 0, 0, 0}));
  EXPECT_EQ(stops(10), (Numbers{Most, 0, 0, 0}));
  EXPECT_EQ(stops(29), (Numbers{Most, 19, 0, 0}));
  EXPECT_EQ(stops(30), (Numbers{0, 0, 0, 1})); // with what is behind them
  EXPECT_EQ(stops(75), (Numbers{Most, 5, 0, 2}));
  EXPECT_EQ(stops(90), (Numbers{Most, Most, 0, Most}));
  EXPECT_EQ(stops(92), (Numbers{Most, Most, 2, Most}));
  EXPECT_EQ(stops(ToTheEnd), (Numbers{Most, Most, Most, Most}));
}

TEST_F(LoopStopsTest, ARangeHasPartsOfRounds) {
  using All = std::vector<Numbers>;
  EXPECT_EQ(parts(2, 5, 0), (All{{0, 1, 2, 5, 0}}));
  EXPECT_EQ(parts(2, 5, 1), All{});
  EXPECT_EQ(parts(35, 75, 0), (All{{1, 2, 5, Most, 0}, {2, 3, 0, Most, 0}}));
  EXPECT_EQ(parts(35, 75, 1), (All{{1, 2, 0, Most, 0}, {2, 3, 0, 5, 0}}));
  EXPECT_EQ(parts(35, 75, 2), All{});
  EXPECT_EQ(parts(0, 60, 1), (All{{0, 2, 0, Most, 1}}));
  EXPECT_EQ(parts(20, ToTheEnd, 0), (All{{1, 3, 0, Most, 1}}));
  EXPECT_EQ(parts(20, ToTheEnd, 2), (All{{0, 1, 0, Most, 1}}));
}

} // namespace
