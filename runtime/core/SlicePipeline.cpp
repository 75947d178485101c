//===- SlicePipeline.cpp - what leaves while slices run -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a slice computes, the next ones' chunks arrive, for which others have
// to leave. A chunk that is copied out only when its memory is needed makes the
// arrival wait: one direction of the link idles while the other works. So the
// next slices' evictions are worked out in advance, by the same policy on the
// state as it will be, and what they will copy out is copied out now. Once that
// is done and no work uses it any more, it gives its memory to what comes next,
// which is fetched then: both directions of the link are busy while the slices
// in between compute. All of it moves as much as it would have later. What the
// next slices need from files and swap is read meanwhile.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/core/SliceUses.h"

#include <algorithm>

namespace dragon {

namespace {
/// Slices that are looked at; many bring nothing new, those of launches that
/// run together above all.
constexpr size_t MaxAhead = 64;
} // namespace

Status Runtime::Impl::prepare(const SliceUses &uses, size_t next) {
  const size_t end = std::min(next + MaxAhead, uses.size());
  std::vector<Chunk *> coming;
  for (size_t slice = next; slice < end; ++slice)
    for (const SliceUses::Use &use : uses.uses(slice))
      if (!use.use->chunk->device.id && !use.overwrites)
        coming.push_back(use.use->chunk);
  DRAGON_TRY(startReading(coming));
  if (!Tracking)
    return {};
  struct Future {
    Chunk *chunk;
    EvictionCandidate state;
    bool onDevice;
    bool stays = false;   ///< kept, or held by others
    bool changed = false; ///< by a slice that is still to come
    size_t neededBy = 0;  ///< the slice that it was needed by last; 0: none
  };
  std::vector<Future> chunks;
  ++Preparation;
  auto add = [&](const Future &future) {
    future.chunk->plannedIn = Preparation;
    future.chunk->planned = chunks.size();
    chunks.push_back(future);
  };
  ++Round; // nothing is pinned
  for (const EvictionCandidate &state : candidates(/*later=*/true)) {
    Chunk *chunk = OnDevice[state.index];
    add({chunk, state, true});
  }
  const bool waits = Dev->caps().asynchronous;
  const uint64_t budget = DevicePool.budget();
  uint64_t used = DevicePool.used(), arriving = 0;
  uint64_t reserved = 0; ///< for what cannot come yet
  for (size_t slice = next; slice < end; ++slice) {
    uint64_t missing = 0;
    for (const SliceUses::Use &use : uses.uses(slice)) {
      Chunk *chunk = use.use->chunk;
      if (chunk->plannedIn != Preparation) {
        EvictionCandidate state{};
        state.bytes = chunk->bytes();
        // What is there and no candidate stays.
        const bool there = chunk->device.id;
        add({chunk, state, there, there});
      }
      Future &future = chunks[chunk->planned];
      if (!future.onDevice)
        missing += future.state.bytes;
      future.neededBy = slice;
    }
    // Further ahead, the room is better made when its time comes.
    arriving += missing;
    if (slice > next && arriving > budget / 4)
      return {};
    if (used + missing > budget) {
      std::vector<EvictionCandidate> from;
      for (size_t i = 0; i < chunks.size(); ++i)
        if (chunks[i].onDevice && !chunks[i].stays &&
            chunks[i].neededBy != slice) {
          from.push_back(chunks[i].state);
          from.back().index = uint32_t(i);
          from.back().recent =
              waits && from.back().lastTouch >= uses.inUseSince(slice);
        }
      std::vector<Chunk *> leaving;
      for (uint32_t victim :
           chooseVictims(std::move(from), uses.timeOf(slice) - 1,
                         used + missing - budget)) {
        Future &future = chunks[victim];
        Chunk &chunk = *future.chunk;
        if (!future.changed && !future.state.empty)
          DRAGON_TRY(copyOut(chunk, Cause::Eviction).takeStatus());
        if (!future.neededBy && chunk.device.id && !isBusy(chunk))
          leaving.push_back(&chunk);
        future.onDevice = false;
        future.state.copies = false;
        used -= future.state.bytes;
      }
      if (waits && !leaving.empty())
        DRAGON_TRY(evictFromDevice(leaving, Cause::Eviction));
    }
    used += missing;
    if (waits) {
      std::vector<Want> fetched;
      uint64_t bytes = 0;
      for (const SliceUses::Use &use : uses.uses(slice)) {
        Chunk &chunk = *use.use->chunk;
        if (chunk.device.id)
          continue;
        // An empty one would be the first to be evicted again.
        if (use.overwrites || !chunk.hostValid ||
            !DevicePool.hasRoom(reserved + bytes + chunk.bytes())) {
          reserved += chunk.bytes();
          continue;
        }
        bytes += chunk.bytes();
        fetched.push_back({&chunk, use.need()});
      }
      if (!fetched.empty())
        DRAGON_TRY(startBringingIn(fetched, Cause::Demand));
    }
    for (const SliceUses::Use &use : uses.uses(slice)) {
      Future &future = chunks[use.use->chunk->planned];
      future.onDevice = true;
      future.changed |= use.use->mayWrite;
      future.state.copies |= use.use->mayWrite;
      future.state.lastTouch = uses.timeOf(slice) - 1;
      const Forecast after = uses.nextAfter(use);
      future.state.nextUse = after.clock;
      future.state.returns = !after.overwritten;
      future.state.empty = use.dies;
    }
  }
  return {};
}

} // namespace dragon
