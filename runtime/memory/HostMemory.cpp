//===- HostMemory.cpp - room in host memory -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostMemory.h"

#include "runtime/trace/Bytes.h"

#include <algorithm>
#include <utility>

namespace dragon {

StatusOr<Physical> HostMemory::takeTransit(size_t bytes, Place place) {
  DRAGON_TRY(Slabs.recycleTransit(false));
  while (true) {
    auto slab = Slabs.Pool.take(bytes, 0, place);
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
    auto slab = Slabs.Pool.take(bytes, Ctx.limits.transitBytes, place);
    if (slab.ok())
      return slab;
    if (Status refusal = slab.takeStatus(); !Slabs.lowerBudget(refusal))
      return refusal;
  }
}

HostMemory::Leaving HostMemory::candidates(bool dropOnly) {
  Leaving leaving;
  for (size_t i = 0; i < Slabs.Chunks.size(); ++i) {
    Chunk &chunk = *Slabs.Chunks[i];
    // What was copied out will soon have no other copy.
    if (Ctx.pins.holdOnHost(chunk) || chunk.transit.writing ||
        (dropOnly && chunk.transit.copiedAhead))
      continue;
    EvictionCandidate candidate;
    candidate.index = uint32_t(i);
    candidate.bytes = chunk.host.bytes;
    candidate.lastTouch = std::max(chunk.lastTouch, chunk.buffer->lastTouch);
    candidate.nextUse = Next.nextUseOf(chunk).clock;
    candidate.empty = !chunk.copies.host;
    candidate.busy = Time.isBusy(chunk);
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
  return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                       "host memory: {} needed, {} of {} in use; raise "
                       "DRAGON_HOST_MEMORY",
                       formatBytes(bytes), formatBytes(Slabs.Pool.used()),
                       formatBytes(Slabs.Pool.budget()));
}

Status HostMemory::makeRoom(uint64_t bytes, bool forTransit, bool dropOnly) {
  uint64_t keepFree = forTransit ? 0 : Ctx.limits.transitBytes;
  const uint64_t begunBefore = Writes.begun();
  DRAGON_TRY(Slabs.recycleTransit(false));
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

Status HostMemory::release(Chunk &chunk) {
  Writes.callOff(chunk);
  if (!chunk.host.id)
    return {};
  DRAGON_TRY(Time.Departures.waitFor(chunk.transit.departure));
  DRAGON_TRY(unmap(chunk));
  Slabs.Pool.give(chunk.host);
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
