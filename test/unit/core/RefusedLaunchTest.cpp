//===- RefusedLaunchTest.cpp - a launch that the device refuses -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/core/RuntimeFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class RefusingDevice final : public ForwardingDevice {
public:
  using ForwardingDevice::ForwardingDevice;
  bool Refuses = false;

private:
  Status before(DeviceCall call) override {
    return Refuses && call == DeviceCall::Launch
               ? Status::error(DRAGON_ERROR_DEVICE, "refused")
               : Status();
  }
};

class RefusedLaunchTest : public RuntimeFixture {};

/// Also what it would have overwritten: it has not run.
TEST_F(RefusedLaunchTest, ItChangesNothing) {
  settings.deviceMemory = 4 * MiB;
  auto cpu = makeDevice();
  ASSERT_TRUE(cpu);
  auto refusing = std::make_unique<RefusingDevice>(std::move(cpu));
  RefusingDevice &device = *refusing;
  start(std::move(refusing));
  const int n = 1 << 20; // two chunks
  const std::vector<int32_t> words = numbers(size_t(n), 3);
  const uintptr_t first = allocate(size_t(n) * 4);
  const uintptr_t second = allocate(size_t(n) * 4);
  ASSERT_OK(upload(first, words));
  ASSERT_OK(kernels.launch(*runtime, "iota", n, second, n, 3)); // evicts it
  device.Refuses = true;
  EXPECT_FALSE(kernels.launch(*runtime, "iota", n, first, n, 5).ok());
  device.Refuses = false;
  ASSERT_OK(kernels.launch(*runtime, "scale", n, first, n, 7));
  std::vector<int32_t> expected = words;
  for (int32_t &word : expected)
    word = scaled(word, 7);
  EXPECT_TRUE(download(first, size_t(n)) == expected);
}

} // namespace
