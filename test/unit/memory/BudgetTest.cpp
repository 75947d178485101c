//===- BudgetTest.cpp - how much memory there is to use -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Budget.h"
#include "runtime/base/Settings.h"
#include "test/unit/support/base/Expect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dragon;
using testing::HasSubstr;

namespace {

using test::MiB;
constexpr uint64_t GiB = 1 << 30;

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

TEST(BudgetTest, WhatDataMayChooseFromHasSmallerChunks) {
  for (auto [device, chunk] :
       {std::pair(8 * GiB, 12 * MiB), {GiB, 12 * MiB}, {256 * MiB, 4 * MiB}}) {
    Settings settings;
    settings.deviceMemory = device;
    auto budget = chooseBudget(settings, caps(100 * GiB), 100 * GiB);
    ASSERT_TRUE(budget.ok());
    EXPECT_EQ(budget->byDataChunkBytes, chunk);
    // But not than somebody has asked for.
    settings.chunkBytes = 32 * MiB;
    budget = chooseBudget(settings, caps(100 * GiB), 100 * GiB);
    ASSERT_TRUE(budget.ok());
    EXPECT_EQ(budget->byDataChunkBytes, 32 * MiB);
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

TEST(BudgetTest, HostMemoryThatIsDividedIsWhatTheProgramMayHave) {
  Settings settings;
  EXPECT_EQ(
      chooseBudget(settings, caps(GiB), 16 * GiB, GiB, 3 * GiB)->hostBytes,
      3 * GiB);
  settings.hostMemory = 2 * GiB;
  EXPECT_EQ(
      chooseBudget(settings, caps(GiB), 16 * GiB, GiB, 3 * GiB)->hostBytes,
      2 * GiB);
  DeviceShare::Terms device;
  device.weight = 3;
  device.turn = std::chrono::seconds(1);
  settings.shareHostMemory = 8 * GiB;
  const DeviceShare::Terms host = hostShareTerms(settings, device, 16 * GiB);
  EXPECT_EQ(host.weight, 3u);
  EXPECT_EQ(host.most, 2 * GiB);
  EXPECT_EQ(host.total, 8 * GiB);
  EXPECT_EQ(host.reserve, 2 * GiB);
  EXPECT_EQ(host.turn.count(), 0);
  // All processes of a machine, or of a control group, have one name for it.
  EXPECT_TRUE(isHostMemory({hostMemoryName(), 0, 0, {}}));
  EXPECT_FALSE(isHostMemory({"hostess", 0, 0, {}}));
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

} // namespace
