//===- DragonDevice.cpp - managed memory over files, by the driver --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/dragon/DragonDevice.h"

#include "runtime/base/Settings.h"

#include <algorithm>

namespace dragon {

namespace {
/// From this size on managed memory has a range of its own.
constexpr size_t OwnRange = size_t(2) << 20;
} // namespace

StatusOr<std::unique_ptr<Device>>
DragonDevice::create(const Settings &settings) {
  DRAGON_ASSIGN(const CudaDriver *cuda, CudaDriver::load());
  return createOn(*cuda, SystemCalls::real(), settings);
}

StatusOr<std::unique_ptr<Device>>
DragonDevice::createOn(const CudaDriver &cuda, SystemCalls &calls,
                       const Settings &settings) {
  DRAGON_ASSIGN(CudaContext context, CudaContext::retain(cuda));
  std::unique_ptr<DragonDevice> device(new DragonDevice(cuda, context, calls));
  DRAGON_TRY(device->open("dragon", settings));
  device->Caps.mapsFiles = true;
  DRAGON_TRY(device->findDriver(settings));
  return StatusOr<std::unique_ptr<Device>>(std::move(device));
}

/// The driver is asked about memory that is there for this alone.
Status DragonDevice::findDriver(const Settings &settings) {
  CudaContextScope scope(Cuda, Context);
  CUdeviceptr scratch = 0;
  DRAGON_TRY(
      Cuda.check(Cuda.MemAllocManaged(&scratch, OwnRange, CU_MEM_ATTACH_GLOBAL),
                 "cuMemAllocManaged"));
  Status status = Driver.open({scratch, scratch + OwnRange}, settings);
  Status freed = Cuda.check(Cuda.MemFree(scratch), "cuMemFree");
  return status.ok() ? std::move(freed) : std::move(status);
}

std::vector<AddressRange>
DragonDevice::withoutFiles(std::span<const AddressRange> ranges) {
  std::lock_guard<std::mutex> guard(FilesLock);
  std::vector<AddressRange> result;
  for (const AddressRange &range : ranges) {
    auto next = Files.lower_bound(range.end);
    if (next == Files.begin() || std::prev(next)->second <= range.begin)
      result.push_back(range);
  }
  return result;
}

Status DragonDevice::releaseImpl(uintptr_t base, size_t bytes) {
  {
    std::lock_guard<std::mutex> guard(FilesLock);
    Files.erase(base);
  }
  return ManagedDevice::releaseImpl(base, bytes);
}

Status DragonDevice::mapFileImpl(const DriverFile &file) {
  DRAGON_ASSIGN(const uintptr_t end, endOfAllocation(file.base));
  if (file.bytes > end - file.base)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "mapFile: {} bytes at {:#x} are beyond what is "
                         "reserved",
                         file.bytes, file.base);
  DRAGON_TRY(Driver.map(file));
  std::lock_guard<std::mutex> guard(FilesLock);
  Files[file.base] = end;
  return {};
}

Status DragonDevice::remapFileImpl(uintptr_t base, unsigned flags) {
  {
    std::lock_guard<std::mutex> guard(FilesLock);
    if (!Files.count(base))
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "remapFile: there is no file at {:#x}", base);
  }
  return Driver.remap(base, flags);
}

Status DragonDevice::discardImpl(std::span<const AddressRange> ranges,
                                 Queue queue) {
  const std::vector<AddressRange> rest = withoutFiles(ranges);
  return rest.empty() ? Status() : ManagedDevice::discardImpl(rest, queue);
}

Status DragonDevice::prefetchImpl(std::span<const AddressRange> ranges,
                                  Place place, bool dead, Queue queue) {
  const std::vector<AddressRange> rest = withoutFiles(ranges);
  return rest.empty() ? Status()
                      : ManagedDevice::prefetchImpl(rest, place, dead, queue);
}

Status DragonDevice::adviseImpl(const AddressRange &range, Advice advice) {
  return withoutFiles({&range, 1}).empty()
             ? Status()
             : ManagedDevice::adviseImpl(range, advice);
}

} // namespace dragon
