//===- Residency.cpp - bringing chunks in and moving them out -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mechanics behind ResidencyPolicy: each function changes the state of a
// chunk only after what it stands for has happened, so that a failure anywhere
// leaves every chunk with at least the copies it had.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Eviction.h"
#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cstring>

namespace dragon {

// -- Time --------------------------------------------------------------------

Status Runtime::Impl::synchronizeAll() {
  DRAGON_TRY(Dev->synchronizeAll());
  ++Epoch;
  Work.allDone();
  Fetches.allDone();
  Departures.allDone();
  return {};
}

Status Runtime::Impl::settle(Chunk &chunk) {
  if (!Dev->caps().asynchronous)
    return {};
  if (chunk.buffer->lastUntracked == Epoch)
    return synchronizeAll();
  DRAGON_TRY(Work.waitFor(std::max(chunk.lastUse, chunk.buffer->lastUse)));
  DRAGON_TRY(Fetches.waitFor(chunk.arrival));
  return Departures.waitFor(chunk.departure);
}

Status Runtime::Impl::queueWaitsFor(Queue queue, Chunk &chunk) {
  if (!Dev->caps().asynchronous)
    return {};
  if (chunk.buffer->lastUntracked == Epoch)
    return synchronizeAll();
  DRAGON_TRY(Work.queueWaitsFor(
      queue, std::max(chunk.lastUse, chunk.buffer->lastUse)));
  DRAGON_TRY(Fetches.queueWaitsForOne(queue, chunk.arrival));
  return Departures.queueWaitsFor(queue, chunk.departure);
}

void Runtime::Impl::pollWork() {
  for (WorkLog *log : {&Work, &Fetches, &Departures})
    log->poll();
}

bool Runtime::Impl::isBusy(const Chunk &chunk) {
  if (!wasBusy(chunk))
    return false;
  pollWork();
  return wasBusy(chunk);
}

bool Runtime::Impl::wasBusy(const Chunk &chunk) const {
  if (!Dev->caps().asynchronous)
    return false;
  return chunk.buffer->lastUntracked == Epoch ||
         !Work.knownDone(std::max(chunk.lastUse, chunk.buffer->lastUse)) ||
         !Fetches.knownDone(chunk.arrival) ||
         !Departures.knownDone(chunk.departure);
}

// -- Books -------------------------------------------------------------------

static void setListed(std::vector<Chunk *> &list, int32_t Chunk::*slot,
                      Chunk &chunk, bool present) {
  if (present == (chunk.*slot >= 0))
    return;
  if (present) {
    chunk.*slot = int32_t(list.size());
    list.push_back(&chunk);
    return;
  }
  Chunk *last = list.back();
  list[size_t(chunk.*slot)] = last;
  last->*slot = chunk.*slot;
  list.pop_back();
  chunk.*slot = -1;
}

void Runtime::Impl::listDevice(Chunk &chunk, bool present) {
  setListed(OnDevice, &Chunk::deviceSlot, chunk, present);
}
void Runtime::Impl::listHost(Chunk &chunk, bool present) {
  setListed(OnHost, &Chunk::hostSlot, chunk, present);
}

void Runtime::Impl::dropStorage(Chunk &chunk) {
  callOffWriting(chunk);
  chunk.fetched = false;
  chunk.storage.clear();
  if (chunk.slot.bytes)
    Swap->release(chunk.slot);
  chunk.slot = {};
}

Status Runtime::Impl::releaseDevice(Chunk &chunk) {
  DRAGON_TRY(Dev->unmap(chunk.va(), chunk.device));
  chunk.copiedAhead = false;
  DevicePool.give(chunk.device);
  chunk.device = {};
  listDevice(chunk, false);
  chunk.buffer->setValid(chunk, false, chunk.hostValid, chunk.storageValid);
  return {};
}

Status Runtime::Impl::releaseHost(Chunk &chunk) {
  callOffWriting(chunk);
  if (!chunk.host.id)
    return {};
  DRAGON_TRY(Departures.waitFor(chunk.departure));
  DRAGON_TRY(unmapHost(chunk));
  HostPool.give(chunk.host);
  chunk.host = {};
  listHost(chunk, false);
  chunk.buffer->setValid(chunk, chunk.deviceValid, false, chunk.storageValid);
  return {};
}

void Runtime::Impl::define(Chunk &chunk, ChunkPart part) {
  if (!Tracking) // launches do not say what they write
    chunk.defined = chunk.whole();
  else
    chunk.defined = hull(chunk.defined, part);
}

Status Runtime::Impl::wroteDevice(Chunk &chunk, ChunkPart part) {
  chunk.discardedDirty = false;
  chunk.copiedAhead = false;
  define(chunk, part);
  if (chunk.deviceValid && !chunk.hostValid && !chunk.storageValid)
    return {};
  dropStorage(chunk);
  // The host slab stays: the next eviction will want it.
  chunk.buffer->setValid(chunk, true, false, false);
  return {};
}

Status Runtime::Impl::wroteHost(Chunk &chunk, ChunkPart part) {
  chunk.discardedDirty = false;
  define(chunk, part);
  dropStorage(chunk);
  chunk.buffer->setValid(chunk, false, true, false);
  return {};
}

Status Runtime::Impl::makeMappable(Chunk &chunk) {
  if (chunk.host.place != Place::Pinned)
    return {};
  pin(chunk);
  DRAGON_TRY(settle(chunk));
  DRAGON_ASSIGN(Physical slab, takeTransit(chunk.bytes(), Place::Host));
  std::memcpy(slab.hostView, chunk.host.hostView, chunk.used());
  HostPool.give(chunk.host);
  chunk.host = slab;
  return {};
}

Status Runtime::Impl::unmapHost(Chunk &chunk) {
  if (!chunk.hostMapped)
    return {};
  DRAGON_TRY(settle(chunk));
  DRAGON_TRY(Dev->unmap(chunk.va(), chunk.host));
  chunk.hostMapped = false;
  return {};
}

Status Runtime::Impl::forget(Chunk &chunk) {
  // The host must fault to see what comes next.
  DRAGON_TRY(unmapHost(chunk));
  if (!chunk.storageValid && Tracking)
    chunk.discardedDirty = true;
  dropStorage(chunk);
  chunk.defined = {};
  chunk.buffer->setValid(chunk, false, false, true);
  return {};
}

// -- To the device -----------------------------------------------------------

Status Runtime::Impl::mapDevice(Chunk &chunk) {
  chunk.dying = false;
  auto slab = DevicePool.take(chunk.bytes());
  while (!slab.ok()) {
    Status failure = slab.takeStatus();
    if (failure.code() != DRAGON_ERROR_OUT_OF_MEMORY ||
        DevicePool.hasRoom(chunk.bytes())) {
      // The device has less than it said: others use it, too.
      if (failure.code() != DRAGON_ERROR_OUT_OF_MEMORY || OnDevice.empty())
        return failure;
      DevicePool.shrinkToUsed();
      log(LogLevel::Info, "the device has only {} left for buffers",
          formatBytes(DevicePool.budget()));
    }
    DRAGON_TRY(makeDeviceRoom(chunk.bytes()));
    slab = DevicePool.take(chunk.bytes());
  }
  Status status = unmapHost(chunk);
  if (status.ok())
    status = Dev->map(chunk.va(), *slab);
  if (!status.ok()) {
    DevicePool.give(*slab);
    return status;
  }
  chunk.device = *slab;
  chunk.lastUse = 0;
  listDevice(chunk, true);
  if (chunk.buffer->hostAccessible)
    DRAGON_TRY(Dev->guardHostAccess(chunk.va(), chunk.bytes(), true));
  return {};
}

Status Runtime::Impl::bringIn(std::span<const Want> wants, Queue queue,
                              Cause cause, std::optional<Queue> fills) {
  DRAGON_TRY(startBringingIn(wants, cause, fills));
  // Others may be on their way for work that comes later.
  std::vector<uint64_t> arrivals;
  for (const Want &want : wants)
    arrivals.push_back(want.chunk->arrival);
  return Fetches.queueWaitsForEach(queue, arrivals);
}

Status Runtime::Impl::fillUndefined(const Chunk &chunk, Queue queue) {
  const ChunkPart part = chunk.defined;
  if (part.bytes() == chunk.used())
    return {};
  if (Config.poison)
    return Dev->poison(chunk.va(), chunk.bytes(), queue);
  auto clear = [&](size_t begin, size_t end) {
    return begin < end ? Dev->fill(reinterpret_cast<void *>(chunk.va() + begin),
                                   0, 1, end - begin, queue)
                       : Status();
  };
  if (part.empty())
    return clear(0, chunk.used());
  DRAGON_TRY(clear(0, part.begin));
  return clear(part.end, chunk.used());
}

Status Runtime::Impl::startBringingIn(std::span<const Want> wants, Cause cause,
                                      std::optional<Queue> fills) {
  uint64_t missing = 0, bytes = 0;
  for (const Want &want : wants) {
    pin(*want.chunk);
    want.chunk->lastTouch = Clock;
    if (!want.chunk->device.id)
      missing += want.chunk->bytes();
  }
  if (missing)
    DRAGON_TRY(makeDeviceRoom(missing));

  TraceZone zone("bring in");
  std::vector<Chunk *> fromStorage, arriving, filled;
  const Queue filling = fills.value_or(CopyIn);
  auto bring = [&](const Want &want) -> Status {
    Chunk &chunk = *want.chunk;
    if (chunk.deviceValid)
      return {};
    Move move =
        decide(stateOf(chunk), want.need, NextUse::Unknown, Pressure::None);
    const bool fillsOnly =
        move.fetch == Fetch::Undefined || move.fetch == Fetch::Zero;
    if (!chunk.device.id)
      DRAGON_TRY(mapDevice(chunk));
    else if (move.fetch != Fetch::Nothing || Config.poison)
      DRAGON_TRY(queueWaitsFor(fillsOnly ? filling : CopyIn,
                               chunk)); // earlier work may use it
    if (move.avoided)
      Bytes.avoided(*move.avoided, chunk.used());
    void *va = reinterpret_cast<void *>(chunk.va());
    switch (move.fetch) {
    case Fetch::Nothing: // overwritten: valid once the work is queued
      chunk.defined = {};
      if (Config.poison) {
        DRAGON_TRY(Dev->poison(chunk.va(), chunk.bytes(), CopyIn));
        arriving.push_back(&chunk);
      }
      return {};
    case Fetch::Undefined:
      chunk.defined = {};
      DRAGON_TRY(fillUndefined(chunk, filling));
      filled.push_back(&chunk);
      break;
    case Fetch::Zero:
      chunk.defined = chunk.whole();
      DRAGON_TRY(Dev->fill(va, 0, 1, chunk.used(), filling));
      filled.push_back(&chunk);
      break;
    case Fetch::FromHost:
      log(LogLevel::Debug,
          "brings chunk {} of the buffer at {:#x} from host "
          "memory",
          chunk.index, chunk.buffer->base);
      DRAGON_TRY(fillUndefined(chunk, CopyIn));
      if (const ChunkPart part = chunk.defined; !part.empty()) {
        DRAGON_TRY(Dev->copy(static_cast<char *>(va) + part.begin,
                             static_cast<const char *>(chunk.host.hostView) +
                                 part.begin,
                             part.bytes(), CopyKind::HostToDevice, CopyIn));
        Bytes.moved(Direction::HostToDevice, cause, part.bytes());
        bytes += part.bytes();
      }
      arriving.push_back(&chunk);
      break;
    case Fetch::FromStorage:
      fromStorage.push_back(&chunk);
      return {};
    }
    chunk.discardedDirty = false;
    chunk.buffer->setValid(chunk, true, chunk.hostValid, chunk.storageValid);
    return {};
  };
  Status status;
  for (const Want &want : wants)
    if (status = bring(want); !status.ok())
      break;
  zone.add(bytes);
  for (const auto &[chunks, in] :
       {std::pair(&arriving, CopyIn), std::pair(&filled, filling)}) {
    if (chunks->empty())
      continue;
    auto ticket = Fetches.note(in);
    if (!ticket.ok())
      return synchronizeAll();
    for (Chunk *chunk : *chunks)
      chunk->arrival = *ticket;
    LastFetch = std::max(LastFetch, *ticket);
  }
  DRAGON_TRY(std::move(status));
  return fromStorage.empty() ? Status() : fetchFromStorage(fromStorage, cause);
}

// -- From the device ---------------------------------------------------------

void Runtime::Impl::noticeOnce() {
  if (Noticed || LiveBytes <= DevicePool.budget())
    return;
  Noticed = true;
  notice("buffers of {} exceed the {} of device memory by {}: the rest lives "
         "in host memory and files, and moves as kernels need it "
         "(DRAGON_STATS=- shows what moves, DRAGON_QUIET=1 hides this)",
         formatBytes(LiveBytes), formatBytes(DevicePool.budget()),
         formatBytes(LiveBytes - DevicePool.budget()));
}

std::vector<EvictionCandidate> Runtime::Impl::candidates(bool later) {
  std::vector<EvictionCandidate> result;
  if (!later)
    pollWork();
  for (size_t i = 0; i < OnDevice.size(); ++i) {
    Chunk &chunk = *OnDevice[i];
    if (chunk.pinned == Round || chunk.held || chunk.buffer->kept)
      continue;
    EvictionCandidate candidate;
    candidate.index = uint32_t(i);
    candidate.bytes = chunk.bytes();
    candidate.lastTouch = std::max(chunk.lastTouch, chunk.buffer->lastTouch);
    const Forecast next = nextUseOf(chunk);
    candidate.nextUse = next.clock;
    candidate.returns = !next.overwritten;
    candidate.empty = !chunk.deviceValid;
    candidate.copies =
        chunk.deviceValid && !chunk.hostValid && !chunk.storageValid;
    candidate.busy = !later && wasBusy(chunk);
    candidate.recent = candidate.lastTouch >= InUseSince;
    candidate.keepLast = chunk.buffer->advice == DRAGON_ADVISE_KEEP_DEVICE;
    result.push_back(candidate);
  }
  return result;
}

Status Runtime::Impl::makeDeviceRoom(uint64_t bytes) {
  DRAGON_TRY(giveBackIdle());
  while (!DevicePool.hasRoom(bytes)) {
    noticeOnce();
    Tracking = true; // from now on it matters when work on a chunk ends
    std::vector<EvictionCandidate> from = candidates();
    uint64_t budget = DevicePool.budget(), used = DevicePool.used();
    if (from.empty() || bytes > budget)
      return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                           "device memory: {} needed at once, {} of {} in use "
                           "by the same work; raise DRAGON_DEVICE_MEMORY",
                           formatBytes(bytes), formatBytes(used),
                           formatBytes(budget));
    std::vector<Chunk *> victims;
    for (uint32_t index :
         chooseVictims(std::move(from), Clock, used + bytes - budget))
      victims.push_back(OnDevice[index]);
    DRAGON_TRY(evictFromDevice(victims, Cause::Eviction));
  }
  return {};
}

