//===- ManagedDevice.cpp - a GPU by CUDA managed memory -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/managed/ManagedDevice.h"

#include "runtime/base/Settings.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>

namespace dragon {

namespace {

/// The unit of UVM's state, and of what discard does whole.
constexpr size_t Granularity = size_t(2) << 20;
/// What the driver takes as a range at least; GPUs with larger host pages are
/// those that need no driver to move them.
constexpr uintptr_t PageBytes = 4096;

CUmemLocation locationOf(Place place, CUdevice device) {
  CUmemLocation location{};
  location.type = place == Place::Device ? CU_MEM_LOCATION_TYPE_DEVICE
                                         : CU_MEM_LOCATION_TYPE_HOST;
  location.id = place == Place::Device ? device : 0;
  return location;
}

/// What the batch calls refuse: the legacy default stream.
bool isLegacy(Queue queue) {
  return !queue || queue == static_cast<Queue>(CU_STREAM_LEGACY);
}

/// The pages that lie in a range from end to end.
std::vector<AddressRange> wholePages(std::span<const AddressRange> ranges) {
  std::vector<AddressRange> result;
  for (const AddressRange &range : ranges) {
    const uintptr_t begin = (range.begin + PageBytes - 1) & ~(PageBytes - 1);
    const uintptr_t end = range.end & ~(PageBytes - 1);
    if (begin < end)
      result.push_back({begin, end});
  }
  return result;
}

} // namespace

ManagedDevice::ManagedDevice(const CudaDriver &cuda, const CudaContext &context)
    : CudaDevice(cuda, context), Pool(cuda, context.device) {}

ManagedDevice::~ManagedDevice() {
  CudaContextScope scope(Cuda, Context);
  for (const auto &[begin, range] : Reserved)
    Cuda.MemFree(range.allocation);
  Pool.close();
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
  Pool.openForCopies(Granularity);
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

ManagedDevice::Hints ManagedDevice::findHints() {
  auto lacks = [this](const char *what) {
    giveUp(Takes, Status::error(DRAGON_ERROR_UNSUPPORTED, "{}", what));
  };
  if (!Cuda.MemPrefetchAsync && !Cuda.MemPrefetchToDevice) {
    lacks("the driver has no cuMemPrefetchAsync");
    return Hints::None;
  }
  Takes = Hints::Prefetch;
  if (!Cuda.MemPrefetchBatchAsync || !Cuda.MemDiscardBatchAsync ||
      !Cuda.MemDiscardAndPrefetchBatchAsync) {
    lacks("discard needs a driver for CUDA 13.0 or later (580.65.06)");
    return Takes;
  }
  // The batch calls ask that of every device, used or not.
  int count = 0;
  Cuda.DeviceGetCount(&count);
  for (int device = 0; device < count; ++device) {
    int pages = 0;
    if (Cuda.DeviceGetAttribute(&pages,
                                CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
                                device) != CUDA_SUCCESS ||
        !pages) {
      lacks("a GPU of this machine does not page on faults, which discard asks "
            "of all of them; hide it by CUDA_VISIBLE_DEVICES");
      return Takes;
    }
  }
  Takes = Hints::Discards;
  if (Status status = tryDiscard(); !status.ok())
    giveUp(Hints::Batches, status);
  return Takes;
}

/// With an older kernel module the calls are there and fail.
Status ManagedDevice::tryDiscard() {
  CUdeviceptr scratch = 0;
  DRAGON_TRY(Cuda.check(
      Cuda.MemAllocManaged(&scratch, Granularity, CU_MEM_ATTACH_GLOBAL),
      "cuMemAllocManaged"));
  const AddressRange range{scratch, scratch + Granularity};
  Status status = send(Batch::Discard, {&range, 1}, Place::Device, Moves);
  if (status.ok())
    status = send(Batch::DiscardAndPrefetch, {&range, 1}, Place::Device, Moves);
  if (status.ok())
    status = Cuda.check(Cuda.StreamSynchronize(Moves), "cuStreamSynchronize");
  Cuda.MemFree(scratch);
  return status;
}

void ManagedDevice::giveUp(Hints to, const Status &why) {
  Takes = std::min(Takes, to);
  if (ToldWhy) {
    log(LogLevel::Info, "managed memory without discard: {}", why.message());
    return;
  }
  ToldWhy = true;
  notice("managed memory without discard, so that the driver may move what "
         "nobody needs: {} (DRAGON_QUIET=1 hides this)",
         why.message());
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
    const uintptr_t begin =
        (allocation + Granularity - 1) / Granularity * Granularity;
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
    return Pool.create(place, bytes);
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
  return Pool.destroy(physical);
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
// What the driver is told
//===----------------------------------------------------------------------===//

Status ManagedDevice::send(Batch batch, std::span<const AddressRange> ranges,
                           Place place, CUstream stream) {
  std::vector<CUdeviceptr> begins;
  std::vector<size_t> sizes;
  for (const AddressRange &range : ranges) {
    begins.push_back(range.begin);
    sizes.push_back(range.end - range.begin);
  }
  CUmemLocation location = locationOf(place, Ordinal);
  size_t first = 0;
  switch (batch) {
  case Batch::Discard:
    return Cuda.check(Cuda.MemDiscardBatchAsync(begins.data(), sizes.data(),
                                                begins.size(), 0, stream),
                      "cuMemDiscardBatchAsync");
  case Batch::Prefetch:
    if (Takes < Hints::Batches)
      return sendEach(ranges, place, stream);
    return Cuda.check(Cuda.MemPrefetchBatchAsync(begins.data(), sizes.data(),
                                                 begins.size(), &location,
                                                 &first, 1, 0, stream),
                      "cuMemPrefetchBatchAsync");
  case Batch::DiscardAndPrefetch:
    return Cuda.check(Cuda.MemDiscardAndPrefetchBatchAsync(
                          begins.data(), sizes.data(), begins.size(), &location,
                          &first, 1, 0, stream),
                      "cuMemDiscardAndPrefetchBatchAsync");
  }
  return {};
}

Status ManagedDevice::sendEach(std::span<const AddressRange> ranges,
                               Place place, CUstream stream) {
  if (Takes == Hints::None)
    return {};
  for (const AddressRange &range : ranges) {
    const size_t bytes = range.end - range.begin;
    CUresult result;
    if (Cuda.MemPrefetchAsync)
      result = Cuda.MemPrefetchAsync(range.begin, bytes,
                                     locationOf(place, Ordinal), 0, stream);
    else
      result = Cuda.MemPrefetchToDevice(
          range.begin, bytes, place == Place::Device ? Ordinal : CU_DEVICE_CPU,
          stream);
    DRAGON_TRY(Cuda.check(result, "cuMemPrefetchAsync"));
  }
  return {};
}

Status ManagedDevice::flush() {
  if (Pending.empty())
    return {};
  // Ranges end where another allocation begins.
  auto apart = [this](uintptr_t at) { return Reserved.count(at) != 0; };
  const std::vector<AddressRange> dead = Pending.ranges(false, apart);
  const std::vector<AddressRange> wanted = Pending.ranges(true, apart);
  Pending.clear();
  if (!dead.empty() && Takes == Hints::Discards)
    if (Status status = send(Batch::Discard, dead, Place::Device, Moves);
        !status.ok())
      giveUp(Hints::Batches, status);
  if (!wanted.empty() && Takes == Hints::Discards)
    if (Status status =
            send(Batch::DiscardAndPrefetch, wanted, Place::Device, Moves);
        !status.ok())
      giveUp(Hints::Batches, status);
  if (!wanted.empty() && Takes < Hints::Discards)
    if (Status status = send(Batch::Prefetch, wanted, Place::Device, Moves);
        !status.ok())
      giveUp(Hints::None, status);
  ++Told;
  return Cuda.check(Cuda.EventRecord(Moved, Moves), "cuEventRecord");
}

Status ManagedDevice::beforeWork(Queue queue) {
  CudaContextScope scope(Cuda, Context);
  std::lock_guard<std::mutex> guard(Lock);
  DRAGON_TRY(flush());
  if (Told == 0)
    return {};
  uint64_t &waits = Waits[queue];
  if (waits == Told)
    return {};
  waits = Told;
  return Cuda.check(Cuda.StreamWaitEvent(streamOf(queue), Moved, 0),
                    "cuStreamWaitEvent");
}

Status ManagedDevice::completeMapsImpl() {
  CudaContextScope scope(Cuda, Context);
  {
    std::lock_guard<std::mutex> guard(Lock);
    DRAGON_TRY(flush());
  }
  return Cuda.check(Cuda.StreamSynchronize(Moves), "cuStreamSynchronize");
}

Status ManagedDevice::destroyQueueImpl(Queue queue) {
  {
    std::lock_guard<std::mutex> guard(Lock);
    Waits.erase(queue);
  }
  return CudaDevice::destroyQueueImpl(queue);
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
// Hints
//===----------------------------------------------------------------------===//

template <typename Send>
Status ManagedDevice::inOrder(Queue queue, Send sendIn) {
  if (!isLegacy(queue))
    return sendIn(streamOf(queue));
  DRAGON_TRY(
      Cuda.check(Cuda.EventRecord(Order, streamOf(queue)), "cuEventRecord"));
  DRAGON_TRY(
      Cuda.check(Cuda.StreamWaitEvent(Moves, Order, 0), "cuStreamWaitEvent"));
  DRAGON_TRY(sendIn(Moves));
  DRAGON_TRY(Cuda.check(Cuda.EventRecord(Order, Moves), "cuEventRecord"));
  return Cuda.check(Cuda.StreamWaitEvent(streamOf(queue), Order, 0),
                    "cuStreamWaitEvent");
}

Status ManagedDevice::discardImpl(std::span<const AddressRange> ranges,
                                  Queue queue) {
  const std::vector<AddressRange> pages = wholePages(ranges);
  CudaContextScope scope(Cuda, Context);
  std::lock_guard<std::mutex> guard(Lock);
  for (const AddressRange &range : ranges)
    if (!isReserved(range.begin, range.end))
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "discard: [{:#x}, {:#x}) is not reserved",
                           range.begin, range.end);
  if (pages.empty() || Takes < Hints::Discards)
    return {};
  Status status = inOrder(queue, [&](CUstream stream) {
    return send(Batch::Discard, pages, Place::Device, stream);
  });
  if (!status.ok())
    giveUp(Hints::Batches, status);
  return {};
}

Status ManagedDevice::prefetchImpl(std::span<const AddressRange> ranges,
                                   Place place, bool dead, Queue queue) {
  CudaContextScope scope(Cuda, Context);
  std::lock_guard<std::mutex> guard(Lock);
  for (const AddressRange &range : ranges)
    if (!isReserved(range.begin, range.end))
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "prefetch: [{:#x}, {:#x}) is not reserved",
                           range.begin, range.end);
  if (dead && Takes == Hints::Discards &&
      std::ranges::equal(wholePages(ranges), ranges)) {
    Status status = inOrder(queue, [&](CUstream stream) {
      return send(Batch::DiscardAndPrefetch, ranges, place, stream);
    });
    if (status.ok())
      return {};
    giveUp(Hints::Batches, status);
  }
  if (Takes == Hints::None)
    return {};
  Status status = inOrder(queue, [&](CUstream stream) {
    return send(Batch::Prefetch, ranges, place, stream);
  });
  if (!status.ok())
    giveUp(Hints::None, status);
  return {};
}

Status ManagedDevice::adviseImpl(const AddressRange &range, Advice advice) {
  struct Known {
    CUmem_advise advice;
    Place place;
  };
  const Known known = [advice]() -> Known {
    switch (advice) {
    case Advice::ReadMostly:
      return {CU_MEM_ADVISE_SET_READ_MOSTLY, Place::Device};
    case Advice::NotReadMostly:
      return {CU_MEM_ADVISE_UNSET_READ_MOSTLY, Place::Device};
    case Advice::PreferDevice:
      return {CU_MEM_ADVISE_SET_PREFERRED_LOCATION, Place::Device};
    case Advice::PreferHost:
      return {CU_MEM_ADVISE_SET_PREFERRED_LOCATION, Place::Host};
    case Advice::PreferNone:
      return {CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, Place::Device};
    case Advice::AccessedByDevice:
      return {CU_MEM_ADVISE_SET_ACCESSED_BY, Place::Device};
    case Advice::NotAccessedByDevice:
      return {CU_MEM_ADVISE_UNSET_ACCESSED_BY, Place::Device};
    case Advice::AccessedByHost:
      return {CU_MEM_ADVISE_SET_ACCESSED_BY, Place::Host};
    case Advice::NotAccessedByHost:
      return {CU_MEM_ADVISE_UNSET_ACCESSED_BY, Place::Host};
    }
    return {CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, Place::Device};
  }();
  CudaContextScope scope(Cuda, Context);
  std::lock_guard<std::mutex> guard(Lock);
  if (!isReserved(range.begin, range.end))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "advise: [{:#x}, {:#x}) is not reserved", range.begin,
                         range.end);
  const size_t bytes = range.end - range.begin;
  CUresult result = CUDA_SUCCESS;
  if (Cuda.MemAdvise)
    result = Cuda.MemAdvise(range.begin, bytes, known.advice,
                            locationOf(known.place, Ordinal));
  else if (Cuda.MemAdviseDevice)
    result = Cuda.MemAdviseDevice(range.begin, bytes, known.advice,
                                  known.place == Place::Device ? Ordinal
                                                               : CU_DEVICE_CPU);
  return Cuda.check(result, "cuMemAdvise");
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
