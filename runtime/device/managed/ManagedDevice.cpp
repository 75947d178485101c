//===- ManagedDevice.cpp - a GPU by CUDA managed memory -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/managed/ManagedDevice.h"

#include "runtime/base/Rounding.h"
#include "runtime/base/Settings.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>

namespace dragon {

ManagedDevice::ManagedDevice(const CudaDriver &cuda, const CudaContext &context)
    : CudaDevice(cuda, context), Memory(cuda, context.device) {}

ManagedDevice::~ManagedDevice() {
  CudaContextScope scope(Cuda, Context);
  for (const auto &[begin, range] : Reserved)
    Cuda.MemFree(range.allocation);
  for (CUevent event : {Moved, Order})
    if (event)
      Cuda.EventDestroy(event);
  if (Moves)
    Cuda.StreamDestroy(Moves);
}

StatusOr<std::unique_ptr<Device>>
ManagedDevice::create(const Settings &settings) {
  DRAGON_ASSIGN(const CudaDriver *cuda, CudaDriver::load());
  return createOn(*cuda, settings);
}

StatusOr<std::unique_ptr<Device>>
ManagedDevice::createOn(const CudaDriver &cuda, const Settings &settings) {
  DRAGON_ASSIGN(CudaContext context, CudaContext::retain(cuda));
  std::unique_ptr<ManagedDevice> device(new ManagedDevice(cuda, context));
  DRAGON_TRY(device->open("managed", settings));
  return StatusOr<std::unique_ptr<Device>>(std::move(device));
}

Status ManagedDevice::open(const char *name, const Settings &settings) {
  if (!attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY))
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "the GPU has no managed memory");
  if (!attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS))
    return Status::error(
        DRAGON_ERROR_UNSUPPORTED,
        "the GPU or its driver does not page managed memory on faults "
        "(concurrentManagedAccess is 0): nothing could be prefetched or "
        "discarded");
  DRAGON_TRY(describe(name, Granularity, /*hostMapped=*/false));
  Caps.migrates = true;
  Limit = settings.managedMemory.value_or(
      settings.managedOversubscribe ? UINT64_MAX : Caps.freeMemory);
  Oversubscribes = settings.managedOversubscribe;
  Memory.openForCopies(Granularity);
  CudaContextScope scope(Cuda, Context);
  DRAGON_TRY(Cuda.check(
      Cuda.StreamCreateWithPriority(&Moves, CU_STREAM_NON_BLOCKING, 0),
      "cuStreamCreateWithPriority"));
  for (CUevent *event : {&Moved, &Order})
    DRAGON_TRY(Cuda.check(Cuda.EventCreate(event, CU_EVENT_DISABLE_TIMING),
                          "cuEventCreate"));
  ToldWhy = settings.quiet;
  Takes = findHints();
  return {};
}

//===----------------------------------------------------------------------===//
// Addresses and physical memory
//===----------------------------------------------------------------------===//

Status ManagedDevice::checkRoom(size_t bytes) {
  const char *cure = Oversubscribes ? "raise DRAGON_MANAGED_MEMORY"
                                    : "free some, or set "
                                      "DRAGON_MANAGED_OVERSUBSCRIBE=1 and let "
                                      "the driver move what does not fit, at "
                                      "the risk of a hang of the GPU";
  if (bytes > Limit || ReservedBytes > Limit - bytes)
    return Status::error(
        DRAGON_ERROR_OUT_OF_MEMORY,
        "managed memory: {} more than the {} that there are already; at most "
        "{}; {}",
        formatBytes(bytes), formatBytes(ReservedBytes), formatBytes(Limit),
        cure);
  if (Oversubscribes)
    return {};
  // Others may have taken some since.
  size_t free = 0, total = 0;
  DRAGON_TRY(Cuda.check(Cuda.MemGetInfo(&free, &total), "cuMemGetInfo"));
  if (bytes > free)
    return Status::error(
        DRAGON_ERROR_OUT_OF_MEMORY,
        "managed memory: {} more than the {} that there are already; the card "
        "has {} free; {}",
        formatBytes(bytes), formatBytes(ReservedBytes), formatBytes(free),
        cure);
  return {};
}

StatusOr<uintptr_t> ManagedDevice::reserveImpl(size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  std::lock_guard<std::mutex> guard(Lock);
  // What is lost to alignment is lost only where the driver does not align.
  for (size_t room : {bytes, bytes + Granularity}) {
    if (Status status = checkRoom(room); !status.ok()) {
      log(LogLevel::Info, "{}", status.message());
      return status;
    }
    CUdeviceptr allocation = 0;
    DRAGON_TRY_IN(Cuda.check(Cuda.MemAllocManaged(&allocation, room,
                                                  CU_MEM_ATTACH_GLOBAL),
                             "cuMemAllocManaged"),
                  "reserving {} bytes of managed memory", room);
    const uintptr_t begin = roundUp<uintptr_t>(allocation, Granularity);
    if (begin + bytes > allocation + room) {
      Cuda.MemFree(allocation);
      continue;
    }
    Reserved[begin] = {allocation, begin + bytes, room};
    ReservedBytes += room;
    log(LogLevel::Info, "{} of managed memory, {} in all", formatBytes(room),
        formatBytes(ReservedBytes));
    return begin;
  }
  return Status::error(DRAGON_ERROR_DEVICE,
                       "the driver aligns managed memory to nothing");
}

