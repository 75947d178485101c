//===- LoadedNumbersTest.cpp - footprints by numbers that are known -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/footprint/Model.h"

#include <gtest/gtest.h>

using namespace dragon;
using namespace dragon::model;

namespace {

/// weights[ids[blockIdx.y] * 100 + threadIdx.x], ids: 2, 5, 2, -1.
struct Experts {
  ExprPool Pool;
  Launch L;
  Access A;
  uint32_t Id; ///< the node that loads it

  Experts() {
    constexpr uint64_t Ids = 0x20000;
    L.Grid[1] = 4;
    L.Block[0] = 100;
    L.Box.Hi[1] = 4;
    const int32_t Numbers[] = {2, 5, 2, -1};
    const char *Bytes = reinterpret_cast<const char *>(Numbers);
    L.Memory.Parts = {{Ids, {Bytes, Bytes + sizeof(Numbers)}, 0}};
    const uint32_t Block =
        Pool.cast(ExprOp::ZExt, Pool.launchValue(ExprOp::BlockIdx, 1), 64);
    Id = Pool.loaded(
        32, Pool.binary(ExprOp::Add, Pool.constant(Ids),
                        Pool.binary(ExprOp::Mul, Block, Pool.constant(4))));
    A.Offset = Pool.binary(
        ExprOp::Add,
        Pool.binary(ExprOp::Mul, Pool.cast(ExprOp::SExt, Id, 64),
                    Pool.constant(100)),
        Pool.cast(ExprOp::ZExt, Pool.launchValue(ExprOp::ThreadIdx, 0), 64));
    A.Width = 1;
  }
};

TEST(FootprintLoaded, NumbersAreToldApart) {
  Experts E;
  E.L.Told = E.L.Memory;
  const Evaluation Known(E.Pool, {E.A}, E.L);
  EXPECT_EQ(describe(Known.Footprint.MayWrite),
            " [-100,0) [200,300) [500,600)");
  // Another thread may find the same number: nothing is surely overwritten.
  EXPECT_TRUE(Known.Footprint.MustWrite.Ranges.empty());
  EXPECT_TRUE(Known.Wanted.empty());
  // One block looks at one number.
  E.L.Box = {{0, 1, 0}, {1, 2, 1}};
  const Evaluation Second(E.Pool, {E.A}, E.L);
  EXPECT_EQ(describe(Second.Footprint.MayWrite), " [500,600)");
}

TEST(FootprintLoaded, NumbersThatAreCloseAreTakenTogether) {
  Experts E;
  E.L.Told = E.L.Memory;
  EvalLimits Limits;
  Limits.WithMust = false; // which takes each byte by itself
  Limits.MergeGap = 199;
  const Evaluation Apart(E.Pool, {E.A}, E.L, Limits);
  EXPECT_EQ(describe(Apart.Footprint.MayWrite),
            " [-100,0) [200,300) [500,600)");
  Limits.MergeGap = 200;
  const Evaluation Together(E.Pool, {E.A}, E.L, Limits);
  EXPECT_EQ(describe(Together.Footprint.MayWrite), " [-100,600)");
}

TEST(FootprintLoaded, WhatIsNotKnownIsAskedFor) {
  Experts E;
  const Evaluation Asks(E.Pool, {E.A}, E.L);
  EXPECT_TRUE(Asks.Footprint.MayWrite.Everything ||
              covers(Asks.Footprint.MayWrite, {-100, 600}));
  ASSERT_EQ(Asks.Wanted.size(), 1u);
  EXPECT_EQ(Asks.Wanted[0].First, 0x20000u);
  EXPECT_EQ(Asks.Wanted[0].end(), 0x20010u);
  // A long one, too; it is for who asks to look at zones of it.
  E.L.Grid[1] = E.L.Box.Hi[1] = 1 << 20;
  const Evaluation Long(E.Pool, {E.A}, E.L);
  ASSERT_EQ(Long.Wanted.size(), 1u);
  EXPECT_EQ(Long.Wanted[0].bytes(), uint64_t(4) << 20);
  EXPECT_EQ(Long.Wanted[0].Step, 4u);
  EXPECT_EQ(Long.Wanted[0].Inner, 1u);
}

TEST(FootprintLoaded, ManyNumbersAreCutWhereGapsAreLargest) {
  Experts E;
  constexpr uint32_t Many = 1000;
  std::vector<int32_t> Numbers;
  for (uint32_t I = 0; I < Many; ++I)
    Numbers.push_back(int32_t(I + (I >= Many / 2 ? 5000 : 0)));
  const char *Bytes = reinterpret_cast<const char *>(Numbers.data());
  E.L.Told.Parts = {{0x20000, {Bytes, Bytes + Many * sizeof(int32_t)}, 0}};
  E.L.Grid[1] = E.L.Box.Hi[1] = Many;
  const Evaluation Known(E.Pool, {E.A}, E.L);
  EXPECT_EQ(describe(Known.Footprint.MayWrite), " [0,50000) [550000,600000)");
}

// Each number by itself, however many there are.
std::string rowsOf(const std::vector<int32_t> &Numbers) {
  std::string Rows;
  for (const int32_t Number : Numbers)
    Rows += " [" + std::to_string(Number * 100) + "," +
            std::to_string(Number * 100 + 100) + ")";
  return Rows;
}

/// 200 blocks, each with its own number.
struct ManyExperts : Experts {
  static constexpr int32_t Many = 200;
  std::vector<int32_t> Numbers;

