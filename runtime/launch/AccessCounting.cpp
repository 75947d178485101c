//===- AccessCounting.cpp - launches that count their accesses ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/AccessCounting.h"

#include "runtime/launch/AccessEstimate.h"
#include "runtime/launch/LaunchKey.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"
#include <algorithm>
#include <span>
#include <utility>

namespace dragon {

namespace {

constexpr size_t SlabBytes = size_t(1) << AccessCounts::Shift;
constexpr uint64_t MaxCounters = SlabBytes / sizeof(uint32_t);
/// What the counters may take of the device's memory.
constexpr uint64_t MostOfBudget = 16;

} // namespace

Status AccessCounting::make() {
  if (OnDevice.Pool.budget() / MostOfBudget < SlabBytes)
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "device memory of {} is too little for counters",
                         formatBytes(OnDevice.Pool.budget()));
  Ctx.pins.next();
  // What leaves the device may need host memory: that comes last.
  DRAGON_TRY(Memory.make(SlabBytes, SlabBytes));
  Status status;
  if (!Slabs.hasRoom(SlabBytes))
    status = Host.makeRoom(SlabBytes, false);
  if (status.ok()) {
    auto results = Slabs.Pool.take(SlabBytes);
    if (results.ok()) {
      Results = *results;
      Slabs.Pool.setAside(Results, true);
      return {};
    }
    status = results.takeStatus();
  }
  Memory.drop();
  return status;
}

bool AccessCounting::drop() {
  Pending.reset();
  if (!any())
    return false;
  Time.Work.waitFor(Ticket).ignore();
  Memory.drop();
  Slabs.Pool.setAside(Results, false);
  Slabs.Pool.give(std::exchange(Results, {}));
  return true;
}

std::optional<AccessCounters>
AccessCounting::begin(const LaunchCall &call, const LaunchFootprint &whole) {
  if (!call.kernel->counting || call.cooperative || Failed || any() ||
      whole.uses.empty() || !Counts.begins(shapeKey(call)))
    return std::nullopt;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  uint64_t bytes = 2 * SlabBytes;
  for (const ChunkUse &use : whole.uses) {
    bytes += use.chunk->bytes();
    begin = std::min(begin, use.chunk->va());
    end = std::max(end, use.chunk->usedEnd());
  }
  AccessCounters counters;
  counters.base = begin >> AccessCounts::Shift << AccessCounts::Shift;
  counters.count = (end - counters.base + SlabBytes - 1) >> AccessCounts::Shift;
  counters.shift = AccessCounts::Shift;
  if (counters.count > MaxCounters || bytes > OnDevice.Pool.budget() +
                                                  Slabs.Pool.budget() -
                                                  Ctx.limits.transitBytes)
    return std::nullopt;
  if (Status made = make(); !made.ok()) {
    log(LogLevel::Debug, "'{}' does not count: {}", nameOf(call),
        made.message());
    return std::nullopt;
  }
  counters.counters = Memory.address();
  uint64_t blocks = 1;
  for (uint32_t extent : call.grid)
    blocks *= extent;
  chooseSample(blocks, call.block[0] * call.block[1] * call.block[2], counters);
  return counters;
}

Status AccessCounting::run(const ResolvedLaunch &launch,
                           const AccessCounters &counters,
                           std::vector<AddressRange> touched, bool anything) {
  const std::span<const AddressRange> own = touched;
  const BlockBox grid = wholeGrid(launch);
  auto plainly = [&] {
    return Submit.run(launch, {grid, launch.queue, own, anything});
  };
  const std::optional<KernelHandle> &copy = launch.kernel->counting;
  void *at = reinterpret_cast<void *>(Memory.address());
  if (!copy || !Ctx.device->fill(at, 0, 4, counters.count, launch.queue).ok()) {
    drop();
    return plainly();
  }
  AccessCounters values = counters;
  std::vector<void *> args(launch.args, launch.args + launch.numArgs);
  for (void *value :
       {static_cast<void *>(&values.counters),
        static_cast<void *>(&values.base), static_cast<void *>(&values.count),
        static_cast<void *>(&values.shift), static_cast<void *>(&values.blocks),
        static_cast<void *>(&values.lanes)})
    args.push_back(value);
  std::vector<AddressRange> all = touched;
  all.push_back(Memory.range());
  Status status =
      Submit.run(launch, {grid, launch.queue, all, anything, &*copy, args});
  // It needs more registers than the kernel: it may not run in such blocks.
  if (!status.ok() && Ctx.device->caps().asynchronous) {
    log(LogLevel::Info, "'{}' cannot count: {}", nameOf(launch),
        status.message());
    Failed = true;
    drop();
    return plainly();
  }
  DRAGON_TRY(std::move(status));
  Ctx.ledger.count(Counter::CountedLaunches);
  const bool copied =
      Ctx.device
          ->copy(Results.hostView, at, counters.count * sizeof(uint32_t),
                 CopyKind::DeviceToHost, launch.queue)
          .ok();
  auto ticket = Time.Work.note(launch.queue);
  if (!ticket.ok())
    DRAGON_TRY(Time.synchronizeAll());
  Ticket = ticket.ok() ? *ticket : 0;
  Shape = shapeKey(launch);
  if (copied)
    Pending = counters;
  return {};
}

void AccessCounting::collect() {
  if (Generation != Space.Allocations.generation()) {
    // What was at an address is not what is there now.
    Counts.clear();
    Generation = Space.Allocations.generation();
    if (Pending)
      Pending->count = 0;
  }
  if (!any() || !Time.Work.done(Ticket))
    return;
  if (Pending)
    Counts.counted(Shape, *Pending,
                   {static_cast<const uint32_t *>(Results.hostView),
                    size_t(Pending->count)});
  drop();
}

bool AccessCounting::hasCounted(const ResolvedLaunch &launch) const {
  return launch.kernel->counting && Counts.known(shapeKey(launch));
}

const std::vector<double> &
AccessCounting::accessBytes(const ResolvedLaunch &launch,
                            PlannedLaunch &planned) {
  collect();
  if (planned.accessBytes.empty()) {
    TraceZone zone("estimate accesses");
    planned.accessBytes = estimateAccesses(launch, planned.whole);
  }
  if (!launch.kernel->counting)
    return planned.accessBytes;
  // What was counted, and a little for what may come.
  const uint64_t shape = shapeKey(launch);
  for (size_t i = 0; i < planned.accessBytes.size(); ++i) {
    const Chunk &chunk = *planned.whole.uses[i].chunk;
    if (auto counted = Counts.accessBytes(shape, chunk.va(), chunk.usedEnd()))
      planned.accessBytes[i] = *counted + double(chunk.used());
  }
  return planned.accessBytes;
}

} // namespace dragon
