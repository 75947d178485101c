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
#include <unordered_map>
#include <unordered_set>

namespace dragon {

namespace {
/// How many launches are looked at, and after how many again where none of them
/// lacks anything.
constexpr size_t Window = 96;
constexpr uint64_t Again = 24;
/// This part of the device's memory is on the way at most; and for this part
/// there is room or what leaves without a copy, as far as it will be wanted.
constexpr uint64_t BudgetShare = 32, RoomShare = 16;
/// Chunks that are to be read from storage, of which as many are as there is
/// memory for transit.
constexpr size_t MostRead = 16;
/// Who waits looks again and again at first, as the driver does: a pause takes
/// longer than it should.
constexpr std::chrono::milliseconds Eager(2);
constexpr std::chrono::microseconds Pause(50);
} // namespace

/// Of the chunk in [begin, end) what is to come; empty: it is there, or cannot.
static ChunkPart lacking(const Chunk &chunk, const AddressRange &range,
                         bool hasBeenRead) {
  if (chunk.copies.device || chunk.hostMapped)
    return {};
  if (!chunk.copies.host)
    return hasBeenRead && !chunk.device.id ? chunk.whole() : ChunkPart();
  if (!chunk.buffer->byData)
    return chunk.device.id ? ChunkPart() : chunk.whole();
  const ChunkPart part = chunk.partOf(range.begin, range.end);
  return contains(chunk.partly, HalfOpen<size_t>(part.begin, part.end))
             ? ChunkPart()
             : part;
}

static uint64_t bytesIn(const std::vector<AddressRange> &ranges) {
  uint64_t all = 0;
  for (const AddressRange &range : ranges)
    all += range.end - range.begin;
  return all;
}

FetchAhead::Missing FetchAhead::missing(uint64_t most,
                                        uint64_t mostRoom) const {
  Missing result;
  std::vector<ChunkUse> &reads = result.atHand;
  std::unordered_map<const Chunk *, size_t> listed;
  std::unordered_set<const Chunk *> withoutRoom;
  uint64_t bytes = 0;
  auto needsRoom = [&](const Chunk &chunk) {
    if (chunk.device.id || chunk.hostMapped || result.room >= mostRoom ||
        !withoutRoom.insert(&chunk).second)
      return;
    result.room += chunk.bytes();
    result.last = &chunk;
  };
  auto add = [&](const AddressRange &range, Chunk &chunk) {
    if (chunk.buffer->moving || chunk.buffer->driverMoved)
      return false; // not ours to move
    // A call that has not returned may overwrite it: what the host has of it
    // is not to come over that.
    if (chunk.holds.calls)
      return true;
    needsRoom(chunk);
    if (bytes >= most)
      return result.room < mostRoom;
    const ChunkPart part = lacking(chunk, range, Resident.hasBeenRead(chunk));
    if (part.empty()) {
      if (livesInStorage(stateOf(chunk)) && !chunk.buffer->byData &&
          result.inStorage.size() < MostRead &&
          std::ranges::find(result.inStorage, &chunk) == result.inStorage.end())
        result.inStorage.push_back(&chunk);
      return true;
    }
    const auto [known, isNew] = listed.try_emplace(&chunk, reads.size());
    if (isNew)
      reads.push_back({&chunk, LaunchNeed::Read, part, {}});
    ChunkPart &touched = reads[known->second].touched;
    bytes +=
        isNew ? part.bytes() : hull(touched, part).bytes() - touched.bytes();
    touched = hull(touched, part);
    return true;
  };
  // Of a launch that may read more than can be there it is not known what it
  // will read: it does not come to the device for that launch either.
  const uint64_t mostOfOne = OnDevice.Pool.budget() / 2;
  Next.forNext(Window, [&](const LaunchHistory::Addresses &launch) {
    const std::vector<AddressRange> &reads = launch.fetched();
    const uint64_t read = bytesIn(reads);
    if (read <= mostOfOne)
      for (const AddressRange &range : reads)
        Space.Allocations.forEachChunk(
            range, [&](Chunk &chunk) { return add(range, chunk); });
    if (read + bytesIn(launch.overwrites) <= mostOfOne)
      for (const AddressRange &range : launch.overwrites)
        Space.Allocations.forEachChunk(range, [&](Chunk &chunk) {
          needsRoom(chunk);
          return true;
        });
    return bytes < most || result.room < mostRoom;
  });
  return result;
}

std::vector<FetchAhead::Leaving> FetchAhead::idle() {
  // What is to stay stays.
  auto mayGo = [this](const Chunk &chunk) {
    return !OnDevice.AnyStream || chunk.streams || chunk.isEmptyOnDevice();
  };
  std::vector<Leaving> idle;
  for (const EvictionCandidate &candidate : OnDevice.idle(mayGo))
    if (!candidate.waits && !candidate.keepLast)
      idle.push_back({candidate, OnDevice.Chunks[candidate.index]});
  return idle;
}

std::vector<EvictionCandidate>
FetchAhead::neededLater(std::span<const Leaving> idle, uint64_t clock) {
  std::vector<EvictionCandidate> later;
  for (size_t i = 0; i < idle.size(); ++i)
    if (const EvictionCandidate &candidate = idle[i].candidate;
        candidate.empty || candidate.nextUse > clock) {
      later.push_back(candidate);
      later.back().index = uint32_t(i);
    }
  return later;
}

StatusOr<bool> FetchAhead::makeRoomFor(const Chunk &chunk,
                                       std::vector<Leaving> &idle) {
  if (OnDevice.Pool.hasRoom(chunk.bytes()))
    return true;
  const uint64_t needed =
      OnDevice.Pool.used() + chunk.bytes() - OnDevice.Pool.budget();
  const uint64_t use = Next.foresee(chunk).clock;
  const std::vector<EvictionCandidate> later = neededLater(idle, use);
  uint64_t bytes = 0;
  for (const EvictionCandidate &candidate : later)
    bytes += candidate.bytes;
  if (!use || bytes < needed)
    return false;
  std::vector<Chunk *> victims;
  for (uint32_t index : chooseVictims(later, Ctx.clock, needed))
    victims.push_back(std::exchange(idle[index].chunk, nullptr));
  std::erase_if(idle, [](const Leaving &gone) { return !gone.chunk; });
  DRAGON_TRY(OnDevice.evict(victims, Cause::Eviction));
  return OnDevice.Pool.hasRoom(chunk.bytes());
}

uint64_t FetchAhead::bytesOf(UnderWay &moves, WorkLog &log) {
  while (!moves.empty() && log.done(moves.front().first))
    moves.pop_front();
  uint64_t bytes = 0;
  for (const auto &[ticket, moved] : moves)
    bytes += moved;
  return bytes;
}

Status FetchAhead::copyOut(const Missing &missing,
                           std::span<const Leaving> leaving) {
  auto copies = [](const Leaving &one) { return one.candidate.copies; };
  if (!missing.room || std::ranges::none_of(leaving, copies))
    return {};
  const uint64_t ready = OnDevice.Pool.budget() - OnDevice.Pool.used() +
                         bytesOf(Departing, Time.Departures);
  if (missing.room <= ready)
    return {};
  const uint64_t use = Next.foresee(*missing.last).clock;
  if (!use)
    return {};
  for (uint32_t index : chooseVictims(neededLater(leaving, use), Ctx.clock,
                                      missing.room - ready)) {
    const auto &[candidate, chunk] = leaving[index];
    if (!candidate.copies)
      continue;
    DRAGON_ASSIGN(const bool leaves, OnDevice.copyOutAhead(*chunk));
    if (!leaves)
      break;
    Departing.emplace_back(chunk->transit.departure, chunk->bytes());
  }
  return {};
}

Status FetchAhead::run() {
  Runs.fetch_add(1, std::memory_order_relaxed);
  if (!Failed.ok())
    return std::exchange(Failed, Status());
  DRAGON_TRY(fetch(UINT64_MAX));
  if (OnTheWay && OnDevice.AnyStream && !Coming.empty())
    OnTheWay();
  return {};
}

void FetchAhead::step(bool &more) {
  // It is early for all that it fetches: where nothing is chosen to come and
  // go, something would leave that the program uses before that.
  more = false;
  if (!OnDevice.AnyStream)
    return;
  Failed = fetch(1);
  more = Failed.ok() && bytesOf(Coming, Time.Fetches) > 0;
}

Status FetchAhead::fetch(uint64_t limit) {
  if (!Time.Tracking || !Next.foresees() || Ctx.launches < SeenUntil ||
      !Ctx.caps().asynchronous)
    return {};
  const uint64_t most = OnDevice.Pool.budget() / BudgetShare,
                 mostRoom = OnDevice.Pool.budget() / RoomShare,
                 already = bytesOf(Coming, Time.Fetches);
  if (already >= most && bytesOf(Departing, Time.Departures) >= mostRoom)
    return {};
  const Missing lacking =
      missing(std::min(most - std::min(most, already), limit), mostRoom);
  const auto &[reads, inStorage, room, last] = lacking;
  DRAGON_TRY(Resident.readAhead(inStorage));
  if (reads.empty() && inStorage.empty() && !room) {
    SeenUntil = Ctx.launches + Again;
    return {};
  }
  TraceZone zone("fetch ahead");
  Ctx.pins.next();
  std::vector<Leaving> leaving = idle();
  DRAGON_TRY(copyOut(lacking, leaving));
  std::erase_if(leaving,
                [](const Leaving &one) { return one.candidate.copies; });
  uint64_t bytes = 0;
  for (const ChunkUse &use : reads) {
    if (!use.chunk->device.id) {
      DRAGON_ASSIGN(const bool room, makeRoomFor(*use.chunk, leaving));
      if (!room)
        break;
      if (!OnDevice.claimNow({&use, 1}))
        break;
    }
    // One by one: what makes room is known to be idle, and nothing waits. Who
    // needs what could not be read is told when it does.
    const bool fromStorage = !use.chunk->copies.host;
    if (Status status = Resident.startBringingIn({&use, 1}, Cause::Prefetch);
        !status.ok()) {
      if (fromStorage)
        break;
      return status;
    }
    bytes += use.touched.bytes();
  }
  zone.add(bytes);
  if (bytes)
    Coming.emplace_back(Time.LastFetch, bytes);
  return {};
}

Status FetchAhead::wait(std::optional<Queue> queue) {
  if (queue && Time.Tracking && Next.foresees() && Ctx.caps().asynchronous) {
    DRAGON_ASSIGN(const uint64_t ticket, Time.Work.note(*queue));
    const auto begin = std::chrono::steady_clock::now();
    while (!Time.Work.done(ticket)) {
      DRAGON_TRY(run());
      if (std::chrono::steady_clock::now() - begin < Eager)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(Pause);
    }
  }
  return queue ? Ctx.device->synchronize(*queue) : Time.synchronizeAll();
}

} // namespace dragon
