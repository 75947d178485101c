//===- DeviceRegistry.cpp - which device this process runs on -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Back ends in the order in which they are tried. A new one is one line here.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Settings.h"
#include "runtime/device/Device.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/dragon/DragonDevice.h"
#include "runtime/device/managed/ManagedDevice.h"
#include "runtime/device/vmm/VmmDevice.h"

namespace dragon {

namespace {
const DeviceRegistration Registrations[] = {
    {"vmm", true, VmmDevice::create},
    {"managed", false, ManagedDevice::create},
    {"dragon", false, DragonDevice::create},
    {"cpu", true, CpuDevice::create},
};
} // namespace

std::span<const DeviceRegistration> deviceRegistrations() {
  return Registrations;
}

StatusOr<std::unique_ptr<Device>> createDevice(const Settings &settings,
                                               std::string &notes) {
  std::string names;
  for (const DeviceRegistration &registration : Registrations) {
    names += names.empty() ? "" : ", ";
    names += registration.name;
    if (settings.backend.empty() ? !registration.byDefault
                                 : settings.backend != registration.name)
      continue;
    auto device = registration.create(settings);
    if (device.ok())
      return device;
    Status why = device.takeStatus();
    if (!settings.backend.empty())
      return std::move(why).within("back end '{}' (DRAGON_BACKEND)",
                                   registration.name);
    notes += fmt::format("back end '{}' is not available: {}\n",
                         registration.name, why.message());
  }
  if (!settings.backend.empty())
    return Status::error(DRAGON_ERROR_SETTING,
                         "DRAGON_BACKEND={}: this build has the back ends {}",
                         settings.backend, names);
  return Status::error(DRAGON_ERROR_NO_DEVICE, "no back end is available:\n{}",
                       notes);
}

} // namespace dragon
