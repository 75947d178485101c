//===- RegistryTest.cpp - which device, and devices in front of it --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ForwardingDevice.h"
#include "test/unit/device/CpuKernels.h"

using namespace dragon;

namespace {

TEST(Registry, CpuByName) {
  Settings settings = smallSettings();
  settings.backend = "cpu";
  std::string notes;
  auto device = createDevice(settings, notes);
  ASSERT_TRUE(device.ok());
  EXPECT_STREQ((*device)->caps().name, "cpu");
  EXPECT_EQ(notes, "");
}

TEST(Registry, UnknownNameListsTheBackEnds) {
  Settings settings = smallSettings();
  settings.backend = "tpu";
  std::string notes;
  Status status = createDevice(settings, notes).takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_SETTING);
  EXPECT_EQ(status.message(),
            "DRAGON_BACKEND=tpu: this build has the back ends vmm, managed, "
            "dragon, cpu");
}

TEST(Decorators, CountingDeviceCountsByKind) {
  CountingDevice device(makeCpu(smallSettings()));
  Physical a = *device.create(Place::Device, 2 * MiB);
  Physical b = *device.create(Place::Host, 2 * MiB);
  EXPECT_TRUE(device.destroy(a).ok());
  EXPECT_TRUE(device.destroy(b).ok());
  // What is refused by the checks never reaches a back end.
  EXPECT_FALSE(device.create(Place::None, 2 * MiB).ok());
  EXPECT_EQ(device.calls(DeviceCall::Create), 2u);
  EXPECT_EQ(device.calls(DeviceCall::Destroy), 2u);
  EXPECT_EQ(device.calls(DeviceCall::Map), 0u);
  EXPECT_EQ(device.calls(), 4u);
}

TEST(Decorators, FaultyDeviceFailsTheNthCall) {
  FaultyDevice device(makeCpu(smallSettings()), 0);
  // The same run until it passes: each call fails once.
  auto run = [&]() -> Status {
    DRAGON_ASSIGN(uintptr_t va, device.reserve(2 * MiB));
    auto chunk = device.create(Place::Device, 2 * MiB);
    Status status = chunk.takeStatus();
    if (status.ok()) {
      status = device.map(va, *chunk);
      if (status.ok())
        device.inner().unmap(va, *chunk).ignore();
      device.inner().destroy(*chunk).ignore();
    }
    device.inner().release(va, 2 * MiB).ignore();
    return status;
  };
  std::vector<std::string> messages;
  for (uint64_t n = 1;; ++n) {
    device.failAt(n);
    Status status = run();
    EXPECT_EQ(status.ok(), !device.hasFailed());
    if (status.ok())
      break;
    messages.push_back(status.message());
  }
  EXPECT_EQ(messages,
            (std::vector<std::string>{"injected failure of call 1 (reserve)",
                                      "injected failure of call 2 (create)",
                                      "injected failure of call 3 (map)"}));
}

TEST(Decorators, MaskedDeviceRefusesByCapability) {
  MaskedDevice::Without without;
  without.hostMapped = true;
  MaskedDevice device(makeCpu(smallSettings()), without);
  uintptr_t va = *device.reserve(2 * MiB);
  Physical host = *device.create(Place::Host, 2 * MiB);
  Status status = device.map(va, host);
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_EQ(status.message(),
            "map: device 'cpu' cannot map host memory for kernels");
}

} // namespace
