//===- NumberZonesTest.cpp - what a long array's numbers are --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/NumberZones.h"
#include "test/unit/footprint/Model.h"
#include "test/unit/support/base/Sampled.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace dragon;
using namespace dragon::model;

namespace {

constexpr uint64_t Base = 0x40000;

class RandomArrays {
public:
  explicit RandomArrays(uint32_t Seed) : Engine(Seed) {}

  uint64_t pick(uint64_t Lo, uint64_t Hi) {
    return std::uniform_int_distribution<uint64_t>(Lo, Hi)(Engine);
  }
  NumberPlaces places() {
    NumberPlaces P;
    P.Bits = unsigned(8u << pick(0, 3));
    P.Base = Base;
    P.InnerStep = pick(0, 3) ? pick(1, 12) : 0;
    P.Inner = P.InnerStep ? pick(1, 6) : 1;
    const uint64_t Length = (P.Inner - 1) * P.InnerStep;
    P.Step = pick(0, 9) ? Length + pick(1, 20) : 0;
    P.First = P.Base + pick(0, Length);
    P.Last = P.First + (P.Step ? P.Step * pick(0, 200) : 0);
    P.Last = std::max(P.Last, P.Base + Length);
    return P;
  }
  /// Of the places from First on; numbers in bunches, with -1 among them.
  std::vector<char> contents(const NumberPlaces &P) {
    std::vector<char> Bytes(P.bytes());
    uint64_t Bunch = 0;
    for (uint64_t At = P.First; At <= P.Last; At += P.Bits / 8) {
      if (pick(0, 15) == 0)
        Bunch = pick(0, 1000) * 1000;
      const int64_t Number =
          pick(0, 7) == 0 ? -1 : int64_t(Bunch + pick(0, 10));
      std::memcpy(&Bytes[At - P.First], &Number, P.Bits / 8);
    }
    return Bytes;
  }
  /// Some of the same numbers.
  NumberPlaces partOf(const NumberPlaces &P) {
    NumberPlaces Part = P;
    if (P.Step && pick(0, 3) == 0) { // of one record
      Part.Base += P.Step * pick(0, P.records() - 1);
      Part.Step = P.InnerStep;
      Part.Inner = 1;
      Part.InnerStep = 0;
      Part.First = std::max(Part.Base, P.First);
      Part.Last = std::min(P.Last, Part.Base + (P.Inner - 1) * P.InnerStep);
      return Part;
    }
    if (P.Step) {
      Part.Base += P.Step * pick(0, P.records() - 1);
      Part.First = std::max(Part.Base, P.First);
      Part.Last = pick(Part.First, P.Last);
      Part.Step *= pick(1, 3);
    }
    return Part;
  }

private:
  std::mt19937_64 Engine;
};

std::shared_ptr<NumberZones> zonesOf(const NumberPlaces &P,
                                     const std::vector<char> &Bytes,
                                     uint64_t PerZone) {
  auto Zones = std::make_shared<NumberZones>(P, PerZone);
  for (size_t Zone = 0; Zone < Zones->zones(); ++Zone) {
    const NumberPlaces Of = Zones->zone(Zone);
    EXPECT_LE(Of.end(), P.end());
    Zones->set(Zone, Bytes.data() + (Of.First - P.First));
  }
  Zones->finish();
  return Zones;
}

bool areIn(const std::vector<int64_t> &Numbers,
           const std::vector<NumberRange> &Ranges) {
  return std::all_of(Numbers.begin(), Numbers.end(), [&](int64_t Number) {
    return std::any_of(Ranges.begin(), Ranges.end(), [&](NumberRange Range) {
      return Range.Lo <= Number && Number <= Range.Hi;
    });
  });
}

TEST(NumberZones, RangesHoldAllNumbersOfAnyPart) {
  size_t Found = 0, Asked = 0;
  for (uint32_t Seed = 1; Seed <= test::sampled(5000); ++Seed) {
    RandomArrays Random(Seed);
    const NumberPlaces P = Random.places();
    const std::vector<char> Bytes = Random.contents(P);
    const auto Zones = zonesOf(P, Bytes, Random.pick(1, 20));
    for (int I = 0; I < 5; ++I) {
      const NumberPlaces Part = Random.partOf(P);
      if (Part.Last < Part.First)
        continue;
      ++Asked;
      std::vector<NumberRange> Ranges;
      if (!Zones->find(Part, 8, Ranges))
        continue;
      ++Found;
      EXPECT_LE(Ranges.size(), 8u);
      EXPECT_TRUE(
          areIn(numbersIn(Part, Bytes.data() + (Part.First - P.First)), Ranges))
          << "seed " << Seed << ", part " << I;
    }
  }
  EXPECT_GT(Found, Asked * 9 / 10);
}

TEST(NumberZones, RowsAreToldAsFarAsTheirZonesGo) {
  // Row r begins at 100 r.
  const NumberPlaces P{Base, Base + 9999 * 8, Base, 8, 1, 0, 64};
  std::vector<int64_t> Rows(10000);
  for (size_t Row = 0; Row < Rows.size(); ++Row)
    Rows[Row] = int64_t(100 * Row);
  std::vector<char> Bytes(P.bytes());
  std::memcpy(Bytes.data(), Rows.data(), Bytes.size());
  const auto Zones = zonesOf(P, Bytes, 10);
  std::vector<NumberRange> Ranges;
  NumberPlaces Part = P;
  Part.Base = Part.First = Base + 1234 * 8;
  Part.Last = Base + 5678 * 8;
  ASSERT_TRUE(Zones->find(Part, 16, Ranges));
  EXPECT_EQ(Ranges.front().Lo, 123000);
  EXPECT_EQ(Ranges.back().Hi, 567900);
  // Other numbers, and numbers of another size, are not told.
  Part.Base = Part.First = Base + 4;
  EXPECT_FALSE(Zones->find(Part, 16, Ranges));
  Part = P;
  Part.Bits = 32;
  EXPECT_FALSE(Zones->find(Part, 16, Ranges));
  Part = P;
  Part.Last += 8;
  EXPECT_FALSE(Zones->find(Part, 16, Ranges));
}

TEST(NumberZones, NumbersThatStandForNoneStayApart) {
  std::vector<int32_t> Numbers(512);
  for (size_t I = 0; I < Numbers.size(); ++I)
    Numbers[I] = I % 9 ? int32_t(1000000 + I) : -1;
  const NumberPlaces P{Base, Base + 511 * 4, Base, 4, 1, 0, 32};
  std::vector<char> Bytes(P.bytes());
  std::memcpy(Bytes.data(), Numbers.data(), Bytes.size());
  std::vector<NumberRange> Ranges;
  ASSERT_TRUE(zonesOf(P, Bytes, 512)->find(P, 16, Ranges));
  ASSERT_EQ(Ranges.size(), 2u);
  EXPECT_EQ(Ranges[0].Hi, -1);
  EXPECT_EQ(Ranges[1].Lo, 1000001);
}

TEST(NumberZones, GuessesAreAsTheNearestZone) {
  const NumberPlaces P{Base, Base + 79 * 4, Base, 4, 1, 0, 32};
  std::vector<int32_t> Numbers(80);
  for (size_t I = 0; I < Numbers.size(); ++I)
    Numbers[I] = int32_t(I / 8);
  std::vector<char> Bytes(P.bytes());
  std::memcpy(Bytes.data(), Numbers.data(), Bytes.size());
  NumberZones Zones(P, 8);
  for (size_t Zone : {size_t(2), size_t(7)})
    Zones.set(Zone, Bytes.data() + (Zones.zone(Zone).First - P.First));
  Zones.guess();
  const int64_t Guessed[10] = {2, 2, 2, 2, 2, 7, 7, 7, 7, 7};
  for (size_t Zone = 0; Zone < 10; ++Zone) {
    std::vector<NumberRange> Ranges;
    ASSERT_TRUE(Zones.find(Zones.zone(Zone), 4, Ranges));
    ASSERT_EQ(Ranges.size(), 1u);
    EXPECT_EQ(Ranges[0].Lo, Guessed[Zone]) << Zone;
    EXPECT_EQ(Ranges[0].Hi, Guessed[Zone]) << Zone;
  }
}

/// near[3 * blockIdx.x + k].number, k < 2, of structures of 12 bytes: a box
/// for each, of 1000 bytes.
struct Neighbours {
  static constexpr uint64_t Array = 0x80000;
  ExprPool Pool;
  Launch L;
  Access A;

