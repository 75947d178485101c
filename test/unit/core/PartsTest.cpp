//===- PartsTest.cpp - settings, budgets, eviction, storage ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Budget.h"
#include "runtime/core/Eviction.h"
#include "runtime/core/Settings.h"
#include "runtime/core/Storage.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

using namespace dragon;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr uint64_t MiB = 1 << 20, GiB = 1 << 30;

// -- Settings

class SettingsTest : public testing::Test {
protected:
  void SetUp() override {
    for (const SettingDescription &setting : allSettings())
      ::unsetenv(setting.variable);
  }
  void TearDown() override { SetUp(); }
  void expectError(const char *variable, const char *value,
                   const char *expected) {
    ::setenv(variable, value, 1);
    auto settings = Settings::fromEnvironment();
    ::unsetenv(variable);
    ASSERT_FALSE(settings.ok()) << variable << "=" << value;
    Status status = settings.takeStatus();
    EXPECT_EQ(status.code(), DRAGON_ERROR_SETTING);
    EXPECT_THAT(status.message(), HasSubstr(variable));
    EXPECT_THAT(status.message(), HasSubstr(std::string("'") + value + "'"));
    EXPECT_THAT(status.message(), HasSubstr(expected));
  }
};

TEST_F(SettingsTest, EachVariableReachesItsField) {
  ::setenv("DRAGON_DEVICE_MEMORY", "64M", 1);
  ::setenv("DRAGON_HOST_MEMORY", "1G", 1);
  ::setenv("DRAGON_SWAP_DIR", "/a:/b c", 1);
  ::setenv("DRAGON_BACKEND", "cpu", 1);
  ::setenv("DRAGON_CHUNK_SIZE", "4M", 1);
  ::setenv("DRAGON_DIRECT_IO", "off", 1);
  ::setenv("DRAGON_IO_URING", "0", 1);
  ::setenv("DRAGON_STRICT", "1", 1);
  ::setenv("DRAGON_POISON", "1", 1);
  ::setenv("DRAGON_QUIET", "1", 1);
  ::setenv("DRAGON_ELIDE", "0", 1);
  ::setenv("DRAGON_WAVEFRONT", "always", 1);
  ::setenv("DRAGON_STATS", "-", 1);
  ::setenv("DRAGON_TRACE", "/t", 1);
  ::setenv("DRAGON_LOG", "debug", 1);
  ::setenv("DRAGON_CPU_THREADS", "3", 1);
  ::setenv("DRAGON_MANAGED_MEMORY", "2G", 1);
  ::setenv("DRAGON_MANAGED_OVERSUBSCRIBE", "1", 1);
  ::setenv("DRAGON_READAHEAD_TYPE", "Aggressive", 1);
  ::setenv("DRAGON_NR_RESERVED_PAGES", "0", 1);
  ::setenv("DRAGON_ENABLE_READ_CACHE", "no", 1);
  ::setenv("DRAGON_ENABLE_LAZY_WRITE", "NONE", 1);
  ::setenv("DRAGON_ENABLE_AIO_READ", "yes", 1);
  ::setenv("DRAGON_ENABLE_AIO_WRITE", "No", 1);
  auto made = Settings::fromEnvironment();
  ASSERT_TRUE(made.ok()) << made.takeStatus().message();
  Settings &s = *made;
  EXPECT_EQ(s.deviceMemory, 64 * MiB);
  EXPECT_EQ(s.hostMemory, GiB);
  EXPECT_THAT(s.swapDirs, ElementsAre("/a", "/b c"));
  EXPECT_EQ(s.backend, "cpu");
  EXPECT_EQ(s.chunkBytes, 4 * MiB);
  EXPECT_EQ(s.directIo, DirectIo::Off);
  EXPECT_FALSE(s.ioUring);
  EXPECT_TRUE(s.strict && s.poison && s.quiet);
  EXPECT_FALSE(s.elide);
  EXPECT_EQ(s.wavefront, Wavefront::Always);
  EXPECT_EQ(s.stats, "-");
  EXPECT_EQ(s.trace, "/t");
  EXPECT_EQ(s.log, "debug");
  EXPECT_EQ(s.cpuThreads, 3u);
  EXPECT_EQ(s.managedMemory, 2 * GiB);
  EXPECT_TRUE(s.managedOversubscribe);
  EXPECT_EQ(s.readahead, Readahead::Aggressive);
  EXPECT_EQ(s.reservedPages, 0u);
  EXPECT_FALSE(s.enableReadCache || s.enableLazyWrite || s.enableAioWrite);
  EXPECT_TRUE(s.enableAioRead);
}

TEST_F(SettingsTest, UnsetAndEmptyMeanTheDefault) {
  ::setenv("DRAGON_DEVICE_MEMORY", "", 1);
  ::setenv("TMPDIR", "/elsewhere", 1);
  auto made = Settings::fromEnvironment();
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(made->deviceMemory);
  EXPECT_THAT(made->swapDirs, ElementsAre("/elsewhere"));
  ::unsetenv("TMPDIR");
  made = Settings::fromEnvironment();
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(made->swapDirs, ElementsAre("/var/tmp"));
}

