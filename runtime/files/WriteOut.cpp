//===- WriteOut.cpp - contents of buffers go to files ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/files/WriteOut.h"

#include "runtime/trace/Bytes.h"
#include "runtime/trace/Trace.h"
#include <algorithm>
#include <cstring>
#include <deque>
#include <unistd.h>

namespace dragon {

namespace {
/// What is written to a file at once and is worth reserving space for.
constexpr size_t ExtendedBytes = 4 << 20;

/// The contents have gone to the file: who watches hears what is there now, if
/// the file may be read.
void tellWritten(Observer &watcher, AddressRange range, const BackingFile &file,
                 int64_t offset) {
  std::vector<char> piece(1 << 20);
  for (uintptr_t at = range.begin; at < range.end;) {
    const size_t part = std::min<size_t>(piece.size(), range.end - at);
    const ssize_t got = ::pread(file.fd(), piece.data(), part,
                                off_t(offset + int64_t(at - range.begin)));
    const bool known = got == ssize_t(part);
    watcher.hostRead({at, at + part}, HostAccess::File,
                     known ? piece.data() : nullptr);
    at += part;
  }
}
} // namespace

/// One call of write().
struct WriteOut::Transfer {
  /// A part of one chunk: first it arrives in host memory, then it is written.
  struct Part {
    Chunk *chunk;
    uintptr_t begin;
    uintptr_t end;
    Physical slab;          ///< id 0: written from the host copy
    const char *memory;     ///< null: in the file already
    uint64_t departure = 0; ///< ticket of its copy from the device
    ReadPlan plan = {};     ///< of its read from storage
    std::shared_ptr<BackgroundIo::Job> reading = nullptr;
    std::shared_ptr<BackgroundIo::Job> writing = nullptr;
    size_t written = 0;

    size_t bytes() const { return end - begin; }
  };

  WriteOut &out;
  Context &ctx;
  Buffer &buffer;
  uintptr_t address;
  std::shared_ptr<BackingFile> file;
  int64_t fileOffset;
  std::deque<Part> parts = {}; ///< on their way, in order
  uint64_t bytes = 0;          ///< of these parts' chunks
  size_t numWriting = 0;       ///< parts at the front that are being written
  bool broken = false;         ///< a part was not written as a whole

