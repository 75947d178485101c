//===- AreaStoreTest.cpp - a block device in spare device memory ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-nbd/AreaStore.h"

#include "runtime/device/ForwardingDevice.h"
#include "runtime/device/vmm/VmmDevice.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/base/TemporaryFiles.h"
#include "test/unit/support/device/FakeCuda.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace dragon;
using namespace dragon::nbd;
using namespace dragon::test;

namespace {

constexpr uint64_t AreaBytes = 64 << 10;
constexpr uint64_t NumAreas = 8;
constexpr uint64_t Size = NumAreas * AreaBytes - 1000;

class AreaStoreTest : public testing::Test {
protected:
  AreaStoreTest() {
    settings.backend = "cpu";
    settings.chunkBytes = AreaBytes;
    settings.deviceMemory = NumAreas * AreaBytes;
    settings.swapDirs = {folder.path()};
    settings.cpuThreads = 2;
  }
  ~AreaStoreTest() override { store.reset(); }

  /// The n-th call of the device fails.
  void start(uint64_t failAt = 0, dragon_error code = DRAGON_ERROR_DEVICE) {
    std::string notes;
    auto cpu = createDevice(settings, notes);
    ASSERT_TRUE(cpu.ok()) << notes;
    auto faulty = std::make_unique<FaultyDevice>(std::move(*cpu), failAt, code);
    device = faulty.get();
    startOn(std::move(faulty));
  }
  void startOn(std::unique_ptr<Device> on, SpareMemory::Limits limits = {}) {
    const Report tell = [this](const std::string &line) { said += line; };
    const uint64_t area = *settings.chunkBytes;
    auto madeFile = AreaFile::create(settings, area);
    ASSERT_OK(madeFile.takeStatus());
    file = std::move(*madeFile);
    ASSERT_OK(file->start(settings));
    auto madeMemory = SpareMemory::create(std::move(on), settings, limits, area,
                                          NumAreas, tell);
    startFailed = madeMemory.takeStatus();
    if (!startFailed.ok())
      return;
    memory = std::move(*madeMemory);
    auto madeStore =
        AreaStore::create(area == AreaBytes ? Size : NumAreas * area, area,
                          true, *memory, *file, tell);
    startFailed = madeStore.takeStatus();
    if (startFailed.ok())
      store = std::move(*madeStore);
  }
  /// From the next call on.
  void loseDevice() {
    device->failAt(1);
    (void)memory->copyOut(0, 0, word, sizeof word);
    ASSERT_TRUE(memory->isLost());
  }

  static std::vector<char> dataOf(unsigned seed, uint64_t bytes) {
    std::mt19937 random(seed);
    std::vector<uint32_t> pattern(251);
    for (uint32_t &word : pattern)
      word = uint32_t(random());
    std::vector<char> data(bytes);
    for (uint64_t at = 0; at < bytes; at += 1004)
      std::memcpy(data.data() + at, pattern.data(),
                  std::min<uint64_t>(1004, bytes - at));
    return data;
  }
  static uint64_t bytesOf(uint64_t area) {
    return std::min(AreaBytes, Size - area * AreaBytes);
  }
  Status fill(uint64_t area, unsigned seed) {
    const std::vector<char> data = dataOf(seed, bytesOf(area));
    return store->write(data.data(), data.size(), area * AreaBytes);
  }
  /// Fails, or says whether that is what is there.
  StatusOr<bool> holds(uint64_t area, unsigned seed) {
    std::vector<char> found(bytesOf(area));
    DRAGON_TRY(store->read(found.data(), found.size(), area * AreaBytes));
    return found == dataOf(seed, found.size());
  }
  void expectHolds(uint64_t area, unsigned seed) {
    auto found = holds(area, seed);
    ASSERT_TRUE(found.ok()) << found.takeStatus().message();
    EXPECT_TRUE(*found) << "area " << area;
  }
  void expectLost(uint64_t area) {
    auto found = holds(area, 0);
    ASSERT_FALSE(found.ok()) << "area " << area;
    EXPECT_EQ(found.takeStatus().code(), DRAGON_ERROR_DEVICE);
  }