StatusOr<bool> Runtime::Impl::copyOut(Chunk &chunk, Cause cause) {
  if (!chunk.deviceValid || chunk.hostValid || chunk.storageValid)
    return false;
  if (!chunk.host.id) {
    if (!HostPool.hasRoom(chunk.bytes(), Limits.transitBytes))
      // Host copies that somebody else holds as well can go at once.
      makeHostRoom(chunk.bytes(), false, true).ignore();
    if (!HostPool.hasRoom(chunk.bytes(), Limits.transitBytes))
      return false;
    auto slab = HostPool.take(chunk.bytes(), Limits.transitBytes);
    if (!slab.ok())
      return false; // the host has less than the budget
    chunk.host = *slab;
    listHost(chunk, true);
  }
  DRAGON_TRY(queueWaitsFor(CopyOut, chunk));
  if (const ChunkPart part = chunk.defined; !part.empty()) {
    DRAGON_TRY(
        Dev->copy(static_cast<char *>(chunk.host.hostView) + part.begin,
                  reinterpret_cast<const void *>(chunk.va() + part.begin),
                  part.bytes(), CopyKind::DeviceToHost, CopyOut));
    Bytes.moved(Direction::DeviceToHost, cause, part.bytes());
  }
  auto ticket = Departures.note(CopyOut);
  if (!ticket.ok())
    DRAGON_TRY(Dev->synchronize(CopyOut));
  chunk.departure = ticket.ok() ? *ticket : 0;
  chunk.copiedAhead = true;
  if (Config.poison) {
    DRAGON_TRY(Departures.waitFor(chunk.departure));
    poisonOutside(chunk, chunk.host.hostView);
  }
  chunk.buffer->setValid(chunk, true, true, false);
  return true;
}

