//===- Residency.cpp - bringing contents to where they are needed ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Residency.h"

#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dragon {

Status Residency::bringIn(std::span<const ChunkUse> uses, Queue queue,
                          Cause cause, std::optional<Queue> fills) {
  DRAGON_TRY(startBringingIn(uses, cause, fills));
  // Others may be on their way for work that comes later.
  std::vector<uint64_t> arrivals;
  for (const ChunkUse &use : uses)
    arrivals.push_back(use.chunk->transit.arrival);
  return Time.Fetches.queueWaitsForEach(queue, arrivals);
}

Status Residency::fillUndefined(const Chunk &chunk, Queue queue) {
  const ChunkPart part = chunk.defined;
  if (part.bytes() == chunk.used())
    return {};
  if (Ctx.config.poison)
    return Ctx.device->poison(chunk.va(), chunk.bytes(), queue);
  auto clear = [&](size_t begin, size_t end) {
    return begin < end
               ? Ctx.device->fill(reinterpret_cast<void *>(chunk.va() + begin),
                                  0, 1, end - begin, queue)
               : Status();
  };
  if (part.empty())
    return clear(0, chunk.used());
  DRAGON_TRY(clear(0, part.begin));
  return clear(part.end, chunk.used());
}

Status Residency::startBringingIn(std::span<const ChunkUse> uses, Cause cause,
                                  std::optional<Queue> fills) {
  auto isMissing = [](const ChunkUse &use) { return !use.chunk->device.id; };
  // Before anything is pinned: who waits for others holds nothing.
  if (std::any_of(uses.begin(), uses.end(), isMissing))
    OnDevice.claim(uses);
  uint64_t missing = 0;
  for (const ChunkUse &use : uses) {
    Ctx.pins.add(*use.chunk);
    use.chunk->lastTouch = Ctx.clock;
    if (isMissing(use))
      missing += use.chunk->bytes();
  }
  DeviceChunks::Exchange exchange(OnDevice);
  if (missing)
    DRAGON_TRY(exchange.begin(missing));
  // What is copied comes while there is still something leaving, and what needs
  // no copy last.
  TraceZone zone("bring in");
  Arrivals arrivals{exchange, {}, {}, {}, fills.value_or(Ctx.copyIn)};
  DRAGON_TRY(bringThose(uses, cause, arrivals, zone, /*withContents=*/true));
  if (!arrivals.fromStorage.empty())
    DRAGON_TRY(fetch(arrivals.fromStorage, cause));
  return bringThose(uses, cause, arrivals, zone, /*withContents=*/false);
}

Status Residency::bringThose(std::span<const ChunkUse> uses, Cause cause,
                             Arrivals &arrivals, TraceZone &zone,
                             bool withContents) {
  Status status;
  for (const ChunkUse &use : uses)
    if ((use.need != LaunchNeed::Overwrite) == withContents)
      if (status = bring(use, cause, arrivals); !status.ok())
        break;
  for (const Chunk *chunk : arrivals.copied)
    nameIn(zone, *chunk->buffer);
  zone.add(std::exchange(arrivals.bytes, 0));
  // Chunks that were queued are on their way, whatever has failed.
  Status noted = noteArrivals(arrivals);
  return status.ok() ? std::move(noted) : std::move(status);
}

Status Residency::map(Chunk &chunk, Arrivals &arrivals) {
  DRAGON_TRY(arrivals.exchange.makeRoom(chunk.bytes()));
  return OnDevice.map(chunk);
}

