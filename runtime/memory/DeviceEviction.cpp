//===- DeviceEviction.cpp - chunks leave device memory --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/DeviceChunks.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <utility>

namespace dragon {

/// Chunks' memory that is made ahead of those that leave.
static constexpr uint64_t AheadOfEvictions = 8;

/// To copy a chunk to ordinary memory and from there costs less than to make
/// pinned memory for it, but not by more than that.
static constexpr uint8_t MostTimesOrdinary = 2;

StatusOr<bool> DeviceChunks::takeOverHostSlab(Chunk &chunk) {
  for (Chunk *other : Slabs.Chunks) {
    if (other->copies.host || other->bytes() != chunk.bytes() ||
        other->hostMapped || other->transit.writing ||
        (other->host.place == Place::Peer && chunk.buffer->hostAccessible) ||
        Ctx.pins.holdOnHost(*other))
      continue;
    // It may still be on its way to the device from there.
    DRAGON_TRY(Time.queueWaitsFor(Ctx.copyOut, *other));
    Slabs.list(*other, false);
    chunk.host = std::exchange(other->host, Physical());
    Slabs.list(chunk, true);
    return true;
  }
  return false;
}

StatusOr<bool> DeviceChunks::takePeerSlab(Chunk &chunk) {
  DRAGON_ASSIGN(const bool taken, Host.goToPeer(chunk, /*moves=*/false));
  if (taken || chunk.buffer->hostAccessible || !Slabs.Peers.any())
    return taken;
  for (Chunk *other : Slabs.Chunks) {
    if (other->host.place != Place::Peer || !other->copies.device ||
        other->bytes() != chunk.bytes() || other->transit.copiedAhead ||
        Ctx.pins.holdOnHost(*other))
      continue;
    // It may still be on its way to the device from there.
    DRAGON_TRY(Time.queueWaitsFor(Ctx.copyOut, *other));
    Slabs.list(*other, false);
    DRAGON_TRY(Host.release(chunk));
    chunk.host = std::exchange(other->host, Physical());
    Slabs.list(chunk, true);
    if (other->copies.host)
      other->buffer->note(*other, ChunkEvent::LeftHost);
    return true;
  }
  return false;
}

/// What is on its way to ordinary memory gives a slab back soon.
void DeviceChunks::awaitSlabs(size_t bytes) {
  Writes.finishDone();
  while (!Slabs.Pool.isReady(bytes) && Writes.any() &&
         Writes.writings().front().plan.target == Removal::ToMemory)
    Writes.finishFirst().ignore(); // it stays in its slab
}

StatusOr<bool> DeviceChunks::takeHostSlab(Chunk &chunk) {
  if (!Slabs.Pool.isReady(chunk.bytes())) {
    DRAGON_ASSIGN(const bool taken, takeOverHostSlab(chunk));
    if (taken)
      return true;
    awaitSlabs(chunk.bytes());
  }
  if (!Slabs.Pool.isReady(chunk.bytes())) {
    // More will be needed, and several threads make it three times as fast.
    // This one takes what they make first.
    if (Ctx.caps().asynchronous)
      Slabs.Pool.expect(chunk.bytes(), Ctx.limits.hostBytes, UINT_MAX,
                        AheadOfEvictions * chunk.bytes());
  }
  if (!Slabs.hasRoom(chunk.bytes()))
    // Host copies that somebody else holds as well can go at once.
    Host.makeRoom(chunk.bytes(), false, true).ignore();
  if (!Slabs.hasRoom(chunk.bytes()))
    return false;
  auto slab =
      Host.takeShared(chunk.bytes(), Ctx.limits.transitBytes, Place::Pinned);
  if (!slab.ok())
    return false; // the host has less than the budget
  chunk.host = *slab;
  Slabs.list(chunk, true);
  return true;
}

/// Others have its contents as well, but it would come back from there by the
/// link to the host: worth a copy to where there is free room.
bool DeviceChunks::isBetterOnPeer(Chunk &chunk, const Move &move) {
  return move.removal == Removal::Drop && move.avoided &&
         chunk.host.place != Place::Peer && !chunk.buffer->hostAccessible &&
         !chunk.transit.writing && Slabs.Peers.hasRoom(chunk.bytes()) &&
         !Next.nextUseOf(chunk).overwritten;
}

StatusOr<bool> DeviceChunks::copyOut(Chunk &chunk, Cause cause) {
  // To a peer or to host memory, if one has room.
  const Move move = decide(stateOf(chunk), LaunchNeed::None, NextUse::Unknown,
                           Pressure::Device);
  if (move.removal != Removal::ToHost && !isBetterOnPeer(chunk, move))
    return false;
  if (chunk.host.place != Place::Peer) {
    DRAGON_ASSIGN(bool taken, takePeerSlab(chunk));
    if (!taken && move.removal != Removal::ToHost)
      return false;
    if (!taken && !chunk.host.id) {
      DRAGON_ASSIGN(taken, takeHostSlab(chunk));
      if (!taken)
        return false;
    }
  }
  DRAGON_TRY(Time.queueWaitsFor(Ctx.copyOut, chunk));
  if (const ChunkPart part = chunk.defined; !part.empty()) {
    DRAGON_TRY(Host.copyToSlab(chunk));
    Ctx.ledger.moved(HostMemory::directionToSlab(chunk), cause, part.bytes());
  }
  auto ticket = Time.Departures.note(Ctx.copyOut);
  if (!ticket.ok())
    DRAGON_TRY(Ctx.device->synchronize(Ctx.copyOut));
  chunk.transit.departure = ticket.ok() ? *ticket : 0;
  chunk.transit.copiedAhead = true;
  if (Ctx.config.poison) {
    DRAGON_TRY(Time.Departures.waitFor(chunk.transit.departure));
    DRAGON_TRY(Host.poisonOutside(chunk));
  }
  chunk.buffer->note(chunk, ChunkEvent::ReachedHost);
  return true;
}

StatusOr<bool> DeviceChunks::copyOutAhead(Chunk &chunk) {
  if (!chunk.host.id && !Slabs.Pool.isReady(chunk.bytes())) {
    Writes.finishDone();
    if (!Slabs.Pool.isReady(chunk.bytes()))
      return false;
  }
  return copyOut(chunk, Cause::Eviction);
}

/// Victims on their way to storage. What has not got there when this ends, in a
/// failure, stays where it was.
class DeviceChunks::Departure {
public:
  Departure(DeviceChunks &memory, Cause cause)
      : Memory(memory), Ctx(memory.Ctx), Why(cause) {}
  ~Departure() { giveBack(); }
  Departure(const Departure &) = delete;
  Departure &operator=(const Departure &) = delete;

