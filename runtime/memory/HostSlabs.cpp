//===- HostSlabs.cpp - slabs of pinned host memory ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostSlabs.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/memory/SharedMemory.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <utility>

namespace dragon {

HostSlabs::HostSlabs(Context &context, WorkTracker &time, StorageIo &store)
    : Ctx(context), Time(time), Store(store),
      Pool(
          "host", context.limits.hostBytes, Place::Pinned,
          [this](size_t bytes, Place place) { return create(bytes, place); },
          [this](const Physical &slab) { return destroy(slab); },
          {context.limits.aheadBytes, hostThreads().threads()},
          TracedMemory::Host),
      Peers(context) {
  // Room for what kernels see in host memory, and for what comes from files.
  Store.Ordinary.setBudget(context.limits.hostBytes / 2, [this](int64_t bytes) {
    return Pool.charge(bytes, Ctx.limits.transitBytes);
  });
}

StatusOr<bool> HostSlabs::freeOrdinary() {
  DRAGON_ASSIGN(const bool moved, Store.moveOrdinaryToSwap());
  trimOrdinary();
  return moved;
}

HostSlabs::~HostSlabs() {
  for (const InTransit &entry : Transit)
    Pool.give(entry.slab);
}

void setListed(std::vector<Chunk *> &list, int32_t Chunk::*slot, Chunk &chunk,
               bool present) {
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

StatusOr<Physical> HostSlabs::create(size_t bytes, Place place) {
  DeviceShare *share = Ctx.hostShare.get();
  const bool beyond = share && Exceeds.exchange(false);
  if (beyond)
    share->reserveBeyond(bytes);
  auto slab = createShared(beyond ? nullptr : share, "host", bytes,
                           [&] { return Ctx.device->create(place, bytes); });
  if (beyond && !slab.ok())
    share->release(bytes);
  if (slab.ok() && slab->hostView)
    Store.Files->remember(slab->hostView, slab->bytes);
  return slab;
}

Status HostSlabs::destroy(const Physical &slab) {
  if (slab.hostView)
    Store.Files->forget(slab.hostView);
  return destroyShared(Ctx.hostShare.get(), *Ctx.device, slab);
}

void HostSlabs::list(Chunk &chunk, bool present) {
  setListed(Chunks, &Chunk::hostSlot, chunk, present);
}

Status HostSlabs::recycleTransit(bool wait) {
  if (wait && !Transit.empty())
    DRAGON_TRY(Time.Fetches.waitFor(Transit.front().ticket));
  while (!Transit.empty() && Time.Fetches.done(Transit.front().ticket)) {
    give(Transit.front().slab);
    Transit.pop_front();
  }
  return {};
}

void HostSlabs::giveTransit(const Physical &slab, uint64_t fetchTicket) {
  if (Time.Fetches.done(fetchTicket))
    give(slab);
  else
    Transit.push_back({fetchTicket, slab});
}

bool HostSlabs::lowerBudget(const Status &refusal) {
  if (refusal.code() != DRAGON_ERROR_OUT_OF_MEMORY ||
      Pool.used() < MinHostChunks * Ctx.limits.chunkBytes)
    return false;
  Pool.shrinkToUsed();
  Ctx.limits.limitHost(Pool.budget());
  log(LogLevel::Info, "the host has only {} left for buffers",
      formatBytes(Ctx.limits.hostBytes));
  return true;
}

void HostSlabs::setLimit(uint64_t bytes, bool falls) {
  const uint64_t unit = Ctx.caps().granularity;
  const uint64_t limit = std::max(bytes / unit * unit, Least);
  if (limit == Ctx.limits.hostBytes || (limit < Ctx.limits.hostBytes && !falls))
    return;
  Ctx.limits.limitHost(limit);
  Pool.setLimit(limit);
}

void HostSlabs::startSharing(uint64_t least) {
  Least = std::min(least, Ctx.hostShare->most());
  setLimit(Ctx.hostShare->needs(Least), true);
}

void HostSlabs::wants(uint64_t bytes) {
  if (!Ctx.hostShare)
    return;
  const uint64_t most = Ctx.hostShare->most();
  if (bytes > Wanted && Wanted < most) {
    // Others need not hear of each chunk.
    constexpr uint64_t Steps = 32;
    Wanted = std::min(most, bytes + most / Steps);
    setLimit(Ctx.hostShare->wants(Wanted), false);
  } else {
    setLimit(Ctx.hostShare->limit(), false);
  }
}

void HostSlabs::wantsNoMoreThan(uint64_t bytes) {
  if (!Ctx.hostShare || bytes >= Wanted)
    return;
  Wanted = bytes;
  setLimit(Ctx.hostShare->wants(bytes), false);
}

bool HostSlabs::exceed(uint64_t bytes) {
  if (!Ctx.hostShare || bytes > Ctx.hostShare->most())
    return false;
  const uint64_t before = Pool.budget();
  wants(bytes);
  if (bytes <= Pool.budget())
    return Pool.budget() > before;
  const uint64_t free = availableHostMemory();
  const uint64_t held = Pool.held();
  if (bytes > held && bytes - held > free - std::min(free, hostReserve(free)))
    return false;
  log(LogLevel::Info,
      "a call needs {} of host memory at once, of which other programs leave "
      "{}",
      formatBytes(bytes), formatBytes(Pool.budget()));
  setLimit(bytes, false);
  Exceeds = true;
  return true;
}

bool HostSlabs::mayHaveChanged() {
  if (!Ctx.hostShare)
    return false;
  const uint32_t news = Ctx.hostShare->news();
  return std::exchange(LimitAsOf, news) != news;
}

void HostSlabs::followShare() {
  uint64_t heldFast = 0;
  for (const Chunk *chunk : Chunks)
    if (chunk->host.place != Place::Peer && Ctx.pins.holdOnHost(*chunk))
      heldFast += chunk->host.bytes;
  setLimit(std::max(Ctx.hostShare->limit(), heldFast ? heldFast + Least : 0),
           true);
}

bool HostSlabs::waitForOthers(uint64_t bytes) {
  if (!Ctx.hostShare)
    return false;
  constexpr unsigned Longest = 20; // seconds
  using Room = DeviceShare::Room;
  Room room = Room::Stuck;
  for (unsigned i = 0; i < Longest && room == Room::Stuck; ++i) {
    if (Ctx.share)
      Ctx.share->getsOn(); // who waits for device memory of this call
    room = Ctx.hostShare->waitForRoom(bytes, 1, 1);
  }
  if (room == Room::NotMine) {
    followShare();
    return false;
  }
  if (room == Room::Stuck) {
    log(LogLevel::Info,
        "takes {} of host memory although others have not given it back",
        formatBytes(bytes));
    Exceeds = true;
  }
  return true;
}

uint64_t HostSlabs::stayingBytes() const {
  const uint64_t budget = Pool.budget();
  return budget > Ctx.limits.transitBytes ? budget - Ctx.limits.transitBytes
                                          : 0;
}

StatusOr<Physical> LentSlabs::take(size_t bytes) {
  DRAGON_ASSIGN(const Physical slab, Pool.take(bytes));
  Held.push_back(slab);
  Bytes += slab.bytes;
  Pool.lend(int64_t(slab.bytes));
  return slab;
}

void LentSlabs::giveBack() {
  Pool.lend(-int64_t(Bytes));
  Bytes = 0;
  for (const Physical &slab : Held)
    Pool.give(slab);
  Held.clear();
}

} // namespace dragon