Status Residency::bring(const ChunkUse &use, Cause cause, Arrivals &arrivals) {
  Chunk &chunk = *use.chunk;
  if (chunk.copies.device)
    return {};
  if ((use.partly || chunk.buffer->byData) && use.need == LaunchNeed::Read &&
      chunk.copies.host && !Ctx.config.poison &&
      use.touched.bytes() <= chunk.used() / 4 * 3)
    return bringPart(use, cause, arrivals);
  Move move =
      decide(stateOf(chunk), use.need, NextUse::Unknown, Pressure::None);
  const bool fillsOnly =
      move.fetch == Fetch::Undefined || move.fetch == Fetch::Zero;
  const Queue queue = fillsOnly ? arrivals.filling : Ctx.copyIn;
  if (!chunk.device.id)
    DRAGON_TRY(map(chunk, arrivals));
  else if (move.fetch != Fetch::Nothing || Ctx.config.poison)
    DRAGON_TRY(Time.queueWaitsFor(queue, chunk)); // earlier work may use it
  if (move.avoided)
    Ctx.ledger.avoided(*move.avoided, chunk.used());
  switch (move.fetch) {
  case Fetch::Nothing: // overwritten: valid once the work is queued
    if (Ctx.config.poison) {
      DRAGON_TRY(Ctx.device->poison(chunk.va(), chunk.bytes(), queue));
      arrivals.copied.push_back(&chunk);
    }
    return {};
  case Fetch::Undefined:
    chunk.defined = {};
    DRAGON_TRY(fillUndefined(chunk, queue));
    arrivals.filled.push_back(&chunk);
    break;
  case Fetch::Zero:
    chunk.defined = chunk.whole();
    DRAGON_TRY(Ctx.device->fill(reinterpret_cast<void *>(chunk.va()), 0, 1,
                                chunk.used(), queue));
    arrivals.filled.push_back(&chunk);
    break;
  case Fetch::FromHost:
    DRAGON_TRY(copyToDevice(chunk, cause));
    arrivals.bytes += chunk.defined.bytes();
    arrivals.copied.push_back(&chunk);
    break;
  case Fetch::FromStorage:
    arrivals.fromStorage.push_back(&chunk);
    return {};
  }
  chunk.discardedDirty = false;
  chunk.buffer->note(chunk, ChunkEvent::ReachedDevice);
  return {};
}

Status Residency::bringPart(const ChunkUse &use, Cause cause,
                            Arrivals &arrivals) {
  Chunk &chunk = *use.chunk;
  if (!chunk.device.id)
    DRAGON_TRY(map(chunk, arrivals));
  IntervalSet<size_t> missing;
  missing += HalfOpen<size_t>(use.touched.begin, use.touched.end);
  missing -= chunk.partly;
  if (missing.empty())
    return {};
  // Queued work looks at what is there already, and at nothing else.
  for (const auto &range : missing) {
    const size_t begin = range.lower(), bytes = range.upper() - begin;
    DRAGON_TRY(copyFromSlab(chunk, {begin, begin + bytes}, cause));
    arrivals.bytes += bytes;
  }
  chunk.partly += missing;
  arrivals.copied.push_back(&chunk);
  if (contains(chunk.partly, HalfOpen<size_t>(0, chunk.used()))) {
    chunk.discardedDirty = false;
    chunk.buffer->note(chunk, ChunkEvent::ReachedDevice);
  }
  return {};
}

Status Residency::copyToDevice(const Chunk &chunk, Cause cause) {
  if (logging(LogLevel::Debug))
    log(LogLevel::Debug, "brings chunk {} of '{}' from host memory",
        chunk.index, chunk.buffer->label());
  DRAGON_TRY(fillUndefined(chunk, Ctx.copyIn));
  const ChunkPart part = chunk.defined;
  if (part.empty())
    return {};
  return copyFromSlab(chunk, part, cause);
}

Status Residency::copyFromSlab(const Chunk &chunk, ChunkPart part,
                               Cause cause) {
  const bool fromPeer = chunk.host.place == Place::Peer;
  if (fromPeer) // what was queued may have written it there
    DRAGON_TRY(Time.queueWaitsFor(Ctx.copyIn, chunk));
  DRAGON_TRY(Ctx.device->copy(
      reinterpret_cast<void *>(chunk.va() + part.begin),
      static_cast<const char *>(chunk.host.copyView()) + part.begin,
      part.bytes(),
      fromPeer ? CopyKind::DeviceToDevice : CopyKind::HostToDevice,
      Ctx.copyIn));
  Ctx.ledger.moved(fromPeer ? Direction::PeerToDevice : Direction::HostToDevice,
                   cause, part.bytes());
  return {};
}