TEST_F(SettingsTest, MalformedValuesAreErrorsByName) {
  expectError("DRAGON_DEVICE_MEMORY", "64MB", "expected a size");
  expectError("DRAGON_DEVICE_MEMORY", "-1", "expected a size");
  expectError("DRAGON_HOST_MEMORY", "1.5G", "expected a size");
  expectError("DRAGON_HOST_MEMORY", "99999999999T", "expected a size");
  expectError("DRAGON_SWAP_DIR", "/a::/b", "expected directories");
  expectError("DRAGON_BACKEND", "gpu", "vmm, cpu");
  expectError("DRAGON_CHUNK_SIZE", "3M", "multiple of 2M");
  expectError("DRAGON_READAHEAD_TYPE", "ag", "aggressive, normal or disabled");
  expectError("DRAGON_NR_RESERVED_PAGES", "-1", "a number of pages");
  expectError("DRAGON_NR_RESERVED_PAGES", "1G", "a number of pages");
  expectError("DRAGON_ENABLE_LAZY_WRITE", "0", "yes or no");
  expectError("DRAGON_CHUNK_SIZE", "0", "multiple of 2M");
  expectError("DRAGON_DIRECT_IO", "yes", "auto, on or off");
  expectError("DRAGON_WAVEFRONT", "1", "auto, always or off");
  expectError("DRAGON_STRICT", "true", "1 or 0");
  expectError("DRAGON_LOG", "2", "0, 1 or debug");
  expectError("DRAGON_CPU_THREADS", "many", "number");
  expectError("DRAGON_CPU_THREADS", "0", "from 1 to 4096");
}

TEST_F(SettingsTest, AMisspeltVariableIsSaid) {
  ::setenv("DRAGON_HOST_MEMORY", "1G", 1);
  ::setenv("DRAGON_CUDA_PATH", "/", 1); // the build's
  EXPECT_THAT(unknownVariables(), ElementsAre());
  ::setenv("DRAGON_HOSTMEMORY", "1G", 1);
  EXPECT_THAT(unknownVariables(),
              ElementsAre("DRAGON_HOSTMEMORY is no setting; did you mean "
                          "DRAGON_HOST_MEMORY?"));
  ::unsetenv("DRAGON_HOSTMEMORY");
  ::setenv("DRAGON_STATISTICS", "-", 1);
  EXPECT_THAT(unknownVariables(),
              ElementsAre("DRAGON_STATISTICS is no setting; did you mean "
                          "DRAGON_STATS?"));
  ::unsetenv("DRAGON_STATISTICS");
  ::setenv("DRAGON_FIREBALL", "1", 1);
  EXPECT_THAT(unknownVariables(), ElementsAre("DRAGON_FIREBALL is no setting"));
  ::unsetenv("DRAGON_FIREBALL");
  ::unsetenv("DRAGON_CUDA_PATH");
}

// -- Sizes

TEST(BytesTest, AreWrittenAsPeopleDo) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(64 * MiB), "64 MiB");
  EXPECT_EQ(formatBytes(3 * GiB / 2), "1.5 GiB");
  EXPECT_EQ(parseBytes("3k"), 3072u);
  EXPECT_EQ(parseBytes("18446744073709551615"), UINT64_MAX);
  EXPECT_FALSE(parseBytes(""));
  EXPECT_FALSE(parseBytes("K"));
  EXPECT_FALSE(parseBytes("1 K"));
}

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

// -- Statistics

TEST(StatsTest, TableAndJsonSayTheSame) {
  Stats stats;
  stats.device = "cpu";
  stats.limits = {{"device memory", 64 * MiB}};
  stats.peaks = {{"device memory", 48 * MiB}, {"host memory", MiB}};
  stats.moved = {{"host to device", "demand", 64 * MiB, 1000},
                 {"host to device", "copy", 32 * MiB, 0}};
  stats.avoided = {{"read-only", MiB}};
  stats.counts = {{"sliced launches", 3}};
  std::string table = formatStatsTable(stats);
  EXPECT_THAT(table, HasSubstr("cpu device, device memory 64 MiB"));
  EXPECT_THAT(table,
              HasSubstr("held at most: device memory 48 MiB, host memory 1"));
  EXPECT_THAT(table, HasSubstr("host to device     demand             64 MiB"));
  EXPECT_THAT(table, HasSubstr("read-only"));
  std::string json = formatStatsJson(stats);
  EXPECT_THAT(json, HasSubstr("\"bytes\": 100663296")); // both causes
  EXPECT_THAT(json, HasSubstr("\"device_memory\": 50331648"));
  EXPECT_THAT(json, HasSubstr("\"sliced_launches\": 3"));
  EXPECT_THAT(json, HasSubstr("\"read_only\": 1048576"));
}

} // namespace
