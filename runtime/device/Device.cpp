//===- Device.cpp - the checks that every back end shares -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The public calls of Device: arguments are checked here, once, so that a back
// end may trust them, and every message names the value that is wrong. Calls
// that move nothing (0 bytes, an empty box) end here.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/Device.h"

#include "runtime/device/Timeline.h"

#include <fmt/format.h>

namespace dragon {

namespace {

// CUDA's code for a launch whose shape no device takes.
constexpr int InvalidConfiguration = 9;

const char *nameOf(Place place) {
  switch (place) {
  case Place::None:
    return "none";
  case Place::Device:
    return "device";
  case Place::Host:
    return "host";
  case Place::Pinned:
    return "pinned";
  }
  return "unknown";
}

Status checkExtent(const char *call, uintptr_t va, size_t bytes,
                   size_t granularity) {
  if (bytes == 0)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "{}: 0 bytes", call);
  if (va % granularity || bytes % granularity)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: [{:#x}, +{:#x}) is not a multiple of the "
                         "granularity {:#x}",
                         call, va, bytes, granularity);
  if (va + bytes < va)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: [{:#x}, +{:#x}) wraps around", call, va, bytes);
  return {};
}

Status checkPhysical(const char *call, const Physical &physical) {
  if (physical.id == 0)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: no physical chunk given (id 0)", call);
  if (physical.place == Place::None)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: chunk {} is in no place", call, physical.id);
  return {};
}

Status checkShape(const LaunchRequest &request) {
  const char *name = request.kernelName ? request.kernelName : "?";
  const uint32_t maxBlock[3] = {1024, 1024, 64};
  const uint32_t maxGrid[3] = {0x7fffffff, 65535, 65535};
  uint64_t threads = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    char letter = "xyz"[axis];
    if (request.block[axis] == 0 || request.block[axis] > maxBlock[axis])
      return Status::native(
          DRAGON_ERROR_INVALID_ARGUMENT, InvalidConfiguration,
          "launch of '{}': block size {} in {} is not in [1, {}]", name,
          request.block[axis], letter, maxBlock[axis]);
    if (request.grid[axis] == 0 || request.grid[axis] > maxGrid[axis])
      return Status::native(
          DRAGON_ERROR_INVALID_ARGUMENT, InvalidConfiguration,
          "launch of '{}': grid size {} in {} is not in [1, {}]", name,
          request.grid[axis], letter, maxGrid[axis]);
    if (request.box.Lo[axis] > request.box.Hi[axis] ||
        request.box.Hi[axis] > request.grid[axis])
      return Status::error(
          DRAGON_ERROR_INVALID_ARGUMENT,
          "launch of '{}': blocks [{}, {}) in {} are not in a grid of {}", name,
          request.box.Lo[axis], request.box.Hi[axis], letter,
          request.grid[axis]);
    threads *= request.block[axis];
  }
  if (threads > 1024)
    return Status::native(DRAGON_ERROR_INVALID_ARGUMENT, InvalidConfiguration,
                          "launch of '{}': {} threads in a block, at most 1024 "
                          "are possible",
                          name, threads);
  return {};
}

Timeline::Lane laneOf(CopyKind kind) {
  switch (kind) {
  case CopyKind::HostToDevice:
    return Timeline::Lane::ToDevice;
  case CopyKind::DeviceToHost:
    return Timeline::Lane::FromDevice;
  case CopyKind::DeviceToDevice:
  case CopyKind::HostToHost:
    break;
  }
  return Timeline::Lane::Within;
}

/// "scale, blocks 0-63 of 256"; of a grid with several dimensions, all of them.
std::string textOf(const LaunchRequest &request) {
  std::string text = request.kernelName ? request.kernelName : "?";
  bool whole = true;
  for (unsigned axis = 0; axis < 3; ++axis)
    whole &= request.box.Hi[axis] - request.box.Lo[axis] == request.grid[axis];
  if (whole)
    return text;
  text += ", blocks";
  for (unsigned axis = 0; axis < 3; ++axis)
    if (axis == 0 || request.grid[axis] > 1)
      text +=
          fmt::format("{} {}-{} of {}", axis ? "," : "", request.box.Lo[axis],
                      request.box.Hi[axis] - 1, request.grid[axis]);
  return text;
}

template <typename Queued, typename Text>
Status watched(Timeline &timeline, Timeline::Lane lane, Queue queue,
               uint64_t bytes, Queued work, Text text) {
  auto watch = timeline.begin(lane, queue, bytes);
  Status status = work();
  if (watch)
    timeline.end(std::move(*watch), lane, queue, bytes, text());
  return status;
}

} // namespace

Device::Device() : Watched(std::make_unique<Timeline>(*this)) {}

Device::~Device() = default;

StatusOr<uintptr_t> Device::reserve(size_t bytes) {
  DRAGON_TRY(checkExtent("reserve", 0, bytes, Caps.granularity));
  return reserveImpl(bytes);
}

Status Device::release(uintptr_t base, size_t bytes) {
  DRAGON_TRY(checkExtent("release", base, bytes, Caps.granularity));
  return releaseImpl(base, bytes);
}

StatusOr<Physical> Device::create(Place place, size_t bytes) {
  if (place == Place::None)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "create: no memory in place '{}'", nameOf(place));
  DRAGON_TRY(checkExtent("create", 0, bytes, Caps.granularity));
  return createImpl(place, bytes);
}

Status Device::destroy(const Physical &physical) {
  DRAGON_TRY(checkPhysical("destroy", physical));
  return destroyImpl(physical);
}

Status Device::map(uintptr_t va, const Physical &physical) {
  DRAGON_TRY(checkPhysical("map", physical));
  DRAGON_TRY(checkExtent("map", va, physical.bytes, Caps.granularity));
  if (physical.place == Place::Pinned)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: chunk {} is pinned memory, for copies only",
                         physical.id);
  if (physical.place == Place::Host && !Caps.hostMapped)
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "map: device '{}' cannot map host memory for kernels",
                         Caps.name);
  return mapImpl(va, physical);
}