Status Residency::noteArrivals(Arrivals &arrivals) {
  for (const auto &[chunks, queue] :
       {std::pair(&arrivals.copied, Ctx.copyIn),
        std::pair(&arrivals.filled, arrivals.filling)}) {
    if (chunks->empty())
      continue;
    auto ticket = Time.Fetches.note(queue);
    if (!ticket.ok())
      return Time.synchronizeAll();
    for (Chunk *chunk : *chunks)
      arrives(*chunk, *ticket);
    chunks->clear();
  }
  return {};
}

void Residency::arrives(Chunk &chunk, uint64_t ticket) {
  chunk.transit.arrival = ticket;
  for (uint64_t *last : {&chunk.buffer->lastArrival, &Time.LastFetch})
    *last = std::max(*last, ticket);
}

Status Residency::fetch(std::span<Chunk *const> chunks, Cause cause) {
  TraceZone zone("fetch");
  std::vector<Chunk *> ofProgram, others;
  for (Chunk *chunk : chunks) {
    nameIn(zone, *chunk->buffer);
    (chunk->storage.inProgramMemory() ? ofProgram : others).push_back(chunk);
  }
  if (!ofProgram.empty()) {
    DRAGON_TRY(Reads.start(others)); // meanwhile
    DRAGON_ASSIGN(const bool begun, fetchOfProgram(ofProgram, cause));
    if (!begun)
      others.insert(others.begin(), ofProgram.begin(), ofProgram.end());
  }
  for (size_t i = 0; i < others.size(); ++i) {
    DRAGON_TRY(Reads.start(std::span(others).subspan(i)));
    DRAGON_TRY(fetchOne(*others[i], cause, zone));
  }
  return {};
}

StatusOr<bool> Residency::fetchOfProgram(std::span<Chunk *const> chunks,
                                         Cause cause) {
  DRAGON_ASSIGN(const std::optional<uint64_t> batch,
                Program.start(chunks, cause));
  if (!batch)
    return false;
  if (Later && *batch) {
    noteFetched(chunks, Time.Fetches.noteLater(Ctx.copyIn, Program, *batch));
    return true;
  }
  DRAGON_TRY(Program.awaitQueued(*batch));
  DRAGON_TRY(noteFetched(chunks).takeStatus());
  return true;
}

Status Residency::releaseBlocks() {
  Status queued = Time.Fetches.recordAll();
  Status released = Program.release();
  return queued.ok() ? std::move(released) : std::move(queued);
}

/// Queues the copy of what is defined: runs of pieces, without what is
/// undefined between them.
Status Residency::copyPieces(const Chunk &chunk, const char *from, Cause cause,
                             TraceZone &zone) {
  if (Ctx.config.poison && !chunk.storage.covers(0, chunk.used()))
    DRAGON_TRY(Ctx.device->poison(chunk.va(), chunk.bytes(), Ctx.copyIn));
  const auto pieces = chunk.storage.pieces();
  for (auto piece = pieces.begin(); piece != pieces.end();) {
    const size_t begin = (*piece).begin;
    size_t end = (*piece).end;
    for (++piece; piece != pieces.end() && (*piece).begin == end; ++piece)
      end = (*piece).end;
    end = std::min(end, chunk.used());
    DRAGON_TRY(Ctx.device->copy(reinterpret_cast<void *>(chunk.va() + begin),
                                from + begin, end - begin,
                                CopyKind::HostToDevice, Ctx.copyIn));
    Ctx.ledger.moved(Direction::HostToDevice, cause, end - begin);
    zone.add(end - begin);
  }
  return {};
}

