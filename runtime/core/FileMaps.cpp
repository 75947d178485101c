//===- FileMaps.cpp - files under buffers ---------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"

#include <algorithm>
#include <cstring>

namespace dragon {

namespace {
/// A chunk read from more pieces than this is read at once.
constexpr size_t MaxPieces = 64;
} // namespace

Status Runtime::Impl::mapFileRange(uintptr_t address, size_t bytes,
                                   const std::shared_ptr<BackingFile> &file,
                                   int64_t fileOffset) {
  DRAGON_TRY(rangeOf(address, bytes, "map of a file").takeStatus());
  DRAGON_ASSIGN(uint64_t size, file->size());
  if (fileOffset < 0 || uint64_t(fileOffset) + bytes > size)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map of file '{}': bytes up to {} are wanted, it has "
                         "{}",
                         file->path(), fileOffset + int64_t(bytes), size);
  Buffer &buffer = *Allocations.find(address)->buffer;
  ++Clock;
  for (uintptr_t at = address; at < address + bytes;) {
    Chunk &chunk = buffer.chunkAt(at);
    uintptr_t stop = std::min(address + bytes, chunk.va() + chunk.bytes());
    DRAGON_TRY(mapChunkRange(chunk, at - chunk.va(), stop - chunk.va(), file,
                             fileOffset + int64_t(at - address)));
    at = stop;
  }
  return buffer.kept ? keepResident(buffer) : Status();
}

Status Runtime::Impl::mapChunkRange(Chunk &chunk, size_t begin, size_t end,
                                    const std::shared_ptr<BackingFile> &file,
                                    int64_t fileOffset) {
  Buffer &buffer = *chunk.buffer;
  Piece piece{begin, end, PieceKind::File, file, fileOffset};
  bool whole = begin == 0 && end >= chunk.used();
  if (whole || chunk.storageValid) {
    DRAGON_TRY(unmapHost(chunk)); // the host must fault to see the new contents
    if (whole)
      DRAGON_TRY(forget(chunk));
    chunk.storage.put(std::move(piece));
    if (chunk.slot.bytes && !chunk.storage.hasSwap()) {
      Swap->release(chunk.slot);
      chunk.slot = {};
    }
    buffer.noteBacking(*file, chunk.va() + begin, fileOffset);
    buffer.setValid(chunk, false, false, true);
    if (chunk.storage.pieces().size() <= MaxPieces)
      return {};
    ++Round;
    DRAGON_TRY(bringToHost(chunk, LaunchNeed::Write, Cause::Demand));
    return wroteHost(chunk);
  }
  // The rest of the chunk is nowhere but in memory: the file joins it there.
  ++Round;
  DRAGON_TRY(bringToHost(chunk, LaunchNeed::Write, Cause::Demand));
  DRAGON_TRY(settle(chunk));
  ReadPlan plan;
  plan.requests.push_back({file.get(),
                           static_cast<char *>(chunk.host.hostView) + begin,
                           end - begin,
                           fileOffset,
                           false,
                           {}});
  plan.inputs.push_back(file);
  plan.fileBytes = end - begin;
  DRAGON_TRY(wroteHost(chunk));
  return runRead(plan, Cause::Demand);
}

Status Runtime::Impl::setSink(uintptr_t address, size_t bytes,
                              std::shared_ptr<BackingFile> file,
                              int64_t fileOffset, bool permanent,
                              const dragon_reason *why) {
  AnySinks = true;
  DRAGON_TRY(rangeOf(address, bytes, "sink").takeStatus());
  if (!file->readable())
    return {}; // could not be fetched again
  Buffer &buffer = *Allocations.find(address)->buffer;
  DRAGON_ASSIGN(uint64_t size, file->size());
  // What the file holds is not replaced before the program does it.
  if (!permanent && (fileOffset < 0 || uint64_t(fileOffset) < size))
    return {};
  Sink added{address,         address + bytes,
             std::move(file), fileOffset,
             permanent,       size,
             false,           why};
  for (const Sink &sink : buffer.sinks)
    if (sink.begin == added.begin && sink.end == added.end &&
        sink.isIn(*added.file) && sink.offset == added.offset &&
        sink.permanent == permanent)
      return {}; // told again
  // One place has one owner, and one owner one place: the last one told.
  for (std::unique_ptr<Buffer> &other : Buffers)
    DRAGON_TRY(abandonSinks(*other, [&](const Sink &sink) {
      bool samePlace = sink.isIn(*added.file) &&
                       sink.offset < added.placeOf(added.end) &&
                       added.offset < sink.placeOf(sink.end);
      bool sameBytes = other.get() == &buffer && sink.begin < added.end &&
                       added.begin < sink.end;
      return samePlace || sameBytes;
    }));
  buffer.sinks.push_back(std::move(added));
  return {};
}