  /// Queues the copy of its contents to a transit slab.
  Status add(Chunk &chunk, Removal removal);
  /// The contents have arrived there: begins to write them, and frees the
  /// device's memory.
  Status flush();
  Cause cause() const { return Why; }
  /// Bytes that have arrived since it was asked.
  uint64_t takeArrived() { return std::exchange(Arrived, 0); }

private:
  struct Leaving {
    Chunk *chunk;
    Physical slab;
    Removal removal;
  };
  StatusOr<Physical> takeSlab(size_t bytes);
  Status leave(Leaving &entry, uint64_t nanoseconds);
  void giveBack();

  DeviceChunks &Memory;
  Context &Ctx;
  const Cause Why;
  std::vector<Leaving> Entries;
  uint64_t Arrived = 0;
  uint64_t InTransit = 0;
  uint64_t Begin = 0; ///< when the first of them was queued
};

void DeviceChunks::Departure::giveBack() {
  for (const Leaving &entry : Entries) {
    --entry.chunk->buffer->moving;
    if (entry.slab.id) {
      entry.chunk->holds.inTransit = false;
      Memory.Slabs.Pool.give(entry.slab);
    }
  }
  Entries.clear();
  InTransit = 0;
}

StatusOr<Physical> DeviceChunks::Departure::takeSlab(size_t bytes) {
  // They share the half of transit memory with those that are written.
  WriteBehind &writes = Memory.Writes;
  while (writes.any() && writes.bytes() + InTransit + bytes >
                             std::max<uint64_t>(writes.most(), bytes))
    writes.finishFirst().ignore(); // see HostMemory::takeTransit
  auto slab = Memory.Host.takeTransit(bytes);
  if (slab.ok() || Entries.empty())
    return slab;
  DRAGON_TRY(flush());
  return Memory.Host.takeTransit(bytes);
}

Status DeviceChunks::Departure::add(Chunk &chunk, Removal removal) {
  DRAGON_ASSIGN(const Physical slab, takeSlab(chunk.bytes()));
  if (Entries.empty())
    Begin = traceClock();
  chunk.holds.inTransit = true;
  ++chunk.buffer->moving;
  Entries.push_back({&chunk, slab, removal});
  if (const ChunkPart part = chunk.defined; !part.empty()) {
    Status status = Ctx.device->copy(
        static_cast<char *>(slab.hostView) + part.begin,
        reinterpret_cast<const void *>(chunk.va() + part.begin), part.bytes(),
        CopyKind::DeviceToHost, Ctx.copyOut);
    if (!status.ok()) {
      Ctx.device->synchronize(Ctx.copyOut).ignore();
      return status;
    }
  }
  InTransit += chunk.bytes();
  return InTransit + Ctx.limits.chunkBytes > Ctx.limits.transitBytes / 2
             ? flush()
             : Status();
}

Status DeviceChunks::Departure::leave(Leaving &entry, uint64_t nanoseconds) {
  Chunk &chunk = *entry.chunk;
  Ctx.ledger.moved(Direction::DeviceToHost, Why, chunk.defined.bytes(),
                   nanoseconds);
  Arrived += chunk.defined.bytes();
  if (Ctx.config.poison)
    poisonOutside(chunk, entry.slab.hostView);
  chunk.host = std::exchange(entry.slab, Physical());
  Memory.Slabs.list(chunk, true);
  chunk.buffer->note(chunk, ChunkEvent::ReachedHost);
  Status started = Memory.Writes.start(chunk, entry.removal, Why);
  Status released =
      started.ok() ? Memory.release(chunk) : Memory.Host.release(chunk);
  return started.ok() ? std::move(released) : std::move(started);
}

Status DeviceChunks::Departure::flush() {
  if (Entries.empty())
    return {};
  DRAGON_TRY(Ctx.device->synchronize(Ctx.copyOut));
  const uint64_t elapsed = traceClock() - Begin;
  Status first;
  auto keep = [&first](Status status) {
    if (first.ok())
      first = std::move(status);
  };
  for (Leaving &entry : Entries)
    keep(leave(entry, elapsed / Entries.size()));
  giveBack();
  while (Memory.Writes.bytes() > Memory.Writes.most())
    keep(Memory.Writes.finishFirst());
  return first;
}

Status DeviceChunks::evictOne(Chunk &chunk, Departure &departure) {
  DRAGON_TRY(Time.settle(chunk));
  Ctx.ledger.count(Counter::Evictions);
  NextUse next = chunk.discardedDirty && !chunk.copies.device
                     ? NextUse::Never
                     : NextUse::Unknown;
  // What host memory has room for has been copied there.
  Move move =
      decide(stateOf(chunk), LaunchNeed::None, next, Pressure::DeviceAndHost);
  const bool drops = move.removal == Removal::Drop;
  if (logging(LogLevel::Debug))
    log(LogLevel::Debug, "evicts chunk {} of '{}': {}", chunk.index,
        chunk.buffer->label(),
        chunk.transit.copiedAhead || !drops ? "copied out" : "dropped");
  if (!drops)
    return departure.add(chunk, move.removal);
  // What is clean because it was copied out to go was not avoided.
  if (move.avoided && !chunk.transit.copiedAhead)
    Ctx.ledger.avoided(*move.avoided, chunk.used());
  else if (chunk.discardedDirty)
    Ctx.ledger.avoided(Avoided::Discard, chunk.used());
  chunk.discardedDirty = false;
  DRAGON_TRY(release(chunk));
  return bringToPlace(chunk, departure.cause());
}

/// So little pinned memory is there for what leaves next, and for what is
/// written, that others need this chunk's: to make more takes longer than to
/// copy from it. What leaves again and again is worth it.
bool DeviceChunks::isBetterInOrdinaryMemory(const Chunk &chunk) const {
  const Unpinned wanted = Ctx.config.unpinned;
  if (wanted == Unpinned::Off || chunk.buffer->hostAccessible ||
      chunk.host.place != Place::Pinned)
    return false;
  if (wanted == Unpinned::Always)
    return true;
  return Ctx.caps().asynchronous && chunk.timesOrdinary < MostTimesOrdinary &&
         Slabs.Pool.ready(chunk.bytes()) + Writes.bytes() < Writes.most();
}

Status DeviceChunks::bringToPlace(Chunk &chunk, Cause cause) {
  if (!chunk.copies.host || chunk.copies.storage || chunk.transit.writing ||
      chunk.hostMapped || chunk.host.place == Place::Peer)
    return {};
  const bool hasPlace = chunk.buffer->hasPlace(chunk);
  if (!hasPlace && !isBetterInOrdinaryMemory(chunk))
    return {};
  Writes.finishDone();
  Status started = Writes.start(
      chunk, hasPlace ? Removal::ToSink : Removal::ToMemory, cause);
  if (!started.ok() && !hasPlace)
    return {}; // it stays where it is
  DRAGON_TRY(std::move(started));
  if (!hasPlace && chunk.timesOrdinary < MostTimesOrdinary)
    ++chunk.timesOrdinary;
  Status status;
  while (Writes.bytes() > Writes.most())
    if (Status one = Writes.finishFirst(); status.ok())
      status = std::move(one);
  return status;
}

Status DeviceChunks::evict(std::span<Chunk *const> victims, Cause cause) {
  TraceZone zone("evict");
  // All copies are queued before the first one is waited for.
  for (Chunk *victim : victims) {
    nameIn(zone, *victim->buffer);
    DRAGON_TRY(copyOut(*victim, cause).takeStatus());
  }
  Departure departure(*this, cause);
  for (Chunk *victim : victims)
    DRAGON_TRY(evictOne(*victim, departure));
  Status status = departure.flush();
  zone.add(departure.takeArrived());
  return status;
}

// -- Room for those that come ------------------------------------------------

StatusOr<std::vector<Chunk *>> DeviceChunks::chooseLeaving(uint64_t bytes,
                                                           Cause cause) {
  noticeOnce();
  // The budget may have fallen since those around this one began.
  for (Exchange *around : Exchanges)
    around->putBack();
  Time.Tracking = true; // from now on it matters when work on a chunk ends
  std::vector<EvictionCandidate> from = candidates();
  const uint64_t budget = Pool.budget(), used = Pool.used();
  if (from.empty() || bytes > budget)
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "device memory: {} needed at once, {} of {} in use by "
                         "the same work; raise DRAGON_DEVICE_MEMORY",
                         formatBytes(bytes), formatBytes(used),
                         formatBytes(budget));
  // What nothing has to be waited for goes first.
  std::vector<Chunk *> free, copied, busy;
  for (uint32_t index : chooseVictims(from, Ctx.clock, used + bytes - budget)) {
    Chunk *chunk = Chunks[index];
    (Time.wasBusy(*chunk)           ? busy
     : chunk->copies.onDeviceOnly() ? copied
                                    : free)
        .push_back(chunk);
  }
  std::vector<Chunk *> leaving = std::move(free);
  leaving.insert(leaving.end(), copied.begin(), copied.end());
  leaving.insert(leaving.end(), busy.begin(), busy.end());
  for (Chunk *chunk : leaving)
    DRAGON_TRY(copyOut(*chunk, cause).takeStatus());
  return leaving;
}

