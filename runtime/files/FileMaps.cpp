//===- FileMaps.cpp - files under buffers ---------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/files/FileMaps.h"

#include <algorithm>

namespace dragon {

namespace {
/// A chunk read from more pieces than this is read at once.
constexpr size_t MaxPieces = 64;
} // namespace

Status FileMaps::mapRange(uintptr_t address, size_t bytes,
                          const std::shared_ptr<BackingFile> &file,
                          int64_t fileOffset) {
  DRAGON_TRY(Space.rangeOf(address, bytes, "map of a file").takeStatus());
  DRAGON_ASSIGN(uint64_t size, file->size());
  if (fileOffset < 0 || uint64_t(fileOffset) + bytes > size)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map of file '{}': bytes up to {} are wanted, it has "
                         "{}",
                         file->path(), fileOffset + int64_t(bytes), size);
  Buffer &buffer = *Space.Allocations.find(address)->buffer;
  ++Ctx.clock;
  for (uintptr_t at = address; at < address + bytes;) {
    Chunk &chunk = buffer.chunkAt(at);
    uintptr_t stop = std::min(address + bytes, chunk.va() + chunk.bytes());
    DRAGON_TRY(mapChunk(chunk, at - chunk.va(), stop - chunk.va(), file,
                        fileOffset + int64_t(at - address)));
    at = stop;
  }
  return buffer.kept ? Resident.keep(buffer) : Status();
}

Status FileMaps::mapChunk(Chunk &chunk, size_t begin, size_t end,
                          const std::shared_ptr<BackingFile> &file,
                          int64_t fileOffset) {
  Buffer &buffer = *chunk.buffer;
  Piece piece{begin, end, PieceKind::File, file, fileOffset};
  bool whole = begin == 0 && end >= chunk.used();
  if (whole || chunk.copies.storage) {
    // The host must fault to see the new contents.
    DRAGON_TRY(Host.unmap(chunk));
    if (whole)
      DRAGON_TRY(Data.forget(chunk));
    chunk.storage.put(std::move(piece));
    Store.releaseUnusedSlot(chunk);
    buffer.noteBacking(*file, chunk.va() + begin, fileOffset);
    buffer.note(chunk, ChunkEvent::Ended);
    if (chunk.storage.numberOfPieces() <= MaxPieces)
      return {};
    Ctx.pins.next();
    DRAGON_TRY(Resident.bringToHost(chunk, LaunchNeed::Write, Cause::Demand));
    return Data.wroteHost(chunk);
  }
  // The rest of the chunk is nowhere but in memory: the file joins it there.
  Ctx.pins.next();
  DRAGON_TRY(Resident.bringToHost(chunk, LaunchNeed::Write, Cause::Demand));
  DRAGON_TRY(Time.settle(chunk));
  ReadPlan plan;
  plan.add(file, static_cast<char *>(chunk.host.hostView) + begin, end - begin,
           fileOffset);
  DRAGON_TRY(Data.wroteHost(chunk));
  return Store.run(plan, Cause::Demand);
}

Status FileMaps::mapZeros(Buffer &buffer, const NewMap &made) {
  for (Chunk &chunk : buffer.chunks) {
    // Beyond the old end the file holds these zeros already.
    int64_t place = made.offset + int64_t(chunk.va() - made.base);
    bool there = uint64_t(place) >= made.size;
    chunk.storage.put({0, chunk.used(), PieceKind::Zero,
                       there ? made.file : nullptr, there ? place : 0});
    if (there)
      buffer.noteBacking(*made.file, chunk.va(), place);
    if (buffer.driverMoved)
      buffer.note(chunk, ChunkEvent::Ended);
  }
  return {};
}

Status FileMaps::map(const NewMap &made) {
  const unsigned flags = made.flags & ~MapHostBuffer;
  const bool isVolatile = flags & D_VOLATILE;
  const bool writes = (flags & D_WRITE) && !isVolatile;
  Buffer &buffer = *Space.Allocations.find(made.base)->buffer;
  bool isDrivers = false;
  if (made.file && Ctx.caps().mapsFiles) {
    DRAGON_ASSIGN(isDrivers,
                  Driver.mapFile(buffer, made.file, made.offset, made.flags));
  }
  if (!made.file || isDrivers)
    return {};
  if (flags & D_READ)
    DRAGON_TRY(mapRange(made.base, made.bytes, made.file, made.offset));
  if (flags == D_READ) {
    buffer.advice = DRAGON_ADVISE_READ_MOSTLY;
    if (buffer.driverMoved) // a hint
      Driver.advise({made.base, made.base + made.bytes}, buffer.advice)
          .ignore();
  }
  if (!writes)
    return {};
  DRAGON_TRY(
      Announced.set(made.base, made.bytes, made.file, made.offset, true));
  if (!(flags & D_READ))
    DRAGON_TRY(mapZeros(buffer, made));
  return buffer.driverMoved ? Resident.keep(buffer) : Status();
}

Status FileMaps::save(const std::shared_ptr<BackingFile> &file,
                      std::vector<FileRange> ranges, bool anyReaders) {
  // Contents with a copy on the device or on the host need none: the file is no
  // longer a place for them, and when they are evicted they go to swap.
  auto isInFile = [&](const Buffer &buffer) {
    return std::any_of(buffer.lines.begin(), buffer.lines.end(),
                       [&](const BackingLine &line) {
                         return line.inode == file->inode() &&
                                line.deviceId == file->deviceId();
                       });
  };
  for (std::unique_ptr<Buffer> &buffer : Space.Buffers) {
    if (!anyReaders || !isInFile(*buffer))
      continue;
    for (Chunk &chunk : buffer->chunks) {
      if (!chunk.copies.storage)
        continue;
      std::vector<FileRange> own;
      for (const Piece &piece : chunk.storage.pieces())
        if (piece.file == file)
          own.push_back(
              {piece.offset, piece.offset + int64_t(piece.end - piece.begin)});
      if (!own.empty() && (chunk.copies.device || chunk.copies.host)) {
        Data.leaveStorage(chunk);
        continue;
      }
      ranges.insert(ranges.end(), own.begin(), own.end());
    }
  }
  const RuntimeLock::WaitForFiles waits(Ctx.lock);
  return file->save(ranges, Ctx.config.swapDirs);
}

} // namespace dragon
