//===- Launcher.cpp - the way of a launch through the runtime -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Launcher.h"

#include "runtime/launch/BoxFootprints.h"

#include <algorithm>
#include <map>

namespace dragon {

void Launcher::adoptMapped(const ResolvedLaunch &launch) {
  if (Time.Tracking)
    return;
  bool all = launch.anything;
  for (const LaunchPointer &pointer : launch.pointers)
    if (pointer.allocation)
      Data.adoptMapped(*pointer.allocation->buffer);
    else
      all |= pointer.mayReachAny();
  if (all)
    for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
      Data.adoptMapped(*buffer);
}

bool Launcher::isInCore(const ResolvedLaunch &launch) const {
  // A pointer into no buffer may reach one (one past its end): with all
  // buffers there, it does not matter.
  bool all = launch.anything;
  for (const LaunchPointer &pointer : launch.pointers)
    if (!pointer.allocation)
      all |= pointer.mayReachAny();
    else if (!pointer.allocation->buffer->allOnDevice())
      return false;
  return !all || std::all_of(Space.Buffers.begin(), Space.Buffers.end(),
                             [](const std::unique_ptr<Buffer> &buffer) {
                               return buffer->allOnDevice();
                             });
}

bool Launcher::leavesAllInPlace(const ResolvedLaunch &launch) const {
  auto allows = [](const Buffer &buffer, bool mayWrite) {
    return !buffer.moving &&
           (mayWrite ? buffer.allDeviceOnly() : buffer.allOnDevice());
  };
  bool anyBuffer = launch.anything, writesAny = launch.anything;
  for (const LaunchPointer &pointer : launch.pointers)
    if (!pointer.allocation) { // may reach one: see isInCore()
      anyBuffer |= pointer.mayReachAny();
      writesAny |= pointer.mayReachAny() && pointer.mayWrite;
    } else if (!allows(*pointer.allocation->buffer, pointer.mayWrite)) {
      return false;
    }
  return !anyBuffer || std::all_of(Space.Buffers.begin(), Space.Buffers.end(),
                                   [&](const std::unique_ptr<Buffer> &buffer) {
                                     return allows(*buffer, writesAny);
                                   });
}

void Launcher::number(ResolvedLaunch &launch) {
  Computed.otherWork();
  launch.number = Next.beginLaunch();
  Ctx.ledger.count(Counter::Launches);
  for (const LaunchPointer &pointer : launch.pointers)
    if (pointer.allocation)
      pointer.allocation->buffer->nextLaunch = 0;
}

std::optional<Status> Launcher::launchInCore(const LaunchCall &call) {
  if (Waves.anyAtAll() || Ctx.watcher || Space.NumDriverMoved ||
      !Ends.canWait(call))
    return std::nullopt;
  ResolvedLaunch &launch = InCore;
  launch.resolve(call, Space.Allocations);
  if (!leavesAllInPlace(launch))
    return std::nullopt;
  Waves.noteFollower(launch.queue);
  number(launch);
  Status status = Single.runInCore(launch);
  if (status.ok())
    Computed.launched(launch);
  if (status.ok() && !call.lastUses.empty())
    status = Ends.end(launch);
  return status;
}

std::optional<Status> Launcher::runInPlace(const LibraryCall &call,
                                           const QueueWork &work) {
  if (Waves.anyAtAll() || Ctx.watcher || Space.NumDriverMoved)
    return std::nullopt;
  ResolvedLaunch &launch = Foreign;
  launch.queue = *call.queue;
  launch.pointers.clear();
  for (const LibraryUse &use : call.uses)
    if (Allocation *found = Space.Allocations.find(use.address))
      launch.pointers.push_back(
          {0, use.address, found, use.need != LaunchNeed::Read});
  if (!leavesAllInPlace(launch))
    return std::nullopt;
  Waves.noteFollower(launch.queue);
  number(launch);
  return Single.runInPlace(launch, work);
}

std::optional<std::vector<LibraryUse>>
Launcher::reachOf(std::span<const LaunchCall> launches) {
  std::map<uintptr_t, LibraryUse> found;
  ResolvedLaunch launch;
  for (const LaunchCall &call : launches) {
    launch = ResolvedLaunch(call, Space.Allocations);
    if (launch.anything)
      return std::nullopt;
    for (const LaunchPointer &pointer : launch.pointers) {
      if (pointer.mayReachAny())
        return std::nullopt;
      if (pointer.elsewhere)
        continue;
      const LaunchNeed need =
          pointer.mayWrite ? LaunchNeed::Write : LaunchNeed::Read;
      auto [it, isNew] = found.try_emplace(
          pointer.allocation->base,
          LibraryUse{pointer.allocation->base, LibraryUse::Unknown, need});
      if (!isNew && pointer.mayWrite)
        it->second.need = need;
    }
  }
  std::vector<LibraryUse> uses;
  uses.reserve(found.size());
  for (const auto &[base, use] : found)
    uses.push_back(use);
  return uses;
}

Status Launcher::launch(const LaunchCall &call) {
  if (call.kernel->findCopies)
    call.kernel->findCopies();
  OnDevice.goesOn();
  ResolvedLaunch &launch = Current;
  launch.resolve(call, Space.Allocations);
  Waves.noteFollower(launch.queue);
  adoptMapped(launch);
  const bool inCore = !Waves.any() && isInCore(launch);
  const bool canWait =
      !inCore && Waves.mayWait(launch) && !Computed.isWanted(launch);
  if (!inCore)
    Loops.find(launch);
  if (!canWait || (Waves.any() && Waves.queue() != launch.queue))
    DRAGON_TRY(Waves.runAll());
  if (!inCore && Indices.tellMore(launch, [this](uint64_t address) {
        return Waves.mayWrite(address);
      })) {
    DRAGON_TRY(Waves.runAll()); // may write them
    DRAGON_TRY(Indices.read(launch));
  }
  number(launch);
  if (Space.NumDriverMoved)
    DRAGON_TRY(Hints.prefetch(launch));
  if (inCore) {
    DRAGON_TRY(observed(Ctx.watcher.get(), launch,
                        [&] { return Single.runInCore(launch); }));
    Computed.launched(launch);
    DRAGON_TRY(Ends.end(launch));
    return Ahead.run();
  }
  return launchOutOfCore(launch, canWait);
}

LaunchFootprint Launcher::wholeOf(const ResolvedLaunch &launch) {
  LaunchFootprint whole =
      footprintOf(launch, Space.Allocations, wholeGrid(launch));
  uint64_t bytes = 0;
  for (const ChunkUse &use : whole.uses)
    bytes += use.chunk->bytes();
  return launch.memory && bytes > OnDevice.Pool.budget()
             ? narrowed(launch, Space.Allocations, whole)
             : whole;
}

Status Launcher::launchOutOfCore(const ResolvedLaunch &launch, bool canWait) {
  if (Counting.any())
    Counting.collect();
  bool isNew = false;
  const std::shared_ptr<PlannedLaunch> planned =
      Plans.Plans.entry(launch, Space.Allocations, isNew);
  if (isNew)
    planned->isFor(wholeOf(launch));
  Next.remember(launch, planned->whole);
  Ahead.remembered();
  Waves.noteLast(planned, launch.queue);
  const bool followed = launch.followed || planned->followed ||
                        Ctx.config.wavefront == Wavefront::Always;
  if (canWait && (followed || Waves.any())) {
    DRAGON_ASSIGN(
        const bool waits,
        Waves.wait(WaitingLaunch(launch, planned, Ctx.clock), followed));
    if (waits)
      return {};
    // Launches that wait come first; this one has its place in time behind
    // them.
    DRAGON_TRY(Waves.runAll());
  }
  Status status = Single.run(launch, *planned);
  Waves.noteEnd();
  if (!status.ok())
    return status;
  Computed.launched(launch);
  return Ahead.run();
}

std::vector<AddressRange> Launcher::mayWrite(const LaunchCall &call) {
  std::vector<AddressRange> written;
  const ResolvedLaunch launch(call, Space.Allocations);
  if (launch.anything)
    for (const auto &[base, allocation] : Space.Allocations.all())
      written.push_back({base, allocation.end()});
  else
    for (const LaunchPointer &pointer : launch.pointers)
      if (pointer.mayWrite && pointer.allocation)
        written.push_back(
            {pointer.allocation->base, pointer.allocation->end()});
  return written;
}

size_t Launcher::overwritten(const LaunchCall &call, uintptr_t address) {
  const Allocation *found = Space.Allocations.find(address);
  if (!found || !OnDevice.mayMove() || found->buffer->arena ||
      found->base != address)
    return 0;
  const LaunchFootprint whole =
      footprintOf(ResolvedLaunch(call, Space.Allocations), Space.Allocations,
                  wholeGrid(call));
  std::vector<bool> written(found->buffer->chunks.size());
  for (const ChunkUse &use : whole.uses)
    if (use.mustWrite() && use.chunk->buffer == found->buffer)
      written[use.chunk->index] = true;
  auto first = std::find(written.begin(), written.end(), false);
  if (first == written.end())
    return SIZE_MAX;
  return size_t(first - written.begin()) * found->buffer->chunkBytes;
}

bool Launcher::readsUpwards(const LaunchCall &call, uint32_t argument,
                            uint32_t field) {
  const SummaryView *summary = call.kernel->summary;
  const KernelRecord *record = call.kernel->record;
  if (!summary || !record ||
      (record->Flags & (KernelTouchesAnything | KernelUnknown)))
    return false;
  const LaunchDims dims = dimsOf(call);
  EvalLimits limits;
  limits.WithMust = false;
  for (uint32_t i = 0; i < record->NumPointers; ++i) {
    const uint32_t index = record->FirstPointer + i;
    const PointerRecord &pointer = summary->pointer(index);
    if (pointer.ArgIndex != argument || pointer.ByteOffset != field)
      continue;
    ByteFootprint footprint = evaluateFootprint(*summary, *record, index, dims,
                                                wholeGrid(call), limits);
    return !footprint.MayRead.Everything &&
           (footprint.MayRead.Ranges.empty() ||
            footprint.MayRead.Ranges.front().Begin >= 0);
  }
  return false;
}

} // namespace dragon
