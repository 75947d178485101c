//===- Device.cpp - the checks that every back end shares -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The public calls of Device and of its parts check their arguments, once, so
// that a back end may trust them, and every message names the value that is
// wrong. Calls that move nothing (0 bytes, an empty box) end here.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/Device.h"

#include "runtime/device/Timeline.h"
#include "runtime/trace/Trace.h"

#include <fmt/format.h>

namespace dragon {

namespace {

// CUDA's code for a launch whose shape no device takes.
constexpr int InvalidConfiguration = 9;

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
  const uint32_t end = request.box.Hi[LoopDimension];
  if (end == ToTheEnd)
    text += fmt::format(", iterations {} to the end",
                        request.box.Lo[LoopDimension]);
  else if (end)
    text += fmt::format(", iterations {}-{}", request.box.Lo[LoopDimension],
                        end - 1);
  if (request.isWholeGrid())
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

Device::Device()
    : DeviceAddresses(Caps), DeviceHints(Caps),
      Watched(std::make_unique<Timeline>(*this)) {}

Device::~Device() = default;

/// The buffers of a copy, for the trace.
std::string Device::labelOf(uintptr_t to, uintptr_t from, CopyKind kind) {
  if (!detail::tracing.load(std::memory_order_relaxed))
    return {};
  std::string text;
  for (const uintptr_t address : {kind == CopyKind::HostToDevice ? 0 : from,
                                  kind == CopyKind::DeviceToHost ? 0 : to})
    if (std::string label = labelAt(address); !label.empty() && label != text)
      text += (text.empty() ? "" : " to ") + label;
  return text;
}

template <typename Queued>
Status Device::checkedCopy(const void *to, const void *from, size_t bytes,
                           CopyKind kind, Queue queue, Queued work) {
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
  return watched(*Watched, laneOf(kind), queue, bytes, work,
                 [&] { return labelOf(toBegin, fromBegin, kind); });
}

Status Device::copy(void *to, const void *from, size_t bytes, CopyKind kind,
                    Queue queue) {
  if (bytes == 0)
    return {};
  return checkedCopy(to, from, bytes, kind, queue,
                     [&] { return copyImpl(to, from, bytes, kind, queue); });
}

Status Device::copyAndWait(void *to, const void *from, size_t bytes,
                           CopyKind kind, Queue queue) {
  if (bytes == 0)
    return synchronize(queue);
  return checkedCopy(to, from, bytes, kind, queue, [&] {
    return copyAndWaitImpl(to, from, bytes, kind, queue);
  });
}

Status Device::copyAndWaitImpl(void *to, const void *from, size_t bytes,
                               CopyKind kind, Queue queue) {
  DRAGON_TRY(copyImpl(to, from, bytes, kind, queue));
  return synchronize(queue);
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
  return knownCopyRates();
}

CopyRates Device::knownCopyRates() const {
  return {Watched->rate(Timeline::Lane::ToDevice),
          Watched->rate(Timeline::Lane::FromDevice)};
}

void Device::finishTimeline() { Watched->finish(); }

bool Device::accepts(const LaunchRequest &request) {
  return request.kernel && (!request.numArgs || request.args) &&
         checkShape(request).ok() && acceptsImpl(request);
}

} // namespace dragon
