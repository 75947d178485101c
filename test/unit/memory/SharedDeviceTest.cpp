//===- SharedDeviceTest.cpp - chunks on a device that programs share ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/DeviceChunks.h"
#include "test/unit/support/memory/PlacesFixture.h"

#include <chrono>
#include <thread>
#include <unistd.h>

using namespace dragon;
using namespace dragon::test;

namespace {

/// Three chunks that fill the device. A program beside this one wants as much.
class SharedDeviceTest : public PlacesFixture {
protected:
  static constexpr size_t Number = 3;
  static constexpr uint64_t Total = Number * 2 * MiB;

  void startShared(std::chrono::nanoseconds turn) {
    settings.deviceMemory = Total;
    ASSERT_NO_FATAL_FAILURE(startParts(Number));
    write(0, numbers(Number * Words, 9));
    parts->Time.Tracking = true;
    parts->Ctx.pins.next();
    parts->Ctx.share = join(turn);
    ASSERT_TRUE(parts->Ctx.share->reserve(memory().Pool.held()));
    Other = join(turn);
  }
  std::unique_ptr<DeviceShare> join(std::chrono::nanoseconds turn) {
    DeviceShare::Terms terms;
    terms.total = Total;
    terms.turn = turn;
    auto share = DeviceShare::join(folder.path(), "device", terms);
    EXPECT_TRUE(share.ok());
    (*share)->wants(Total);
    return std::move(*share);
  }
  std::vector<ChunkUse> uses(size_t count) {
    std::vector<ChunkUse> all;
    for (size_t i = 0; i < count; ++i)
      all.push_back(useOfAll(*Chunks[i], LaunchNeed::Read));
    return all;
  }
  DeviceChunks &memory() { return parts->OnDevice; }

  std::unique_ptr<DeviceShare> Other;
};

/// A launch in many slices would otherwise go on beside the one whose turn it
/// is.
TEST_F(SharedDeviceTest, WhoLosesItsTurnBetweenSlicesClaimsAnew) {
  ASSERT_NO_FATAL_FAILURE(startShared(std::chrono::nanoseconds(1)));
  DeviceShare &own = *parts->Ctx.share;
  memory().claim(uses(3));
  ASSERT_EQ(own.claimed(), Total);
  std::thread other([&] {
    EXPECT_TRUE(Other->claim(Total, 600, [] {}));
    Other->endCall(0);
  });
  while (!own.losesTurn())
    ::usleep(1000);
  memory().giveBetweenSlices(uses(1));
  EXPECT_EQ(own.claimed(), 0u);
  EXPECT_EQ(memory().Pool.held(), 0u);
  other.join();
  // Its turn comes again, as the other one's is over.
  memory().claim(uses(1));
  EXPECT_EQ(own.claimed(), 2 * MiB);
  EXPECT_EQ(own.turns(), 2u);
}

TEST_F(SharedDeviceTest, WhoHasItsTurnKeepsWhatTheNextSliceUses) {
  ASSERT_NO_FATAL_FAILURE(startShared(std::chrono::hours(1)));
  DeviceShare &own = *parts->Ctx.share;
  memory().claim(uses(3));
  Other->yields(); // something has changed
  memory().giveBetweenSlices(uses(1));
  EXPECT_EQ(own.claimed(), 2 * MiB);
  EXPECT_EQ(memory().Pool.held(), Total);
}

/// While a call brings its data in, the limit may fall: what was to leave for
/// them, and has not, leaves for the one at hand.
TEST_F(SharedDeviceTest, WhatWasToLeaveCanLeaveForOthers) {
  ASSERT_NO_FATAL_FAILURE(startShared(std::chrono::nanoseconds(0)));
  memory().claim(uses(3));
  for (size_t i : {0, 1})
    parts->Ctx.pins.add(*Chunks[i]);
  DeviceChunks::Exchange around(memory());
  ASSERT_OK(around.begin(2 * MiB));
  auto slab = memory().take(2 * MiB);
  ASSERT_TRUE(slab.ok()) << slab.takeStatus().message();
  EXPECT_EQ(Chunks[2]->device.id, 0u);
  memory().Pool.give(*slab);
  EXPECT_OK(around.makeRoom(2 * MiB));
}

} // namespace
