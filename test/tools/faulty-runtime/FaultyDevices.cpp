//===- FaultyDevices.cpp - devices and files that fail --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime asks for its device (WrappedDevice.h) and for its way to files in
// one place each; the linker (--wrap) brings both here, and what it gets has a
// decorator in front.
//
//===----------------------------------------------------------------------===//

#include "FaultPoints.h"

#include "test/tools/WrappedDevice.h"

#include "runtime/device/ForwardingDevice.h"
#include "runtime/tier/FileTier.h"
#include "runtime/tier/Transfer.h"

#include <cerrno>

namespace dragon::test {

namespace {

class PlannedDevice final : public ForwardingDevice {
public:
  using ForwardingDevice::ForwardingDevice;

private:
  Status before(DeviceCall call) override {
    if (!fails("device", nameOf(call)))
      return {};
    return Status::error(DRAGON_ERROR_DEVICE, "injected failure ({})",
                         nameOf(call));
  }
};

/// Behind which the driver gives memory away.
class ScarceDevice final : public ForwardingDevice {
public:
  using ForwardingDevice::ForwardingDevice;

private:
  Status before(DeviceCall) override { return {}; }
  StatusOr<Physical> createImpl(Place place, size_t bytes) override {
    if (place == Place::Device ? fails("taken", "create on the device")
                               : fails("pinned", "create on the host"))
      return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                           "injected: no memory is left");
    return inner().create(place, bytes);
  }
};

struct PlannedIo final : IoFaults {
  long filter(const TransferPart &segment, long result) override {
    return fails("io", segment.write ? "write" : "read") ? -EIO : result;
  }
};

} // namespace

std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> device,
                                  const Settings &) {
  return std::make_unique<PlannedDevice>(
      std::make_unique<ScarceDevice>(std::move(device)));
}

using MadeTier = StatusOr<std::unique_ptr<FileTier>>;
MadeTier faultyTier(const Settings &settings, Ledger &ledger) __asm__(
    "__wrap__ZN6dragon8FileTier6createERKNS_8SettingsERNS_6LedgerE");
MadeTier faultyTier(const Settings &settings, Ledger &ledger) {
  static auto *io = new PlannedIo; // rings use it until the end
  return createFileTier(settings, ledger, io);
}

} // namespace dragon::test
