//===- ReachableTest.cpp - calls that may reach what pointers lead to -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library call without a summary may reach all that the pointers in its
// buffers lead to. These buffers stay in device memory. To find them, the
// pointers are read, which takes a wait for the device; while a stream is
// captured there must be none.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/core/RuntimeFixture.h"

#include <cstring>

using namespace dragon;
using namespace dragon::test;

namespace {

class ReachableTest : public RuntimeFixture {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.deviceMemory = 16 * MiB;
    auto cpu = makeDevice();
    ASSERT_TRUE(cpu);
    auto counting = std::make_unique<CountingDevice>(std::move(cpu));
    Counts = counting.get();
    start(std::move(counting));
    Target = allocate(MiB);
    Pointers = allocate(MiB);
    std::vector<int32_t> words(MiB / 4, 0);
    std::memcpy(words.data(), &Target, sizeof Target);
    ASSERT_OK(upload(Pointers, words));
    ASSERT_OK(upload(Target, numbers(MiB / 4, 5)));
  }
  uint64_t waits() const {
    return Counts->calls(DeviceCall::Synchronize) +
           Counts->calls(DeviceCall::SynchronizeAll) +
           Counts->calls(DeviceCall::Copy);
  }
  CountingDevice *Counts = nullptr;
  uintptr_t Target = 0, Pointers = 0;
};

TEST_F(ReachableTest, PointersAreReadToFindWhatMustStay) {
  const uint64_t before = waits();
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  EXPECT_GT(waits(), before);
}

TEST_F(ReachableTest, NothingIsReadWhereAllStays) {
  ASSERT_OK(runtime->libraries().keepAllResident());
  const uint64_t before = waits();
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  EXPECT_EQ(waits(), before);
}

TEST_F(ReachableTest, ABufferThatCameLaterIsLookedAtAgain) {
  ASSERT_OK(runtime->libraries().keepAllResident());
  ASSERT_TRUE(allocate(4 * MiB));
  const uint64_t before = waits();
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  EXPECT_GT(waits(), before);
}

} // namespace