Status Runtime::Impl::abandonSink(const Sink &sink, uint64_t keepTo) {
  if (!sink.used)
    return {};
  const auto begin = uint64_t(sink.offset);
  const auto end = uint64_t(sink.placeOf(sink.end));
  const uint64_t from = std::max(begin, keepTo);
  if (from >= end)
    return {};
  DRAGON_TRY(detach(sink.file->deviceId(), sink.file->inode(), int64_t(from),
                    int64_t(end), nullptr, 0));
  DRAGON_ASSIGN(uint64_t size, sink.file->size());
  if (size > end) // the program wrote behind it
    return sink.file->punchHole(int64_t(from), end - from);
  uint64_t ends = std::max(sink.sizeBefore, keepTo);
  return size > ends ? sink.file->truncate(ends) : Status();
}

Status
Runtime::Impl::abandonSinks(Buffer &buffer,
                            const std::function<bool(const Sink &)> &which) {
  Status first;
  for (size_t i = 0; i < buffer.sinks.size();) {
    if (buffer.sinks[i].permanent || !which(buffer.sinks[i])) {
      ++i;
      continue;
    }
    Sink sink = std::move(buffer.sinks[i]);
    buffer.sinks.erase(buffer.sinks.begin() + ptrdiff_t(i));
    if (Status status = abandonSink(sink); first.ok())
      first = std::move(status);
  }
  return first;
}

Status Runtime::Impl::detach(dev_t deviceId, ino_t inode, int64_t begin,
                             int64_t end, const Buffer *except,
                             int64_t exceptDelta) {
  finishWritingsTo(deviceId, inode, begin, end);
  auto conflicts = [&](const Chunk &chunk) {
    for (const Piece &piece : chunk.storage.pieces()) {
      if (!piece.file || piece.file->inode() != inode ||
          piece.file->deviceId() != deviceId)
        continue;
      int64_t pieceEnd = piece.offset + int64_t(piece.end - piece.begin);
      if (piece.offset >= end || pieceEnd <= begin)
        continue;
      int64_t delta = piece.offset - int64_t(chunk.va() + piece.begin);
      if (chunk.buffer == except && delta == exceptDelta)
        continue; // the same bytes at the same place
      return true;
    }
    return false;
  };
  for (std::unique_ptr<Buffer> &buffer : Buffers) {
    bool may = std::any_of(
        buffer->lines.begin(), buffer->lines.end(),
        [&](const BackingLine &line) {
          return line.inode == inode && line.deviceId == deviceId &&
                 !(buffer.get() == except && line.delta == exceptDelta);
        });
    if (!may)
      continue;
    for (Chunk &chunk : buffer->chunks) {
      if (!chunk.storageValid || !conflicts(chunk))
        continue;
      if (!chunk.deviceValid && !chunk.hostValid) {
        // Straight to swap: there may be room nowhere else.
        DRAGON_ASSIGN(Physical slab, takeTransit(chunk.bytes()));
        ReadPlan plan;
        Status status = planRead(chunk, 0, chunk.used(),
                                 static_cast<char *>(slab.hostView), plan);
        if (status.ok())
          status = runRead(plan, Cause::Eviction);
        WritePlan write{&chunk, slab.hostView, Removal::ToSwap, {}, {}};
        if (status.ok())
          status = writeToStorage({&write, 1}, Cause::Eviction);
        HostPool.give(slab);
        DRAGON_TRY(std::move(status));
      } else {
        dropStorage(chunk);
        buffer->setValid(chunk, chunk.deviceValid, chunk.hostValid, false);
      }
    }
    if (begin == 0 && end == INT64_MAX)
      std::erase_if(buffer->lines, [&](const BackingLine &line) {
        return line.inode == inode && line.deviceId == deviceId;
      });
  }
  return {};
}

Status Runtime::Impl::discardChunk(Chunk &chunk, Queue queue) {
  if (chunk.held)
    return {}; // a hint, as below
  DRAGON_TRY(forget(chunk));
  if (Config.poison && chunk.device.id)
    return Dev->poison(chunk.va(), chunk.bytes(), queue);
  return {};
}