Status Runtime::Impl::evictFromDevice(std::span<Chunk *const> victims,
                                      Cause cause) {
  TraceZone zone("evict");
  struct Leaving {
    Chunk *chunk;
    Physical slab;
    Removal removal;
  };
  std::vector<Leaving> leaving;
  uint64_t inTransit = 0;
  uint64_t begin = 0;
  auto giveBack = [&] {
    for (const Leaving &entry : leaving)
      if (entry.slab.id) {
        entry.chunk->leaving = false;
        HostPool.give(entry.slab);
      }
    leaving.clear();
    inTransit = 0;
  };
  auto flush = [&]() -> Status {
    if (leaving.empty())
      return {};
    if (Status status = Dev->synchronize(CopyOut); !status.ok()) {
      giveBack();
      return status;
    }
    const uint64_t elapsed = traceClock() - begin;
    Status status;
    for (Leaving &entry : leaving) {
      Chunk &chunk = *entry.chunk;
      Bytes.moved(Direction::DeviceToHost, cause, chunk.defined.bytes(),
                  elapsed / leaving.size());
      zone.add(chunk.defined.bytes());
      if (Config.poison)
        poisonOutside(chunk, entry.slab.hostView);
      chunk.host = std::exchange(entry.slab, Physical());
      listHost(chunk, true);
      chunk.buffer->setValid(chunk, true, true, false);
      Status started = startWriting(chunk, entry.removal, cause);
      const bool leaves = started.ok();
      if (status.ok())
        status = std::move(started);
      Status released = leaves ? releaseDevice(chunk) : releaseHost(chunk);
      if (status.ok())
        status = std::move(released);
    }
    giveBack();
    while (WritingBytes > mostWriting()) {
      Status finished = finishFirstWriting();
      if (status.ok())
        status = std::move(finished);
    }
    return status;
  };

  // All copies are queued before the first one is waited for.
  for (Chunk *victim : victims)
    DRAGON_TRY(copyOut(*victim, cause).takeStatus());
  for (Chunk *victim : victims) {
    Chunk &chunk = *victim;
    if (Status status = settle(chunk); !status.ok()) {
      giveBack();
      return status;
    }
    Bytes.count(Counter::Evictions);
    NextUse next = chunk.discardedDirty && !chunk.deviceValid
                       ? NextUse::Never
                       : NextUse::Unknown;
    // What host memory has room for has been copied there.
    Move move =
        decide(stateOf(chunk), LaunchNeed::None, next, Pressure::DeviceAndHost);
    log(LogLevel::Debug, "evicts chunk {} of the buffer at {:#x}: {}",
        chunk.index, chunk.buffer->base,
        chunk.copiedAhead || move.removal != Removal::Drop ? "copied out"
                                                           : "dropped");
    if (move.removal == Removal::Drop) {
      // What is clean because it was copied out to go was not avoided.
      if (move.avoided && !chunk.copiedAhead)
        Bytes.avoided(*move.avoided, chunk.used());
      else if (chunk.discardedDirty)
        Bytes.avoided(Avoided::Discard, chunk.used());
      chunk.discardedDirty = false;
      if (Status status = releaseDevice(chunk); !status.ok()) {
        giveBack();
        return status;
      }
      continue;
    }
    // They share the half of transit memory with those that are written.
    while (!Writings.empty() && WritingBytes + inTransit + chunk.bytes() >
                                    std::max(mostWriting(), chunk.bytes()))
      finishFirstWriting().ignore(); // see takeTransit
    auto slab = takeTransit(chunk.bytes());
    if (!slab.ok() && !leaving.empty()) {
      DRAGON_TRY(flush());
      slab = takeTransit(chunk.bytes());
    }
    if (!slab.ok()) {
      giveBack();
      return slab.takeStatus();
    }
    const Leaving entry{&chunk, *slab, move.removal};
    if (leaving.empty())
      begin = traceClock();
    chunk.leaving = true;
    leaving.push_back(entry);
    const ChunkPart part = chunk.defined;
    Status status;
    if (!part.empty())
      status =
          Dev->copy(static_cast<char *>(entry.slab.hostView) + part.begin,
                    reinterpret_cast<const void *>(chunk.va() + part.begin),
                    part.bytes(), CopyKind::DeviceToHost, CopyOut);
    if (!status.ok()) {
      Dev->synchronize(CopyOut).ignore();
      giveBack();
      return status;
    }
    inTransit += chunk.bytes();
    if (inTransit + Limits.chunkBytes > Limits.transitBytes / 2)
      DRAGON_TRY(flush());
  }
  return flush();
}

