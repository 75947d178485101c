//===- HostMapped.cpp - launches that see some chunks in host memory ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where not everything fits that blocks use at once, kernels are given a part
// of it in host memory, at the same addresses. Which part is a matter of heat
// (LinkCost.h). A launch that is not sliced has it so for all blocks: the plan
// says only that, and each launch chooses by what is where then. One that is
// sliced, by its plan, for chunks that all slices use.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/ThreadPool.h"
#include "runtime/core/RuntimeImpl.h"
#include "runtime/core/SliceUses.h"
#include "runtime/core/StaticHeat.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

namespace dragon {

namespace {

LaunchNeed needOf(const ChunkUse &use) {
  if (use.mustWrite)
    return LaunchNeed::Overwrite;
  return use.mayWrite ? LaunchNeed::Write : LaunchNeed::Read;
}

/// Chunks that get other memory at a time.
constexpr size_t MostAtOnce = 64;

} // namespace

const std::vector<double> &Runtime::Impl::heatOf(const LaunchCall &call,
                                                 PlannedLaunch &planned) {
  collectHeat();
  if (planned.heat.empty()) {
    TraceZone zone("estimate heat");
    planned.heat =
        staticHeat(call, pointersOf(call, Allocations), planned.whole);
  }
  if (!call.kernel->counting)
    return planned.heat;
  // What was counted, and a little for what may come.
  const uint64_t shape = shapeOf(call);
  for (size_t i = 0; i < planned.heat.size(); ++i) {
    const Chunk &chunk = *planned.whole.uses[i].chunk;
    if (auto counted = Heat.heat(shape, chunk.va(), chunk.usedEnd()))
      planned.heat[i] = *counted + double(chunk.used());
  }
  return planned.heat;
}

LinkRates Runtime::Impl::linkRates() {
  LinkRates rates;
  if (MappingRate > 0)
    rates.mapping = MappingRate;
  const CopyRates measured = Dev->copyRates();
  if (measured.toDevice > 0) {
    rates.toDevice = measured.toDevice;
    rates.mapped = MappedShare * measured.toDevice;
  }
  if (measured.toHost > 0)
    rates.toHost = measured.toHost;
  return rates;
}

PlacedChunk Runtime::Impl::placedOf(const ChunkUse &use, double heat) {
  const Chunk &chunk = *use.chunk;
  PlacedChunk placed;
  placed.bytes = chunk.bytes();
  placed.heat = heat;
  placed.mustStay = use.atomic || chunk.buffer->kept || chunk.held;
  placed.onDevice = chunk.deviceValid;
  placed.copied = !use.mustWrite && !(chunk.deviceValid && chunk.hostValid);
  placed.mappable =
      chunk.hostMapped || (chunk.host.id && chunk.host.place == Place::Host);
  return placed;
}

Status Runtime::Impl::makeMappable(std::span<const ChunkUse *const> uses) {
  // Where host memory is short, those that have none get what others give up.
  uint64_t more = 0;
  for (const ChunkUse *use : uses)
    more += use->chunk->host.id ? 0 : use->chunk->bytes();
  const bool forAll = HostPool.hasRoom(more, Limits.transitBytes);
  std::vector<Chunk *> chunks;
  for (const ChunkUse *use : uses)
    if (Chunk &chunk = *use->chunk;
        !chunk.hostMapped &&
        (chunk.host.id ? chunk.host.place != Place::Host : forAll))
      chunks.push_back(&chunk);
  std::span<Chunk *const> left = chunks;
  while (left.size() > 1) {
    // Some of them have two slabs for a while.
    uint64_t bytes = 0;
    size_t count = 0;
    while (count < std::min(left.size(), MostAtOnce) &&
           HostPool.hasRoom(bytes + left[count]->bytes(), Limits.transitBytes))
      bytes += left[count++]->bytes();
    if (count == 0)
      break;
    const std::span<Chunk *const> batch = left.first(count);
    left = left.subspan(count);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Physical> slabs(count);
    for (Chunk *chunk : batch) {
      DRAGON_TRY(settle(*chunk));
      if (chunk->writing)
        finishWriting(*chunk).ignore(); // pinned: it keeps its host copy
    }
    hostThreads().forEach(count, count, [&](size_t i) {
      const Chunk &chunk = *batch[i];
      auto slab = HostPool.take(chunk.bytes(), 0, Place::Host);
      if (!slab.ok())
        return;
      slabs[i] = *slab;
      if (chunk.hostValid)
        std::memcpy(slab->hostView, chunk.host.hostView, chunk.used());
    });
    bool all = true;
    for (size_t i = 0; i < count; ++i) {
      Chunk &chunk = *batch[i];
      all &= slabs[i].id != 0;
      if (!slabs[i].id)
        continue;
      if (chunk.host.id)
        HostPool.give(chunk.host);
      chunk.host = slabs[i];
      listHost(chunk, true);
    }
    // Without a link the host's mood would choose between ways.
    if (const std::chrono::duration<double> took =
            std::chrono::steady_clock::now() - begin;
        all && Dev->caps().hasLink && took.count() > 0)
      MappingRate = double(bytes) / took.count();
    if (!all) // the host has less than the budget
      break;
  }
  return {};
}

Status Runtime::Impl::mapOnHost(Chunk &chunk) {
  if (chunk.device.id) {
    DRAGON_TRY(settle(chunk));
    DRAGON_TRY(releaseDevice(chunk));
  }
  DRAGON_TRY(makeMappable(chunk));
  DRAGON_TRY(Dev->map(chunk.va(), chunk.host));
  chunk.hostMapped = true;
  return {};
}

Status Runtime::Impl::moveToDevice(const Want &want, Queue queue) {
  Chunk &chunk = *want.chunk;
  // Contents that are in host memory alone last until the launch is accepted.
  const bool copies = want.need == LaunchNeed::Overwrite && chunk.hostValid;
  const Want whole{&chunk, copies ? LaunchNeed::Write : want.need};
  DRAGON_TRY(bringIn({&whole, 1}, queue, Cause::Demand));
  if (!chunk.host.id || (chunk.hostValid && !chunk.deviceValid))
    return {};
  DRAGON_TRY(settle(chunk));
  return releaseHost(chunk);
}

Status Runtime::Impl::takeMapped(Chunk &chunk, std::span<const Want> wants,
                                 size_t &arrived, Queue queue) {
  auto isFull = [&] {
    return !HostPool.hasRoom(chunk.bytes(), Limits.transitBytes);
  };
  auto mayLeave = [&](bool may) {
    for (const Want &want : wants.subspan(arrived))
      want.chunk->pinned = may && !want.chunk->device.id ? 0 : Round;
  };
  // First of what is not of the launch; what goes to the device should not go
  // by way of swap.
  if (isFull()) {
    mayLeave(false);
    makeHostRoom(chunk.bytes(), false).ignore();
    mayLeave(true);
  }
  while (isFull() && arrived < wants.size() &&
         (wants[arrived].chunk->device.id ||
          makeDeviceRoom(wants[arrived].chunk->bytes()).ok()))
    DRAGON_TRY(moveToDevice(wants[arrived++], queue));
  // One that leaves the device makes room for the next of them: it may have
  // memory of those in transit until then.
  if (isFull() && !(chunk.device.id && HostPool.hasRoom(chunk.bytes())))
    DRAGON_TRY(makeHostRoom(chunk.bytes(), false));
  DRAGON_ASSIGN(chunk.host, takeTransit(chunk.bytes(), Place::Host));
  listHost(chunk, true);
  return {};
}

Status Runtime::Impl::mapOnHost(std::span<const ChunkUse *const> uses,
                                std::span<const Want> wants, size_t &arrived,
                                Queue queue) {
  TraceZone zone("map in host memory");
  // Chunks change places while both sides may be full. Those that are on the
  // device and stay there give up what they have in host memory. Then each that
  // leaves the device makes room there for one that comes, which makes room in
  // host memory. What is in neither comes last: it makes no room.
  uint64_t missing = 0;
  for (const ChunkUse *use : uses)
    missing += use->chunk->host.id ? 0 : use->chunk->bytes();
  if (!HostPool.hasRoom(missing + Limits.chunkBytes, Limits.transitBytes))
    while (arrived < wants.size() && wants[arrived].chunk->device.id)
      DRAGON_TRY(moveToDevice(wants[arrived++], queue));
  DRAGON_TRY(makeMappable(uses));
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
      DRAGON_TRY(takeMapped(chunk, wants, arrived, queue));
    // What is on the device alone is kept until the launch was accepted.
    DRAGON_TRY(bringToHost(chunk,
                           chunk.deviceValid ? LaunchNeed::Write : needOf(*use),
                           Cause::Demand));
    DRAGON_TRY(mapOnHost(chunk));
  }
  return {};
}

