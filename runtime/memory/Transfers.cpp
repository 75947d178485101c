//===- Transfers.cpp - the program's copies and fills ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Transfers.h"

#include "runtime/memory/ProgramSide.h"
#include "runtime/tier/MemoryCopies.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace dragon {

namespace {

/// The most that the processor is to copy later.
constexpr size_t GatheredBytes = 64 << 20;

/// The chunks of [begin, end), with the part of each that is in it.
template <typename Fn>
Status forEachChunk(Buffer &buffer, uintptr_t begin, uintptr_t end, Fn fn) {
  while (begin < end) {
    Chunk &chunk = buffer.chunkAt(begin);
    uintptr_t stop = std::min(end, chunk.va() + chunk.bytes());
    DRAGON_TRY(fn(chunk, begin, stop));
    begin = stop;
  }
  return {};
}

LaunchNeed needFor(const Chunk &chunk, uintptr_t begin, uintptr_t end) {
  return begin <= chunk.va() && end >= chunk.usedEnd() ? LaunchNeed::Overwrite
                                                       : LaunchNeed::Write;
}

} // namespace

/// Cuts [begin, end) into runs of chunks for which `onDevice` gives the same
/// answer; it is asked again for each chunk, when the chunks before are done.
/// A run of several chunks on the device needs no room there that is not free.
template <typename OnDevice, typename DeviceRun, typename HostChunk>
static Status forRuns(Buffer &buffer, const SlabPool &pool, uintptr_t begin,
                      uintptr_t end, OnDevice onDevice, DeviceRun deviceRun,
                      HostChunk hostChunk) {
  while (begin < end) {
    Chunk &first = buffer.chunkAt(begin);
    uintptr_t stop = std::min(end, first.va() + first.bytes());
    if (!onDevice(first, begin, stop)) {
      DRAGON_TRY(hostChunk(first, begin, stop));
      begin = stop;
      continue;
    }
    uintptr_t runEnd = stop;
    const bool hasRoom = first.device.id || pool.hasRoom(first.bytes());
    while (hasRoom && runEnd < end) {
      Chunk &next = buffer.chunkAt(runEnd);
      uintptr_t nextStop = std::min(end, next.va() + next.bytes());
      if (!(next.copies.device || (next.device.id && !next.copies.host)) ||
          !onDevice(next, runEnd, nextStop))
        break;
      runEnd = nextStop;
    }
    DRAGON_TRY(deviceRun(begin, runEnd));
    begin = runEnd;
  }
  return {};
}

Status Transfers::checkHostMemory(const void *memory, size_t bytes) {
  // A thread that copies could not have the chunk brought to the host: the lock
  // is held.
  auto begin = reinterpret_cast<uintptr_t>(memory);
  for (const Allocation *other :
       Space.Allocations.overlapping(begin, begin + bytes))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "copy of {}: the host memory at {:#x} reaches into "
                         "buffer '{}' at {:#x}",
                         formatBytes(bytes), begin, other->name, other->base);
  return {};
}

Status Transfers::bringInForWrite(Buffer &buffer, uintptr_t begin,
                                  uintptr_t end, Queue queue,
                                  std::vector<Chunk *> &chunks) {
  std::vector<ChunkUse> uses;
  DRAGON_TRY(forEachChunk(
      buffer, begin, end,
      [&](Chunk &chunk, uintptr_t partBegin, uintptr_t partEnd) -> Status {
        uses.push_back(useOfAll(chunk, needFor(chunk, partBegin, partEnd)));
        chunks.push_back(&chunk);
        return {};
      }));
  Ctx.pins.next();
  return Resident.bringIn(uses, queue, Cause::Copy);
}

// -- From host memory --------------------------------------------------------

/// One copy from host memory to a buffer.
class Transfers::Upload {
public:
  Upload(Transfers &moves, Buffer &buffer, uintptr_t to, const char *from,
         size_t bytes, Queue queue, HostSide side)
      : T(moves), Ctx(moves.Ctx), Into(buffer), To(to), From(from),
        Bytes(bytes), InQueue(queue), Pageable(side.pageable),
        Stage(Ctx, T.Slabs, queue, Ctx.copyIn, bytes, side.pageable),
        OutOfCore(T.Space.LiveBytes > T.OnDevice.Pool.budget()),
        Source(*Ctx.device, from, queue, side) {
    if (Pageable && OutOfCore)
      for (const Chunk *chunk : T.OnDevice.Chunks)
        Held += chunk->copies.device ? chunk->bytes() : 0;
  }
  ~Upload() { Gathered.makeAll(); } // what was noted as written is