  std::optional<FakeCuda> fake; ///< outlives what is on it
  char word[8] = {};
  TemporaryFolder folder;
  Settings settings;
  std::string said;
  std::unique_ptr<AreaFile> file;
  std::unique_ptr<SpareMemory> memory;
  std::unique_ptr<AreaStore> store;
  FaultyDevice *device = nullptr;
  Status startFailed;
};

TEST_F(AreaStoreTest, WhatWasUsedLongestAgoLeavesFirst) {
  start();
  for (unsigned area = 0; area < NumAreas; ++area)
    ASSERT_OK(fill(area, area));
  expectHolds(1, 1);
  ASSERT_OK(store->write("x", 1, 0)); // area 0
  EXPECT_TRUE(store->giveBack(3 * AreaBytes));
  EXPECT_EQ(memory->held(), 3 * AreaBytes);
  EXPECT_EQ(store->counts().MovedOut, NumAreas - 3);
  // What has left is what can be read without the device.
  loseDevice();
  for (unsigned area : {0, 1, 7})
    expectLost(area);
  for (unsigned area : {2, 3, 4, 5, 6})
    expectHolds(area, area);
}

TEST_F(AreaStoreTest, WhatTheFileHasSurvivesTheDevice) {
  start();
  for (unsigned area = 0; area < 6; ++area)
    ASSERT_OK(fill(area, area));
  ASSERT_OK(store->save(AreaBytes, 0));
  ASSERT_OK(store->save(2 * AreaBytes, 4 * AreaBytes));
  ASSERT_OK(fill(5, 50)); // after it was saved
  loseDevice();
  EXPECT_NE(said.find("the device is lost"), std::string::npos) << said;
  expectHolds(0, 0);
  expectHolds(4, 4);
  for (unsigned area : {1, 2, 3, 5})
    expectLost(area);
  EXPECT_EQ(store->counts().Lost, 4u);
  EXPECT_EQ(memory->held(), 0u);
  // The rest of an area that is lost cannot be made up.
  EXPECT_EQ(store->write("x", 1, AreaBytes).code(), DRAGON_ERROR_DEVICE);
  EXPECT_EQ(store->zero(1, AreaBytes, true).code(), DRAGON_ERROR_DEVICE);
  EXPECT_EQ(store->save(Size, 0).code(), DRAGON_ERROR_DEVICE);
  // All of it can; and what is new goes to the file.
  ASSERT_OK(fill(1, 10));
  ASSERT_OK(store->trim(AreaBytes, 2 * AreaBytes));
  ASSERT_OK(store->zero(AreaBytes, 3 * AreaBytes, false));
  ASSERT_OK(store->zero(AreaBytes, 5 * AreaBytes, true));
  ASSERT_OK(fill(7, 7));
  expectHolds(1, 10);
  expectHolds(7, 7);
  std::vector<char> zeros(AreaBytes), found(AreaBytes, 'x');
  for (uint64_t area : {2, 3, 5}) {
    ASSERT_OK(store->read(found.data(), AreaBytes, area * AreaBytes));
    EXPECT_EQ(found, zeros);
  }
  EXPECT_EQ(store->counts().Lost, 0u);
  ASSERT_OK(store->save(Size, 0));
}

/// The file has what came back until it is written.
TEST_F(AreaStoreTest, WhatCameBackSurvivesTheDevice) {
  start();
  for (unsigned area = 0; area < 3; ++area)
    ASSERT_OK(fill(area, area));
  EXPECT_TRUE(store->giveBack(0));
  EXPECT_FALSE(store->bringBack()); // nobody asks for any
  for (unsigned area = 0; area < 3; ++area)
    expectHolds(area, area);
  while (store->bringBack())
    ;
  EXPECT_EQ(memory->held(), 3 * AreaBytes);
  ASSERT_OK(fill(2, 20));
  EXPECT_TRUE(store->giveBack(2 * AreaBytes)); // without a copy
  EXPECT_EQ(store->counts().Dropped, 1u);
  EXPECT_EQ(store->counts().MovedOut, 3u);
  loseDevice();
  expectHolds(0, 0);
  expectHolds(1, 1);
  expectLost(2);
}

/// Requests, moves and losses of the device at any point: nothing that is read
/// without an error is wrong.
TEST_F(AreaStoreTest, FailsAtAnyCall) {
  constexpr unsigned Few = 3; // areas
  for (dragon_error code : {DRAGON_ERROR_DEVICE, DRAGON_ERROR_OUT_OF_MEMORY}) {
    for (uint64_t n = 1;; ++n) {
      store.reset();
      memory.reset();
      start(n, code);
      if (!startFailed.ok())
        continue;
      std::vector<std::optional<unsigned>> model(Few, 0);
      auto change = [&](uint64_t area, unsigned seed) {
        if (fill(area, seed).ok())
          model[area] = seed;
        else
          model[area].reset();
      };
      auto check = [&] {
        for (unsigned area = 0; area < Few; ++area)
          if (auto found = holds(area, model[area].value_or(0));
              found.ok() && model[area])
            ASSERT_TRUE(*found) << "call " << n << ", area " << area;
      };
      for (unsigned area = 0; area < Few; ++area)
        change(area, area + 1);
      check();
      store->giveBack(AreaBytes);
      check();
      while (store->bringBack())
        ;
      store->save(Size, 0).ignore();
      change(0, 30);
      change(2, 40);
      store->giveBack(0);
      while (store->bringBack())
        ;
      check();
      // What was lost can be begun anew.
      for (unsigned area = 0; area < Few; ++area) {
        ASSERT_OK(store->trim(bytesOf(area), area * AreaBytes));
        ASSERT_OK(fill(area, area + 100));
        model[area] = area + 100;
      }
      if (!memory->isLost())
        check();
      ASSERT_EQ(store->counts().Used, Few);
      if (!device->hasFailed()) {
        EXPECT_GT(n, 30u);
        break;
      }
    }
  }
}

/// Areas that are in use all the time leave, and come back.
TEST_F(AreaStoreTest, MovesUnderRequests) {
  start();
  ASSERT_OK(fill(7, 7));
  std::atomic<bool> ends{false};
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned own = 0; own < 4; ++own)
    threads.emplace_back([&, own] {
      for (unsigned seed = own; !ends; seed += 4) {
        wrong += !fill(own, seed).ok();
        auto found = holds(own, seed);
        wrong += !found.ok() || !*found;
        if (seed % 16 == own)
          wrong += !store->trim(AreaBytes, own * AreaBytes).ok();
        auto shared = holds(7, 7);
        wrong += !shared.ok() || !*shared;
      }
    });
  for (unsigned round = 0; round < 60; ++round) {
    EXPECT_TRUE(store->giveBack(round % 3 * AreaBytes) || memory->held());
    store->bringBack();
    if (round % 8 == 0)
      EXPECT_OK(store->save(Size, 0));
  }
  ends = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(said, "");
}