Status Device::unmap(uintptr_t va, const Physical &physical) {
  DRAGON_TRY(checkPhysical("unmap", physical));
  DRAGON_TRY(checkExtent("unmap", va, physical.bytes, Caps.granularity));
  return unmapImpl(va, physical);
}

StatusOr<Queue> Device::createQueue(unsigned flags, int priority) {
  return createQueueImpl(flags, priority);
}

Status Device::destroyQueue(Queue queue) {
  if (!queue)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "destroyQueue: the default queue cannot be destroyed");
  return destroyQueueImpl(queue);
}

Status Device::synchronize(Queue queue) { return synchronizeImpl(queue); }

StatusOr<bool> Device::query(Queue queue) { return queryImpl(queue); }

Status Device::synchronizeAll() { return synchronizeAllImpl(); }

namespace {
Status checkEvent(const char *call, Event event) {
  if (!event)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "{}: null event", call);
  return {};
}
} // namespace

StatusOr<Event> Device::createEvent(bool timing) {
  return createEventImpl(timing);
}

Status Device::destroyEvent(Event event) {
  DRAGON_TRY(checkEvent("destroyEvent", event));
  return destroyEventImpl(event);
}

Status Device::record(Event event, Queue queue) {
  DRAGON_TRY(checkEvent("record", event));
  return recordImpl(event, queue);
}

Status Device::wait(Queue queue, Event event) {
  DRAGON_TRY(checkEvent("wait", event));
  return waitImpl(queue, event);
}

StatusOr<bool> Device::queryEvent(Event event) {
  DRAGON_TRY(checkEvent("queryEvent", event));
  return queryEventImpl(event);
}

Status Device::synchronizeEvent(Event event) {
  DRAGON_TRY(checkEvent("synchronizeEvent", event));
  return synchronizeEventImpl(event);
}

StatusOr<float> Device::elapsedMilliseconds(Event start, Event end) {
  DRAGON_TRY(checkEvent("elapsedMilliseconds", start));
  DRAGON_TRY(checkEvent("elapsedMilliseconds", end));
  return elapsedMillisecondsImpl(start, end);
}

Status Device::copy(void *to, const void *from, size_t bytes, CopyKind kind,
                    Queue queue) {
  if (bytes == 0)
    return {};
  if (!to || !from)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "copy of {} bytes: null {}", bytes,
                         to ? "source" : "destination");
  uintptr_t toBegin = reinterpret_cast<uintptr_t>(to);
  uintptr_t fromBegin = reinterpret_cast<uintptr_t>(from);
  if (toBegin + bytes < toBegin || fromBegin + bytes < fromBegin)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "copy of {} bytes from {:#x} to {:#x} wraps around",
                         bytes, fromBegin, toBegin);
  return watched(
      *Watched, laneOf(kind), queue, bytes,
      [&] { return copyImpl(to, from, bytes, kind, queue); },
      [] { return std::string(); });
}

Status Device::fill(void *to, uint32_t value, unsigned width, size_t count,
                    Queue queue) {
  if (width != 1 && width != 2 && width != 4)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "fill: an element of {} bytes (1, 2 and 4 are "
                         "possible)",
                         width);
  if (count == 0)
    return {};
  uintptr_t begin = reinterpret_cast<uintptr_t>(to);
  if (!to || begin % width)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "fill: address {:#x} is {}", begin,
                         to ? "not aligned to the element" : "null");
  if (count > (UINTPTR_MAX - begin) / width)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "fill: {} elements of {} bytes at {:#x} wrap around",
                         count, width, begin);
  return fillImpl(to, value, width, count, queue);
}