// -- Host memory -------------------------------------------------------------

Status Runtime::Impl::makeHostRoom(uint64_t bytes, bool forTransit,
                                   bool dropOnly) {
  uint64_t keepFree = forTransit ? 0 : Limits.transitBytes;
  const uint64_t begunBefore = WritingsBegun;
  DRAGON_TRY(recycleTransit(false));
  while (!HostPool.hasRoom(bytes, keepFree)) {
    finishDoneWritings();
    if (HostPool.hasRoom(bytes, keepFree))
      return {};
    std::vector<EvictionCandidate> drops, writes;
    for (size_t i = 0; i < OnHost.size(); ++i) {
      Chunk &chunk = *OnHost[i];
      // What was copied out will soon have no other copy.
      if (chunk.pinned == Round || chunk.leaving || chunk.staysMapped ||
          chunk.writing || (dropOnly && chunk.copiedAhead))
        continue;
      EvictionCandidate candidate;
      candidate.index = uint32_t(i);
      candidate.bytes = chunk.host.bytes;
      candidate.lastTouch = std::max(chunk.lastTouch, chunk.buffer->lastTouch);
      candidate.nextUse = nextUseOf(chunk).clock;
      candidate.empty = !chunk.hostValid;
      candidate.busy = isBusy(chunk);
      candidate.keepLast = chunk.buffer->advice == DRAGON_ADVISE_KEEP_HOST ||
                           chunk.hostMapped || chunk.copiedAhead;
      bool drop = !chunk.hostValid || chunk.deviceValid || chunk.storageValid;
      (drop ? drops : writes).push_back(candidate);
    }
    if (drops.empty() && dropOnly)
      return {};
    auto &candidates = drops.empty() ? writes : drops;
    // A write that has begun makes room as well, once transit memory is back.
    if (drops.empty() && !Writings.empty() &&
        (writes.empty() || forTransit ||
         WritingBytes + bytes > mostWriting())) {
      DRAGON_TRY(finishFirstWriting(begunBefore));
      continue;
    }
    if (candidates.empty() && (ReadingBytes || !Transit.empty())) {
      dropAllReadings();
      DRAGON_TRY(recycleTransit(true));
      continue;
    }
    if (candidates.empty())
      return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                           "host memory: {} needed, {} of {} in use; raise "
                           "DRAGON_HOST_MEMORY",
                           formatBytes(bytes), formatBytes(HostPool.used()),
                           formatBytes(HostPool.budget()));
    std::vector<Chunk *> victims;
    for (uint32_t index : chooseVictims(std::move(candidates), Clock,
                                        HostPool.missing(bytes, keepFree)))
      victims.push_back(OnHost[index]);
    for (Chunk *victim : victims)
      DRAGON_TRY(evictFromHost(*victim, Cause::Eviction));
    while (WritingBytes > mostWriting())
      DRAGON_TRY(finishFirstWriting(begunBefore));
  }
  return {};
}