StatusOr<uint64_t> Residency::noteFetched(std::span<Chunk *const> chunks) {
  auto ticket = Time.Fetches.note(Ctx.copyIn);
  Status status;
  if (!ticket.ok())
    status = Time.synchronizeAll();
  const uint64_t number = ticket.ok() ? *ticket : 0;
  Time.LastFetch = std::max(Time.LastFetch, number);
  DRAGON_TRY(std::move(status));
  noteFetched(chunks, number);
  return number;
}

void Residency::noteFetched(std::span<Chunk *const> chunks, uint64_t ticket) {
  for (Chunk *chunk : chunks) {
    arrives(*chunk, ticket);
    chunk->defined = chunk->whole();
    chunk->discardedDirty = false;
    chunk->buffer->note(*chunk, ChunkEvent::ReachedDevice);
  }
}

Status Residency::fetchOne(Chunk &chunk, Cause cause, TraceZone &zone) {
  if (!Reads.isReading(chunk)) {
    DRAGON_ASSIGN(const Physical own, Host.takeTransit(chunk.bytes()));
    Reads.begin(chunk, own);
  }
  Physical slab;
  DRAGON_TRY(Reads.finish(chunk, cause, slab));
  Status status =
      copyPieces(chunk, static_cast<const char *>(slab.hostView), cause, zone);
  uint64_t number = 0;
  if (status.ok()) {
    Chunk *one = &chunk;
    auto noted = noteFetched({&one, 1});
    if (noted.ok())
      number = *noted;
    else
      status = noted.takeStatus();
  } else if (Status synced = Ctx.device->synchronize(Ctx.copyIn);
             !synced.ok()) {
    status = std::move(synced); // what was queued uses the slab
  }
  // What is fetched for the second time comes and goes, if it is not known
  // which chunks do.
  const bool again = std::exchange(chunk.fetched, true);
  const bool returns = OnDevice.AnyStream ? chunk.streams : again;
  if (status.ok() && returns && !chunk.host.id && Slabs.hasRoom(0) &&
      chunk.storage.covers(0, chunk.used())) {
    chunk.host = std::exchange(slab, Physical());
    Slabs.list(chunk, true);
    chunk.buffer->note(chunk, ChunkEvent::ReachedHost);
    OnDevice.expectKept();
  }
  if (slab.id)
    Slabs.giveTransit(slab, number);
  return status;
}

Status Residency::copyToHost(Chunk &chunk, Cause cause) {
  uint64_t begin = traceClock();
  if (Ctx.config.poison)
    DRAGON_TRY(Host.poisonOutside(chunk));
  const ChunkPart part = chunk.defined;
  if (part.empty())
    return {};
  DRAGON_TRY(Host.copyToSlab(chunk));
  DRAGON_TRY(Ctx.device->synchronize(Ctx.copyOut));
  Ctx.ledger.moved(HostMemory::directionToSlab(chunk), cause, part.bytes(),
                   traceClock() - begin);
  return {};
}

Status Residency::readToHost(Chunk &chunk, Fetch fetch, Cause cause) {
  if (chunk.host.place == Place::Peer) { // the host reads it
    DRAGON_TRY(Host.release(chunk));
    DRAGON_ASSIGN(chunk.host, Host.take(chunk.bytes()));
    Slabs.list(chunk, true);
  }
  ReadPlan plan;
  Store.planRead(chunk, 0, chunk.used(),
                 static_cast<char *>(chunk.host.hostView), plan);
  DRAGON_TRY(Store.run(plan, cause));
  chunk.defined = fetch == Fetch::Undefined ? ChunkPart() : chunk.whole();
  if (fetch == Fetch::Undefined && !Ctx.config.poison)
    std::memset(chunk.host.hostView, 0, chunk.used());
  return {};
}

Status Residency::bringToHost(Chunk &chunk, LaunchNeed need, Cause cause) {
  DRAGON_TRY(Host.bringHome(chunk));
  return bringToSlab(chunk, need, cause);
}