  int64_t placeOf(uintptr_t at) const {
    return fileOffset + int64_t(at - address);
  }
  bool isThere(const Chunk &chunk, uintptr_t begin, uintptr_t end) const;
  Status run(uintptr_t end, size_t &written);
  Status prepare(uintptr_t &at, uintptr_t end);
  Status arrive(Part &part);
  void startWriting(Part &part);
  Status finish(Part &part);
  void noteWritten(const Part &part);
  void giveBack(size_t &written);
};

bool WriteOut::Transfer::isThere(const Chunk &chunk, uintptr_t begin,
                                 uintptr_t end) const {
  if (!chunk.copies.storage)
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

/// Begins to bring the next chunk's part to host memory.
Status WriteOut::Transfer::prepare(uintptr_t &at, uintptr_t end) {
  Chunk &chunk = buffer.chunkAt(at);
  const uintptr_t begin = at, stop = std::min(end, chunk.va() + chunk.bytes());
  const size_t from = begin - chunk.va(), to = stop - chunk.va();
  at = stop;
  parts.push_back({&chunk, begin, stop, {}, nullptr});
  Part &part = parts.back(); // owns what is put into it, on failure as well
  // It may be on its way to a file already. Else it is written from here.
  if (chunk.transit.writing &&
      chunk.transit.writing->plan.target == Removal::ToSink)
    out.Writes.finish(chunk).ignore();
  if (isThere(chunk, begin, stop))
    return {};
  bytes += chunk.bytes();
  DRAGON_TRY(out.Time.settle(chunk));
  const bool onPeer = chunk.host.place == Place::Peer;
  if (chunk.copies.host && !onPeer) {
    ctx.pins.add(chunk); // the host copy stays until it is written
    part.memory = static_cast<const char *>(chunk.host.hostView) + from;
    return {};
  }
  DRAGON_ASSIGN(part.slab, out.Host.takeTransit(chunk.bytes()));
  char *memory = static_cast<char *>(part.slab.hostView) + from;
  part.memory = memory;
  if (chunk.copies.inMemory()) {
    const void *source =
        chunk.copies.device
            ? reinterpret_cast<const void *>(begin)
            : static_cast<const char *>(chunk.host.peerView) + from;
    DRAGON_TRY(ctx.device->copy(memory, source, stop - begin,
                                CopyKind::DeviceToHost, ctx.copyOut));
    ctx.ledger.moved(chunk.copies.device ? Direction::DeviceToHost
                                         : Direction::PeerToHost,
                     Cause::Sync, stop - begin);
    auto ticket = out.Time.Departures.note(ctx.copyOut);
    if (!ticket.ok())
      return ctx.device->synchronize(ctx.copyOut);
    part.departure = *ticket;
    return {};
  }
  // What is undefined is written as zeros, never as somebody's old data.
  if (!chunk.storage.covers(from, to))
    std::memset(memory, 0, to - from);
  out.Store.planRead(chunk, from, to, memory, part.plan);
  part.reading = out.Store.Background->start(std::move(part.plan.requests));
  return {};
}

/// Its bytes are in host memory.
Status WriteOut::Transfer::arrive(Part &part) {
  DRAGON_TRY(out.Time.Departures.waitFor(part.departure));
  if (!part.reading)
    return {};
  Status status = out.Store.wait(*part.reading);
  part.reading.reset();
  DRAGON_TRY(std::move(status));
  return out.Store.checkRead(part.plan, Cause::Sync,
                             out.Store.Background->takeBusyTime());
}

void WriteOut::Transfer::startWriting(Part &part) {
  if (!part.memory)
    return;
  part.writing = out.Store.Background->start(
      {{file.get(), const_cast<char *>(part.memory), part.bytes(),
        placeOf(part.begin), true, [&part](const Status &, size_t transferred) {
          part.written = transferred;
        }}});
}

Status WriteOut::Transfer::finish(Part &part) {
  if (!part.writing) {
    part.written = part.bytes();
    return {};
  }
  Status status = out.Store.wait(*part.writing);
  part.writing.reset();
  if (status.ok())
    ctx.ledger.moved(Direction::HostToFile, Cause::Sync, part.bytes(),
                     out.Store.Background->takeBusyTime());
  return status;
}

void WriteOut::Transfer::noteWritten(const Part &part) {
  // A map's own file is the contents' place from now on.
  Chunk &chunk = *part.chunk;
  const Sink *sink = buffer.sinkFor(chunk);
  if (!part.memory || !sink || !sink->permanent || chunk.hostMapped ||
      buffer.kept || part.begin != chunk.va() || part.end < chunk.usedEnd() ||
      !sink->isIn(*file) || sink->placeOf(part.begin) != placeOf(part.begin))
    return;
  out.Data.dropStorage(chunk);
  chunk.storage.put(
      {0, chunk.used(), PieceKind::File, sink->file, placeOf(part.begin)});
  buffer.noteBacking(*sink->file, part.begin, placeOf(part.begin));
  buffer.note(chunk, ChunkEvent::Stored);
}

/// `written` grows by what is in the file from the start.
Status WriteOut::Transfer::run(uintptr_t end, size_t &written) {
  const uint64_t limit = ctx.limits.transitBytes / 2;
  uintptr_t at = address;
  while (at < end || !parts.empty()) {
    while (at < end &&
           (parts.empty() || bytes + buffer.chunkAt(at).bytes() <= limit))
      DRAGON_TRY(prepare(at, end));
    // The link is quicker than any disk: to wait for a copy costs nothing.
    for (; numWriting < parts.size(); ++numWriting) {
      DRAGON_TRY(arrive(parts[numWriting]));
      startWriting(parts[numWriting]);
    }
    Part &part = parts.front();
    Status status = finish(part);
    written += part.written;
    broken = !status.ok();
    DRAGON_TRY(std::move(status));
    noteWritten(part);
    if (part.slab.id)
      out.Slabs.Pool.give(part.slab);
    if (part.memory)
      bytes -= part.chunk->bytes();
    parts.pop_front();
    --numWriting;
  }
  return {};
}

/// What a failure has left under way comes to its end.
void WriteOut::Transfer::giveBack(size_t &written) {
  for (size_t i = 0; i < parts.size(); ++i) {
    Part &part = parts[i];
    if (part.reading)
      out.Store.wait(*part.reading).ignore();
    if (broken && i == 0)
      continue; // it is in the count
    Status status = finish(part);
    broken |= i >= numWriting;
    if (!broken)
      written += part.written;
    broken |= !status.ok();
  }
  if (!parts.empty())
    ctx.device->synchronize(ctx.copyOut).ignore();
  for (Part &part : parts)
    if (part.slab.id)
      out.Slabs.Pool.give(part.slab);
  parts.clear();
}

Status WriteOut::write(uintptr_t address, size_t bytes,
                       std::shared_ptr<BackingFile> file, int64_t fileOffset,
                       size_t &written) {
  DRAGON_TRY(Space.rangeOf(address, bytes, "write to a file").takeStatus());
  Buffer &buffer = *Space.Allocations.find(address)->buffer;
  TraceZone zone("write to file", bytes);
  zone.on(file->path());
  ++Ctx.clock;
  Ctx.pins.next();
  const Moving moving(buffer);
  const uintptr_t end = address + bytes;
  // Announced for another place.
  DRAGON_TRY(Announced.abandon(buffer, [&](const Sink &sink) {
    return sink.begin < end && address < sink.end &&
           (!sink.isIn(*file) || sink.placeOf(address) != fileOffset);
  }));
  // Others may have their place, or their contents, where this goes.
  const int64_t fileEnd = fileOffset + int64_t(bytes);
  DRAGON_TRY(Announced.abandonOthers(*file, fileOffset, fileEnd, buffer));
  DRAGON_TRY(Announced.detach(*file, fileOffset, fileEnd, &buffer,
                              fileOffset - int64_t(address)));
  DRAGON_ASSIGN(const uint64_t sizeBefore, file->size());
  std::vector<ObservedEnd> ends;
  for (const Sink &sink : buffer.sinks)
    if (Ctx.watcher && sink.why && sink.begin < end && address < sink.end &&
        sink.end <= end)
      ends.push_back({{sink.begin, sink.end}, Ctx.launches, sink.why});
  const bool extended =
      bytes >= ExtendedBytes && extend(*file, uint64_t(fileEnd));
  Transfer transfer{*this, Ctx, buffer, address, file, fileOffset};
  Status status = transfer.run(end, written);
  transfer.giveBack(written);
  if (extended && !status.ok())
    file->truncate(std::max(sizeBefore, uint64_t(fileOffset) + written))
        .ignore(); // the failure that is told is the first one
  if (written)
    Announced.fileEndsBehind(*file, uint64_t(fileOffset) + written);
  if (Ctx.watcher) {
    tellWritten(*Ctx.watcher, {address, address + written}, *file, fileOffset);
    for (const ObservedEnd &over : ends)
      Ctx.watcher->discarded(over);
  }
  endSinks(buffer, {address, end}, status.ok(), uint64_t(fileOffset) + written);
  return status;
}

void WriteOut::endSinks(Buffer &buffer, AddressRange range, bool ok,
                        uint64_t keepTo) {
  // The announced write has happened, and the file is the program's, who may
  // change it: contents that are nowhere else are dead, by announcement. Or it
  // has failed: the file ends with what was written.
  for (size_t i = 0; i < buffer.sinks.size();) {
    Sink &sink = buffer.sinks[i];
    if (sink.permanent || sink.begin >= range.end || range.begin >= sink.end ||
        (ok && sink.end > range.end)) {
      ++i;
      continue;
    }
    Sink done = std::move(sink);
    buffer.sinks.erase(buffer.sinks.begin() + ptrdiff_t(i));
    if (!ok)
      Announced.abandon(done, keepTo).ignore();
    else if (done.used)
      Announced.leaveFile(buffer, done);
  }
}

void WriteOut::finished(uintptr_t begin, uintptr_t end) {
  const Allocation *found = Space.Allocations.find(begin);
  if (!found)
    return;
  Buffer &buffer = *found->buffer;
  const auto sink = std::ranges::find_if(buffer.sinks, [&](const Sink &one) {
    return !one.permanent && one.begin == begin && one.end == end;
  });
  if (sink == buffer.sinks.end())
    return;
  const ObservedEnd over{{begin, end}, Ctx.launches, sink->why};
  endSinks(buffer, {begin, end}, true, 0);
  if (Ctx.watcher && over.why)
    Ctx.watcher->discarded(over);
}

bool WriteOut::extend(BackingFile &file, uint64_t bytes) {
  const RuntimeLock::WaitForFiles waits(Ctx.lock);
  return file.extend(bytes);
}

Status WriteOut::syncData(BackingFile &file) {
  const RuntimeLock::WaitForFiles waits(Ctx.lock);
  return file.syncData();
}

Status WriteOut::sync(Buffer &buffer) {
  Status first;
  for (size_t i = 0; i < buffer.sinks.size(); ++i) {
    Sink sink = buffer.sinks[i];
    if (!sink.permanent)
      continue;
    size_t written = 0;
    Status status = write(sink.begin, sink.end - sink.begin, sink.file,
                          sink.offset, written);
    if (status.ok())
      status = syncData(*sink.file);
    if (first.ok())
      first = std::move(status);
  }
  return first;
}

} // namespace dragon