Status Runtime::Impl::discard(uintptr_t address, size_t bytes, Queue queue,
                              bool eager) {
  DRAGON_TRY(rangeOf(address, bytes, "discard").takeStatus());
  Buffer &buffer = *Allocations.find(address)->buffer;
  if (buffer.driverMoved)
    return discardDriverMoved(buffer, {address, address + bytes}, queue);
  if (buffer.kept)
    return {}; // a hint; others may see the contents sooner than we think
  ++Clock;
  ++Round;
  for (uintptr_t at = address; at < address + bytes;) {
    Chunk &chunk = buffer.chunkAt(at);
    uintptr_t stop = std::min(address + bytes, chunk.va() + chunk.bytes());
    if (chunk.held) {
      at = stop;
      continue;
    }
    if (at == chunk.va() && stop >= chunk.usedEnd()) {
      DRAGON_TRY(discardChunk(chunk, queue));
      if (eager)
        DRAGON_TRY(giveBack(chunk));
      at = stop;
      continue;
    }
    if (chunk.storageValid) {
      // A part: worth it only where it saves a read.
      chunk.storage.erase(at - chunk.va(), stop - chunk.va());
      if (chunk.slot.bytes && !chunk.storage.hasSwap()) {
        Swap->release(chunk.slot);
        chunk.slot = {};
      }
    }
    if (chunk.deviceValid || chunk.hostValid)
      DRAGON_TRY(discardPart(chunk, chunk.partOf(at, stop), queue));
    at = stop;
  }
  return {};
}

Status Runtime::Impl::giveBack(Chunk &chunk) {
  // Where everything fits, nobody wants it.
  if (!Tracking || chunk.dying)
    return {};
  chunk.dying = true;
  Dying.push_back(&chunk);
  return giveBackIdle();
}

Status Runtime::Impl::giveBackIdle() {
  while (!Dying.empty()) {
    Chunk &chunk = *Dying.front();
    const bool used = !chunk.dying || chunk.deviceValid || chunk.hostValid ||
                      chunk.hostMapped || chunk.held || chunk.buffer->kept;
    if (!used && (chunk.pinned == Round || chunk.leaving || isBusy(chunk)))
      break; // those behind it died later
    Dying.pop_front();
    chunk.dying = false;
    if (used)
      continue;
    if (chunk.discardedDirty && chunk.device.id) // as when it is evicted
      Bytes.avoided(Avoided::Discard, chunk.used());
    chunk.discardedDirty = false;
    if (chunk.device.id)
      DRAGON_TRY(releaseDevice(chunk));
    if (chunk.host.id)
      DRAGON_TRY(releaseHost(chunk));
  }
  return {};
}

Status Runtime::Impl::discardPart(Chunk &chunk, ChunkPart part, Queue queue) {
  if (part.empty() || chunk.defined.empty() || chunk.held)
    return {};
  // What is left must be in one piece.
  ChunkPart &defined = chunk.defined;
  if (part.begin <= defined.begin)
    defined.begin = std::max(defined.begin, part.end);
  else if (part.end >= defined.end)
    defined.end = std::min(defined.end, part.begin);
  if (defined.empty() && !chunk.storageValid)
    return discardChunk(chunk, queue);
  if (!Config.poison)
    return {};
  if (chunk.hostValid && !chunk.hostMapped && !chunk.writing) {
    DRAGON_TRY(settle(chunk)); // a copy out of it may be under way
    poisonMemory(static_cast<char *>(chunk.host.hostView) + part.begin,
                 part.bytes());
  }
  return chunk.deviceValid
             ? Dev->poison(chunk.va() + part.begin, part.bytes(), queue)
             : Status();
}

