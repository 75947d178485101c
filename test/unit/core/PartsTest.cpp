//===- PartsTest.cpp - budgets, eviction, storage -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Settings.h"
#include "runtime/memory/Budget.h"
#include "runtime/memory/Eviction.h"
#include "runtime/memory/Storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace dragon;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr uint64_t MiB = 1 << 20, GiB = 1 << 30;

// -- Budgets

DeviceCaps caps(uint64_t memory) {
  DeviceCaps c{};
  c.name = "test";
  c.granularity = 2 * MiB;
  c.totalMemory = c.freeMemory = memory;
  return c;
}

TEST(BudgetTest, ChunksAreA64thOfTheBudget) {
  struct {
    uint64_t device, host, chunk;
  } cases[] = {{64 * MiB, GiB, 2 * MiB},     {256 * MiB, GiB, 4 * MiB},
               {GiB, 8 * GiB, 16 * MiB},     {80 * GiB, 64 * GiB, 32 * MiB},
               {GiB, 64 * MiB, 4 * MiB}, // host memory holds several
               {700 * MiB, 8 * GiB, 8 * MiB}};
  for (auto [device, host, chunk] : cases) {
    Settings settings;
    settings.deviceMemory = device;
    settings.hostMemory = host;
    auto budget = chooseBudget(settings, caps(100 * GiB), 100 * GiB);
    ASSERT_TRUE(budget.ok()) << budget.takeStatus().message();
    EXPECT_EQ(budget->deviceBytes, device);
    EXPECT_EQ(budget->hostBytes, host);
    EXPECT_EQ(budget->chunkBytes, chunk);
    EXPECT_GE(budget->transitBytes, chunk);
    EXPECT_LT(budget->transitBytes, host);
  }
}

TEST(BudgetTest, ByDefaultAReserveIsLeft) {
  auto budget = chooseBudget(Settings(), caps(80 * GiB), 64 * GiB);
  ASSERT_TRUE(budget.ok());
  EXPECT_LT(budget->deviceBytes, 80 * GiB);
  EXPECT_GT(budget->deviceBytes, 70 * GiB);
  EXPECT_LT(budget->hostBytes, 64 * GiB);
  EXPECT_GT(budget->hostBytes, 48 * GiB);
}

TEST(BudgetTest, ChunksAreWhatTheDeviceCanMap) {
  Settings settings;
  settings.chunkBytes = 3 * MiB;
  const Status status =
      chooseBudget(settings, caps(8 * GiB), 8 * GiB).takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_SETTING);
  EXPECT_THAT(status.message(), HasSubstr("needs a multiple of 2 MiB"));
}

TEST(BudgetTest, LessThanAChunkIsAnError) {
  Settings settings;
  settings.deviceMemory = MiB;
  Status status = chooseBudget(settings, caps(8 * GiB), 8 * GiB).takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_SETTING);
  EXPECT_THAT(status.message(), HasSubstr("DRAGON_DEVICE_MEMORY to 2 MiB"));
  settings.deviceMemory = 16 * MiB;
  settings.chunkBytes = 32 * MiB;
  status = chooseBudget(settings, caps(8 * GiB), 8 * GiB).takeStatus();
  EXPECT_THAT(status.message(), HasSubstr("lower DRAGON_CHUNK_SIZE"));
  settings.chunkBytes.reset();
  settings.hostMemory = 3 * MiB;
  status = chooseBudget(settings, caps(8 * GiB), 8 * GiB).takeStatus();
  EXPECT_THAT(status.message(), HasSubstr("DRAGON_HOST_MEMORY to 4 MiB"));
}

// -- Eviction

EvictionCandidate candidate(uint32_t index, uint64_t lastTouch) {
  EvictionCandidate c{};
  c.index = index;
  c.bytes = 1;
  c.lastTouch = lastTouch;
  return c;
}

TEST(EvictionTest, WithoutKnowledgeTheLeastRecentlyUsedGoes) {
  EXPECT_THAT(
      chooseVictims({candidate(0, 5), candidate(1, 2), candidate(2, 9)}, 10, 2),
      ElementsAre(1, 0));
}