Status Runtime::Impl::evictFromHost(Chunk &chunk, Cause cause) {
  DRAGON_TRY(settle(chunk));    // a copy out of it may be under way
  DRAGON_TRY(unmapHost(chunk)); // the host may write to it until then
  Move move = decide(stateOf(chunk), LaunchNeed::None, NextUse::Unknown,
                     Pressure::Host);
  if (move.removal == Removal::Drop)
    return releaseHost(chunk);
  return startWriting(chunk, move.removal, cause);
}

Status Runtime::Impl::bringToHost(Chunk &chunk, LaunchNeed need, Cause cause) {
  chunk.dying = false;
  chunk.lastTouch = Clock;
  pin(chunk);
  if (chunk.writing)
    finishWriting(chunk).ignore(); // pinned: it has its host copy in any case
  if (chunk.hostValid)
    return {};
  DRAGON_TRY(settle(chunk));
  if (!chunk.host.id) {
    DRAGON_ASSIGN(chunk.host, takeHost(chunk.bytes()));
    listHost(chunk, true);
  }
  Move move = decide(stateOf(chunk), need, NextUse::Unknown, Pressure::None);
  if (need == LaunchNeed::Overwrite) {
    chunk.defined = {};
    if (Config.poison)
      poisonMemory(chunk.host.hostView, chunk.used());
    return {};
  }
  if (chunk.deviceValid) {
    uint64_t begin = traceClock();
    if (Config.poison)
      poisonOutside(chunk, chunk.host.hostView);
    if (const ChunkPart part = chunk.defined; !part.empty()) {
      DRAGON_TRY(
          Dev->copy(static_cast<char *>(chunk.host.hostView) + part.begin,
                    reinterpret_cast<const void *>(chunk.va() + part.begin),
                    part.bytes(), CopyKind::DeviceToHost, CopyOut));
      DRAGON_TRY(Dev->synchronize(CopyOut));
      Bytes.moved(Direction::DeviceToHost, cause, part.bytes(),
                  traceClock() - begin);
    }
  } else if (move.fetch != Fetch::FromHost) {
    ReadPlan plan;
    DRAGON_TRY(planRead(chunk, 0, chunk.used(),
                        static_cast<char *>(chunk.host.hostView), plan));
    DRAGON_TRY(runRead(plan, cause));
    chunk.defined =
        move.fetch == Fetch::Undefined ? ChunkPart() : chunk.whole();
    if (move.fetch == Fetch::Undefined && !Config.poison)
      std::memset(chunk.host.hostView, 0, chunk.used());
  }
  chunk.discardedDirty = false;
  chunk.buffer->setValid(chunk, chunk.deviceValid, true, chunk.storageValid);
  return {};
}

} // namespace dragon
