//===- WrappedDevice.cpp - a device in front of the runtime's -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/tools/WrappedDevice.h"

namespace dragon::test {

#define CREATE_DEVICE                                                          \
  "_ZN6dragon12createDeviceERKNS_8SettingsERNSt7__cxx1112basic_stringIcSt11"   \
  "char_traitsIcESaIcEEE"
using MadeDevice = StatusOr<std::unique_ptr<Device>>;
MadeDevice
realCreateDevice(const Settings &settings,
                 std::string &notes) __asm__("__real_" CREATE_DEVICE);
MadeDevice wrappedDevice(const Settings &settings,
                         std::string &notes) __asm__("__wrap_" CREATE_DEVICE);
MadeDevice wrappedDevice(const Settings &settings, std::string &notes) {
  DRAGON_ASSIGN(std::unique_ptr<Device> device,
                realCreateDevice(settings, notes));
  return inFrontOf(std::move(device), settings);
}

} // namespace dragon::test
