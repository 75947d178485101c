//===- DeviceChunks.cpp - chunks in device memory -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/DeviceChunks.h"

#include "runtime/memory/SharedMemory.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <utility>

namespace dragon {

/// How long a program waits for others none of which gets on. They give back
/// between their calls, and between the slices of a launch.
static constexpr unsigned SecondsForOthers = 30;

DeviceChunks::DeviceChunks(Context &context, WorkTracker &time,
                           AddressSpace &space, HostSlabs &slabs,
                           WriteBehind &writes, HostMemory &host,
                           NextUsePredictor &next)
    : Pool(
          "device", context.limits.deviceBytes, Place::Device,
          [&context](size_t bytes, Place place) {
            return createShared(context.share.get(), "device", bytes, [&] {
              return context.device->create(place, bytes);
            });
          },
          [&context](const Physical &slab) {
            return destroyShared(context.share.get(), *context.device, slab);
          },
          {}, TracedMemory::Device),
      Ctx(context), Time(time), Space(space), Slabs(slabs), Writes(writes),
      Host(host), Next(next) {}

void DeviceChunks::list(Chunk &chunk, bool present) {
  setListed(Chunks, &Chunk::deviceSlot, chunk, present);
}

Status DeviceChunks::release(Chunk &chunk) {
  DRAGON_TRY(Ctx.device->unmap(chunk.va(), chunk.device));
  chunk.transit.copiedAhead = false;
  Pool.give(chunk.device);
  chunk.device = {};
  list(chunk, false);
  chunk.buffer->note(chunk, ChunkEvent::LeftDevice);
  return {};
}

Physical DeviceChunks::park(Chunk &chunk) {
  const Physical slab = chunk.device;
  Pool.park(slab, true);
  chunk.device = {};
  chunk.partly.clear();
  list(chunk, false);
  return slab;
}

bool DeviceChunks::dropScratch() {
  bool any = false;
  for (const std::function<bool()> &drop : Scratch)
    any |= drop();
  return any;
}

bool DeviceChunks::holds(uint64_t bytes) {
  return bytes <= Pool.budget() || (dropScratch() && bytes <= Pool.budget());
}

void DeviceChunks::wake(Chunk &chunk, const Physical &parked) {
  Pool.park(parked, false);
  chunk.device = parked;
  list(chunk, true);
}

Status DeviceChunks::release(uintptr_t va, const Physical &parked) {
  DRAGON_TRY(Ctx.device->unmap(va, parked));
  Pool.giveParked(parked);
  return {};
}

StatusOr<Physical> DeviceChunks::take(size_t bytes) {
  goesOn();
  while (true) {
    auto slab = Pool.take(bytes);
    if (slab.ok())
      return slab;
    Status failure = slab.takeStatus();
    if (failure.code() != DRAGON_ERROR_OUT_OF_MEMORY)
      return failure;
    if (Pool.hasRoom(bytes) && Ctx.share) {
      using Room = DeviceShare::Room;
      const Room room = Ctx.share->waitForRoom(bytes, SecondsForOthers);
      const uint64_t before = Pool.budget();
      setLimit(limitNow());
      if (room == Room::There || Pool.budget() != before)
        continue;
      if (room == Room::Stuck)
        waitedInVain();
    }
    if (Pool.hasRoom(bytes)) {
      // The device has less than it said: others use it, too.
      if (Chunks.empty())
        return failure;
      Pool.shrinkToUsed();
      log(LogLevel::Info, "the device has only {} left for buffers",
          formatBytes(Pool.budget()));
    }
    DRAGON_TRY(makeRoom(bytes));
  }
}

Status DeviceChunks::map(Chunk &chunk) {
  chunk.dying = false;
  DRAGON_ASSIGN(const Physical slab, take(chunk.bytes()));
  // The driver would, and keep those waiting meanwhile who fetch for slices.
  if (runsSlices())
    DRAGON_TRY(Time.Departures.waitForAll());
  Status status = Host.unmap(chunk);
  if (status.ok())
    status = Ctx.device->map(chunk.va(), slab);
  if (!status.ok()) {
    Pool.give(slab);
    return status;
  }
  chunk.device = slab;
  chunk.transit.lastUse = 0;
  list(chunk, true);
  if (chunk.buffer->hostAccessible)
    DRAGON_TRY(Ctx.device->guardHostAccess(chunk.va(), chunk.bytes(), true));
  return {};
}

void DeviceChunks::setLimit(uint64_t bytes) {
  const uint64_t unit = Ctx.caps().granularity;
  Pool.setLimit(bytes / unit * unit);
}

bool DeviceChunks::shrinkTo(uint64_t limit, bool scratch) {
  setLimit(limit);
  const uint64_t before = Pool.held();
  if (before <= limit)
    return true;
  auto copiedOut = [this] {
    return Ctx.ledger.bytes(Direction::DeviceToHost, Cause::Eviction) +
           Ctx.ledger.bytes(Direction::DeviceToPeer, Cause::Eviction);
  };
  const uint64_t copiedBefore = copiedOut();
  Pool.trim();
  while (Pool.held() > limit &&
         (Pool.reclaimParked() || (scratch && dropScratch())))
    Pool.trim();
  if (Pool.held() > limit) {
    // What calls in progress hold stays; it is asked for again.
    makeRoom(0).ignore();
    Pool.trim();
  }
  const uint64_t given = before - std::min(before, Pool.held());
  if (Ctx.share) {
    GivenToOthers &all = Ctx.share->given;
    (Ctx.share->isYielding() ? all.lent : all.calledBack) += given;
    all.swapped += copiedOut() - copiedBefore;
  }
  log(LogLevel::Info, "gives {} of device memory back, of {}: others share it",
      formatBytes(given), formatBytes(before));
  return Pool.held() <= limit;
}

bool DeviceChunks::follow(uint64_t limit) {
  Ctx.pins.next(); // what the last call pinned may leave as well
  return shrinkTo(limit, /*scratch=*/true);
}

void DeviceChunks::giveBetweenSlices(std::span<const ChunkUse> next) {
  giveHostMemory();
  if (!Ctx.share)
    return;
  Ctx.share->getsOn();
  const uint32_t news = Ctx.share->news();
  if (std::exchange(HeldAsOf, news) == news)
    return;
  // Who has lost its turn meanwhile claims anew.
  Ctx.share->lowerClaim(Ctx.share->losesTurn() ? Pool.aside() + heldFast()
                                               : beside(next));
  shrinkTo(limitNow(), /*scratch=*/false);
}

uint64_t DeviceChunks::limitNow() const {
  return std::max(Ctx.share->limit(), Ctx.share->claimed());
}

void DeviceChunks::giveHostMemory() {
  if (Slabs.mayHaveChanged() && !Host.follow())
    Slabs.askAgain();
}

void DeviceChunks::waitedInVain() {
  log(LogLevel::Info,
      "no other program gets on: goes on with the {} of device "
      "memory that it may have",
      formatBytes(Ctx.share->limit()));
  if (const auto stopped = Ctx.share->stopped())
    notice("process {}, which is stopped, holds {} of the device's memory: "
           "continue it (kill -CONT {}) or end it",
           stopped->pid, formatBytes(stopped->held), stopped->pid);
}

void DeviceChunks::goesOn() {
  if (!Ctx.share)
    return;
  const bool yielded = Ctx.share->goesOn();
  const uint32_t news = Ctx.share->news();
  if (std::exchange(LimitAsOf, news) != news || yielded)
    setLimit(limitNow());
}

uint64_t DeviceChunks::heldFast() const {
  uint64_t bytes = 0;
  for (const Chunk *chunk : Chunks)
    bytes += Ctx.pins.holdOnDevice(*chunk) ? chunk->bytes() : 0;
  return bytes;
}

uint64_t DeviceChunks::beside(std::span<const ChunkUse> uses) const {
  uint64_t bytes = Pool.aside() + heldFast();
  for (const ChunkUse &use : uses)
    if (!use.chunk->device.id || !Ctx.pins.holdOnDevice(*use.chunk))
      bytes += use.chunk->bytes();
  return bytes;
}

void DeviceChunks::claim(uint64_t bytes) {
  goesOn();
  if (bytes <= Ctx.share->claimed() || bytes > Ctx.share->most())
    return;
  if (!Ctx.share->claimNow(bytes)) {
    // While it waits, nobody counts on what it cannot give back.
    Ctx.share->endCall(Pool.aside() + heldFast());
    const bool has = Ctx.share->claim(bytes, SecondsForOthers, [this] {
      giveHostMemory();
      shrinkTo(Ctx.share->limit(), /*scratch=*/false);
    });
    if (!has)
      waitedInVain();
  }
  setLimit(limitNow());
}

void DeviceChunks::claim(std::span<const ChunkUse> uses) {
  if (Ctx.share)
    claim(beside(uses));
}

bool DeviceChunks::claimNow(std::span<const ChunkUse> uses) {
  return !Ctx.share || Ctx.share->claimNow(beside(uses));
}

void DeviceChunks::endCall() {
  if (!Ctx.share || !(Ctx.share->claimed() || Ctx.share->stays()))
    return;
  Ctx.pins.next();
  Ctx.share->endCall(heldFast());
}

void DeviceChunks::wants(uint64_t bytes) {
  if (Ctx.share)
    setLimit(Ctx.share->wants(bytes));
}

bool DeviceChunks::askOthersFor(uint64_t bytes) {
  const uint64_t before = Pool.budget();
  if (!Ctx.share || bytes <= before)
    return false;
  Ctx.pins.next();
  claim(bytes + Pool.aside());
  return Pool.budget() > before;
}

void DeviceChunks::noticeOnce() {
  if (Noticed || holdsAll())
    return;
  Noticed = true;
  Ctx.progress.goOutOfCore();
  notice("buffers of {} exceed the {} of device memory by {}: the rest lives "
         "in host memory and files, and moves as kernels need it "
         "(DRAGON_STATS=- shows what moves, DRAGON_QUIET=1 hides this)",
         formatBytes(Space.LiveBytes), formatBytes(Pool.budget()),
         formatBytes(Space.LiveBytes - Pool.budget()));
}

EvictionCandidate DeviceChunks::candidate(size_t index, bool busy) {
  Chunk &chunk = *Chunks[index];
  EvictionCandidate candidate;
  candidate.index = uint32_t(index);
  candidate.bytes = chunk.bytes();
  candidate.lastTouch = std::max(chunk.lastTouch, chunk.buffer->lastTouch);
  const Forecast next = Next.nextUseOf(chunk);
  candidate.nextUse = next.clock;
  candidate.returns = !next.overwritten;
  candidate.empty = chunk.isEmptyOnDevice();
  candidate.copies = chunk.copies.onDeviceOnly();
  candidate.busy = busy;
  candidate.waits = candidate.lastTouch >= InUseSince ? WaitsCount : 0;
  candidate.keepLast = chunk.buffer->advice == DRAGON_ADVISE_KEEP_DEVICE;
  candidate.streams = chunk.streams;
  candidate.goesRound = GoesRound;
  return candidate;
}

std::vector<EvictionCandidate> DeviceChunks::candidates(bool later) {
  std::vector<EvictionCandidate> result;
  if (!later)
    Time.poll();
  for (size_t i = 0; i < Chunks.size(); ++i)
    if (Chunk &chunk = *Chunks[i]; !Ctx.pins.holdOnDevice(chunk))
      result.push_back(candidate(i, !later && Time.wasBusy(chunk)));
  return result;
}

std::vector<EvictionCandidate>
DeviceChunks::idle(const std::function<bool(const Chunk &)> &mayGo) {
  std::vector<EvictionCandidate> result;
  Time.poll();
  for (size_t i = 0; i < Chunks.size(); ++i)
    if (Chunk &chunk = *Chunks[i];
        mayGo(chunk) && !Ctx.pins.holdOnDevice(chunk) && !Time.wasBusy(chunk))
      result.push_back(candidate(i, /*busy=*/false));
  return result;
}

Status DeviceChunks::giveBack(Chunk &chunk) {
  // Where everything fits, nobody wants it.
  if (!Time.Tracking || chunk.dying)
    return {};
  chunk.dying = true;
  Dying.push_back(&chunk);
  return giveBackIdle();
}

Status DeviceChunks::giveBackIdle() {
  while (!Dying.empty()) {
    Chunk &chunk = *Dying.front();
    const bool used = !chunk.dying || chunk.copies.device ||
                      chunk.copies.host || chunk.hostMapped ||
                      chunk.holds.calls || chunk.buffer->kept;
    if (!used &&
        (Ctx.pins.has(chunk) || chunk.holds.inTransit || Time.isBusy(chunk)))
      break; // those behind it died later
    Dying.pop_front();
    chunk.dying = false;
    if (used)
      continue;
    if (chunk.discardedDirty && chunk.device.id) // as when it is evicted
      Ctx.ledger.avoided(Avoided::Discard, chunk.used());
    chunk.discardedDirty = false;
    if (chunk.device.id)
      DRAGON_TRY(release(chunk));
    if (chunk.host.id)
      DRAGON_TRY(Host.release(chunk));
  }
  return {};
}

void DeviceChunks::noMore(const Buffer &buffer) {
  std::erase_if(Dying, [&](Chunk *chunk) { return chunk->buffer == &buffer; });
}

bool DeviceChunks::mayMove() const {
  return Time.Tracking || Ctx.watcher || !holdsAll();
}

size_t DeviceChunks::usualChunkBytes() const {
  const Budget &limits = Ctx.limits;
  if (limits.byDataChunkBytes != limits.chunkBytes && !holdsAll())
    for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
      if (buffer->vaBytes > limits.deviceBytes)
        return buffer->chunkBytes;
  return limits.chunkBytes;
}

void DeviceChunks::expectHostMemory() {
  // Where nothing is asynchronous host memory costs nothing to make.
  if (!Ctx.caps().asynchronous)
    return;
  const uint64_t elsewhere = Pool.budget() + Space.OfProgram;
  uint64_t expected = 0;
  if (Space.LiveBytes > Pool.budget())
    expected = Ctx.limits.transitBytes +
               (Space.LiveBytes > elsewhere ? Space.LiveBytes - elsewhere : 0);
  // Where copies are deferred, what nobody wants yet may never be wanted; and
  // to make it keeps the driver busy.
  Slabs.Pool.expect(usualChunkBytes(), expected, UINT_MAX,
                    Space.OfProgram ? Ctx.limits.transitBytes : UINT64_MAX);
}

void DeviceChunks::makeNoHostMemory() {
  Slabs.Pool.expect(usualChunkBytes(), 0);
}

void DeviceChunks::expectKept() {
  constexpr unsigned Threads = 2; // about as fast as files are read
  if (!Ctx.caps().asynchronous)
    return;
  const uint64_t next = Slabs.Pool.used() + Ctx.limits.aheadBytes;
  Slabs.Pool.expect(usualChunkBytes(),
                    Ctx.limits.transitBytes + std::min(next, Space.LiveBytes),
                    Threads);
}

bool DeviceChunks::hasRoomForFree(uint64_t bytes) {
  if (Pool.hasRoom(bytes))
    return true;
  uint64_t used = Pool.used();
  for (Chunk *chunk : Chunks) {
    if (chunk->copies.device || chunk->holds.calls || chunk->buffer->kept ||
        Time.isBusy(*chunk))
      continue;
    used -= chunk->bytes();
    if (used + bytes <= Pool.budget())
      return true;
  }
  return false;
}

bool DeviceChunks::fits(const Chunk &chunk) {
  return chunk.copies.device || (chunk.device.id && !chunk.copies.host) ||
         (!chunk.device.id && !chunk.copies.host &&
          hasRoomForFree(chunk.bytes()));
}

} // namespace dragon
