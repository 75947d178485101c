//===- HostMemory.cpp - room in host memory -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostMemory.h"

#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <utility>

namespace dragon {

StatusOr<Physical> HostMemory::takeTransit(size_t bytes, Place place) {
  DRAGON_TRY(Slabs.recycleTransit(false));
  while (true) {
    auto slab = takeShared(bytes, 0, place);
    if (slab.ok())
      return slab;
    if (Slabs.anyTransit())
      DRAGON_TRY(Slabs.recycleTransit(true));
    else if (Writes.any())
      Writes.finishFirst().ignore(); // tried again, if need be
    else if (!Slabs.Pool.hasRoom(bytes))
      DRAGON_TRY(makeRoom(bytes, true));
    else if (Status refusal = slab.takeStatus(); !Slabs.lowerBudget(refusal))
      return refusal;
  }
}

StatusOr<Physical> HostMemory::take(size_t bytes, Place place) {
  while (true) {
    DRAGON_TRY(makeRoom(bytes, false));
    const uint64_t keepFree = Ctx.limits.transitBytes;
    auto slab = takeShared(bytes, keepFree, place);
    if (slab.ok())
      return slab;
    if (Status refusal = slab.takeStatus();
        Slabs.Pool.hasRoom(bytes, keepFree) && !Slabs.lowerBudget(refusal))
      return refusal;
  }
}

StatusOr<Physical> HostMemory::takeShared(size_t bytes, uint64_t keepFree,
                                          Place place) {
  while (true) {
    auto slab = Slabs.Pool.take(bytes, keepFree, place);
    if (slab.ok() || !Slabs.Pool.hasRoom(bytes, keepFree) ||
        !Slabs.waitForOthers(bytes))
      return slab;
  }
}

bool HostMemory::follow() {
  Slabs.wants(Slabs.Pool.used()); // others may not know yet
  Slabs.followShare();
  const auto within = [this] {
    return Slabs.Pool.held() <= Ctx.hostShare->limit();
  };
  const uint64_t before = Slabs.Pool.held();
  if (before <= Ctx.limits.hostBytes)
    return within();
  const auto written = [this] {
    return Ctx.ledger.bytes(Direction::HostToSwap, Cause::Eviction) +
           Ctx.ledger.bytes(Direction::HostToFile, Cause::Eviction);
  };
  const uint64_t writtenBefore = written();
  // It may be above the limit by more than a chunk.
  makeRoom(0, false).ignore();
  while (Writes.any())
    Writes.finishFirst().ignore();
  Slabs.recycleTransit(false).ignore();
  Slabs.Pool.trim();
  const uint64_t given = before - std::min(before, Slabs.Pool.held());
  Ctx.hostShare->given.calledBack += given;
  Ctx.hostShare->given.swapped += written() - writtenBefore;
  log(LogLevel::Info, "gives {} of host memory back, of {}: others share it",
      formatBytes(given), formatBytes(before));
  return within();
}

/// Of those in Slabs.Chunks.
EvictionCandidate HostMemory::candidateAt(size_t index) {
  Chunk &chunk = *Slabs.Chunks[index];
  EvictionCandidate candidate;
  candidate.index = uint32_t(index);
  candidate.bytes = chunk.host.bytes;
  candidate.lastTouch = std::max(chunk.lastTouch, chunk.buffer->lastTouch);
  candidate.nextUse = Next.nextUseOf(chunk).clock;
  candidate.empty = !chunk.copies.host;
  candidate.busy = Time.isBusy(chunk);
  return candidate;
}

HostMemory::Leaving HostMemory::candidates(bool dropOnly) {
  Leaving leaving;
  for (size_t i = 0; i < Slabs.Chunks.size(); ++i) {
    Chunk &chunk = *Slabs.Chunks[i];
    // What was copied out will soon have no other copy.
    if (chunk.host.place == Place::Peer || Ctx.pins.holdOnHost(chunk) ||
        chunk.transit.writing || (dropOnly && chunk.transit.copiedAhead))
      continue;
    EvictionCandidate candidate = candidateAt(i);
    candidate.keepLast = chunk.buffer->advice == DRAGON_ADVISE_KEEP_HOST ||
                         chunk.hostMapped || chunk.transit.copiedAhead;
    const Move move = decide(stateOf(chunk), LaunchNeed::None, NextUse::Unknown,
                             Pressure::Host);
    (move.removal == Removal::Drop ? leaving.drops : leaving.writes)
        .push_back(candidate);
  }
  return leaving;
}

Status HostMemory::noRoom(uint64_t bytes) const {
  const uint64_t mine = Slabs.Pool.held();
  const uint64_t all = Ctx.hostShare ? Ctx.hostShare->held() : mine;
  return Status::error(
      DRAGON_ERROR_OUT_OF_MEMORY,
      "host memory: {} needed, {} of {} in use{}; raise DRAGON_HOST_MEMORY",
      formatBytes(bytes), formatBytes(Slabs.Pool.used()),
      formatBytes(Slabs.Pool.budget()),
      all > mine ? fmt::format(", and {} by other programs that share it "
                               "('dragon-info --programs' shows them)",
                               formatBytes(all - mine))
                 : "");
}

Status HostMemory::makeRoom(uint64_t bytes, bool forTransit, bool dropOnly) {
  uint64_t keepFree = forTransit ? 0 : Ctx.limits.transitBytes;
  const uint64_t begunBefore = Writes.begun();
  DRAGON_TRY(Slabs.recycleTransit(false));
  if (Slabs.Pool.hasRoom(bytes, keepFree))
    return {};
  Slabs.trimOrdinary();
  if (Slabs.Pool.hasRoom(bytes, keepFree))
    return {};
  Slabs.wants(Slabs.Pool.used() + bytes + keepFree);
  while (!Slabs.Pool.hasRoom(bytes, keepFree)) {
    Writes.finishDone();
    if (Slabs.Pool.hasRoom(bytes, keepFree))
      return {};
    auto [drops, writes] = candidates(dropOnly);
    if (drops.empty() && dropOnly)
      return {};
    auto &leaving = drops.empty() ? writes : drops;
    // A write that has begun makes room as well, once transit memory is back.
    if (drops.empty() && Writes.any() &&
        (writes.empty() || forTransit ||
         Writes.bytes() + bytes > Writes.most())) {
      DRAGON_TRY(Writes.finishFirst(begunBefore));
      continue;
    }
    if (leaving.empty() && (Reads.bytes() || Slabs.anyTransit())) {
      Reads.dropAll();
      DRAGON_TRY(Slabs.recycleTransit(true));
      continue;
    }
    if (leaving.empty()) {
      DRAGON_ASSIGN(const bool freed, Slabs.freeOrdinary());
      if (freed)
        continue;
    }
    if (leaving.empty() && Slabs.exceed(Slabs.Pool.used() + bytes + keepFree))
      continue;
    if (leaving.empty())
      return noRoom(bytes);
    std::vector<Chunk *> victims;
    for (uint32_t index :
         chooseVictims(leaving, Ctx.clock, Slabs.Pool.missing(bytes, keepFree)))
      victims.push_back(Slabs.Chunks[index]);
    for (Chunk *victim : victims)
      DRAGON_TRY(evict(*victim, Cause::Eviction));
    while (Writes.bytes() > Writes.most())
      DRAGON_TRY(Writes.finishFirst(begunBefore));
  }
  return {};
}

Status HostMemory::evict(Chunk &chunk, Cause cause) {
  DRAGON_TRY(Time.settle(chunk)); // a copy out of it may be under way
  DRAGON_TRY(unmap(chunk));       // the host may write to it until then
  Move move = decide(stateOf(chunk), LaunchNeed::None, NextUse::Unknown,
                     Pressure::Host);
  if (move.removal == Removal::Drop)
    return release(chunk);
  return Writes.start(chunk, move.removal, cause);
}

Status HostMemory::bringHome(Chunk &chunk) {
  if (chunk.host.place != Place::Peer)
    return {};
  Ctx.pins.add(chunk);
  DRAGON_TRY(Time.settle(chunk));
  DRAGON_TRY(unmap(chunk));
  if (!chunk.copies.host)
    return release(chunk);
  DRAGON_ASSIGN(const Physical slab, takeTransit(chunk.bytes()));
  Status status = copyHome(chunk, slab);
  if (!status.ok()) {
    Slabs.Pool.give(slab);
    return status;
  }
  Slabs.give(std::exchange(chunk.host, slab));
  return {};
}

StatusOr<bool> HostMemory::goToPeer(Chunk &chunk, bool moves) {
  if (chunk.host.place == Place::Peer)
    return true;
  const bool isOnlyCopy =
      chunk.copies.host && !chunk.copies.device && !chunk.copies.storage;
  if (!Slabs.Peers.any() || chunk.buffer->hostAccessible || chunk.hostMapped ||
      chunk.transit.writing || (isOnlyCopy && !moves))
    return false;
  DRAGON_TRY(Slabs.recycleTransit(false));
  DRAGON_TRY(Time.Departures.waitFor(chunk.transit.departure));
  const std::optional<Physical> slab = Slabs.Peers.take(chunk.bytes());
  if (!slab)
    return false;
  if (chunk.copies.host && moves)
    if (Status status = copyToPeer(chunk, *slab); !status.ok()) {
      Slabs.Peers.give(*slab); // the contents are where they were
      return status;
    }
  const Physical old = std::exchange(chunk.host, *slab);
  Slabs.list(chunk, true);
  if (chunk.copies.host && !moves)
    chunk.buffer->note(chunk, ChunkEvent::LeftHost);
  if (old.id)
    Slabs.giveTransit(old, chunk.transit.arrival);
  return true;
}

/// By the queue of fetches: they come behind it.
Status HostMemory::copyToPeer(Chunk &chunk, const Physical &to) {
  const ChunkPart part = Ctx.config.poison ? chunk.whole() : chunk.defined;
  if (part.empty())
    return {};
  DRAGON_TRY(Time.queueWaitsFor(Ctx.copyIn, chunk));
  DRAGON_TRY(Ctx.device->copy(
      static_cast<char *>(to.copyView()) + part.begin,
      static_cast<const char *>(chunk.host.copyView()) + part.begin,
      part.bytes(), CopyKind::HostToDevice, Ctx.copyIn));
  Ctx.ledger.moved(Direction::HostToPeer, Cause::Demand, part.bytes());
  auto ticket = Time.Fetches.note(Ctx.copyIn);
  if (!ticket.ok())
    return Time.synchronizeAll();
  chunk.transit.arrival = *ticket;
  return {};
}

bool HostMemory::leavePeer(unsigned peer, uint64_t limit) {
  if (Slabs.Peers.follow(peer, limit))
    return true;
  auto isThere = [peer](const Chunk &chunk) {
    return chunk.host.place == Place::Peer && chunk.host.peer == peer;
  };
  std::vector<EvictionCandidate> from;
  for (size_t i = 0; i < Slabs.Chunks.size(); ++i) {
    Chunk &chunk = *Slabs.Chunks[i];
    if (!isThere(chunk) || Ctx.pins.holdOnHost(chunk))
      continue;
    from.push_back(candidateAt(i));
    from.back().copies = !chunk.copies.device;
  }
  std::vector<Chunk *> order;
  for (uint32_t index : chooseVictims(from, Ctx.clock, UINT64_MAX))
    order.push_back(Slabs.Chunks[index]);
  const uint64_t before = Slabs.Peers.used();
  for (Chunk *chunk : order) {
    if (!isThere(*chunk))
      continue;
    Status status = Time.settle(*chunk);
    if (status.ok())
      status = chunk->copies.device ? release(*chunk) : bringHome(*chunk);
    if (!status.ok()) {
      log(LogLevel::Info, "memory of a peer cannot be given back: {}",
          status.message());
      return false;
    }
    if (Slabs.Peers.follow(peer, limit)) {
      log(LogLevel::Info, "gives {} of a peer's memory back: others want it",
          formatBytes(before - std::min(before, Slabs.Peers.used())));
      return true;
    }
  }
  return false;
}

Status HostMemory::poisonOutside(const Chunk &chunk) {
  const ChunkPart part = chunk.defined.empty() ? ChunkPart() : chunk.defined;
  for (const ChunkPart outside :
       {ChunkPart{0, part.begin}, ChunkPart{part.end, chunk.used()}})
    DRAGON_TRY(poisonSlab(*Ctx.device, chunk.host, outside, Ctx.copyOut));
  return {};
}

Status HostMemory::copyToSlab(const Chunk &chunk) {
  const ChunkPart part = chunk.defined;
  return Ctx.device->copy(
      static_cast<char *>(chunk.host.copyView()) + part.begin,
      reinterpret_cast<const void *>(chunk.va() + part.begin), part.bytes(),
      chunk.host.place == Place::Peer ? CopyKind::DeviceToDevice
                                      : CopyKind::DeviceToHost,
      Ctx.copyOut);
}

Status HostMemory::copyHome(const Chunk &chunk, const Physical &slab) {
  const uint64_t begin = traceClock();
  if (Ctx.config.poison)
    dragon::poisonOutside(chunk, slab.hostView);
  const ChunkPart part = chunk.defined;
  if (part.empty())
    return {};
  DRAGON_TRY(Ctx.device->copy(
      static_cast<char *>(slab.hostView) + part.begin,
      static_cast<const char *>(chunk.host.copyView()) + part.begin,
      part.bytes(), CopyKind::DeviceToHost, Ctx.copyOut));
  DRAGON_TRY(Ctx.device->synchronize(Ctx.copyOut));
  Ctx.ledger.moved(Direction::PeerToHost, Cause::HostAccess, part.bytes(),
                   traceClock() - begin);
  return {};
}

Status HostMemory::release(Chunk &chunk) {
  Writes.callOff(chunk);
  if (!chunk.host.id)
    return {};
  DRAGON_TRY(Time.Departures.waitFor(chunk.transit.departure));
  DRAGON_TRY(unmap(chunk));
  Slabs.give(chunk.host);
  chunk.host = {};
  Slabs.list(chunk, false);
  chunk.buffer->note(chunk, ChunkEvent::LeftHost);
  return {};
}

Status HostMemory::unmap(Chunk &chunk) {
  if (!chunk.hostMapped)
    return {};
  DRAGON_TRY(Time.settle(chunk));
  DRAGON_TRY(Ctx.device->unmap(chunk.va(), chunk.host));
  chunk.hostMapped = false;
  return {};
}

} // namespace dragon
