//===- ManagedHints.cpp - what the driver is told of memory ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/managed/ManagedDevice.h"

#include "runtime/trace/Log.h"

#include <algorithm>

namespace dragon {

namespace {

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

//===----------------------------------------------------------------------===//
// What the driver takes
//===----------------------------------------------------------------------===//

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

} // namespace dragon