  ManyExperts() {
    L.Grid[1] = L.Box.Hi[1] = Many;
    Numbers.reserve(Many);
    for (int32_t I = 0; I < Many; ++I)
      Numbers.push_back(3 * I + I % 2);
    tell(0x20000, Numbers);
  }
  void tell(uint64_t At, const std::vector<int32_t> &Contents) {
    const char *Bytes = reinterpret_cast<const char *>(Contents.data());
    L.Told.Parts.push_back(
        {At, {Bytes, Bytes + Contents.size() * sizeof(int32_t)}, 0});
  }
  uint32_t loadedAt(uint64_t At) {
    const uint32_t Block =
        Pool.cast(ExprOp::ZExt, Pool.launchValue(ExprOp::BlockIdx, 1), 64);
    return Pool.loaded(
        32, Pool.binary(ExprOp::Add, Pool.constant(int64_t(At)),
                        Pool.binary(ExprOp::Mul, Block, Pool.constant(4))));
  }
  void onlyIf(uint32_t Lhs, GuardPred Pred, uint32_t Rhs) {
    Step Condition{Step::Guard};
    Condition.Test.Lhs = Lhs;
    Condition.Test.Rhs = Rhs;
    Condition.Test.Loop = NoIndex;
    Condition.Test.Pred = Pred;
    A.Steps.push_back(Condition);
  }
  std::string written() {
    return describe(Evaluation(Pool, {A}, L).Footprint.MayWrite);
  }
};

TEST(FootprintLoaded, NumbersThatAreAddedAreAllToldApart) {
  ManyExperts E;
  EXPECT_EQ(E.written(), rowsOf(E.Numbers));
}

// if (ids[block] < 301)
TEST(FootprintLoaded, ABoundOfTheNumberLeavesThoseWithin) {
  ManyExperts E;
  E.onlyIf(E.Id, GuardPred::SLT, E.Pool.constant(301, 32));
  std::erase_if(E.Numbers, [](int32_t Number) { return Number >= 301; });
  EXPECT_EQ(E.written(), rowsOf(E.Numbers));
}

// if (ids[block] >= 0), of ids -1 and 500 to 505
TEST(FootprintLoaded, WhatABoundLeavesMayBeOneRange) {
  ManyExperts E;
  for (int32_t I = 0; I < ManyExperts::Many; ++I)
    E.Numbers[size_t(I)] = I % 7 ? 499 + I % 7 : -1;
  E.L.Told.Parts.clear();
  E.tell(0x20000, E.Numbers);
  E.onlyIf(E.Pool.constant(0, 32), GuardPred::SLE, E.Id);
  EXPECT_EQ(E.written(), " [50000,50600)");
}

// if (threadIdx.x < sizes[block])
TEST(FootprintLoaded, BoundsOfOtherVariablesTakeNoCases) {
  ManyExperts E;
  std::vector<int32_t> Sizes;
  Sizes.reserve(ManyExperts::Many);
  for (int32_t I = 0; I < ManyExperts::Many; ++I)
    Sizes.push_back(1 + 7 * I % 100);
  E.tell(0x30000, Sizes);
  E.onlyIf(E.Pool.launchValue(ExprOp::ThreadIdx, 0), GuardPred::SLT,
           E.loadedAt(0x30000));
  EXPECT_EQ(E.written(), rowsOf(E.Numbers));
}

// if (kinds[block] == 2), of kinds 1 and 3
TEST(FootprintLoaded, WhatNoNumberSatisfiesDoesNotHappen) {
  ManyExperts E;
  std::vector<int32_t> Kinds;
  Kinds.reserve(ManyExperts::Many);
  for (int32_t I = 0; I < ManyExperts::Many; ++I)
    Kinds.push_back(1 + 2 * (I % 2));
  E.tell(0x30000, Kinds);
  E.onlyIf(E.loadedAt(0x30000), GuardPred::EQ, E.Pool.constant(2, 32));
  EXPECT_EQ(E.written(), "");
}

} // namespace
