//===- DriverMoved.cpp - buffers that the driver moves by itself ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a device that migrates (managed memory) the host can touch a buffer
// without anybody's hearing of it. So what a program allocates to touch it from
// both sides is left to the driver, as CUDA does: in core's books all of it is
// on the device, changed, and stays there (Buffer::kept), it takes nothing of
// the budget and no launch has to bring it in. What the compiler and the
// program say of it becomes hints to the driver:
//
//   in front of a launch   a prefetch of what it touches, where the contents
//                          are likely to be elsewhere: the first time, after a
//                          discard, after a prefetch to the host. What the
//                          launch overwrites is discarded before.
//   discard                a discard; those that the compiler found only where
//                          the driver may run out of memory
//   dragon_prefetch, dragon_advise and CUDA's own: the same
//
// Maps of files are read when they are made, and written as a whole.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/LaunchFootprint.h"
#include "runtime/core/RuntimeImpl.h"

#include <algorithm>

namespace dragon {

namespace {
/// Of a Physical that no device has made.
constexpr uint64_t NoSlab = UINT64_MAX;
} // namespace

void Runtime::Impl::leaveToDriver(Buffer &buffer) {
  buffer.driverMoved = buffer.kept = true;
  ++NumDriverMoved;
  for (Chunk &chunk : buffer.chunks) {
    chunk.device = {NoSlab, Place::Device, chunk.bytes(), nullptr};
    chunk.defined = chunk.whole();
    buffer.setValid(chunk, true, false, false);
    setAway(chunk, true);
  }
}

void Runtime::Impl::setAway(Chunk &chunk, bool away) {
  if (chunk.away == away)
    return;
  chunk.away = away;
  chunk.buffer->numAway += away ? 1 : size_t(-1);
}

Status Runtime::Impl::prefetchForLaunch(const LaunchCall &call,
                                        const LaunchPointers &pointers) {
  bool any = false;
  if (pointers.anything)
    for (const std::unique_ptr<Buffer> &buffer : Buffers)
      any |= buffer->numAway != 0;
  for (const LaunchPointer &pointer : pointers.pointers)
    any |= pointer.allocation && pointer.allocation->buffer->numAway != 0;
  if (!any)
    return {};
  const LaunchChunks chunks = chunksOf(call, pointers, Allocations,
                                       wholeGrid(call), {.ofDriver = true});
  // A launch that is refused changes nothing.
  const bool runs = Dev->accepts(requestOf(call, wholeGrid(call)));
  for (bool overwritten : {true, false}) {
    auto which = [&](const ChunkUse &use) {
      return use.chunk->away && overwritten == (use.mustWrite && runs);
    };
    std::vector<AddressRange> ranges = addressRanges(chunks, which);
    DRAGON_TRY(Dev->prefetch(ranges, Place::Device, overwritten, call.queue));
  }
  for (const ChunkUse &use : chunks.uses)
    setAway(*use.chunk, false);
  return {};
}

void Runtime::Impl::noteLaunchOnDriverMoved() {
  for (const std::unique_ptr<Buffer> &buffer : Buffers)
    if (buffer->driverMoved)
      buffer->lastUntracked = Epoch;
}

Status Runtime::Impl::discardDriverMoved(Buffer &buffer,
                                         const AddressRange &range,
                                         Queue queue) {
  DRAGON_TRY(runWaiting()); // in other buffers, but what came before goes first
  for (uintptr_t at = range.begin; at < range.end;) {
    Chunk &chunk = buffer.chunkAt(at);
    setAway(chunk, true);
    at = chunk.va() + chunk.bytes();
  }
  return Dev->discard({&range, 1}, queue);
}

Status Runtime::Impl::prefetchDriverMoved(Buffer &buffer,
                                          const AddressRange &range,
                                          Place place, Queue queue) {
  for (uintptr_t at = range.begin; at < range.end;) {
    Chunk &chunk = buffer.chunkAt(at);
    const uintptr_t end = chunk.va() + chunk.bytes();
    if (place == Place::Host)
      setAway(chunk, true);
    else if (range.begin <= chunk.va() && chunk.usedEnd() <= range.end)
      setAway(chunk, false);
    at = end;
  }
  return Dev->prefetch({&range, 1}, place, /*dead=*/false, queue);
}

Status Runtime::Impl::adviseDriver(const AddressRange &range,
                                   dragon_advice advice) {
  switch (advice) {
  case DRAGON_ADVISE_READ_MOSTLY:
    return Dev->advise(range, Advice::ReadMostly);
  case DRAGON_ADVISE_KEEP_DEVICE:
    return Dev->advise(range, Advice::PreferDevice);
  case DRAGON_ADVISE_KEEP_HOST:
    DRAGON_TRY(Dev->advise(range, Advice::PreferHost));
    return Dev->advise(range, Advice::AccessedByDevice);
  case DRAGON_ADVISE_NORMAL:
    for (Advice none : {Advice::NotReadMostly, Advice::PreferNone,
                        Advice::NotAccessedByDevice})
      DRAGON_TRY(Dev->advise(range, none));
    return {};
  }
  return {};
}

} // namespace dragon