Status Residency::bringToSlab(Chunk &chunk, LaunchNeed need, Cause cause) {
  chunk.dying = false;
  chunk.lastTouch = Ctx.clock;
  Ctx.pins.add(chunk);
  if (chunk.transit.writing)
    Writes.finish(chunk).ignore(); // pinned: it has its host copy in any case
  if (chunk.copies.host)
    return {};
  DRAGON_TRY(Time.settle(chunk));
  if (!chunk.host.id) {
    DRAGON_ASSIGN(chunk.host, Host.take(chunk.bytes()));
    Slabs.list(chunk, true);
  }
  Move move = decide(stateOf(chunk), need, NextUse::Unknown, Pressure::None);
  if (need == LaunchNeed::Overwrite) {
    return Ctx.config.poison
               ? poisonSlab(*Ctx.device, chunk.host, chunk.whole(), Ctx.copyOut)
               : Status();
  }
  if (chunk.copies.device)
    DRAGON_TRY(copyToHost(chunk, cause));
  else if (move.fetch != Fetch::FromHost)
    DRAGON_TRY(readToHost(chunk, move.fetch, cause));
  chunk.discardedDirty = false;
  chunk.buffer->note(chunk, ChunkEvent::ReachedHost);
  return {};
}

Status Residency::checkKept(uint64_t bytes) {
  if (OnDevice.holds(Space.keptBytes() + bytes))
    return {};
  return Status::error(
      DRAGON_ERROR_OUT_OF_MEMORY,
      "{} more must stay in device memory, where {} of {} stay already; raise "
      "DRAGON_DEVICE_MEMORY",
      formatBytes(bytes), formatBytes(Space.keptBytes()),
      formatBytes(OnDevice.Pool.budget()));
}

Status Residency::keep(Buffer &buffer) {
  if (buffer.kept && buffer.allDeviceOnly())
    return {};
  if (!buffer.kept)
    DRAGON_TRY(checkKept(buffer.vaBytes));
  ++Ctx.clock;
  Ctx.pins.next();
  Data.adoptMapped(buffer);
  std::vector<ChunkUse> uses;
  for (Chunk &chunk : buffer.chunks)
    if (!chunk.hostMapped) // the device reaches what the host has as well
      uses.push_back(useOfAll(chunk, LaunchNeed::Read));
  DRAGON_TRY(bringIn(uses, nullptr, Cause::Demand));
  DRAGON_TRY(Ctx.device->synchronize(Ctx.copyIn));
  DRAGON_TRY(Ctx.device->completeMaps());
  buffer.kept = true;
  if (Ctx.watcher)
    Ctx.watcher->unseen({buffer.base, buffer.end()});
  for (const ChunkUse &use : uses)
    DRAGON_TRY(Data.wroteDevice(*use.chunk));
  return {};
}

Status Residency::prefetch(Buffer &buffer, uintptr_t address, size_t bytes,
                           Queue queue) {
  // A hint: only what fits beside all else that is needed.
  uint64_t room = OnDevice.Pool.budget() - OnDevice.Pool.used();
  for (const Chunk *chunk : OnDevice.Chunks)
    if (!chunk->copies.device && !chunk->holds.calls && !chunk->buffer->kept &&
        chunk->buffer != &buffer)
      room += chunk->bytes();
  std::vector<ChunkUse> uses;
  uint64_t need = 0;
  for (uintptr_t at = address; at < address + bytes;) {
    Chunk &chunk = buffer.chunkAt(at);
    if (!chunk.device.id) {
      if (need + chunk.bytes() > room)
        break;
      need += chunk.bytes();
    }
    uses.push_back(useOfAll(chunk, LaunchNeed::Read));
    at = chunk.va() + chunk.bytes();
  }
  ++Ctx.clock;
  Ctx.pins.next();
  return bringIn(uses, queue, Cause::Prefetch);
}

} // namespace dragon
