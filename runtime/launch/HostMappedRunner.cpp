//===- HostMappedRunner.cpp - launches that see a part of it in host memory
//===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/HostMappedRunner.h"

#include "runtime/launch/CannotRun.h"
#include "runtime/launch/LaunchKey.h"
#include "runtime/tier/ProtectedMemory.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"
#include <algorithm>
#include <unordered_set>

namespace dragon {

Status HostMappedRunner::moveToDevice(const ChunkUse &use, Queue queue) {
  Chunk &chunk = *use.chunk;
  // Contents that are in host memory alone last until the launch is accepted.
  ChunkUse kept = use;
  if (use.mustWrite() && chunk.copies.host)
    kept.need = LaunchNeed::Write;
  DRAGON_TRY(Resident.bringIn({&kept, 1}, queue, Cause::Demand));
  if (!chunk.host.id || (chunk.copies.host && !chunk.copies.device))
    return {};
  DRAGON_TRY(Time.settle(chunk));
  return Host.release(chunk);
}

Status HostMappedRunner::takeMapped(Chunk &chunk,
                                    std::span<const ChunkUse> toDevice,
                                    size_t &arrived, Queue queue, Reach reach) {
  DRAGON_ASSIGN(const bool onPeer, OnDevice.takePeerSlab(chunk));
  if (onPeer)
    return {};
  auto isFull = [&] { return !Slabs.hasRoom(chunk.bytes()); };
  auto mayLeave = [&](bool may) {
    for (const ChunkUse &use : toDevice.subspan(arrived))
      Ctx.pins.set(*use.chunk, !may || use.chunk->device.id);
  };
  // First of what is not of the launch; what goes to the device should not go
  // by way of swap.
  if (isFull()) {
    mayLeave(false);
    Host.makeRoom(chunk.bytes(), false).ignore();
    mayLeave(true);
  }
  while (isFull() && arrived < toDevice.size() &&
         (toDevice[arrived].chunk->device.id ||
          OnDevice.makeRoom(toDevice[arrived].chunk->bytes()).ok()))
    DRAGON_TRY(moveToDevice(toDevice[arrived++], queue));
  // One that leaves the device makes room for the next of them: it may have
  // memory of those in transit until then.
  if (isFull() && !(chunk.device.id && Slabs.Pool.hasRoom(chunk.bytes())))
    DRAGON_TRY(Host.makeRoom(chunk.bytes(), false));
  DRAGON_ASSIGN(chunk.host,
                Host.takeTransit(chunk.bytes(), reach == Reach::Mapped
                                                    ? Place::Host
                                                    : Place::Pinned));
  Slabs.list(chunk, true);
  return {};
}

Status HostMappedRunner::mapOnHost(std::span<const ChunkUse *const> uses,
                                   std::span<const ChunkUse> toDevice,
                                   size_t &arrived, Queue queue, Reach reach) {
  TraceZone zone("map in host memory");
  if (reach == Reach::Mapped)
    for (const ChunkUse *use : uses)
      if (use->chunk->host.id)
        DRAGON_TRY(Host.goToPeer(*use->chunk, /*moves=*/true).takeStatus());
  // Chunks change places while both sides may be full. Those that are on the
  // device and stay there give up what they have in host memory. Then each that
  // leaves the device makes room there for one that comes, which makes room in
  // host memory. What is in neither comes last: it makes no room.
  uint64_t missing = 0;
  for (const ChunkUse *use : uses)
    missing += use->chunk->host.id ? 0 : use->chunk->bytes();
  if (!Slabs.hasRoom(missing + Ctx.limits.chunkBytes))
    while (arrived < toDevice.size() && toDevice[arrived].chunk->device.id)
      DRAGON_TRY(moveToDevice(toDevice[arrived++], queue));
  std::vector<Chunk *> chunks;
  for (const ChunkUse *use : uses)
    chunks.push_back(use->chunk);
  if (reach == Reach::Mapped)
    DRAGON_TRY(Mapping.makeMappable(chunks));
  auto rank = [](const Chunk &chunk) {
    return chunk.host.id ? 0 : chunk.device.id ? 1 : 2;
  };
  std::vector<const ChunkUse *> order;
  for (int which = 0; which < 3; ++which)
    for (const ChunkUse *use : uses)
      if (rank(*use->chunk) == which)
        order.push_back(use);
  for (const ChunkUse *use : order) {
    Chunk &chunk = *use->chunk;
    if (chunk.hostMapped)
      continue;
    zone.add(chunk.bytes());
    if (!chunk.host.id)
      DRAGON_TRY(takeMapped(chunk, toDevice, arrived, queue, reach));
    // What is on the device alone is kept until the launch was accepted.
    DRAGON_TRY(Resident.bringToSlab(
        chunk, chunk.copies.device ? LaunchNeed::Write : use->need,
        Cause::Demand));
    if (reach == Reach::Mapped) {
      // What storage has was read to host memory.
      DRAGON_TRY(Host.goToPeer(chunk, /*moves=*/true).takeStatus());
      DRAGON_TRY(Mapping.map(chunk));
    } else if (chunk.device.id) {
      DRAGON_TRY(Time.settle(chunk));
      DRAGON_TRY(OnDevice.release(chunk));
    }
  }
  return {};
}

uint64_t HostMappedRunner::bytesThatStay(const LaunchFootprint &whole) {
  uint64_t bytes = 0;
  for (const ChunkUse &use : whole.uses)
    bytes += use.atomic ? use.chunk->bytes() : 0;
  return bytes;
}

StatusOr<HostMappedRunner::Places>
HostMappedRunner::choose(const ResolvedLaunch &launch, PlannedLaunch &planned,
                         const LaunchFootprint &whole,
                         std::optional<AccessCounters> &counters) {
  const std::vector<double> &bytes = Counting.accessBytes(launch, planned);
  if (!Pages.any())
    counters = Counting.begin(launch, whole);
  const uint32_t times = std::min(++Times[shapeKey(launch)], MostForeseen);
  std::vector<PlacedChunk> placed;
  placed.reserve(whole.uses.size());
  for (size_t i = 0; i < whole.uses.size(); ++i)
    placed.push_back(SlicePlanner::placedOf(whole.uses[i], bytes[i]));
  auto chosen = [&] {
    return choosePlaces(placed, Plans.deviceBytesFor(planned), Plans.hostRoom(),
                        Plans.ratesFor(planned), times);
  };
  auto onDevice = chosen();
  if (!onDevice && OnDevice.dropScratch()) { // it may be what is missing
    counters.reset();
    onDevice = chosen();
  }
  if (!onDevice && (OnDevice.askOthersFor(bytesThatStay(whole)) ||
                    Slabs.exceed(planned.bytes + Ctx.limits.transitBytes)))
    onDevice = chosen();
  if (!onDevice)
    return cannotRun(
        launch, Ctx.caps(),
        {planned.bytes, 0, OnDevice.Pool.budget(), Slabs.mappedBytes()});
  // Chunks that are there come first: they give up host memory.
  Places places;
  std::vector<ChunkUse> coming;
  uint64_t device = 0, host = 0;
  for (size_t i = 0; i < whole.uses.size(); ++i) {
    const ChunkUse &use = whole.uses[i];
    if ((*onDevice)[i]) {
      device += placed[i].bytes;
      (use.chunk->device.id ? places.toDevice : coming).push_back(use);
    } else {
      host += placed[i].bytes;
      places.accessBytes += placed[i].accessBytes;
      places.onHost.push_back(&use);
    }
  }
  places.toDevice.insert(places.toDevice.end(), coming.begin(), coming.end());
  log(LogLevel::Debug, "'{}' runs with {} on the device and {} in host memory",
      nameOf(launch), formatBytes(device), formatBytes(host));
  return places;
}

Status HostMappedRunner::run(const ResolvedLaunch &launch,
                             PlannedLaunch &planned) {
  Ctx.ledger.count(Counter::HostMappedLaunches);
  const LaunchFootprint &whole = planned.whole;
  const uint64_t mustStay = bytesThatStay(whole);
  if (!OnDevice.holds(mustStay) && !OnDevice.askOthersFor(mustStay))
    return Status::error(
        DRAGON_ERROR_OUT_OF_MEMORY,
        "kernel '{}' updates {} atomically and cannot be sliced: all of it "
        "must be in device memory, which has {}; raise DRAGON_DEVICE_MEMORY",
        nameOf(launch), formatBytes(mustStay),
        formatBytes(OnDevice.Pool.budget()));
  std::optional<AccessCounters> counters;
  if (Pages.isWorth(launch) && !Plans.fitsWithPeers(planned)) {
    if (Status made = Pages.make(mustStay); !made.ok())
      log(LogLevel::Debug, "'{}' fetches no pages: {}", nameOf(launch),
          made.message());
  } else {
    Pages.drop();
  }
  DRAGON_ASSIGN(const Places places, choose(launch, planned, whole, counters));

  claim(places);
  if (Pages.any()) {
    DRAGON_ASSIGN(const bool done, runFetching(launch, whole, places, nullptr));
    if (done)
      return {};
  }
  DRAGON_TRY(comeTogether(places, places.onHost, launch.queue, Reach::Mapped));
  std::vector<AddressRange> touched = addressRanges(whole);
  DRAGON_TRY(counters ? Counting.run(launch, *counters, std::move(touched),
                                     whole.anything)
                      : Submit.run(launch, {wholeGrid(launch), launch.queue,
                                            touched, whole.anything}));
  Ctx.ledger.accessed(OverLink::HostMapped, uint64_t(places.accessBytes));
  DRAGON_TRY(noteWrites(places));
  return Time.noteUse(chunksOf(whole), launch.queue);
}

void HostMappedRunner::claim(const Places &places) {
  std::vector<ChunkUse> all = places.toDevice;
  for (const ChunkUse *use : places.onHost)
    if (use->chunk->device.id) // until it has left
      all.push_back(*use);
  Ctx.pins.next();
  OnDevice.claim(all);
  // What is to come to the device can still leave host memory, if need be.
  Ctx.pins.next();
  for (const ChunkUse *use : places.onHost)
    Ctx.pins.add(*use->chunk);
  for (const ChunkUse &use : places.toDevice)
    if (use.chunk->device.id)
      Ctx.pins.add(*use.chunk);
}

Status HostMappedRunner::comeTogether(const Places &places,
                                      std::span<const ChunkUse *const> toSlabs,
                                      Queue queue, Reach reach) {
  size_t arrived = 0;
  DRAGON_TRY(mapOnHost(toSlabs, places.toDevice, arrived, queue, reach));
  return Resident.bringIn(std::span(places.toDevice).subspan(arrived), queue,
                          Cause::Demand);
}

/// Chunks that are in host memory were written there.
Status HostMappedRunner::noteWrites(const Places &places) {
  for (const ChunkUse *use : places.onHost)
    if (use->mayWrite())
      DRAGON_TRY(Data.wroteHost(*use->chunk, use->written));
  for (const ChunkUse &use : places.toDevice)
    if (use.mayWrite())
      DRAGON_TRY(Data.wroteDevice(*use.chunk, use.written));
  return {};
}

Status HostMappedRunner::runMixed(SliceUses &uses,
                                  const LaunchFootprint &mapped) {
  Ctx.ledger.count(Counter::MixedLaunches);
  std::vector<const ChunkUse *> onHost;
  Ctx.pins.next();
  for (const ChunkUse &use : mapped.uses) {
    onHost.push_back(&use);
    Ctx.pins.add(*use.chunk);
  }
  size_t arrived = 0;
  DRAGON_TRY(
      mapOnHost(onHost, {}, arrived, uses.launch(0).queue, Reach::Mapped));
  struct Hold {
    const LaunchFootprint &chunks;
    explicit Hold(const LaunchFootprint &held) : chunks(held) { set(true); }
    ~Hold() { set(false); }
    void set(bool stays) {
      for (const ChunkUse &use : chunks.uses)
        use.chunk->holds.mapped = stays;
    }
  } hold(mapped);
  return Slices.run(uses);
}

} // namespace dragon
