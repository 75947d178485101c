//===- HostSlabs.cpp - slabs of pinned host memory ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostSlabs.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

namespace dragon {

HostSlabs::HostSlabs(Context &context, WorkTracker &time, StorageIo &store)
    : Ctx(context), Time(time), Store(store),
      Pool(
          "host", context.limits.hostBytes, Place::Pinned,
          [this](size_t bytes, Place place) { return create(bytes, place); },
          [this](const Physical &slab) { return destroy(slab); },
          {context.limits.aheadBytes, hostThreads().threads()},
          TracedMemory::Host),
      Peers(context) {}

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
  auto slab = Ctx.device->create(place, bytes);
  if (slab.ok() && slab->hostView)
    Store.Files->remember(slab->hostView, slab->bytes);
  return slab;
}

Status HostSlabs::destroy(const Physical &slab) {
  if (slab.hostView)
    Store.Files->forget(slab.hostView);
  return Ctx.device->destroy(slab);
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

uint64_t HostSlabs::stayingBytes() const {
  const uint64_t budget = Pool.budget();
  return budget > Ctx.limits.transitBytes ? budget - Ctx.limits.transitBytes
                                          : 0;
}

} // namespace dragon
