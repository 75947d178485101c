//===- FetchAhead.cpp - contents for launches to come ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/FetchAhead.h"

#include "runtime/trace/Trace.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace dragon {

namespace {
/// How many launches are looked at, and after which part of them again where
/// none lacks anything.
constexpr size_t Window = 96, AgainShare = 4;
/// As far ahead as what they read is this part of the device's memory: what is
/// fetched much earlier than it is needed makes others go too early.
constexpr uint64_t HorizonShare = 4;
/// This part of the device's memory is on the way at most, and this part is
/// that of queued work, where something is missing ahead. More than that the
/// link does not need to go on without a pause.
constexpr uint64_t Share = 16, QueuedShare = 8;
constexpr uint64_t MostComing = uint64_t(128) << 20, MostQueued = uint64_t(256)
                                                                  << 20;
/// To sleep takes longer than most kernels.
constexpr std::chrono::microseconds SpinFor(100), Pause(50);
} // namespace

std::vector<Chunk *> FetchAhead::missing(uint64_t most, size_t &looked) const {
  looked = 0;
  std::vector<Chunk *> chunks;
  uint64_t bytes = 0;
  auto addChunks = [&](const AddressRange &range) {
    for (uintptr_t at = range.begin; at < range.end && bytes < most;) {
      Allocation *found = Space.Allocations.find(at);
      if (!found || found->buffer->moving || found->buffer->driverMoved)
        return; // freed since, or not ours to move
      Chunk &chunk = found->buffer->chunkAt(at);
      at = chunk.va() + chunk.bytes();
      if (chunk.device.id || chunk.hostMapped || !chunk.copies.host ||
          std::find(chunks.begin(), chunks.end(), &chunk) != chunks.end())
        continue;
      chunks.push_back(&chunk);
      bytes += chunk.bytes();
    }
  };
  // Of a launch that may read more than can be there it is not known what it
  // will read: it does not come to the device for that launch either.
  const uint64_t mostOfOne = OnDevice.Pool.budget() / 2;
  uint64_t ahead = 0;
  Next.forNextReads(Window, [&](const std::vector<AddressRange> &reads) {
    ++looked;
    uint64_t all = 0;
    for (const AddressRange &range : reads)
      all += range.end - range.begin;
    if (all <= mostOfOne) {
      ahead += all;
      for (const AddressRange &range : reads)
        addChunks(range);
    }
    return bytes < most && ahead < OnDevice.Pool.budget() / HorizonShare;
  });
  return chunks;
}

std::vector<FetchAhead::Leaving> FetchAhead::idle() {
  std::vector<Leaving> idle;
  for (const EvictionCandidate &candidate : OnDevice.candidates())
    if (!candidate.busy && !candidate.copies && !candidate.recent &&
        !candidate.keepLast)
      idle.push_back({candidate, OnDevice.Chunks[candidate.index]});
  return idle;
}

uint64_t FetchAhead::bytesInUse() {
  Time.Work.poll();
  uint64_t bytes = 0;
  for (const Chunk *chunk : OnDevice.Chunks)
    if (!Time.Work.knownDone(
            std::max(chunk->transit.lastUse, chunk->buffer->lastUse)))
      bytes += chunk->bytes();
  return bytes;
}

StatusOr<bool> FetchAhead::makeRoomFor(const Chunk &chunk,
                                       std::vector<Leaving> &idle) {
  if (OnDevice.Pool.hasRoom(chunk.bytes()))
    return true;
  const uint64_t needed =
      OnDevice.Pool.used() + chunk.bytes() - OnDevice.Pool.budget();
  const uint64_t use = Next.foresee(chunk).clock;
  std::vector<EvictionCandidate> later;
  uint64_t bytes = 0;
  for (size_t i = 0; i < idle.size(); ++i)
    if (const EvictionCandidate &candidate = idle[i].candidate;
        candidate.empty || candidate.nextUse > use) {
      later.push_back(candidate);
      later.back().index = uint32_t(i);
      bytes += candidate.bytes;
    }
  if (!use || bytes < needed)
    return false;
  std::vector<Chunk *> victims;
  for (uint32_t index : chooseVictims(later, Ctx.clock, needed))
    victims.push_back(std::exchange(idle[index].chunk, nullptr));
  std::erase_if(idle, [](const Leaving &gone) { return !gone.chunk; });
  DRAGON_TRY(OnDevice.evict(victims, Cause::Eviction));
  return OnDevice.Pool.hasRoom(chunk.bytes());
}

Status FetchAhead::fetch(const std::vector<Chunk *> &chunks) {
  TraceZone zone("fetch ahead");
  Ctx.pins.next();
  std::vector<Leaving> leaving = idle();
  for (Chunk *chunk : chunks) {
    DRAGON_ASSIGN(const bool room, makeRoomFor(*chunk, leaving));
    if (!room)
      break;
    const ChunkUse use = useOfAll(*chunk, LaunchNeed::Read);
    // One by one: what makes room is known to be idle, and nothing waits.
    DRAGON_TRY(Resident.startBringingIn({&use, 1}, Cause::Prefetch));
    zone.add(chunk->bytes());
  }
  return {};
}

Status FetchAhead::run() {
  if (!Time.Tracking || !Next.foresees() || Ctx.launches < SeenUntil ||
      !Ctx.caps().asynchronous)
    return {};
  const uint64_t budget = OnDevice.Pool.budget();
  const uint64_t most = std::min(budget / Share, MostComing);
  for (;;) {
    if (const uint64_t already = Resident.bytesComing(); already < most) {
      size_t looked;
      const std::vector<Chunk *> chunks = missing(most - already, looked);
      if (chunks.empty()) {
        SeenUntil = Ctx.launches + looked / AgainShare;
        return {};
      }
      DRAGON_TRY(fetch(chunks));
    }
    if (bytesInUse() <= std::min(budget / QueuedShare, MostQueued))
      return {};
    DRAGON_TRY(Time.Work.waitForOldest());
  }
}

Status FetchAhead::wait(std::optional<Queue> queue) {
  if (queue && Time.Tracking && Next.foresees() && Ctx.caps().asynchronous) {
    DRAGON_ASSIGN(const uint64_t ticket, Time.Work.note(*queue));
    const auto begin = std::chrono::steady_clock::now();
    while (!Time.Work.done(ticket)) {
      DRAGON_TRY(run());
      if (std::chrono::steady_clock::now() - begin > SpinFor)
        std::this_thread::sleep_for(Pause);
    }
  }
  return queue ? Ctx.device->synchronize(*queue) : Time.synchronizeAll();
}

} // namespace dragon
