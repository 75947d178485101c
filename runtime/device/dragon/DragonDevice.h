//===- DragonDevice.h - managed memory over files, by the driver -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The managed back end on DRAGON's driver (DragonDriver.h), which reads and
// writes files under ranges itself, when pages fault and when they are evicted.
// Such ranges get no hints: a prefetch of pages that never faulted would give
// zeros and not the file's contents, advice on a part of a range would cut the
// file off, and the driver has nothing to discard that a file holds.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_DRAGON_DRAGONDEVICE_H
#define DRAGON_RUNTIME_DEVICE_DRAGON_DRAGONDEVICE_H

#include "runtime/device/dragon/DragonDriver.h"
#include "runtime/device/managed/ManagedDevice.h"

namespace dragon {

class DragonDevice final : public ManagedDevice {
public:
  static StatusOr<std::unique_ptr<Device>> create(const Settings &settings);
  /// On a driver and a system that the caller has; for tests.
  static StatusOr<std::unique_ptr<Device>> createOn(const CudaDriver &cuda,
                                                    SystemCalls &calls,
                                                    const Settings &settings);

private:
  DragonDevice(const CudaDriver &cuda, const CudaContext &context,
               SystemCalls &calls)
      : ManagedDevice(cuda, context), Driver(calls) {}
  Status findDriver(const Settings &settings);
  std::vector<AddressRange> withoutFiles(std::span<const AddressRange> ranges);

  Status releaseImpl(uintptr_t base, size_t bytes) override;
  Status mapFileImpl(const DriverFile &file) override;
  Status remapFileImpl(uintptr_t base, unsigned flags) override;
  Status discardImpl(std::span<const AddressRange> ranges,
                     Queue queue) override;
  Status prefetchImpl(std::span<const AddressRange> ranges, Place place,
                      bool dead, Queue queue) override;
  Status adviseImpl(const AddressRange &range, Advice advice) override;

  DragonDriver Driver;
  std::mutex FilesLock;
  std::map<uintptr_t, uintptr_t> Files; ///< ranges over files, begin -> end
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_DRAGON_DRAGONDEVICE_H