StatusOr<uintptr_t> ManagedDevice::endOfAllocation(uintptr_t base) {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Reserved.find(base);
  if (it == Reserved.end())
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "no reserved range begins at {:#x}", base);
  if (it->second.allocation != base)
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "the driver's allocation at {:#x} begins before the "
                         "range at {:#x}",
                         uint64_t(it->second.allocation), base);
  return it->second.end;
}

Status ManagedDevice::releaseImpl(uintptr_t base, size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Reserved.find(base);
  if (it == Reserved.end() || it->second.end != base + bytes)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "release: [{:#x}, +{:#x}) is not a reserved range",
                         base, bytes);
  auto chunk = Mapped.lower_bound(base);
  if (chunk != Mapped.end() && chunk->first < base + bytes)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "release: [{:#x}, +{:#x}) still has a chunk mapped "
                         "at {:#x}",
                         base, bytes, chunk->first);
  Pending.forget({base, base + bytes});
  Cuda.StreamSynchronize(Moves); // hints on it may be under way
  const Range range = it->second;
  Reserved.erase(it);
  ReservedBytes -= range.allocated;
  return Cuda.check(Cuda.MemFree(range.allocation), "cuMemFree")
      .within("releasing [{:#x}, +{:#x})", base, bytes);
}

StatusOr<Physical> ManagedDevice::createImpl(Place place, size_t bytes) {
  if (place != Place::Device) {
    CudaContextScope scope(Cuda, Context);
    return Memory.create(place, bytes);
  }
  std::lock_guard<std::mutex> guard(Lock);
  Physical physical;
  physical.id = NextId++;
  physical.place = place;
  physical.bytes = bytes;
  DeviceChunks[physical.id] = bytes;
  return physical;
}

Status ManagedDevice::destroyImpl(const Physical &physical) {
  {
    std::lock_guard<std::mutex> guard(Lock);
    if (DeviceChunks.erase(physical.id))
      return {};
  }
  CudaContextScope scope(Cuda, Context);
  return Memory.destroy(physical);
}

bool ManagedDevice::isReserved(uintptr_t begin, uintptr_t end) {
  auto it = Reserved.upper_bound(begin);
  return it != Reserved.begin() && end <= std::prev(it)->second.end;
}

Status ManagedDevice::mapImpl(uintptr_t va, const Physical &physical) {
  std::lock_guard<std::mutex> guard(Lock);
  const uintptr_t end = va + physical.bytes;
  auto chunk = DeviceChunks.find(physical.id);
  if (chunk == DeviceChunks.end() || chunk->second != physical.bytes)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "there is no chunk {} of {} bytes", physical.id,
                         physical.bytes);
  auto next = Mapped.lower_bound(end);
  if (!isReserved(va, end) ||
      (next != Mapped.begin() && std::prev(next)->second > va))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "mapping chunk {} at [{:#x}, {:#x}): the addresses "
                         "are not reserved, or taken",
                         physical.id, va, end);
  Mapped[va] = end;
  Pending.map({va, end});
  return {};
}

Status ManagedDevice::unmapImpl(uintptr_t va, const Physical &physical) {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Mapped.find(va);
  if (it == Mapped.end() || it->second != va + physical.bytes)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "unmap: chunk {} is not mapped at {:#x}", physical.id,
                         va);
  Mapped.erase(it);
  Pending.unmap({va, va + physical.bytes});
  return {};
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Status ManagedDevice::copyImpl(void *to, const void *from, size_t bytes,
                               CopyKind, Queue queue) {
  DRAGON_TRY(beforeWork(queue));
  CudaContextScope scope(Cuda, Context);
  return copyPiece(reinterpret_cast<uintptr_t>(to),
                   reinterpret_cast<uintptr_t>(from), bytes, queue);
}

Status ManagedDevice::fillImpl(void *to, uint32_t value, unsigned width,
                               size_t count, Queue queue) {
  DRAGON_TRY(beforeWork(queue));
  CudaContextScope scope(Cuda, Context);
  return fillPiece(reinterpret_cast<uintptr_t>(to), value, width, count * width,
                   queue);
}

//===----------------------------------------------------------------------===//
// Host access
//===----------------------------------------------------------------------===//

// The host's faults are the driver's: it can touch all of it at any time.
Status ManagedDevice::guardHostAccessImpl(uintptr_t, size_t, bool) {
  return {};
}
Status ManagedDevice::setFaultHandlerImpl(FaultHandler, void *) { return {}; }

} // namespace dragon
