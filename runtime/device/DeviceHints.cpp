//===- DeviceHints.cpp - checks of hints and driver files -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/DeviceHints.h"

#include "runtime/device/Checks.h"

namespace dragon {

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

Status DeviceHints::discard(std::span<const AddressRange> ranges, Queue queue) {
  if (!Abilities.migrates || ranges.empty())
    return {};
  DRAGON_TRY(checkRanges("discard", ranges));
  return discardImpl(ranges, queue);
}

Status DeviceHints::prefetch(std::span<const AddressRange> ranges, Place place,
                             bool dead, Queue queue) {
  if (!Abilities.migrates || ranges.empty())
    return {};
  DRAGON_TRY(checkRanges("prefetch", ranges));
  if (place != Place::Device && place != Place::Host)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "prefetch: to the {}, not to device or host",
                         nameOf(place));
  return prefetchImpl(ranges, place, dead, queue);
}

Status DeviceHints::advise(const AddressRange &range, Advice advice) {
  if (!Abilities.migrates)
    return {};
  DRAGON_TRY(checkRanges("advise", {&range, 1}));
  return adviseImpl(range, advice);
}

Status DeviceHints::completeMaps() {
  return Abilities.migrates ? completeMapsImpl() : Status();
}

Status DeviceHints::discardImpl(std::span<const AddressRange>, Queue) {
  return {};
}
Status DeviceHints::prefetchImpl(std::span<const AddressRange>, Place, bool,
                                 Queue) {
  return {};
}
Status DeviceHints::adviseImpl(const AddressRange &, Advice) { return {}; }
Status DeviceHints::completeMapsImpl() { return {}; }

Status DeviceHints::mapFile(const DriverFile &file) {
  DRAGON_TRY(checkExtent("mapFile", file.base, Abilities.granularity,
                         Abilities.granularity));
  if (file.bytes == 0 || file.descriptor < 0)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "mapFile: {} bytes of descriptor {}", file.bytes,
                         file.descriptor);
  return mapFileImpl(file);
}

Status DeviceHints::remapFile(uintptr_t base, unsigned flags) {
  return remapFileImpl(base, flags);
}

Status DeviceHints::mapFileImpl(const DriverFile &) {
  return Status::error(DRAGON_ERROR_UNSUPPORTED,
                       "mapFile: device '{}' maps no files", Abilities.name);
}
Status DeviceHints::remapFileImpl(uintptr_t, unsigned) {
  return Status::error(DRAGON_ERROR_UNSUPPORTED,
                       "remapFile: device '{}' maps no files", Abilities.name);
}

} // namespace dragon
