//===- CountedHeat.cpp - launches that count their accesses ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch with chunks in host memory runs now and then as the kernel's copy
// that counts (HeatLog.h). The counters, 2 MiB of the device's memory, enough
// for a range of 1 TiB, are set to zero in front of it and copied to the host
// behind it, both in the launch's queue: nobody waits for them. The first
// launch out of core that finds them there takes what they say, and gives their
// memory back.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <span>
#include <utility>

namespace dragon {

namespace {

constexpr size_t SlabBytes = size_t(1) << HeatLog::Shift;
constexpr uint64_t MaxCounters = SlabBytes / sizeof(uint32_t);
/// What the counters may take of the device's memory.
constexpr uint64_t MostOfBudget = 16;

} // namespace

Status Runtime::Impl::makeCounters() {
  if (DevicePool.budget() / MostOfBudget < SlabBytes)
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "device memory of {} is too little for counters",
                         formatBytes(DevicePool.budget()));
  ++Round;
  DRAGON_TRY(makeDeviceRoom(SlabBytes));
  if (!HostPool.hasRoom(SlabBytes, Limits.transitBytes))
    DRAGON_TRY(makeHostRoom(SlabBytes, false));
  DRAGON_ASSIGN(uintptr_t va, Dev->reserve(SlabBytes));
  Status status;
  auto take = [&](SlabPool &pool, Physical &into) {
    auto slab = pool.take(SlabBytes);
    if (slab.ok())
      into = *slab;
    else
      status = slab.takeStatus();
    return slab.ok();
  };
  if (take(DevicePool, Counters.slab) && take(HostPool, Counters.results) &&
      (status = Dev->map(va, Counters.slab)).ok()) {
    // Who plans has the rest.
    DevicePool.setAside(Counters.slab, true);
    HostPool.setAside(Counters.results, true);
    Counters.va = va;
    return {};
  }
  for (auto [pool, slab] : {std::pair(&DevicePool, &Counters.slab),
                            std::pair(&HostPool, &Counters.results)})
    if (slab->id)
      pool->give(std::exchange(*slab, {}));
  Dev->release(va, SlabBytes).ignore();
  return status;
}

void Runtime::Impl::dropCounters() {
  Counters.pending.reset();
  if (!Counters.va)
    return;
  Work.waitFor(Counters.ticket).ignore();
  Dev->unmap(Counters.va, Counters.slab).ignore();
  Dev->release(std::exchange(Counters.va, 0), SlabBytes).ignore();
  for (auto [pool, slab] : {std::pair(&DevicePool, &Counters.slab),
                            std::pair(&HostPool, &Counters.results)}) {
    pool->setAside(*slab, false);
    pool->give(std::exchange(*slab, {}));
  }
}

std::optional<HeatCounters>
Runtime::Impl::beginCounting(const LaunchCall &call,
                             const LaunchChunks &whole) {
  if (!call.kernel->counting || call.cooperative || Counters.failed ||
      Counters.va || whole.uses.empty() || !Heat.begins(shapeOf(call)))
    return std::nullopt;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  uint64_t bytes = 2 * SlabBytes;
  for (const ChunkUse &use : whole.uses) {
    bytes += use.chunk->bytes();
    begin = std::min(begin, use.chunk->va());
    end = std::max(end, use.chunk->usedEnd());
  }
  HeatCounters counters;
  counters.base = begin >> HeatLog::Shift << HeatLog::Shift;
  counters.count = (end - counters.base + SlabBytes - 1) >> HeatLog::Shift;
  counters.shift = HeatLog::Shift;
  if (counters.count > MaxCounters ||
      bytes > DevicePool.budget() + HostPool.budget() - Limits.transitBytes)
    return std::nullopt;
  if (Status made = makeCounters(); !made.ok()) {
    log(LogLevel::Debug, "'{}' does not count: {}", nameOf(call),
        made.message());
    return std::nullopt;
  }
  counters.counters = Counters.va;
  uint64_t blocks = 1;
  for (uint32_t extent : call.grid)
    blocks *= extent;
  chooseSample(blocks, call.block[0] * call.block[1] * call.block[2], counters);
  return counters;
}

Status Runtime::Impl::runCounting(const LaunchCall &call,
                                  const HeatCounters &counters,
                                  std::vector<AddressRange> touched,
                                  bool anything) {
  const std::span<const AddressRange> own = touched;
  auto plainly = [&] { return runBox(call, wholeGrid(call), own, anything); };
  const std::optional<KernelHandle> &copy = call.kernel->counting;
  void *at = reinterpret_cast<void *>(Counters.va);
  if (!copy || !Dev->fill(at, 0, 4, counters.count, call.queue).ok()) {
    dropCounters();
    return plainly();
  }
  HeatCounters values = counters;
  std::vector<void *> args(call.args, call.args + call.numArgs);
  for (void *value :
       {static_cast<void *>(&values.counters),
        static_cast<void *>(&values.base), static_cast<void *>(&values.count),
        static_cast<void *>(&values.shift), static_cast<void *>(&values.blocks),
        static_cast<void *>(&values.lanes)})
    args.push_back(value);
  LaunchCall counting = call;
  counting.args = args.data();
  counting.numArgs = uint32_t(args.size());
  std::vector<AddressRange> all = touched;
  all.push_back({Counters.va, Counters.va + SlabBytes});
  Status status = runBox(counting, wholeGrid(call), all, anything, &*copy);
  // It needs more registers than the kernel: it may not run in such blocks.
  if (!status.ok() && Dev->caps().asynchronous) {
    log(LogLevel::Info, "'{}' cannot count: {}", nameOf(call),
        status.message());
    Counters.failed = true;
    dropCounters();
    return plainly();
  }
  DRAGON_TRY(std::move(status));
  Bytes.count(Counter::CountedLaunches);
  const bool copied = Dev->copy(Counters.results.hostView, at,
                                counters.count * sizeof(uint32_t),
                                CopyKind::DeviceToHost, call.queue)
                          .ok();
  auto ticket = Work.note(call.queue);
  if (!ticket.ok())
    DRAGON_TRY(synchronizeAll());
  Counters.ticket = ticket.ok() ? *ticket : 0;
  Counters.shape = shapeOf(call);
  if (copied)
    Counters.pending = counters;
  return {};
}

void Runtime::Impl::collectHeat() {
  if (HeatGeneration != Allocations.generation()) {
    // What was at an address is not what is there now.
    Heat.clear();
    HeatGeneration = Allocations.generation();
    if (Counters.pending)
      Counters.pending->count = 0;
  }
  if (!Counters.va || !Work.done(Counters.ticket))
    return;
  if (Counters.pending)
    Heat.counted(Counters.shape, *Counters.pending,
                 {static_cast<const uint32_t *>(Counters.results.hostView),
                  size_t(Counters.pending->count)});
  dropCounters();
}

} // namespace dragon
