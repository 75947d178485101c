//===- Context.h - what the parts of the runtime share ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device, the budgets, the books and the clock: what every part of the
// runtime works with. The lock, which is one of them, protects all of it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_CONTEXT_H
#define DRAGON_RUNTIME_MEMORY_CONTEXT_H

#include "runtime/base/Ledger.h"
#include "runtime/base/Progress.h"
#include "runtime/base/RuntimeLock.h"
#include "runtime/base/Settings.h"
#include "runtime/device/Device.h"
#include "runtime/memory/Budget.h"
#include "runtime/memory/Pins.h"
#include "runtime/oracle/Observer.h"
#include "runtime/share/DeviceShare.h"

#include <cstdint>
#include <memory>

namespace dragon {

struct Context {
  const Settings config;
  const std::unique_ptr<Device> device;
  Budget limits; ///< of the host: HostSlabs::lowerBudget()
  std::unique_ptr<Observer> watcher = nullptr; ///< null: nobody
  Ledger ledger = {};
  Queue copyIn = nullptr;  ///< copies to the device
  Queue copyOut = nullptr; ///< and from it
  uint64_t clock = 1;      ///< see LaunchTime
  uint64_t launches = 0;   ///< how many there were
  Pins pins = {};
  Progress progress = {};
  mutable RuntimeLock lock = {};
  std::unique_ptr<DeviceShare> share =
      nullptr; ///< null: the device is not shared
  std::unique_ptr<DeviceShare> hostShare =
      nullptr; ///< null: host memory is not divided with other programs

  const DeviceCaps &caps() const { return device->caps(); }
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_CONTEXT_H