Status Device::poison(uintptr_t va, size_t bytes, Queue queue) {
  if (bytes == 0)
    return {};
  return poisonImpl(va, bytes, queue);
}

Status Device::launch(const LaunchRequest &request) {
  if (!request.kernel)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "launch of '{}': no kernel handle",
                         request.kernelName ? request.kernelName : "?");
  if (request.numArgs && !request.args)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "launch of '{}': {} arguments expected, none given",
                         request.kernelName ? request.kernelName : "?",
                         request.numArgs);
  DRAGON_TRY(checkShape(request));
  for (unsigned axis = 0; axis < 3; ++axis)
    if (request.box.Lo[axis] == request.box.Hi[axis])
      return {};
  return watched(
      *Watched, Timeline::Lane::Kernels, request.queue, 0,
      [&] { return launchImpl(request); }, [&] { return textOf(request); });
}

CopyRates Device::copyRates() {
  Watched->collect();
  return {Watched->rate(Timeline::Lane::ToDevice),
          Watched->rate(Timeline::Lane::FromDevice)};
}

void Device::finishTimeline() { Watched->finish(); }

bool Device::accepts(const LaunchRequest &request) {
  return request.kernel && (!request.numArgs || request.args) &&
         checkShape(request).ok() && acceptsImpl(request);
}

void Device::describe(uintptr_t base, size_t bytes, const std::string &name) {
  describeImpl(base, bytes, name);
}

Status Device::guardHostAccess(uintptr_t va, size_t bytes, bool guarded) {
  DRAGON_TRY(checkExtent("guardHostAccess", va, bytes, Caps.granularity));
  return guardHostAccessImpl(va, bytes, guarded);
}

Status Device::setFaultHandler(FaultHandler handler, void *context) {
  return setFaultHandlerImpl(handler, context);
}

namespace {
Status checkRanges(const char *call, std::span<const AddressRange> ranges) {
  for (const AddressRange &range : ranges)
    if (range.begin >= range.end)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "{}: [{:#x}, {:#x}) is empty", call, range.begin,
                           range.end);
  return {};
}
} // namespace

Status Device::discard(std::span<const AddressRange> ranges, Queue queue) {
  if (!Caps.migrates || ranges.empty())
    return {};
  DRAGON_TRY(checkRanges("discard", ranges));
  return discardImpl(ranges, queue);
}

Status Device::prefetch(std::span<const AddressRange> ranges, Place place,
                        bool dead, Queue queue) {
  if (!Caps.migrates || ranges.empty())
    return {};
  DRAGON_TRY(checkRanges("prefetch", ranges));
  if (place != Place::Device && place != Place::Host)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "prefetch: to the {}, not to device or host",
                         nameOf(place));
  return prefetchImpl(ranges, place, dead, queue);
}

Status Device::advise(const AddressRange &range, Advice advice) {
  if (!Caps.migrates)
    return {};
  DRAGON_TRY(checkRanges("advise", {&range, 1}));
  return adviseImpl(range, advice);
}

Status Device::completeMaps() {
  return Caps.migrates ? completeMapsImpl() : Status();
}

Status Device::discardImpl(std::span<const AddressRange>, Queue) { return {}; }
Status Device::prefetchImpl(std::span<const AddressRange>, Place, bool, Queue) {
  return {};
}
Status Device::adviseImpl(const AddressRange &, Advice) { return {}; }
Status Device::completeMapsImpl() { return {}; }

Status Device::mapFile(const DriverFile &file) {
  DRAGON_TRY(
      checkExtent("mapFile", file.base, Caps.granularity, Caps.granularity));
  if (file.bytes == 0 || file.descriptor < 0)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "mapFile: {} bytes of descriptor {}", file.bytes,
                         file.descriptor);
  return mapFileImpl(file);
}

Status Device::remapFile(uintptr_t base, unsigned flags) {
  return remapFileImpl(base, flags);
}

Status Device::mapFileImpl(const DriverFile &) {
  return Status::error(DRAGON_ERROR_UNSUPPORTED,
                       "mapFile: device '{}' maps no files", Caps.name);
}
Status Device::remapFileImpl(uintptr_t, unsigned) {
  return Status::error(DRAGON_ERROR_UNSUPPORTED,
                       "remapFile: device '{}' maps no files", Caps.name);
}

StatusOr<DeviceMemory> Device::memory() { return memoryImpl(); }

} // namespace dragon