  Neighbours() {
    L.Grid[0] = L.Box.Hi[0] = 10000;
    L.Block[0] = 2;
    const uint32_t Block =
        Pool.cast(ExprOp::ZExt, Pool.launchValue(ExprOp::BlockIdx, 0), 64);
    const uint32_t K =
        Pool.cast(ExprOp::ZExt, Pool.launchValue(ExprOp::ThreadIdx, 0), 64);
    const uint32_t Number = Pool.loaded(
        32, Pool.binary(
                ExprOp::Add, Pool.constant(Array + 4),
                Pool.binary(ExprOp::Add,
                            Pool.binary(ExprOp::Mul, Block, Pool.constant(36)),
                            Pool.binary(ExprOp::Mul, K, Pool.constant(12)))));
    A.Offset = Pool.binary(ExprOp::Mul, Pool.cast(ExprOp::SExt, Number, 64),
                           Pool.constant(1000));
    A.Width = 1000;
  }
};

TEST(FootprintLoaded, NumbersInRecordsAreAskedForAndUsed) {
  Neighbours N;
  const Evaluation Asks(N.Pool, {N.A}, N.L);
  ASSERT_EQ(Asks.Wanted.size(), 1u);
  const NumberPlaces P = Asks.Wanted[0];
  EXPECT_EQ(P.Base, Neighbours::Array + 4);
  EXPECT_EQ(P.Step, 36u);
  EXPECT_EQ(P.Inner, 2u);
  EXPECT_EQ(P.InnerStep, 12u);
  EXPECT_EQ(P.records(), 10000u);
  // The box itself and the next one; what else is there is not looked at.
  std::vector<char> Bytes(P.bytes(), char(0x77));
  for (uint32_t Box = 0; Box < 10000; ++Box)
    for (uint32_t K = 0; K < 2; ++K) {
      const uint32_t Number = Box + K;
      std::memcpy(&Bytes[Box * 36 + K * 12], &Number, 4);
    }
  N.L.Told.Arrays = {{1, zonesOf(P, Bytes, 8)}};
  N.L.Box.Lo[0] = 100;
  N.L.Box.Hi[0] = 200;
  const Evaluation Part(N.Pool, {N.A}, N.L);
  EXPECT_TRUE(Part.Wanted.empty());
  EXPECT_EQ(describe(Part.Footprint.MayWrite), " [100000,201000)");
  // One block, whose numbers are of one record.
  N.L.Box.Lo[0] = 500;
  N.L.Box.Hi[0] = 501;
  const Evaluation One(N.Pool, {N.A}, N.L);
  EXPECT_TRUE(One.Wanted.empty());
  EXPECT_EQ(describe(One.Footprint.MayWrite), " [500000,505000)");
}

} // namespace