TEST(EvictionTest, WhatIsNeededLastGoesFirst) {
  auto soon = candidate(0, 1), later = candidate(1, 99);
  soon.nextUse = 101;
  later.nextUse = 150;
  EXPECT_THAT(chooseVictims({soon, later, candidate(2, 60)}, 100, 3),
              ElementsAre(1, 2, 0));
}

TEST(EvictionTest, EmptyOnesGoFirstBusyOnesLaterKeptOnesLast) {
  auto empty = candidate(0, 99), busy = candidate(1, 50),
       kept = candidate(2, 0), used = candidate(4, 99);
  empty.empty = busy.busy = kept.keepLast = used.empty = used.busy = true;
  EXPECT_THAT(
      chooseVictims({kept, busy, used, candidate(3, 50), empty}, 100, 5),
      ElementsAre(0, 4, 3, 1, 2));
}

TEST(EvictionTest, WhatCostsMoreMustBeNeededLater) {
  auto dirty = candidate(0, 1), clean = candidate(1, 1), dead = candidate(2, 1);
  dirty.copies = true;
  dead.returns = false;
  dirty.nextUse = 190;
  clean.nextUse = 150;
  dead.nextUse = 110;
  EXPECT_THAT(chooseVictims({dirty, clean, dead}, 100, 3),
              ElementsAre(2, 1, 0));
  dirty.nextUse = 210;
  EXPECT_THAT(chooseVictims({dirty, clean, dead}, 100, 3),
              ElementsAre(2, 0, 1));
}

TEST(EvictionTest, TiesGoToWhatCostsNoCopy) {
  auto dirty = candidate(0, 5), clean = candidate(1, 5);
  dirty.copies = true;
  EXPECT_THAT(chooseVictims({dirty, clean}, 10, 1), ElementsAre(1));
}

TEST(EvictionTest, NoMoreThanNeeded) {
  EXPECT_THAT(chooseVictims({candidate(0, 1), candidate(1, 2)}, 10, 1),
              ElementsAre(0));
  EXPECT_TRUE(chooseVictims({candidate(0, 1)}, 10, 0).empty());
}

// -- Storage

TEST(StorageTest, AgreesWithAMapOfBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Storage storage;
    constexpr size_t Size = 64;
    // What each byte is: -1 undefined, -2 zero, else its offset in the file.
    std::vector<int64_t> model(Size, -1);
    for (int step = 0; step < 20; ++step) {
      size_t begin = random() % Size,
             end = begin + 1 + random() % (Size - begin);
      switch (random() % 3) {
      case 0:
        storage.erase(begin, end);
        std::fill(model.begin() + begin, model.begin() + end, -1);
        break;
      case 1:
        storage.put({begin, end, PieceKind::Zero, nullptr, 0});
        std::fill(model.begin() + begin, model.begin() + end, -2);
        break;
      default: {
        int64_t offset = random() % 2 ? int64_t(begin) : random() % 1000;
        storage.put({begin, end, PieceKind::Swap, nullptr, offset});
        for (size_t i = begin; i < end; ++i)
          model[i] = offset + int64_t(i - begin);
        break;
      }
      }
      std::vector<int64_t> actual(Size, -1);
      size_t last = 0;
      for (const Piece &piece : storage.pieces()) {
        ASSERT_LT(piece.begin, piece.end);
        ASSERT_GE(piece.begin, last);
        last = piece.end;
        for (size_t i = piece.begin; i < piece.end; ++i)
          actual[i] = piece.kind == PieceKind::Zero
                          ? -2
                          : piece.offset + int64_t(i - piece.begin);
      }
      ASSERT_EQ(actual, model);
      bool all = std::count(model.begin(), model.end(), -1) == 0;
      ASSERT_EQ(storage.covers(0, Size), all);
    }
  }
}

TEST(StorageTest, PiecesThatContinueAreJoined) {
  Storage storage;
  storage.put({0, 10, PieceKind::Swap, nullptr, 100});
  storage.put({20, 30, PieceKind::Swap, nullptr, 120});
  storage.put({10, 20, PieceKind::Swap, nullptr, 110});
  ASSERT_EQ(storage.pieces().size(), 1u);
  EXPECT_EQ(storage.pieces()[0].end, 30u);
  storage.put({5, 6, PieceKind::Swap, nullptr, 0});
  EXPECT_EQ(storage.pieces().size(), 3u);
}

} // namespace