/// Programs that take no part: so much as `keep` says stays free for them.
TEST_F(AreaStoreTest, WhatOthersTakeOutsideOfTheBooks) {
  fake.emplace();
  settings.chunkBytes = 2 * MiB;
  settings.deviceMemory.reset();
  settings.share = 0;
  fake->freeBytes = 100 * MiB;
  auto made = VmmDevice::createOn(fake->driver());
  ASSERT_OK(made.takeStatus());
  SpareMemory::Limits limits;
  limits.Keep = 90 * MiB;
  startOn(std::move(*made), limits);
  ASSERT_TRUE(startFailed.ok()) << startFailed.message();
  EXPECT_EQ(memory->limit(), 10 * MiB);
  for (uint64_t area = 0; area < NumAreas; ++area)
    ASSERT_OK(store->write("x", 1, area * 2 * MiB));
  EXPECT_EQ(memory->held(), 10 * MiB);
  EXPECT_EQ(store->counts().MadeInFile, 3u);
  fake->freeBytes = 84 * MiB;
  memory->look();
  EXPECT_EQ(memory->limit(), 4 * MiB);
  EXPECT_TRUE(store->giveBack(memory->limit()));
  EXPECT_EQ(memory->held(), 4 * MiB);
  char byte;
  for (uint64_t area = 0; area < NumAreas; ++area) {
    ASSERT_OK(store->read(&byte, 1, area * 2 * MiB));
    EXPECT_EQ(byte, 'x');
  }
}

} // namespace
