//===- WrappedDevice.h - a device in front of the runtime's -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime asks for its device in one place. In libraries of tests that have
// it linked once more, the linker (--wrap) brings that question to
// WrappedDevice.cpp, which asks the library for a device in front.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_TOOLS_WRAPPEDDEVICE_H
#define DRAGON_TEST_TOOLS_WRAPPEDDEVICE_H

#include "runtime/base/Settings.h"
#include "runtime/device/Device.h"

#include <memory>

namespace dragon::test {

/// The library's own.
std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> device,
                                  const Settings &settings);

} // namespace dragon::test

#endif // DRAGON_TEST_TOOLS_WRAPPEDDEVICE_H
