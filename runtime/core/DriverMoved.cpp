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
// Maps of files are read when they are made, and written as a whole; where the
// driver itself maps files (DRAGON's) they are its own, as far as it can: from
// the file's first byte on, and written when they are unmapped. What it cannot
// do is refused, so that nothing is lost: dragon_sync, and launches that may
// write a map without D_WRITE, of which it drops what it evicts.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/LaunchFootprint.h"
#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Log.h"

#include <algorithm>

namespace dragon {

namespace {
/// Of a Physical that no device has made.
constexpr uint64_t NoSlab = UINT64_MAX;

/// To the driver that maps it.
bool isReadOnly(const Buffer &buffer) {
  return buffer.driverFile && !(buffer.flags & D_WRITE);
}
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
  if (Dev->caps().mapsFiles)
    DRAGON_TRY(checkDriverFiles(call, pointers));
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

StatusOr<bool>
Runtime::Impl::giveToDriver(Buffer &buffer,
                            const std::shared_ptr<BackingFile> &file,
                            int64_t offset, unsigned flags) {
  if (!Dev->caps().mapsFiles)
    return false;
  if (offset != 0) {
    log(LogLevel::Info,
        "file '{}': the driver maps files from their first byte on; the "
        "runtime reads and writes this one, from {} on",
        file->path(), offset);
    return false;
  }
  if (!(flags & D_READ)) {
    // The driver leaves what no kernel touches as it is; it is to be zero.
    DRAGON_ASSIGN(const uint64_t size, file->size());
    if (size)
      DRAGON_TRY(file->punchHole(0, std::min<uint64_t>(size, buffer.bytes)));
  }
  Status status = Dev->mapFile({file->fd(), buffer.base, buffer.bytes, flags});
  if (status.code() == DRAGON_ERROR_UNSUPPORTED) {
    log(LogLevel::Info, "file '{}': the runtime reads and writes it: {}",
        file->path(), status.message());
    return false;
  }
  DRAGON_TRY(std::move(status).within("map of file '{}'", file->path()));
  buffer.driverFile = file;
  for (Chunk &chunk : buffer.chunks)
    setAway(chunk, false); // pages come by faults alone
  return true;
}

Status Runtime::Impl::remapDriverFile(Buffer &buffer, unsigned flags) {
  if (flags & D_VOLATILE)
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "remap of file '{}': the driver cannot make a map of "
                         "a file volatile",
                         buffer.driverFile->path());
  if ((flags & D_WRITE) && !(buffer.flags & D_WRITE))
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "remap of file '{}': the driver has it for reading "
                         "only; unmap it and map it with D_WRITE",
                         buffer.driverFile->path());
  // Without D_READ the driver would not read back what it has written, and
  // without D_WRITE not write what it has not yet written.
  flags |= D_READ | (buffer.flags & D_WRITE);
  DRAGON_TRY(Dev->remapFile(buffer.base, flags));
  buffer.flags = flags & ~MapHostBuffer;
  return {};
}

Status Runtime::Impl::checkWritable(const Buffer &buffer,
                                    std::string_view what) {
  if (!isReadOnly(buffer))
    return {};
  return Status::error(DRAGON_ERROR_UNSUPPORTED,
                       "{}: it may write to the map of '{}', which is for "
                       "reading only: the driver would lose that; map it with "
                       "D_WRITE, or set DRAGON_BACKEND=managed",
                       what, buffer.driverFile->path());
}

Status Runtime::Impl::checkDriverFiles(const LaunchCall &call,
                                       const LaunchPointers &pointers) {
  const char *name = call.kernel->handle.image.name;
  for (const LaunchPointer &pointer : pointers.pointers)
    if (pointer.allocation && pointer.mayWrite &&
        isReadOnly(*pointer.allocation->buffer))
      return checkWritable(*pointer.allocation->buffer,
                           fmt::format("launch of '{}'", name));
  if (!pointers.anything || ToldOfReadOnly)
    return {};
  for (const std::unique_ptr<Buffer> &buffer : Buffers)
    if (isReadOnly(*buffer)) {
      ToldOfReadOnly = true;
      notice("'{}' may touch any buffer: what it writes to maps for reading "
             "only ('{}') is lost when the driver evicts it",
             name, buffer->driverFile->path());
      break;
    }
  return {};
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
