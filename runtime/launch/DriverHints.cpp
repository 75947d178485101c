//===- DriverHints.cpp - a launch and the buffers that the driver moves ---===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/DriverHints.h"

#include "runtime/trace/Log.h"

namespace dragon {

Status DriverHints::prefetch(const ResolvedLaunch &launch) {
  if (Ctx.device->caps().mapsFiles)
    DRAGON_TRY(checkFiles(launch));
  bool any = false;
  if (launch.anything)
    for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
      any |= buffer->numAway != 0;
  for (const LaunchPointer &pointer : launch.pointers)
    any |= pointer.allocation && pointer.allocation->buffer->numAway != 0;
  if (!any)
    return {};
  const LaunchFootprint chunks = footprintOf(
      launch, Space.Allocations, wholeGrid(launch), {.ofDriver = true});
  // A launch that is refused changes nothing.
  const bool runs = Ctx.device->accepts(requestOf(launch, wholeGrid(launch)));
  for (bool overwritten : {true, false}) {
    auto which = [&](const ChunkUse &use) {
      return use.chunk->away && overwritten == (use.mustWrite() && runs);
    };
    std::vector<AddressRange> ranges = addressRanges(chunks, which);
    DRAGON_TRY(
        Ctx.device->prefetch(ranges, Place::Device, overwritten, launch.queue));
  }
  for (const ChunkUse &use : chunks.uses)
    DriverMoved::setAway(*use.chunk, false);
  return {};
}

void DriverHints::noteLaunch() {
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    if (buffer->driverMoved)
      buffer->lastUntracked = Time.Epoch;
}

Status DriverHints::checkFiles(const ResolvedLaunch &launch) {
  const char *name = nameOf(launch);
  for (const LaunchPointer &pointer : launch.pointers)
    if (pointer.allocation && pointer.mayWrite &&
        DriverMoved::isReadOnly(*pointer.allocation->buffer))
      return DriverMoved::checkWritable(*pointer.allocation->buffer,
                                        fmt::format("launch of '{}'", name));
  if (!launch.anything || ToldOfReadOnly)
    return {};
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    if (DriverMoved::isReadOnly(*buffer)) {
      ToldOfReadOnly = true;
      notice("'{}' may touch any buffer: what it writes to maps for reading "
             "only ('{}') is lost when the driver evicts it",
             name, buffer->driverFile->path());
      break;
    }
  return {};
}

} // namespace dragon
