//===- SlicePipeline.cpp - what leaves while slices run -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/SlicePipeline.h"

#include <algorithm>

namespace dragon {

namespace {
/// Slices that are looked at; many bring nothing new, those of launches that
/// run together above all.
constexpr size_t MaxAhead = 64;
} // namespace

/// The device's memory as it will be, slice by slice.
class SlicePipeline::Preview {
public:
  Preview(SlicePipeline &pipeline, const SliceUses &uses)
      : P(pipeline), Uses(uses), Waits(P.Ctx.caps().asynchronous),
        Used(P.OnDevice.Pool.used()) {
    for (const EvictionCandidate &state : P.OnDevice.candidates(/*later=*/true))
      add({P.OnDevice.Chunks[state.index], state, true});
  }

  /// Bytes of the slice's chunks that are not on the device by then.
  uint64_t missing(size_t slice);
  /// Gives the memory of what can leave for so many more bytes at once.
  Status makeRoom(size_t slice, uint64_t bytes);
  /// Fetches what the slice needs and has room now.
  Status fetch(size_t slice);
  /// Queues the copies of what is to leave later. Behind all fetches: to map
  /// memory beside such a copy takes a device's driver until it is done.
  Status copyOut();
  /// The slice has run.
  void ran(size_t slice);

private:
  struct Future {
    Chunk *chunk;
    EvictionCandidate state;
    bool onDevice;
    bool stays = false;   ///< kept, or held by others
    bool changed = false; ///< by a slice that is still to come
    size_t neededBy = 0;  ///< the slice that it was needed by last; 0: none
  };
  void add(const Future &future) {
    future.chunk->plannedIn = P.Preparation;
    future.chunk->planned = Chunks.size();
    Chunks.push_back(future);
  }
  std::vector<EvictionCandidate> candidatesFor(size_t slice) const;

  SlicePipeline &P;
  const SliceUses &Uses;
  const bool Waits;
  std::vector<Future> Chunks;
  uint64_t Used;
  uint64_t Reserved = 0;          ///< for what cannot come yet
  std::vector<Chunk *> ToCopyOut; ///< in order
};

uint64_t SlicePipeline::Preview::missing(size_t slice) {
  uint64_t bytes = 0;
  for (const SliceUses::Use &use : Uses.uses(slice)) {
    Chunk *chunk = use.use->chunk;
    if (chunk->plannedIn != P.Preparation) {
      EvictionCandidate state{};
      state.bytes = chunk->bytes();
      // What is there and no candidate stays.
      const bool there = chunk->device.id;
      add({chunk, state, there, there});
    }
    Future &future = Chunks[chunk->planned];
    if (!future.onDevice)
      bytes += future.state.bytes;
    future.neededBy = slice;
  }
  return bytes;
}

std::vector<EvictionCandidate>
SlicePipeline::Preview::candidatesFor(size_t slice) const {
  std::vector<EvictionCandidate> from;
  for (size_t i = 0; i < Chunks.size(); ++i) {
    const Future &future = Chunks[i];
    if (!future.onDevice || future.stays || future.neededBy == slice)
      continue;
    from.push_back(future.state);
    from.back().index = uint32_t(i);
    from.back().waits = Waits && from.back().lastTouch >= Uses.inUseSince(slice)
                            ? Uses.waitsCount()
                            : 0;
  }
  return from;
}

Status SlicePipeline::Preview::makeRoom(size_t slice, uint64_t bytes) {
  const uint64_t budget = P.OnDevice.Pool.budget();
  if (Used + bytes > budget) {
    std::vector<Chunk *> leaving;
    for (uint32_t victim :
         chooseVictims(candidatesFor(slice), Uses.clockOf(slice),
                       Used + bytes - budget)) {
      Future &future = Chunks[victim];
      Chunk &chunk = *future.chunk;
      const bool copies = future.state.copies && !future.state.empty;
      if (copies && !future.changed)
        ToCopyOut.push_back(&chunk);
      else if (!future.neededBy && chunk.device.id && !P.Time.isBusy(chunk))
        leaving.push_back(&chunk);
      future.onDevice = false;
      future.state.copies = false;
      Used -= future.state.bytes;
    }
    if (Waits && !leaving.empty())
      DRAGON_TRY(P.OnDevice.evict(leaving, Cause::Eviction));
  }
  Used += bytes;
  return {};
}

Status SlicePipeline::Preview::fetch(size_t slice) {
  if (!Waits)
    return {};
  std::vector<ChunkUse> fetched;
  uint64_t bytes = 0;
  for (const SliceUses::Use &use : Uses.uses(slice)) {
    Chunk &chunk = *use.use->chunk;
    if (chunk.device.id)
      continue;
    // An empty one would be the first to be evicted again.
    if (use.overwrites ||
        !(chunk.copies.host || P.Resident.comesLater(chunk)) ||
        !P.OnDevice.Pool.hasRoom(Reserved + bytes + chunk.bytes())) {
      Reserved += chunk.bytes();
      continue;
    }
    bytes += chunk.bytes();
    fetched.push_back(use.asNeeded());
  }
  if (fetched.empty() || !P.OnDevice.claimNow(fetched))
    return {};
  return P.Resident.startBringingIn(fetched, Cause::Demand);
}

Status SlicePipeline::Preview::copyOut() {
  for (Chunk *chunk : ToCopyOut)
    DRAGON_TRY(P.OnDevice.copyOut(*chunk, Cause::Eviction).takeStatus());
  return {};
}

void SlicePipeline::Preview::ran(size_t slice) {
  for (const SliceUses::Use &use : Uses.uses(slice)) {
    Future &future = Chunks[use.use->chunk->planned];
    future.onDevice = true;
    future.changed |= use.use->mayWrite();
    future.state.copies |= use.use->mayWrite();
    future.state.lastTouch = Uses.clockOf(slice);
    const Forecast after = Uses.nextAfter(use);
    future.state.nextUse = after.clock;
    future.state.returns = !after.overwritten;
    future.state.empty = use.dies;
  }
}

Status SlicePipeline::prepare(const SliceUses &uses, size_t next) {
  const size_t end = std::min(next + MaxAhead, uses.size());
  std::vector<Chunk *> coming;
  for (size_t slice = next; slice < end; ++slice)
    for (const SliceUses::Use &use : uses.uses(slice))
      if (!use.use->chunk->device.id && !use.overwrites)
        coming.push_back(use.use->chunk);
  DRAGON_TRY(Reads.start(coming));
  if (!Time.Tracking)
    return {};
  ++Preparation;
  Ctx.pins.next(); // nothing is pinned
  Preview preview(*this, uses);
  uint64_t arriving = 0;
  for (size_t slice = next; slice < end; ++slice) {
    const uint64_t missing = preview.missing(slice);
    // Further ahead, the room is better made when its time comes.
    arriving += missing;
    if (slice > next && arriving > OnDevice.Pool.budget() / 4)
      break;
    DRAGON_TRY(preview.makeRoom(slice, missing));
    DRAGON_TRY(preview.fetch(slice));
    preview.ran(slice);
  }
  return preview.copyOut();
}

} // namespace dragon