StatusOr<uintptr_t> Runtime::mapFile(const char *path, size_t bytes,
                                     int64_t offset, unsigned flagsAndHints) {
  const unsigned flags = flagsAndHints & ~MapHostBuffer;
  const bool reads = flags & D_READ, isVolatile = flags & D_VOLATILE;
  const bool writes = (flags & D_WRITE) && !isVolatile;
  if (flags & ~unsigned(D_READ | D_WRITE | D_CREATE | D_VOLATILE))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: unknown flags {:#x}", flags);
  if (bytes == 0 || offset < 0 || bytes > uint64_t(INT64_MAX - offset))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: {} bytes at offset {} are no range", bytes,
                         offset);
  if (!reads && !writes && !isVolatile)
    return Status::error(
        DRAGON_ERROR_INVALID_ARGUMENT,
        "map: flags {:#x} need one of D_READ, D_WRITE and D_VOLATILE", flags);
  if (!path && (reads || writes))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: a file name is needed for D_READ and D_WRITE");

  std::shared_ptr<BackingFile> file;
  uint64_t size = 0;
  const uint64_t end = uint64_t(offset) + bytes;
  if (path && (reads || writes)) {
    DRAGON_ASSIGN(
        file, BackingFile::open(path, writes, writes && (flags & D_CREATE)));
    DRAGON_ASSIGN(size, file->size());
    if (reads && !(flags & D_CREATE) && size < end)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "map of file '{}': {} bytes at offset {} are "
                           "wanted, it has {}",
                           path, bytes, offset, size);
    if (writes && (size < end || (flags & D_CREATE)))
      DRAGON_TRY(file->truncate(end));
  }
  DRAGON_ASSIGN(uintptr_t base, allocate(bytes, {flags, true, nullptr}));
  Status status;
  bool isDrivers = false;
  if (file && State->Dev->caps().mapsFiles) {
    Impl::Guard guard(*State);
    auto given = State->giveToDriver(*State->Allocations.find(base)->buffer,
                                     file, offset, flagsAndHints);
    if (given.ok())
      isDrivers = *given;
    else
      status = given.takeStatus();
  }
  if (status.ok() && reads && file && !isDrivers)
    status = mapFileRange(base, bytes, file, offset);
  if (status.ok() && file && writes && !isDrivers) {
    Impl::Guard guard(*State);
    Buffer &buffer = *State->Allocations.find(base)->buffer;
    status = State->setSink(base, bytes, file, offset, true);
    if (!reads)
      for (Chunk &chunk : buffer.chunks) {
        // Beyond the old end the file holds these zeros already.
        int64_t place = offset + int64_t(chunk.va() - base);
        bool there = uint64_t(place) >= size;
        chunk.storage.put({0, chunk.used(), PieceKind::Zero,
                           there ? file : nullptr, there ? place : 0});
        if (there)
          buffer.noteBacking(*file, chunk.va(), place);
        if (buffer.driverMoved)
          buffer.setValid(chunk, false, false, true);
      }
    if (status.ok() && buffer.driverMoved)
      status = State->keepResident(buffer); // the zeros
  }
  if (status.ok() && flags == D_READ && !isDrivers)
    advise(base, bytes, DRAGON_ADVISE_READ_MOSTLY).ignore();
  if (!status.ok()) {
    Impl::Guard guard(*State);
    if (Allocation *made = State->Allocations.find(base))
      made->buffer->flags &= ~unsigned(D_WRITE); // nothing to sync
    State->free(base).ignore();
    return status;
  }
  return base;
}

Status Runtime::remapFile(uintptr_t base, unsigned flags,
                          const std::shared_ptr<BackingFile> &file) {
  const bool isVolatile = flags & D_VOLATILE;
  const bool writes = (flags & D_WRITE) && !isVolatile;
  const bool reads = (flags & D_READ) && !isVolatile;
  bool drops = false;
  size_t bytes = 0;
  {
    Impl::Guard guard(*State);
    DRAGON_TRY(State->ready());
    Allocation *found = State->Allocations.find(base);
    if (!found || found->base != base)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "remap: {:#x} is not the start of a map", base);
    Buffer &buffer = *found->buffer;
    bytes = found->bytes;
    if (buffer.driverFile)
      return State->remapDriverFile(buffer, flags);
    drops = buffer.flags & D_VOLATILE;
    if ((buffer.flags & D_WRITE) && !drops)
      DRAGON_TRY(State->sync(buffer));
    std::erase_if(buffer.sinks,
                  [](const Sink &sink) { return sink.permanent; });
    buffer.flags = found->flags = flags & ~unsigned(D_WRITE);
  }
  if (drops && reads)
    DRAGON_TRY(mapFileRange(base, bytes, file, 0));
  else if (drops)
    DRAGON_TRY(clear(base, bytes));
  if (!writes)
    return {};
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  Allocation *found = State->Allocations.find(base);
  if (!found || found->base != base)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "remap: {:#x} was unmapped meanwhile", base);
  DRAGON_ASSIGN(uint64_t size, file->size());
  if (size < bytes)
    DRAGON_TRY(file->truncate(bytes));
  DRAGON_TRY(State->setSink(base, bytes, file, 0, true));
  found->buffer->flags = found->flags = flags;
  return {};
}

} // namespace dragon