  Status run() {
    DRAGON_TRY(forRuns(
        Into, T.OnDevice.Pool, To, To + Bytes,
        [this](Chunk &chunk, uintptr_t begin, uintptr_t end) {
          return goesToDevice(chunk, begin, end);
        },
        [this](uintptr_t begin, uintptr_t end) {
          return copyToDevice(begin, end);
        },
        [this](Chunk &chunk, uintptr_t begin, uintptr_t end) {
          return copyToHost(chunk, begin, end);
        }));
    return Stage.finish();
  }

private:
  const char *source(uintptr_t at) const { return From + (at - To); }
  bool hostHasRoom(const Chunk &chunk) const {
    return chunk.copies.host || chunk.host.id || T.Slabs.hasRoom(chunk.bytes());
  }
  bool goesToDevice(Chunk &chunk, uintptr_t begin, uintptr_t end);
  Status copyToDevice(uintptr_t begin, uintptr_t end);
  Status copyToHost(Chunk &chunk, uintptr_t begin, uintptr_t end);
  /// What is not written is there, or nothing is left of it.
  StatusOr<bool> takesToPeer(Chunk &chunk, uintptr_t begin, uintptr_t end);
  Status copyToPeer(Chunk &chunk, uintptr_t begin, uintptr_t end);

  Transfers &T;
  Context &Ctx;
  Buffer &Into;
  const uintptr_t To;
  const char *const From;
  const size_t Bytes;
  const Queue InQueue;
  const bool Pageable;
  PinnedStage Stage;
  MemoryCopies Gathered;
  const bool OutOfCore;
  uint64_t Held = 0; ///< contents on the device
  ProgramSide Source;
};

bool Transfers::Upload::goesToDevice(Chunk &chunk, uintptr_t begin,
                                     uintptr_t end) {
  UploadState state;
  state.outOfCore = OutOfCore;
  state.pageable = Pageable;
  state.overwrites = needFor(chunk, begin, end) == LaunchNeed::Overwrite;
  state.readOnly = Into.flags == D_READ;
  state.onDevice = chunk.copies.device;
  state.hostHasRoom = hostHasRoom(chunk);
  state.held = Held + chunk.bytes();
  state.budget = T.OnDevice.Pool.budget();
  const UploadPlace place = placeUpload(state);
  const bool comes =
      place == UploadPlace::Device ||
      (place == UploadPlace::DeviceIfFree && T.OnDevice.fits(chunk));
  Held += comes && !chunk.copies.device ? chunk.bytes() : 0;
  return comes;
}

Status Transfers::Upload::copyToDevice(uintptr_t begin, uintptr_t end) {
  std::vector<Chunk *> chunks;
  Gathered.makeAll(); // into chunks that may be evicted now
  DRAGON_TRY(T.bringInForWrite(Into, begin, end, InQueue, chunks));
  Status copied;
  if (StagedCopies *copies = Stage.forRun(end - begin))
    copied = copies->toDevice(begin, source(begin), end - begin);
  else
    copied = Ctx.device->copy(reinterpret_cast<void *>(begin), source(begin),
                              end - begin, CopyKind::HostToDevice, InQueue);
  // Some of it may have been written even so.
  for (Chunk *chunk : chunks)
    if (copied.ok() || chunk->copies.device)
      DRAGON_TRY(T.Data.wroteDevice(*chunk, chunk->partOf(begin, end)));
  DRAGON_TRY(std::move(copied));
  Ctx.ledger.moved(Direction::HostToDevice, Cause::Copy, end - begin);
  return T.Time.noteUse(chunks, InQueue);
}

StatusOr<bool> Transfers::Upload::takesToPeer(Chunk &chunk, uintptr_t begin,
                                              uintptr_t end) {
  if (chunk.hostMapped || !T.Slabs.Peers.any())
    return false;
  if (chunk.host.place == Place::Peer && chunk.copies.host)
    return true;
  if (needFor(chunk, begin, end) != LaunchNeed::Overwrite)
    return false;
  return T.Resident.goToPeer(chunk);
}