DeviceChunks::Exchange::Exchange(DeviceChunks &memory)
    : Memory(memory),
      Departing(std::make_unique<Departure>(memory, Cause::Eviction)) {
  Memory.Exchanges.push_back(this);
}

DeviceChunks::Exchange::~Exchange() {
  Left = 0; // also those that failed to
  putBack();
  Memory.Exchanges.pop_back();
}

void DeviceChunks::Exchange::putBack() {
  for (size_t i = Left; i < Leaving.size(); ++i)
    if (Leaving[i]->device.id)
      Memory.list(*Leaving[i], true);
  Leaving.resize(Left);
}

Status DeviceChunks::Exchange::begin(uint64_t bytes) {
  // Who needs room uses the device again, launch or not: others have the memory
  // of a program that yields.
  if (bytes)
    Memory.goesOn();
  DRAGON_TRY(Memory.giveBackIdle());
  if (Memory.Pool.hasRoom(bytes))
    return {};
  DRAGON_ASSIGN(Leaving, Memory.chooseLeaving(bytes, Departing->cause()));
  Left = 0;
  for (Chunk *chunk : Leaving)
    Memory.list(*chunk, false);
  return {};
}

Status DeviceChunks::Exchange::leaveFor(uint64_t bytes, TraceZone &zone) {
  while (Left < Leaving.size() && !Memory.Pool.hasRoom(bytes))
    // It may have gone in another way meanwhile.
    if (Chunk &chunk = *Leaving[Left++]; chunk.device.id) {
      nameIn(zone, *chunk.buffer);
      DRAGON_TRY(Memory.evictOne(chunk, *Departing));
    }
  // Those on their way to storage still have their memory, and memory for
  // transit that what comes may need.
  return Departing->flush();
}

Status DeviceChunks::Exchange::makeRoom(uint64_t bytes) {
  if (Memory.Pool.hasRoom(bytes))
    return {};
  TraceZone zone("evict");
  Status status = leaveFor(bytes, zone);
  while (status.ok() && !Memory.Pool.hasRoom(bytes)) {
    status = begin(bytes);
    if (status.ok())
      status = leaveFor(bytes, zone);
  }
  zone.add(Departing->takeArrived());
  return status;
}

Status DeviceChunks::makeRoom(uint64_t bytes) {
  Exchange exchange(*this);
  DRAGON_TRY(exchange.begin(bytes));
  return exchange.makeRoom(bytes);
}

} // namespace dragon