Status Runtime::Impl::launchHostMapped(const LaunchCall &call,
                                       PlannedLaunch &planned) {
  Bytes.count(Counter::HostMappedLaunches);
  const LaunchChunks &whole = planned.whole;
  const std::vector<double> &heat = heatOf(call, planned);
  std::optional<HeatCounters> counters = beginCounting(call, whole);
  const uint32_t times =
      std::min(++HostMappedTimes[shapeOf(call)], MostForeseen);
  std::vector<PlacedChunk> placed;
  uint64_t mustStay = 0;
  for (size_t i = 0; i < whole.uses.size(); ++i) {
    placed.push_back(placedOf(whole.uses[i], heat[i]));
    mustStay += whole.uses[i].atomic ? placed.back().bytes : 0;
  }
  if (mustStay > DevicePool.budget())
    return Status::error(
        DRAGON_ERROR_OUT_OF_MEMORY,
        "kernel '{}' updates {} atomically and cannot be sliced: all of it "
        "must be in device memory, which has {}; raise DRAGON_DEVICE_MEMORY",
        nameOf(call), formatBytes(mustStay), formatBytes(DevicePool.budget()));
  auto choose = [&] {
    return choosePlaces(placed, deviceBytesFor(planned), mappedBytes(),
                        linkRates(), times);
  };
  auto onDevice = choose();
  if (!onDevice && Counters.va) {
    dropCounters(); // they may be what is missing
    counters.reset();
    onDevice = choose();
  }
  if (!onDevice)
    return cannotRun(call, planned.bytes, 0);
  // Those that are there first: they give up host memory that they do not need.
  std::vector<Want> wants, coming;
  std::vector<const ChunkUse *> onHost;
  uint64_t device = 0, host = 0;
  for (size_t i = 0; i < whole.uses.size(); ++i) {
    const ChunkUse &use = whole.uses[i];
    if ((*onDevice)[i]) {
      device += placed[i].bytes;
      (use.chunk->device.id ? wants : coming)
          .push_back({use.chunk, needOf(use)});
    } else {
      host += placed[i].bytes;
      onHost.push_back(&use);
    }
  }
  wants.insert(wants.end(), coming.begin(), coming.end());
  log(LogLevel::Debug, "'{}' runs with {} on the device and {} in host memory",
      nameOf(call), formatBytes(device), formatBytes(host));

  // What is to come to the device can still leave host memory, if need be.
  ++Round;
  for (size_t i = 0; i < whole.uses.size(); ++i)
    if (Chunk &chunk = *whole.uses[i].chunk; !(*onDevice)[i] || chunk.device.id)
      pin(chunk);
  size_t arrived = 0;
  DRAGON_TRY(mapOnHost(onHost, wants, arrived, call.queue));
  DRAGON_TRY(
      bringIn(std::span(wants).subspan(arrived), call.queue, Cause::Demand));
  std::vector<AddressRange> touched = addressRanges(whole);
  DRAGON_TRY(counters ? runCounting(call, *counters, std::move(touched),
                                    whole.anything)
                      : runBox(call, wholeGrid(call), touched, whole.anything));
  std::vector<Chunk *> used;
  for (const ChunkUse &use : whole.uses) {
    used.push_back(use.chunk);
    if (use.mayWrite)
      DRAGON_TRY(use.chunk->hostMapped ? wroteHost(*use.chunk, use.written)
                                       : wroteDevice(*use.chunk, use.written));
  }
  return noteUse(used, call.queue);
}

Status Runtime::Impl::runMixed(SliceUses &uses, const LaunchChunks &mapped) {
  Bytes.count(Counter::MixedLaunches);
  std::vector<const ChunkUse *> onHost;
  ++Round;
  for (const ChunkUse &use : mapped.uses) {
    onHost.push_back(&use);
    pin(*use.chunk);
  }
  size_t arrived = 0;
  DRAGON_TRY(mapOnHost(onHost, {}, arrived, uses.call(0).queue));
  struct Hold {
    const LaunchChunks &chunks;
    explicit Hold(const LaunchChunks &held) : chunks(held) { set(true); }
    ~Hold() { set(false); }
    void set(bool stays) {
      for (const ChunkUse &use : chunks.uses)
        use.chunk->staysMapped = stays;
    }
  } hold(mapped);
  return runSlices(uses);
}

} // namespace dragon