Status Transfers::Upload::copyToPeer(Chunk &chunk, uintptr_t begin,
                                     uintptr_t end) {
  DRAGON_TRY(T.Time.queueWaitsFor(InQueue, chunk));
  char *to = static_cast<char *>(chunk.host.peerView) + (begin - chunk.va());
  if (StagedCopies *copies = Stage.forRun(end - begin))
    DRAGON_TRY(copies->toDevice(reinterpret_cast<uintptr_t>(to), source(begin),
                                end - begin));
  else
    DRAGON_TRY(Ctx.device->copy(to, source(begin), end - begin,
                                CopyKind::HostToDevice, InQueue));
  Ctx.ledger.moved(Direction::HostToPeer, Cause::Copy, end - begin);
  Chunk *const one = &chunk;
  DRAGON_TRY(T.Time.noteUse({&one, 1}, InQueue));
  return T.Data.wroteHost(chunk, chunk.partOf(begin, end));
}

Status Transfers::Upload::copyToHost(Chunk &chunk, uintptr_t begin,
                                     uintptr_t end) {
  Ctx.pins.next();
  DRAGON_ASSIGN(const bool toPeer, takesToPeer(chunk, begin, end));
  if (toPeer)
    return copyToPeer(chunk, begin, end);
  // As above. And while host memory is made, there are copies to make.
  if (!chunk.host.id &&
      !(T.Slabs.Pool.isReady(chunk.bytes()) && T.Slabs.hasRoom(chunk.bytes())))
    Gathered.makeAll();
  DRAGON_TRY(
      T.Resident.bringToHost(chunk, needFor(chunk, begin, end), Cause::Copy));
  DRAGON_TRY(T.Time.settle(chunk));
  char *to = static_cast<char *>(chunk.host.hostView) + (begin - chunk.va());
  if (Source.reachable()) {
    DRAGON_TRY(Source.waitForQueue());
    Gathered.add(to, source(begin), end - begin);
    // While what was written last is in the processor's caches.
    if (Gathered.bytes() >= GatheredBytes)
      Gathered.makeAll();
  } else {
    DRAGON_TRY(Ctx.device->copy(to, source(begin), end - begin,
                                CopyKind::DeviceToHost, InQueue));
    DRAGON_TRY(Ctx.device->synchronize(InQueue));
  }
  return T.Data.wroteHost(chunk, chunk.partOf(begin, end));
}

Status Transfers::toBuffer(Buffer &buffer, uintptr_t to, const char *from,
                           size_t bytes, Queue queue, HostSide side) {
  TraceZone zone("copy in", bytes);
  nameIn(zone, buffer);
  DRAGON_TRY(checkHostMemory(from, bytes));
  ++Ctx.clock;
  Next.overwritten(to, to + bytes);
  return Upload(*this, buffer, to, from, bytes, queue, side).run();
}

// -- On the device -----------------------------------------------------------

Status Transfers::betweenOnDevice(Buffer &toBuffer, uintptr_t to,
                                  Buffer &fromBuffer, uintptr_t from,
                                  size_t bytes, Queue queue) {
  DRAGON_TRY(Time.Fetches.queueWaitsFor(
      queue, std::max(toBuffer.lastArrival, fromBuffer.lastArrival)));
  DRAGON_TRY(Ctx.device->copy(reinterpret_cast<void *>(to),
                              reinterpret_cast<const void *>(from), bytes,
                              CopyKind::DeviceToDevice, queue));
  Ctx.ledger.moved(Direction::DeviceToDevice, Cause::Copy, bytes);
  std::vector<Chunk *> used;
  auto use = [&used](Chunk &chunk, uintptr_t, uintptr_t) -> Status {
    used.push_back(&chunk);
    return {};
  };
  DRAGON_TRY(forEachChunk(toBuffer, to, to + bytes, use));
  for (Chunk *chunk : used)
    DRAGON_TRY(Data.wroteDevice(*chunk, chunk->partOf(to, to + bytes)));
  DRAGON_TRY(forEachChunk(fromBuffer, from, from + bytes, use));
  for (Chunk *chunk : used)
    chunk->lastTouch = Ctx.clock;
  return Time.noteUse(used, queue);
}

