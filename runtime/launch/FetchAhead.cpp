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
/// How many launches are looked at, and after how many again where none of them
/// lacks anything.
constexpr size_t Window = 96;
constexpr uint64_t Again = 24;
/// This part of the device's memory is on the way at most.
constexpr uint64_t BudgetShare = 16;
constexpr std::chrono::microseconds Pause(50);
} // namespace

std::vector<Chunk *> FetchAhead::missing(uint64_t most) const {
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
  Next.forNextReads(Window, [&](const std::vector<AddressRange> &reads) {
    uint64_t all = 0;
    for (const AddressRange &range : reads)
      all += range.end - range.begin;
    if (all <= mostOfOne)
      for (const AddressRange &range : reads)
        addChunks(range);
    return bytes < most;
  });
  return chunks;
}

std::vector<FetchAhead::Leaving> FetchAhead::idle() {
  std::vector<Leaving> idle;
  for (const EvictionCandidate &candidate : OnDevice.candidates())
    if (!candidate.busy && !candidate.copies && !candidate.waits &&
        !candidate.keepLast)
      idle.push_back({candidate, OnDevice.Chunks[candidate.index]});
  return idle;
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

uint64_t FetchAhead::bytesOnTheWay() {
  while (!OnTheWay.empty() && Time.Fetches.done(OnTheWay.front().first))
    OnTheWay.pop_front();
  uint64_t bytes = 0;
  for (const auto &[ticket, fetched] : OnTheWay)
    bytes += fetched;
  return bytes;
}

Status FetchAhead::run() {
  if (!Time.Tracking || !Next.foresees() || Ctx.launches < SeenUntil ||
      !Ctx.caps().asynchronous)
    return {};
  const uint64_t most = OnDevice.Pool.budget() / BudgetShare,
                 already = bytesOnTheWay();
  if (already >= most)
    return {};
  const std::vector<Chunk *> chunks = missing(most - already);
  if (chunks.empty()) {
    SeenUntil = Ctx.launches + Again;
    return {};
  }
  TraceZone zone("fetch ahead");
  Ctx.pins.next();
  std::vector<Leaving> leaving = idle();
  std::vector<ChunkUse> reads;
  uint64_t bytes = 0;
  for (Chunk *chunk : chunks) {
    DRAGON_ASSIGN(const bool room, makeRoomFor(*chunk, leaving));
    if (!room)
      break;
    const ChunkUse use = useOfAll(*chunk, LaunchNeed::Read);
    if (!OnDevice.claimNow({&use, 1}))
      break;
    // One by one: what makes room is known to be idle, and nothing waits.
    DRAGON_TRY(Resident.startBringingIn({&use, 1}, Cause::Prefetch));
    bytes += chunk->bytes();
  }
  zone.add(bytes);
  if (bytes)
    OnTheWay.emplace_back(Time.LastFetch, bytes);
  return {};
}

Status FetchAhead::wait(std::optional<Queue> queue) {
  if (queue && Time.Tracking && Next.foresees() && Ctx.caps().asynchronous) {
    DRAGON_ASSIGN(const uint64_t ticket, Time.Work.note(*queue));
    while (!Time.Work.done(ticket)) {
      DRAGON_TRY(run());
      std::this_thread::sleep_for(Pause);
    }
  }
  return queue ? Ctx.device->synchronize(*queue) : Time.synchronizeAll();
}

} // namespace dragon
