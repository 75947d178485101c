//===- Launcher.cpp - the way of a launch through the runtime -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Launcher.h"

#include <algorithm>

namespace dragon {

bool Launcher::isInCore(const LaunchPointers &pointers) const {
  // A pointer into no buffer may reach one (one past its end): with all
  // buffers there, it does not matter.
  bool all = pointers.anything;
  for (const LaunchPointer &pointer : pointers.pointers)
    if (!pointer.allocation)
      all = true;
    else if (!pointer.allocation->buffer->allOnDevice())
      return false;
  return !all || std::all_of(Space.Buffers.begin(), Space.Buffers.end(),
                             [](const std::unique_ptr<Buffer> &buffer) {
                               return buffer->allOnDevice();
                             });
}

Status Launcher::launch(const LaunchCall &given) {
  LaunchCall call = given;
  Waves.noteFollower(call.queue);
  findPointers(call, Space.Allocations, Reached);
  const LaunchPointers &pointers = Reached;
  const bool inCore = !Waves.any() && isInCore(pointers);
  const bool canWait = !inCore && Waves.mayWait(call, pointers);
  if (!canWait || (Waves.any() && Waves.queue() != call.queue))
    DRAGON_TRY(Waves.runAll());
  call.number = Next.beginLaunch();
  Ctx.ledger.count(Counter::Launches);
  for (const LaunchPointer &pointer : pointers.pointers)
    if (pointer.allocation)
      pointer.allocation->buffer->nextLaunch = 0;

  if (Space.NumDriverMoved)
    DRAGON_TRY(Hints.prefetch(call, pointers));
  if (inCore) {
    DRAGON_TRY(observed(Ctx.watcher.get(), call,
                        [&] { return Single.runInCore(call, pointers); }));
    return Ends.end(call);
  }
  return launchOutOfCore(call, pointers, canWait);
}

Status Launcher::launchOutOfCore(const LaunchCall &call,
                                 const LaunchPointers &pointers, bool canWait) {
  if (Counting.any())
    Counting.collect();
  bool isNew = false;
  const std::shared_ptr<PlannedLaunch> planned =
      Plans.Plans.entry(call, Space.Allocations, isNew);
  if (isNew)
    planned->isFor(
        chunksOf(call, pointers, Space.Allocations, wholeGrid(call)));
  Next.remember(call, pointers, planned->whole);
  Waves.noteLast(planned, call.queue);
  const bool followed = call.followed || planned->followed ||
                        Ctx.config.wavefront == Wavefront::Always;
  if (canWait && (followed || Waves.any())) {
    DRAGON_ASSIGN(
        const bool waits,
        Waves.wait(WaitingLaunch(call, planned, Ctx.clock), followed));
    if (waits)
      return {};
    // Those that wait come first; this one has its place in time behind them.
    DRAGON_TRY(Waves.runAll());
  }
  Status status = Single.run(call, *planned);
  Waves.noteEnd();
  return status;
}

std::vector<AddressRange> Launcher::mayWrite(const LaunchCall &call) {
  std::vector<AddressRange> written;
  const LaunchPointers pointers = pointersOf(call, Space.Allocations);
  if (pointers.anything)
    for (const auto &[base, allocation] : Space.Allocations.all())
      written.push_back({base, allocation.end()});
  else
    for (const LaunchPointer &pointer : pointers.pointers)
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
  const LaunchPointers pointers = pointersOf(call, Space.Allocations);
  const LaunchChunks whole =
      chunksOf(call, pointers, Space.Allocations, wholeGrid(call));
  std::vector<bool> written(found->buffer->chunks.size());
  for (const ChunkUse &use : whole.uses)
    if (use.mustWrite && use.chunk->buffer == found->buffer)
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
    PointerFootprint footprint = evaluateFootprint(
        *summary, *record, index, dims, wholeGrid(call), limits);
    return !footprint.MayRead.Everything &&
           (footprint.MayRead.Ranges.empty() ||
            footprint.MayRead.Ranges.front().Begin >= 0);
  }
  return false;
}

} // namespace dragon
