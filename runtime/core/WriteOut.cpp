//===- WriteOut.cpp - the contents of buffers to files --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each byte goes to the file once, from wherever it is: host memory, the
// device (through transit slabs: while one batch is written the next leaves the
// device), a file, swap. What was evicted to its place in the file before is
// there already.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cstring>

namespace dragon {

/// One call of writeToFile.
struct Runtime::Impl::WriteOut {
  struct Part {
    Chunk *chunk;
    uintptr_t begin;
    uintptr_t end;
    Physical slab;      ///< id 0: written from the host copy
    const char *memory; ///< null: there already
  };
  struct Batch {
    std::vector<Part> parts;
    bool leavesDevice = false;
  };

  Impl &impl;
  Buffer &buffer;
  uintptr_t address;
  std::shared_ptr<BackingFile> file;
  int64_t fileOffset;

  int64_t placeOf(uintptr_t at) const {
    return fileOffset + int64_t(at - address);
  }
  bool isThere(const Chunk &chunk, uintptr_t begin, uintptr_t end) const;
  Status prepare(uintptr_t &at, uintptr_t end, uint64_t limit, Batch &batch);
  Status write(Batch &batch, size_t &written);
  void giveBack(Batch &batch);
};

bool Runtime::Impl::WriteOut::isThere(const Chunk &chunk, uintptr_t begin,
                                      uintptr_t end) const {
  if (!chunk.storageValid)
    return false;
  uintptr_t at = begin;
  for (const Piece &piece : chunk.storage.pieces()) {
    uintptr_t pieceBegin = chunk.va() + piece.begin;
    uintptr_t pieceEnd = chunk.va() + piece.end;
    if (pieceBegin > at || pieceEnd <= at)
      continue;
    if (!piece.isAt(*file, placeOf(pieceBegin)))
      return false;
    at = pieceEnd;
  }
  return at >= end;
}

/// Takes the next chunks up to `limit` bytes; copies from the device are under
/// way when it returns.
Status Runtime::Impl::WriteOut::prepare(uintptr_t &at, uintptr_t end,
                                        uint64_t limit, Batch &batch) {
  uint64_t bytes = 0;
  ReadPlan reads;
  while (at < end) {
    Chunk &chunk = buffer.chunkAt(at);
    uintptr_t stop = std::min(end, chunk.va() + chunk.bytes());
    if (!batch.parts.empty() && bytes + chunk.bytes() > limit)
      break;
    Part part{&chunk, at, stop, {}, nullptr};
    if (isThere(chunk, at, stop)) {
      batch.parts.push_back(part);
      at = stop;
      continue;
    }
    DRAGON_TRY(impl.settle(chunk));
    if (chunk.hostValid) {
      part.memory =
          static_cast<const char *>(chunk.host.hostView) + (at - chunk.va());
      batch.parts.push_back(part);
      bytes += stop - at;
      at = stop;
      continue;
    }
    DRAGON_ASSIGN(part.slab, impl.takeTransit(chunk.bytes()));
    bytes += chunk.bytes();
    char *memory = static_cast<char *>(part.slab.hostView) + (at - chunk.va());
    part.memory = memory;
    batch.parts.push_back(part); // owns the slab from here
    if (chunk.deviceValid) {
      batch.leavesDevice = true;
      DRAGON_TRY(impl.Dev->copy(memory, reinterpret_cast<const void *>(at),
                                stop - at, CopyKind::DeviceToHost,
                                impl.CopyOut));
      impl.Bytes.moved(Direction::DeviceToHost, Cause::Sync, stop - at);
    } else {
      // What is undefined is written as zeros, never as somebody's old data.
      if (!chunk.storage.covers(at - chunk.va(), stop - chunk.va()))
        std::memset(memory, 0, stop - at);
      DRAGON_TRY(impl.planRead(chunk, at - chunk.va(), stop - chunk.va(),
                               memory, reads));
    }
    at = stop;
  }
  return impl.runRead(reads, Cause::Sync);
}

void Runtime::Impl::WriteOut::giveBack(Batch &batch) {
  // Nothing may still be on its way into the slabs.
  if (batch.leavesDevice)
    impl.Dev->synchronize(impl.CopyOut).ignore();
  for (Part &part : batch.parts)
    if (part.slab.id)
      impl.HostPool.give(part.slab);
  batch = {};
}

Status Runtime::Impl::WriteOut::write(Batch &batch, size_t &written) {
  std::vector<FileRequest> requests;
  std::vector<size_t> done(batch.parts.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < batch.parts.size(); ++i) {
    Part &part = batch.parts[i];
    if (!part.memory) {
      done[i] = part.end - part.begin;
      continue;
    }
    requests.push_back({file.get(), const_cast<char *>(part.memory),
                        part.end - part.begin, placeOf(part.begin), true,
                        [&done, i](const Status &, size_t transferred) {
                          done[i] = transferred;
                        }});
    bytes += part.end - part.begin;
  }
  uint64_t begin = traceClock();
  Status status = requests.empty() ? Status() : impl.Files->run(requests);
  if (bytes && status.ok())
    impl.Bytes.moved(Direction::HostToFile, Cause::Sync, bytes,
                     traceClock() - begin);
  for (size_t i = 0; i < batch.parts.size(); ++i) {
    Part &part = batch.parts[i];
    written += done[i];
    if (done[i] < part.end - part.begin)
      break;
    // A map's own file is the contents' place from now on.
    Chunk &chunk = *part.chunk;
    const Sink *sink = buffer.sinkFor(chunk);
    if (part.memory && sink && sink->permanent && !chunk.hostMapped &&
        !buffer.kept && part.begin == chunk.va() &&
        part.end >= chunk.usedEnd() && sink->file->inode() == file->inode() &&
        sink->file->deviceId() == file->deviceId() &&
        sink->placeOf(part.begin) == placeOf(part.begin)) {
      impl.dropStorage(chunk);
      chunk.storage.put(
          {0, chunk.used(), PieceKind::File, sink->file, placeOf(part.begin)});
      buffer.noteBacking(*sink->file, part.begin, placeOf(part.begin));
      buffer.setValid(chunk, chunk.deviceValid, chunk.hostValid, true);
    }
  }
  return status;
}

void Runtime::Impl::leaveFile(Buffer &buffer, const Sink &sink) {
  for (Chunk &chunk : buffer.chunks) {
    const std::vector<Piece> &pieces = chunk.storage.pieces();
    bool inFile =
        std::any_of(pieces.begin(), pieces.end(), [&](const Piece &piece) {
          return piece.file && sink.isIn(*piece.file);
        });
    bool within = sink.begin <= chunk.va() && chunk.usedEnd() <= sink.end;
    if (!chunk.storageValid || !within || !inFile)
      continue;
    bool elsewhere = chunk.deviceValid || chunk.hostValid;
    dropStorage(chunk);
    buffer.setValid(chunk, chunk.deviceValid, chunk.hostValid, !elsewhere);
  }
}

Status Runtime::Impl::writeToFile(uintptr_t address, size_t bytes,
                                  std::shared_ptr<BackingFile> file,
                                  int64_t fileOffset, size_t &written) {
  DRAGON_TRY(rangeOf(address, bytes, "write to a file").takeStatus());
  Buffer &buffer = *Allocations.find(address)->buffer;
  TraceZone zone("write to file", bytes);
  zone.detail(file->path().c_str());
  if (Watcher)
    Watcher->hostRead({address, address + bytes});
  ++Clock;
  ++Round;
  const uintptr_t end = address + bytes;
  // Announced for another place.
  DRAGON_TRY(abandonSinks(buffer, [&](const Sink &sink) {
    return sink.begin < end && address < sink.end &&
           (!sink.isIn(*file) || sink.placeOf(address) != fileOffset);
  }));
  // Others may have their contents where this goes.
  DRAGON_TRY(detach(file->deviceId(), file->inode(), fileOffset,
                    fileOffset + int64_t(bytes), &buffer,
                    fileOffset - int64_t(address)));
  WriteOut out{*this, buffer, address, file, fileOffset};
  const uint64_t limit = Limits.transitBytes / 2;
  uintptr_t at = address;
  WriteOut::Batch current, next;
  Status status = out.prepare(at, end, limit, current);
  while (status.ok() && !current.parts.empty()) {
    if (current.leavesDevice) {
      status = Dev->synchronize(CopyOut);
      current.leavesDevice = false;
    }
    Status ahead;
    if (status.ok() && at < end && Limits.transitBytes > Limits.chunkBytes)
      ahead = out.prepare(at, end, limit, next);
    if (status.ok())
      status = out.write(current, written);
    out.giveBack(current);
    if (status.ok())
      status = std::move(ahead);
    if (status.ok() && next.parts.empty() && at < end)
      status = out.prepare(at, end, limit, next);
    std::swap(current, next);
  }
  out.giveBack(current);
  out.giveBack(next);
  // The announced write has happened, and the file is the program's, who may
  // change it: contents that are nowhere else are dead, by announcement. Or it
  // has failed: the file ends with what was written.
  for (size_t i = 0; i < buffer.sinks.size();) {
    Sink &sink = buffer.sinks[i];
    if (sink.permanent || sink.begin >= end || address >= sink.end) {
      ++i;
      continue;
    }
    Sink done = std::move(sink);
    buffer.sinks.erase(buffer.sinks.begin() + ptrdiff_t(i));
    if (!status.ok())
      abandonSink(done, uint64_t(fileOffset) + written).ignore();
    else if (done.used)
      leaveFile(buffer, done);
  }
  return status;
}

Status Runtime::Impl::sync(Buffer &buffer) {
  Status first;
  for (size_t i = 0; i < buffer.sinks.size(); ++i) {
    Sink sink = buffer.sinks[i];
    if (!sink.permanent)
      continue;
    size_t written = 0;
    Status status = writeToFile(sink.begin, sink.end - sink.begin, sink.file,
                                sink.offset, written);
    if (status.ok())
      status = sink.file->syncData();
    if (first.ok())
      first = std::move(status);
  }
  return first;
}

} // namespace dragon
