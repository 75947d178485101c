//===- DriverMoved.cpp - buffers that the driver moves by itself ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/DriverMoved.h"

#include "runtime/trace/Log.h"

#include <algorithm>

namespace dragon {

namespace {
/// The id of a Physical that no device has made.
constexpr uint64_t NoSlab = UINT64_MAX;
} // namespace

bool DriverMoved::isReadOnly(const Buffer &buffer) {
  return buffer.driverFile && !(buffer.flags & D_WRITE);
}

void DriverMoved::takeOver(Buffer &buffer) {
  buffer.driverMoved = buffer.kept = true;
  ++Space.NumDriverMoved;
  for (Chunk &chunk : buffer.chunks) {
    chunk.device = {NoSlab, Place::Device, chunk.bytes(), nullptr};
    chunk.defined = chunk.whole();
    buffer.note(chunk, ChunkEvent::WrittenOnDevice);
    setAway(chunk, true);
  }
}

void DriverMoved::setAway(Chunk &chunk, bool away) {
  if (chunk.away == away)
    return;
  chunk.away = away;
  chunk.buffer->numAway += away ? 1 : size_t(-1);
}

Status DriverMoved::discard(Buffer &buffer, const AddressRange &range,
                            Queue queue) {
  for (uintptr_t at = range.begin; at < range.end;) {
    Chunk &chunk = buffer.chunkAt(at);
    setAway(chunk, true);
    at = chunk.va() + chunk.bytes();
  }
  return Ctx.device->discard({&range, 1}, queue);
}

Status DriverMoved::prefetch(Buffer &buffer, const AddressRange &range,
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
  return Ctx.device->prefetch({&range, 1}, place, /*dead=*/false, queue);
}

Status DriverMoved::advise(const AddressRange &range, dragon_advice advice) {
  switch (advice) {
  case DRAGON_ADVISE_READ_MOSTLY:
    return Ctx.device->advise(range, Advice::ReadMostly);
  case DRAGON_ADVISE_KEEP_DEVICE:
    return Ctx.device->advise(range, Advice::PreferDevice);
  case DRAGON_ADVISE_KEEP_HOST:
    DRAGON_TRY(Ctx.device->advise(range, Advice::PreferHost));
    return Ctx.device->advise(range, Advice::AccessedByDevice);
  case DRAGON_ADVISE_NORMAL:
    for (Advice none : {Advice::NotReadMostly, Advice::PreferNone,
                        Advice::NotAccessedByDevice})
      DRAGON_TRY(Ctx.device->advise(range, none));
    return {};
  }
  return {};
}

StatusOr<bool> DriverMoved::mapFile(Buffer &buffer,
                                    const std::shared_ptr<BackingFile> &file,
                                    int64_t offset, unsigned flags) {
  if (!Ctx.device->caps().mapsFiles)
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
  Status status =
      Ctx.device->mapFile({file->fd(), buffer.base, buffer.bytes, flags});
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

Status DriverMoved::remapFile(Buffer &buffer, unsigned flags) {
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
  DRAGON_TRY(Ctx.device->remapFile(buffer.base, flags));
  buffer.flags = flags & ~MapHostBuffer;
  return {};
}

Status DriverMoved::checkWritable(const Buffer &buffer, std::string_view what) {
  if (!isReadOnly(buffer))
    return {};
  return Status::error(DRAGON_ERROR_UNSUPPORTED,
                       "{}: it may write to the map of '{}', which is for "
                       "reading only: the driver would lose that; map it with "
                       "D_WRITE, or set DRAGON_BACKEND=managed",
                       what, buffer.driverFile->path());
}

} // namespace dragon
