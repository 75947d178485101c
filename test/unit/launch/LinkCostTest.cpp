//===- LinkCostTest.cpp - which chunks are worth their place --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LinkCost.h"
#include "test/unit/support/base/Expect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dragon;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using test::MiB;

/// Round numbers: bytes are seconds.
constexpr LinkRates Rates{1, 1, 1, 0.5};

PlacedChunk chunk(double accessBytes, bool onDevice = false) {
  PlacedChunk result;
  result.bytes = 100;
  result.accessBytes = accessBytes;
  result.onDevice = onDevice;
  result.mappable = true;
  return result;
}

TEST(LinkCostTest, WhatMovesIsPartOfTheGain) {
  // To come takes a copy, to stay saves one.
  EXPECT_DOUBLE_EQ(gainOnDevice(chunk(250), Rates, 1), 150);
  EXPECT_DOUBLE_EQ(gainOnDevice(chunk(250), Rates, 4), 900);
  EXPECT_DOUBLE_EQ(gainOnDevice(chunk(250, true), Rates, 1), 350);
  PlacedChunk overwritten = chunk(250);
  overwritten.copied = false;
  EXPECT_DOUBLE_EQ(gainOnDevice(overwritten, Rates, 1), 250);
  PlacedChunk unmapped = chunk(250);
  unmapped.mappable = false;
  EXPECT_DOUBLE_EQ(gainOnDevice(unmapped, Rates, 1), 350);
}

TEST(LinkCostTest, TheHottestComeAsFarAsTheyFit) {
  std::vector<PlacedChunk> chunks{chunk(300), chunk(500), chunk(400),
                                  chunk(500)};
  EXPECT_THAT(chooseForDevice(chunks, 250, Rates, 1),
              ElementsAre(false, true, false, true));
  EXPECT_THAT(chooseForDevice(chunks, 399, Rates, 1),
              ElementsAre(false, true, true, true));
  // Equal ones in their order.
  EXPECT_THAT(chooseForDevice(chunks, 100, Rates, 1),
              ElementsAre(false, true, false, false));
  // It is a matter of bytes, not of chunks.
  chunks[0].bytes = 10;
  EXPECT_THAT(chooseForDevice(chunks, 110, Rates, 1),
              ElementsAre(true, true, false, false));
}

TEST(LinkCostTest, WhatIsNotWorthACopyStaysWhereItIs) {
  std::vector<PlacedChunk> chunks{chunk(99), chunk(101), chunk(0, true)};
  EXPECT_THAT(chooseForDevice(chunks, 1000, Rates, 1),
              ElementsAre(false, true, true));
  // Not if that comes again.
  EXPECT_THAT(chooseForDevice(chunks, 1000, Rates, 2),
              ElementsAre(true, true, true));
}

TEST(LinkCostTest, AChunkChangesItsPlaceOnlyForMoreThanTheCopies) {
  // One place; to change it takes a copy each way.
  std::vector<PlacedChunk> chunks{chunk(300, true), chunk(499)};
  EXPECT_THAT(chooseForDevice(chunks, 100, Rates, 1), ElementsAre(true, false));
  chunks[1].accessBytes = 501;
  EXPECT_THAT(chooseForDevice(chunks, 100, Rates, 1), ElementsAre(false, true));
  // Of many launches each saves it.
  chunks[1].accessBytes = 320;
  EXPECT_THAT(chooseForDevice(chunks, 100, Rates, 1), ElementsAre(true, false));
  EXPECT_THAT(chooseForDevice(chunks, 100, Rates, 16),
              ElementsAre(false, true));
}

TEST(LinkCostTest, WhatMustStayComesFirst) {
  std::vector<PlacedChunk> chunks{chunk(900), chunk(0), chunk(0)};
  chunks[1].mustStay = chunks[2].mustStay = true;
  EXPECT_THAT(chooseForDevice(chunks, 200, Rates, 1),
              ElementsAre(false, true, true));
  EXPECT_THAT(chooseForDevice(chunks, 150, Rates, 1),
              ElementsAre(false, true, false)); // does not fit
}

TEST(LinkCostTest, CostsAreTold) {
  LaunchCost cost{"mixed", 3 * MiB, 4.0 * MiB, 0, true, 12};
  cost.seconds = secondsOf(cost, Rates);
  EXPECT_DOUBLE_EQ(cost.seconds, 7.0 * MiB);
  EXPECT_THAT(describe(cost), HasSubstr("mixed in 12 (copies 3 MiB, accesses "
                                        "4 MiB over the link"));
  EXPECT_EQ(describe({"resident", MiB, 0, 0, false}),
            "resident (does not fit)");
}

TEST(LinkCostTest, BothPlacesHoldWhatIsChosenForThem) {
  // Three chunks of 4 and one of 2; 7 of device memory have room for 4 + 2.
  std::vector<PlacedChunk> chunks(4);
  for (PlacedChunk &chunk : chunks) {
    chunk.bytes = 4;
    chunk.mappable = true;
  }
  chunks.back().bytes = 2;
  auto bytesOnHost = [&](const std::vector<bool> &onDevice) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < chunks.size(); ++i)
      bytes += onDevice[i] ? 0 : chunks[i].bytes;
    return bytes;
  };
  // Cold ones would stay in host memory, if it had room.
  auto chosen = choosePlaces(chunks, 7, {14}, {}, 1);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(bytesOnHost(*chosen), 14u);
  chosen = choosePlaces(chunks, 7, {8}, {}, 1);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(bytesOnHost(*chosen), 8u);
  // Together they have 14 bytes, but not in these pieces.
  EXPECT_FALSE(choosePlaces(chunks, 7, {7}, {}, 1));
  for (PlacedChunk &chunk : chunks)
    chunk.mustStay = chunk.bytes == 4;
  EXPECT_FALSE(choosePlaces(chunks, 7, {14}, {}, 1));
  EXPECT_TRUE(choosePlaces(chunks, 12, {2}, {}, 1));
}

TEST(LinkCostTest, PeersTakeOnlyWhatTheHostDoesNotAccess) {
  // Six chunks of 4; four of them are managed memory.
  std::vector<PlacedChunk> chunks(6);
  for (size_t i = 0; i < chunks.size(); ++i) {
    chunks[i].bytes = 4;
    chunks[i].mappable = chunks[i].onDevice = i < 2;
    chunks[i].hostOnly = i >= 2;
  }
  auto onHost = [&](const std::vector<bool> &onDevice) {
    size_t number = 0;
    for (size_t i = 0; i < chunks.size(); ++i)
      number += chunks[i].hostOnly && !onDevice[i];
    return number;
  };
  auto chosen = choosePlaces(chunks, 8, {8, 8}, {}, 1);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(onHost(*chosen), 2u); // what is on the device has to leave it
  EXPECT_FALSE(choosePlaces(chunks, 8, {4, 16}, {}, 1));
  EXPECT_TRUE(choosePlaces(chunks, 12, {4, 8}, {}, 1));
  // Larger ones, which are first in line otherwise, make way as well.
  chunks[0].bytes = chunks[1].bytes = 8;
  chosen = choosePlaces(chunks, 8, {8, 16}, {}, 1);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(onHost(*chosen), 2u);
}

} // namespace
