//===- Sinks.cpp - places in files for contents that are to be written ----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/files/Sinks.h"

#include <algorithm>

namespace dragon {

Status Sinks::set(uintptr_t address, size_t bytes,
                  std::shared_ptr<BackingFile> file, int64_t fileOffset,
                  bool permanent, const dragon_reason *why) {
  AnySinks = true;
  DRAGON_TRY(Space.rangeOf(address, bytes, "sink").takeStatus());
  if (!file->readable())
    return {}; // could not be fetched again
  Buffer &buffer = *Space.Allocations.find(address)->buffer;
  DRAGON_ASSIGN(uint64_t size, file->size());
  // What the file holds is not replaced before the program does it. What is in
  // memory nobody looks at.
  if (!permanent && !file->isMemory() &&
      (fileOffset < 0 || uint64_t(fileOffset) < size))
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
  for (std::unique_ptr<Buffer> &other : Space.Buffers)
    DRAGON_TRY(abandon(*other, [&](const Sink &sink) {
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

Status Sinks::abandon(const Sink &sink, uint64_t keepTo) {
  if (!sink.used)
    return {};
  const auto begin = uint64_t(sink.offset);
  const auto end = uint64_t(sink.placeOf(sink.end));
  const uint64_t from = std::max(begin, keepTo);
  if (from >= end)
    return {};
  DRAGON_TRY(detach(*sink.file, int64_t(from), int64_t(end), nullptr, 0));
  if (sink.file->isMemory())
    return {};
  DRAGON_ASSIGN(uint64_t size, sink.file->size());
  const RuntimeLock::WaitForFiles waits = Store.waitForFiles();
  if (size > end) // the program wrote behind it
    return sink.file->punchHole(int64_t(from), end - from);
  const uint64_t ends =
      std::max({sink.sizeBefore, keepTo, endOfUsed(*sink.file)});
  return size > ends ? sink.file->truncate(ends) : Status();
}

/// Where the last place of the file ends to which something was evicted.
uint64_t Sinks::endOfUsed(const BackingFile &file) const {
  uint64_t end = 0;
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    for (const Sink &sink : buffer->sinks)
      if (sink.used && sink.isIn(file))
        end = std::max(end, uint64_t(sink.placeOf(sink.end)));
  return end;
}

Status Sinks::abandonOthers(const BackingFile &file, int64_t begin, int64_t end,
                            const Buffer &writer) {
  for (std::unique_ptr<Buffer> &buffer : Space.Buffers)
    if (buffer.get() != &writer)
      DRAGON_TRY(abandon(*buffer, [&](const Sink &sink) {
        return sink.isIn(file) && sink.offset < end &&
               begin < sink.placeOf(sink.end);
      }));
  return {};
}

void Sinks::fileEndsBehind(const BackingFile &file, uint64_t end) {
  for (std::unique_ptr<Buffer> &buffer : Space.Buffers)
    for (Sink &sink : buffer->sinks)
      if (sink.isIn(file))
        sink.sizeBefore = std::max(sink.sizeBefore, end);
}

Status Sinks::abandon(Buffer &buffer,
                      const std::function<bool(const Sink &)> &which) {
  Status first;
  for (size_t i = 0; i < buffer.sinks.size();) {
    if (buffer.sinks[i].permanent || !which(buffer.sinks[i])) {
      ++i;
      continue;
    }
    Sink sink = std::move(buffer.sinks[i]);
    buffer.sinks.erase(buffer.sinks.begin() + ptrdiff_t(i));
    if (Status status = abandon(sink); first.ok())
      first = std::move(status);
  }
  return first;
}

namespace {

/// Contents in bytes [begin, end) of a file that must go elsewhere.
struct Conflict {
  dev_t deviceId;
  ino_t inode;
  int64_t begin;
  int64_t end;
  const Buffer *except;
  int64_t exceptDelta;

  bool isIn(dev_t otherDevice, ino_t otherInode) const {
    return otherInode == inode && otherDevice == deviceId;
  }
  bool isWith(const Piece &piece, const Chunk &chunk) const {
    if (!piece.file || !isIn(piece.file->deviceId(), piece.file->inode()))
      return false;
    int64_t pieceEnd = piece.offset + int64_t(piece.end - piece.begin);
    if (piece.offset >= end || pieceEnd <= begin)
      return false;
    // The same bytes at the same place are none.
    int64_t delta = piece.offset - int64_t(chunk.va() + piece.begin);
    return chunk.buffer != except || delta != exceptDelta;
  }
  bool isWith(const Chunk &chunk) const {
    return std::ranges::any_of(chunk.storage.pieces(), [&](const Piece &piece) {
      return isWith(piece, chunk);
    });
  }
  bool mayBeWith(const Buffer &buffer) const {
    return std::any_of(
        buffer.lines.begin(), buffer.lines.end(), [&](const BackingLine &line) {
          return isIn(line.deviceId, line.inode) &&
                 !(&buffer == except && line.delta == exceptDelta);
        });
  }
};

} // namespace

/// Straight to swap: there may be room nowhere else.
Status Sinks::moveToSwap(Chunk &chunk) {
  DRAGON_ASSIGN(Physical slab, Host.takeTransit(chunk.bytes()));
  ReadPlan plan;
  Store.planRead(chunk, 0, chunk.used(), static_cast<char *>(slab.hostView),
                 plan);
  Status status = Store.run(plan, Cause::Eviction);
  WritePlan write{&chunk, slab.hostView, Removal::ToSwap, {}, {}};
  if (status.ok())
    status = Store.write({&write, 1}, Cause::Eviction);
  Slabs.Pool.give(slab);
  return status;
}

Status Sinks::detach(const BackingFile &file, int64_t begin, int64_t end,
                     const Buffer *except, int64_t exceptDelta) {
  return detach(file.deviceId(), file.inode(), begin, end, except, exceptDelta);
}

Status Sinks::detach(dev_t deviceId, ino_t inode, int64_t begin, int64_t end,
                     const Buffer *except, int64_t exceptDelta) {
  Writes.finishTo(deviceId, inode, begin, end);
  const Conflict conflict{deviceId, inode, begin, end, except, exceptDelta};
  for (std::unique_ptr<Buffer> &buffer : Space.Buffers) {
    if (!conflict.mayBeWith(*buffer))
      continue;
    for (Chunk &chunk : buffer->chunks) {
      if (!chunk.copies.storage || !conflict.isWith(chunk))
        continue;
      if (chunk.copies.device || chunk.copies.host)
        Data.leaveStorage(chunk);
      else
        DRAGON_TRY(moveToSwap(chunk));
    }
    if (begin == 0 && end == INT64_MAX)
      std::erase_if(buffer->lines, [&](const BackingLine &line) {
        return conflict.isIn(line.deviceId, line.inode);
      });
  }
  return {};
}

void Sinks::leaveFile(Buffer &buffer, const Sink &sink) {
  for (Chunk &chunk : buffer.chunks) {
    const bool inFile =
        std::ranges::any_of(chunk.storage.pieces(), [&](const Piece &piece) {
          return piece.file && sink.isIn(*piece.file);
        });
    bool within = sink.begin <= chunk.va() && chunk.usedEnd() <= sink.end;
    if (!chunk.copies.storage || !within || !inFile)
      continue;
    // Without another copy they are undefined.
    const bool elsewhere = chunk.copies.inMemory();
    Data.dropStorage(chunk);
    buffer.note(chunk, elsewhere ? ChunkEvent::LeftStorage : ChunkEvent::Ended);
  }
}

} // namespace dragon
