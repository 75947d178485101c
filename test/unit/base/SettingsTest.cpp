//===- SettingsTest.cpp - settings, sizes, statistics ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Settings.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Stats.h"
#include "test/unit/support/base/Expect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

using namespace dragon;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using test::MiB;
constexpr uint64_t GiB = 1 << 30;

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
  ::setenv("DRAGON_UNPINNED", "off", 1);
  ::setenv("DRAGON_STATS", "-", 1);
  ::setenv("DRAGON_TRACE", "/t", 1);
  ::setenv("DRAGON_LOG", "debug", 1);
  ::setenv("DRAGON_CPU_THREADS", "3", 1);
  ::setenv("DRAGON_CPU_DEVICES", "4", 1);
  ::setenv("DRAGON_PEERS", "1,13", 1);
  ::setenv("DRAGON_PEER_MEMORY", "3G", 1);
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
  EXPECT_EQ(s.unpinned, Unpinned::Off);
  EXPECT_EQ(s.stats, "-");
  EXPECT_EQ(s.trace, "/t");
  EXPECT_EQ(s.log, "debug");
  EXPECT_EQ(s.cpuThreads, 3u);
  EXPECT_EQ(s.cpuDevices, 4u);
  EXPECT_FALSE(s.peers.all);
  EXPECT_THAT(s.peers.numbers, ElementsAre(1u, 13u));
  EXPECT_EQ(s.peerMemory, 3 * GiB);
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
  for (const char *peers : {"all", "1,", ",1", "1 2", "-1"})
    expectError("DRAGON_PEERS", peers, "auto, none, or numbers");
  expectError("DRAGON_CPU_DEVICES", "0", "a number from 1 to 64");
  expectError("DRAGON_BACKEND", "gpu", "vmm, cpu");
  expectError("DRAGON_CHUNK_SIZE", "100K", "multiple of 64K");
  expectError("DRAGON_READAHEAD_TYPE", "ag", "aggressive, normal or disabled");
  expectError("DRAGON_NR_RESERVED_PAGES", "-1", "a number of pages");
  expectError("DRAGON_NR_RESERVED_PAGES", "1G", "a number of pages");
  expectError("DRAGON_ENABLE_LAZY_WRITE", "0", "yes or no");
  expectError("DRAGON_CHUNK_SIZE", "0", "multiple of 64K");
  expectError("DRAGON_DIRECT_IO", "yes", "auto, on or off");
  expectError("DRAGON_WAVEFRONT", "1", "auto, always or off");
  expectError("DRAGON_UNPINNED", "0", "auto, always or off");
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