/// Each end of it is in one chunk.
Status Transfers::betweenChunks(Buffer &toBuffer, uintptr_t to,
                                Buffer &fromBuffer, uintptr_t from,
                                size_t bytes, Queue queue) {
  Chunk &source = fromBuffer.chunkAt(from);
  Chunk &target = toBuffer.chunkAt(to);
  Chunk *both[] = {&source, &target};
  const size_t together =
      source.bytes() + (&source == &target ? 0 : target.bytes());
  if (together <= OnDevice.Pool.budget()) {
    const ChunkUse uses[] = {
        useOfAll(source, LaunchNeed::Read),
        useOfAll(target, &source == &target ? LaunchNeed::Write
                                            : needFor(target, to, to + bytes))};
    Ctx.pins.next();
    // One chunk is one use.
    DRAGON_TRY(Resident.bringIn(std::span(uses).subspan(&source == &target),
                                queue, Cause::Copy));
    DRAGON_TRY(Ctx.device->copy(reinterpret_cast<void *>(to),
                                reinterpret_cast<const void *>(from), bytes,
                                CopyKind::DeviceToDevice, queue));
    Ctx.ledger.moved(Direction::DeviceToDevice, Cause::Copy, bytes);
    DRAGON_TRY(Data.wroteDevice(target, target.partOf(to, to + bytes)));
    return Time.noteUse(both, queue);
  }
  // The budget does not hold both.
  std::vector<char> bounce(bytes);
  const HostSide side{/*pageable=*/true};
  DRAGON_TRY(
      this->fromBuffer(fromBuffer, bounce.data(), from, bytes, queue, side));
  DRAGON_TRY(Ctx.device->synchronize(queue));
  DRAGON_TRY(this->toBuffer(toBuffer, to, bounce.data(), bytes, queue, side));
  return Ctx.device->synchronize(queue);
}

Status Transfers::between(Buffer &toBuffer, uintptr_t to, Buffer &fromBuffer,
                          uintptr_t from, size_t bytes, Queue queue) {
  TraceZone zone("copy within", bytes);
  nameIn(zone, fromBuffer);
  nameIn(zone, toBuffer);
  ++Ctx.clock;
  Next.overwritten(to, to + bytes);
  for (Buffer *buffer : {&toBuffer, &fromBuffer})
    Data.adoptMapped(*buffer);
  if (toBuffer.allOnDevice() && fromBuffer.allOnDevice())
    return betweenOnDevice(toBuffer, to, fromBuffer, from, bytes, queue);
  for (size_t done = 0; done < bytes;) {
    const Chunk &source = fromBuffer.chunkAt(from + done);
    const Chunk &target = toBuffer.chunkAt(to + done);
    size_t part =
        std::min({bytes - done, source.va() + source.bytes() - (from + done),
                  target.va() + target.bytes() - (to + done)});
    DRAGON_TRY(betweenChunks(toBuffer, to + done, fromBuffer, from + done, part,
                             queue));
    done += part;
  }
  return {};
}

Status Transfers::fill(Buffer &buffer, uintptr_t to, uint32_t value,
                       unsigned width, size_t count, Queue queue) {
  const size_t bytes = count * width;
  TraceZone zone("fill", bytes);
  nameIn(zone, buffer);
  ++Ctx.clock;
  Next.overwritten(to, to + bytes);
  auto onDevice = [&](Chunk &chunk, uintptr_t begin, uintptr_t end) {
    // Zeros need no memory at all.
    bool asZeros =
        value == 0 && needFor(chunk, begin, end) == LaunchNeed::Overwrite;
    return !asZeros || OnDevice.fits(chunk);
  };
  auto deviceRun = [&](uintptr_t begin, uintptr_t end) -> Status {
    std::vector<Chunk *> chunks;
    DRAGON_TRY(bringInForWrite(buffer, begin, end, queue, chunks));
    DRAGON_TRY(Ctx.device->fill(reinterpret_cast<void *>(begin), value, width,
                                (end - begin) / width, queue));
    for (Chunk *chunk : chunks)
      DRAGON_TRY(Data.wroteDevice(*chunk, chunk->partOf(begin, end)));
    return Time.noteUse(chunks, queue);
  };
  auto asZeros = [&](Chunk &chunk, uintptr_t, uintptr_t) -> Status {
    DRAGON_TRY(Time.settle(chunk));
    DRAGON_TRY(Data.forget(chunk));
    chunk.storage.put({0, chunk.used(), PieceKind::Zero, nullptr, 0});
    return {};
  };
  return forRuns(buffer, OnDevice.Pool, to, to + bytes, onDevice, deviceRun,
                 asZeros);
}

} // namespace dragon
