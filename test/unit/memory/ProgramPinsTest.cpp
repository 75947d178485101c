//===- ProgramPinsTest.cpp - memory of the program that kernels read ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ProgramPins.h"
#include "runtime/device/ForwardingDevice.h"
#include "runtime/tier/HeldMemory.h"
#include "test/unit/support/memory/PlacesFixture.h"

#include <atomic>
#include <thread>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr uintptr_t Page = 4096;
/// Nobody looks at the memory: the cpu device pins any.
constexpr uintptr_t Memory = uintptr_t(1) << 40;

class ProgramPinsTest : public PlacesFixture {
protected:
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto faulty = std::make_unique<FaultyDevice>(std::move(cpu), 0);
    Faulty = faulty.get();
    auto counting = std::make_unique<CountingDevice>(std::move(faulty));
    Calls = counting.get();
    return counting;
  }
  void SetUp() override {
    PlacesFixture::SetUp();
    ASSERT_NO_FATAL_FAILURE(startParts(1));
    Pins.emplace(parts->Ctx);
  }
  void add(uintptr_t begin, uintptr_t end) {
    const AddressRange range[] = {{begin, end}};
    Pins->add(range);
  }
  uint64_t pinned() const {
    return Calls->calls(DeviceCall::Pin) - Calls->calls(DeviceCall::Unpin);
  }

  FaultyDevice *Faulty = nullptr;
  CountingDevice *Calls = nullptr;
  std::optional<ProgramPins> Pins;
};

TEST_F(ProgramPinsTest, OnlyWhatIsAllowedIsPinned) {
  add(Memory, Memory + 8 * Page);
  EXPECT_FALSE(Pins->holds(Memory, Memory + Page));
  EXPECT_EQ(pinned(), 0u);
  Pins->allow(Memory, Memory + 8 * Page);
  add(Memory, Memory + 8 * Page);
  EXPECT_TRUE(Pins->holds(Memory, Memory + 8 * Page));
  EXPECT_FALSE(Pins->holds(Memory, Memory + 8 * Page + 1));
  EXPECT_EQ(pinned(), 1u);
}

TEST_F(ProgramPinsTest, PagesWithSomethingElseInThemAreNot) {
  Pins->allow(Memory + 16, Memory + 8 * Page + 16);
  add(Memory + 16, Memory + 4 * Page + 16); // begins in a page of others
  EXPECT_EQ(pinned(), 0u);
  add(Memory + 4 * Page + 16, Memory + 8 * Page + 16); // ends in one
  EXPECT_EQ(pinned(), 0u);
  add(Memory + 2 * Page + 16, Memory + 4 * Page + 16);
  EXPECT_TRUE(Pins->holds(Memory + 2 * Page, Memory + 5 * Page));
}

TEST_F(ProgramPinsTest, NothingIsPinnedTwice) {
  Pins->allow(Memory, Memory + 16 * Page);
  add(Memory + 16, Memory + 4 * Page + 16); // both have a part of page 4
  add(Memory + 4 * Page + 16, Memory + 8 * Page);
  EXPECT_EQ(pinned(), 2u);
  EXPECT_TRUE(Pins->holds(Memory, Memory + 8 * Page));
  add(Memory + Page, Memory + 7 * Page);
  EXPECT_EQ(pinned(), 2u);
  const AddressRange both[] = {{Memory + 10 * Page, Memory + 12 * Page},
                               {Memory + 6 * Page, Memory + 11 * Page}};
  Pins->add(both);
  EXPECT_TRUE(Pins->holds(Memory, Memory + 12 * Page));
}

TEST_F(ProgramPinsTest, WhatIsDroppedComesAgainAndWhatIsForgottenDoesNot) {
  Pins->allow(Memory, Memory + 8 * Page);
  add(Memory, Memory + 4 * Page);
  add(Memory + 4 * Page, Memory + 8 * Page);
  EXPECT_TRUE(Pins->mayHold(Memory + 7 * Page, Memory + 7 * Page + 1));
  EXPECT_FALSE(Pins->mayHold(Memory + 8 * Page, Memory + 9 * Page));
  Pins->drop(Memory + 5 * Page, Memory + 5 * Page + 1);
  EXPECT_TRUE(Pins->holds(Memory, Memory + 4 * Page));
  EXPECT_FALSE(Pins->holds(Memory + 4 * Page, Memory + 5 * Page));
  EXPECT_EQ(pinned(), 1u);
  add(Memory, Memory + 8 * Page);
  EXPECT_TRUE(Pins->holds(Memory, Memory + 8 * Page));
  Pins->forget(Memory, Memory + 8 * Page);
  EXPECT_EQ(pinned(), 0u);
  EXPECT_FALSE(Pins->mayHold(0, UINTPTR_MAX));
  add(Memory, Memory + 8 * Page);
  EXPECT_EQ(pinned(), 0u);
}

TEST_F(ProgramPinsTest, WhatTheDeviceRefusesIsNotHeld) {
  Pins->allow(Memory, Memory + 8 * Page);
  Faulty->failAt(1);
  add(Memory, Memory + 4 * Page);
  ASSERT_EQ(Faulty->failedCall(), DeviceCall::Pin);
  EXPECT_FALSE(Pins->holds(Memory, Memory + Page));
  Faulty->failAt(0);
  add(Memory, Memory + 4 * Page);
  EXPECT_TRUE(Pins->holds(Memory, Memory + 4 * Page));
}

/// What is pinned in two pieces is copied in two.
TEST_F(ProgramPinsTest, ACopyIsOfOnePiece) {
  Pins->allow(Memory, Memory + 8 * Page);
  add(Memory, Memory + 4 * Page);
  add(Memory + 4 * Page, Memory + 8 * Page);
  EXPECT_EQ(Pins->bytesFrom(Memory + Page, 2 * Page), 2 * Page);
  EXPECT_EQ(Pins->bytesFrom(Memory + Page, 7 * Page), 3 * Page);
  EXPECT_EQ(Pins->bytesFrom(Memory + 4 * Page, 9 * Page), 4 * Page);
  EXPECT_EQ(Pins->bytesFrom(Memory + 8 * Page, Page), 0u);
  EXPECT_EQ(Pins->bytesFrom(Memory - 1, Page), 0u);
  EXPECT_FALSE(Pins->hold(Memory + Page, Memory + 5 * Page));
  EXPECT_FALSE(Pins->hold(Memory + 7 * Page, Memory + 9 * Page));
}

TEST_F(ProgramPinsTest, WhoDropsWaitsForWhatIsHeld) {
  Pins->allow(Memory, Memory + 8 * Page);
  add(Memory, Memory + 8 * Page);
  ASSERT_TRUE(Pins->hold(Memory + Page, Memory + 3 * Page));
  std::atomic<bool> begun{false}, letGo{false};
  std::thread program([&] {
    begun = true;
    Pins->drop(Memory, Memory + Page); // of the same piece
    EXPECT_TRUE(letGo);
  });
  for (int i = 0; !begun || i < 5000; ++i)
    std::this_thread::yield();
  EXPECT_EQ(pinned(), 1u);
  letGo = true;
  HeldMemory::get().letGo(Memory + Page, Memory + 3 * Page);
  program.join();
  EXPECT_EQ(pinned(), 0u);
  EXPECT_FALSE(Pins->hold(Memory + Page, Memory + 3 * Page));
}

} // namespace
