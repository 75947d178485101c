//===- Launch.cpp - running a kernel, in and out of core ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In core, a launch costs a look at each pointer's buffer. Otherwise its chunks
// are planned (LaunchPlanner) and brought in, slice by slice: while the device
// runs one slice, the host evicts what the slice before used and issues the
// copies for the next.
//
// What the whole launch surely overwrites need not be fetched for any slice.
// Whether a chunk is written is recorded after the launch was accepted, so that
// one that the device refuses changes nothing.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/BoxFootprints.h"
#include "runtime/core/LaunchFootprint.h"
#include "runtime/core/LaunchPlanner.h"
#include "runtime/core/RuntimeImpl.h"
#include "runtime/core/SliceUses.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <unordered_map>

namespace dragon {

namespace {

/// Launches that wait at most.
constexpr size_t MaxWaiting = 32;

/// Of the part, within its buffer.
uintptr_t endOf(const LastUse &use, uintptr_t base, size_t bytes) {
  return use.address + std::min<size_t>(use.bytes, base + bytes - use.address);
}

/// Mixes the bits (splitmix64's finaliser).
uint64_t hashOf(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// Runs what is a launch to who watches, if anybody does.
template <typename Run>
Status observed(Observer *watcher, const LaunchCall &call, Run &&run) {
  if (!watcher)
    return run();
  watcher->launchBegins(nameOf(call), call.number);
  Status status = run();
  watcher->launchEnds();
  return status;
}

} // namespace

const char *nameOf(const LaunchCall &call) {
  const char *name = call.kernel->handle.image.name;
  return name ? name : "?";
}

LaunchRequest requestOf(const LaunchCall &call, const BlockBox &box) {
  LaunchRequest request{};
  request.kernel = const_cast<KernelHandle *>(&call.kernel->handle);
  request.kernelName = nameOf(call);
  std::copy(call.grid, call.grid + 3, request.grid);
  std::copy(call.block, call.block + 3, request.block);
  request.box = box;
  request.dynamicSharedBytes = call.dynamicSharedBytes;
  request.args = call.args;
  request.numArgs = call.numArgs;
  request.cooperative = call.cooperative;
  request.queue = call.queue;
  return request;
}

uint64_t shapeOf(const LaunchCall &call) {
  uint64_t hash = hashOf(reinterpret_cast<uintptr_t>(call.kernel));
  for (unsigned i = 0; i < 3; ++i)
    hash = hashOf(hashOf(hash ^ call.grid[i]) ^ call.block[i]);
  return hashOf(hash ^ call.dynamicSharedBytes);
}

void Runtime::Impl::beginLaunchTime() {
  ++LaunchNumber;
  Clock = std::max(Clock + 1, LaunchNumber * LaunchTime);
}

void Runtime::Impl::foresee(const LaunchCall &call,
                            const LaunchPointers &pointers,
                            const LaunchChunks &whole) {
  LaunchClock = Clock;
  uint64_t signature = hashOf(reinterpret_cast<uintptr_t>(call.kernel));
  for (const LaunchPointer &pointer : pointers.pointers)
    signature =
        hashOf(signature ^
               (pointer.allocation ? pointer.allocation->base : pointer.value));
  auto ascending = [](std::vector<AddressRange> ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const AddressRange &a, const AddressRange &b) {
                return a.begin < b.begin;
              });
    return ranges;
  };
  auto overwrites = [](const ChunkUse &use) { return use.mustWrite; };
  History.begin(signature,
                ascending(addressRanges(whole, std::not_fn(overwrites))),
                ascending(addressRanges(whole, overwrites)), Clock);
  if (History.foreseen())
    Bytes.count(Counter::ForeseenLaunches);
}

Forecast Runtime::Impl::nextUseOf(Chunk &chunk) const {
  if (chunk.nextUseOf != LaunchClock) {
    chunk.nextUse = foreseenUse(chunk);
    chunk.nextUseOf = LaunchClock;
  }
  return chunk.nextUse;
}

Forecast Runtime::Impl::foreseenUse(const Chunk &chunk) const {
  if (Waiting.coming)
    if (const Forecast coming = Waiting.coming->nextUse(chunk); coming.clock)
      return coming;
  const Forecast seen = History.nextUse(chunk.va());
  return seen.clock ? seen : Forecast{announcedUse(*chunk.buffer)};
}

void Runtime::Impl::noteOverwritten(uintptr_t begin, uintptr_t end) {
  if (Tracking)
    History.overwritten({begin, end});
}

uint64_t Runtime::Impl::announcedUse(const Buffer &buffer) const {
  constexpr uint64_t Far = uint64_t(1) << 40;
  const uint64_t last = LaunchNumber * LaunchTime;
  if (buffer.nextLaunch == UINT64_MAX)
    return last + Far;
  if (buffer.nextLaunch <= LaunchNumber)
    return 0; // it has not come true, or come and gone
  return last + (buffer.nextLaunch - LaunchNumber) * LaunchTime;
}

Status Runtime::nextUse(uintptr_t address, uint32_t launches) {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->usable());
  Impl &impl = *State;
  Allocation *found = impl.Allocations.find(address);
  if (!found || found->buffer->arena || !impl.Tracking)
    return {}; // of interest only where something moves
  found->buffer->nextLaunch =
      launches == NeverAgain ? UINT64_MAX : impl.LaunchNumber + 1 + launches;
  for (Chunk &chunk : found->buffer->chunks)
    if (chunk.nextUse.clock == 0)
      chunk.nextUseOf = 0; // to be asked again
  // Those that wait run first, and know better.
  if (launches == 0 && impl.Waiting.launches.empty())
    return impl.prefetch(*found->buffer, found->base, found->bytes, nullptr);
  return {};
}

Status Runtime::launch(const LaunchCall &call) {
  Impl &impl = *State;
  std::vector<std::pair<uintptr_t, uintptr_t>> written;
  BeforeWrite listener;
  void *context;
  {
    Impl::Guard guard(impl);
    listener = impl.listener();
    context = impl.ListenerContext;
    DRAGON_TRY(impl.usable());
    if (!listener)
      return impl.launch(call);
    LaunchPointers pointers = pointersOf(call, impl.Allocations);
    if (pointers.anything)
      for (auto &[base, allocation] : impl.Allocations.all())
        written.emplace_back(base, allocation.end());
    else
      for (const LaunchPointer &pointer : pointers.pointers)
        if (pointer.mayWrite && pointer.allocation)
          written.emplace_back(pointer.allocation->base,
                               pointer.allocation->end());
  }
  for (auto [begin, end] : written)
    listener(context, begin, end);
  for (const LastUse &use : call.lastUses)
    if (auto buffer = find(use.address))
      listener(context, use.address, endOf(use, buffer->base, buffer->bytes));
  Impl::Guard guard(impl);
  DRAGON_TRY(impl.usable());
  return impl.launch(call);
}

size_t Runtime::overwritten(const LaunchCall &call, uintptr_t address) const {
  Impl::Guard guard(*State);
  Impl &impl = *State;
  Allocation *found = impl.Allocations.find(address);
  if (!found || !impl.mayMove() || found->buffer->arena ||
      found->base != address)
    return 0;
  LaunchPointers pointers = pointersOf(call, impl.Allocations);
  LaunchChunks whole =
      chunksOf(call, pointers, impl.Allocations, wholeGrid(call));
  std::vector<bool> written(found->buffer->chunks.size());
  for (const ChunkUse &use : whole.uses)
    if (use.mustWrite && use.chunk->buffer == found->buffer)
      written[use.chunk->index] = true;
  auto first = std::find(written.begin(), written.end(), false);
  if (first == written.end())
    return SIZE_MAX;
  return size_t(first - written.begin()) * found->buffer->chunkBytes;
}

bool Runtime::readsUpwards(const LaunchCall &call, uint32_t argument,
                           uint32_t field) const {
  const SummaryView *summary = call.kernel->summary;
  const KernelRecord *record = call.kernel->record;
  {
    Impl::Guard guard(*State);
    if (!State->mayMove())
      return false;
  }
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

Status Runtime::Impl::launch(const LaunchCall &given) {
  LaunchCall call = given;
  noteFollower(call.queue);
  findPointers(call, Allocations, Reached);
  const LaunchPointers &pointers = Reached;
  // A pointer into no buffer may reach one (one past its end): with all
  // buffers there, it does not matter.
  bool inCore = Waiting.launches.empty(), all = pointers.anything;
  for (const LaunchPointer &pointer : pointers.pointers)
    if (pointer.allocation)
      inCore &= pointer.allocation->buffer->allOnDevice();
    else
      all = true;
  if (all && inCore)
    for (const std::unique_ptr<Buffer> &buffer : Buffers)
      inCore &= buffer->allOnDevice();
  const bool canWait = !inCore && mayWait(call, pointers);
  if (!canWait || (!Waiting.launches.empty() &&
                   Waiting.launches.front().queue() != call.queue))
    DRAGON_TRY(runWaiting());
  beginLaunchTime();
  call.number = LaunchNumber;
  Bytes.count(Counter::Launches);
  for (const LaunchPointer &pointer : pointers.pointers)
    if (pointer.allocation)
      pointer.allocation->buffer->nextLaunch = 0;

  if (NumDriverMoved)
    DRAGON_TRY(prefetchForLaunch(call, pointers));
  if (inCore) {
    DRAGON_TRY(observed(Watcher.get(), call,
                        [&] { return launchInCore(call, pointers); }));
    return endLastUses(call);
  }

  if (Counters.va)
    collectHeat();
  bool isNew = false;
  const std::shared_ptr<PlannedLaunch> planned =
      Plans.entry(call, Allocations, isNew);
  if (isNew)
    planned->isFor(chunksOf(call, pointers, Allocations, wholeGrid(call)));
  foresee(call, pointers, planned->whole);
  Waiting.last = planned;
  Waiting.lastQueue = call.queue;
  const bool followed = call.followed || planned->followed ||
                        Config.wavefront == Wavefront::Always;
  if (canWait && (followed || !Waiting.launches.empty())) {
    WaitingLaunch waiting(call, planned, Clock);
    if (Waiting.launches.empty())
      DRAGON_TRY(fetchForFirst(waiting));
    if (mayBeCut(waiting)) {
      Waiting.launches.push_back(std::move(waiting));
      Waiting.any = true;
      Waiting.lastEnd = std::chrono::steady_clock::now();
      return followed && Waiting.launches.size() < MaxWaiting ? Status()
                                                              : runWaiting();
    }
    // Those that wait come first; this one has its place in time behind them.
    DRAGON_TRY(runWaiting());
  }
  return runPlanned(call, *planned);
}

Status Runtime::Impl::runPlanned(const LaunchCall &call,
                                 PlannedLaunch &planned) {
  DRAGON_TRY(observed(Watcher.get(), call,
                      [&] { return runAsPlanned(call, planned); }));
  Waiting.lastEnd = std::chrono::steady_clock::now();
  return endLastUses(call);
}

void Runtime::Impl::tellLastUses(const LaunchCall &call) {
  for (const LastUse &use : call.lastUses)
    if (const Allocation *found =
            Watcher ? Allocations.find(use.address) : nullptr)
      Watcher->discarded({{use.address, endOf(use, found->base, found->bytes)},
                          call.number,
                          use.why});
}

Status Runtime::Impl::endLastUses(const LaunchCall &call) {
  tellLastUses(call);
  for (const LastUse &use : call.lastUses)
    DRAGON_TRY(
        endLastUse(use, call.queue, [](const Chunk &) { return false; }));
  return {};
}

Status
Runtime::Impl::endLastUse(const LastUse &use, Queue queue,
                          const std::function<bool(const Chunk &)> &except) {
  Allocation *found = Allocations.find(use.address);
  if (!found)
    return {};
  Buffer &buffer = *found->buffer;
  const uintptr_t end = endOf(use, found->base, found->bytes);
  for (uintptr_t begin = use.address; begin < end;) {
    // As many chunks as die, then one that does not.
    uintptr_t stop = begin;
    while (stop < end && !except(buffer.chunkAt(stop)))
      stop = buffer.chunkAt(stop).va() + buffer.chunkAt(stop).bytes();
    // To the driver a discard is worth its time where memory is short.
    if (stop = std::min(stop, end);
        stop > begin && (!buffer.driverMoved || Config.managedOversubscribe))
      DRAGON_TRY(discard(begin, stop - begin, queue, use.eager));
    if (stop < end)
      stop = buffer.chunkAt(stop).va() + buffer.chunkAt(stop).bytes();
    begin = stop;
  }
  return {};
}

uint64_t Runtime::Impl::deviceBytesFor(const PlannedLaunch &planned) const {
  uint64_t bytes = DevicePool.budget();
  auto isPart = [&planned](const Buffer *buffer) {
    return std::find(planned.buffers.begin(), planned.buffers.end(), buffer) !=
           planned.buffers.end();
  };
  for (const std::unique_ptr<Buffer> &buffer : Buffers)
    if (buffer->kept && !buffer->driverMoved && !isPart(buffer.get()))
      bytes -= buffer->vaBytes;
  for (const Chunk *chunk : OnDevice)
    if (chunk->held && !chunk->buffer->kept && !isPart(chunk->buffer))
      bytes -= chunk->bytes();
  return bytes;
}

uint64_t Runtime::Impl::mappedBytes() const {
  const uint64_t budget = HostPool.budget();
  return budget > Limits.transitBytes ? budget - Limits.transitBytes : 0;
}

const Slicing &Runtime::Impl::slicingOf(const LaunchCall &call,
                                        PlannedLaunch &planned,
                                        SliceSize size) {
  const LaunchChunks &whole = planned.whole;
  PlanInput input{};
  input.largeSlices = size.large;
  input.deviceBudget = deviceBytesFor(planned);
  input.deviceBudget /= size.share;
  auto missing = [&whole] {
    uint64_t bytes = 0;
    for (const ChunkUse &use : whole.uses)
      bytes += use.chunk->device.id ? 0 : use.chunk->bytes();
    return bytes;
  };
  input.sparing = size.share == 1 && planned.bytes <= input.deviceBudget &&
                  History.foresees() && !DevicePool.hasRoom(missing());
  input.hostBudget = mappedBytes();
  const bool again = planned.launches > 1;
  const Slicing::Conditions conditions{
      input.deviceBudget, input.hostBudget, input.sparing,
      again && planned.weighsMapping, size.large};
  if (const Slicing *known = planned.find(conditions))
    return *known;
  TraceZone zone("plan");
  zone.detail(nameOf(call));
  const LaunchPointers pointers = pointersOf(call, Allocations);
  std::copy(call.grid, call.grid + 3, input.grid);
  const KernelRecord *record = call.kernel->record;
  input.sliceable = record && !pointers.anything && !call.cooperative &&
                    (record->Flags & KernelSliceable);
  // Several launches share the device as slices, or not at all.
  input.hostMapped = Dev->caps().hostMapped && size.share == 1;
  BoxFootprints footprints(call, pointers, Allocations, whole);
  input.buffers = footprints.buffers();
  input.footprint = [&](const BlockBox &box) { return footprints.of(box); };
  input.extents = [&](const BlockBox &box) {
    return footprints.extentsOf(box);
  };
  input.foresee = [&](std::span<const BlockBox> boxes) {
    footprints.foresee(boxes);
  };
  input.rates = linkRates();
  if (again)
    input.rates.mapping *= MostForeseen;
  input.placed = [&] {
    planned.weighsMapping = true;
    const std::vector<double> &heat = heatOf(call, planned);
    std::vector<PlanInput::Placed> placed;
    for (size_t i = 0; i < whole.uses.size(); ++i) {
      const Chunk &chunk = *whole.uses[i].chunk;
      placed.push_back({footprints.numberOf(chunk), chunk.index,
                        placedOf(whole.uses[i], heat[i])});
    }
    return placed;
  };
  Slicing slicing{conditions, planLaunch(input), {}, {}, {}};
  const LaunchPlan &plan = slicing.plan;
  if (plan.kind == LaunchPlan::Sliced)
    for (const BlockBox &box : plan.boxes)
      slicing.parts.push_back(footprints.take(box));
  else if (plan.kind == LaunchPlan::Mixed) {
    auto onHost = [&](const ChunkUse &use) {
      const uint32_t chunk = use.chunk->index;
      return !intersection(plan.onHost, {{footprints.numberOf(*use.chunk),
                                          chunk, chunk + 1}})
                  .empty();
    };
    for (const BlockBox &box : plan.boxes) {
      auto [device, host] = split(footprints.take(box), onHost);
      slicing.parts.push_back(std::move(device));
      slicing.mappedParts.push_back(std::move(host));
    }
    slicing.mapped = split(whole, onHost).second;
  }
  return planned.keep(std::move(slicing));
}

Status Runtime::Impl::runAsPlanned(const LaunchCall &call,
                                   PlannedLaunch &planned) {
  TraceZone zone("launch");
  zone.detail(nameOf(call));
  ++planned.launches;
  const Slicing &slicing = slicingOf(call, planned);
  const LaunchPlan &plan = slicing.plan;
  if (plan.kind != LaunchPlan::Resident) {
    noticeOnce();
    Tracking = true; // chunks of slices that are done make room for others
  }
  explain(call, planned, plan, zone);

  switch (plan.kind) {
  case LaunchPlan::Resident:
  case LaunchPlan::Sliced:
  case LaunchPlan::Mixed: {
    const std::span<const LaunchChunks> parts = planned.parts(slicing);
    std::vector<Slice> slices;
    for (uint32_t part : sliceOrder(parts))
      slices.push_back({0, plan.boxes[part], &parts[part],
                        plan.kind == LaunchPlan::Mixed
                            ? &slicing.mappedParts[part]
                            : nullptr});
    SliceUses uses({{&call, &planned.whole, dyingOf(call)}}, std::move(slices),
                   Clock, [this](Chunk &chunk) { return foreseenUse(chunk); });
    // One alone goes by what is foreseen, if anything is.
    if (uses.size() > 1)
      uses.announce(LaunchClock);
    if (plan.kind != LaunchPlan::Mixed)
      return runSlices(uses);
    return runMixed(uses, slicing.mapped);
  }
  case LaunchPlan::HostMapped:
    return launchHostMapped(call, planned);
  case LaunchPlan::Impossible:
    if (Dev->caps().migrates)
      return runBeyondBudget(call, planned, plan.wholeBytes);
    if (!Counters.va)
      break;
    dropCounters(); // they may be what is missing
    return runAsPlanned(call, planned);
  }
  return cannotRun(call, plan.wholeBytes, plan.smallestBytes);
}

void Runtime::Impl::explain(const LaunchCall &call, PlannedLaunch &planned,
                            const LaunchPlan &plan, TraceZone &zone) const {
  const LogLevel level = planned.told ? LogLevel::Debug : LogLevel::Info;
  planned.told = true;
  if (plan.costs.empty() || !(zone.recorded() || logging(level)))
    return;
  std::string others;
  for (size_t i = 1; i < plan.costs.size(); ++i)
    others += (i > 1 ? "; " : "") + describe(plan.costs[i]);
  zone.note("chosen", describe(plan.costs.front()));
  if (!others.empty())
    zone.note("instead of", others);
  if (plan.kind != LaunchPlan::Resident)
    log(level, "'{}' runs {}{}{}", nameOf(call), describe(plan.costs.front()),
        others.empty() ? "" : ", instead of ", others);
}

Status Runtime::Impl::runBeyondBudget(const LaunchCall &call,
                                      PlannedLaunch &planned,
                                      uint64_t wholeBytes) {
  log(LogLevel::Info,
      "'{}' needs {} at once, more than the {} of device memory: the driver "
      "makes room for it",
      nameOf(call), formatBytes(wholeBytes), formatBytes(DevicePool.budget()));
  struct Restore {
    SlabPool &pool;
    uint64_t budget;
    ~Restore() { pool.setBudget(budget); }
  } restore{DevicePool, DevicePool.budget()};
  DevicePool.setBudget(
      std::max(restore.budget, DevicePool.used() + wholeBytes));
  SliceUses uses({{&call, &planned.whole, dyingOf(call)}},
                 {{0, wholeGrid(call), &planned.whole}}, Clock,
                 [this](Chunk &chunk) { return foreseenUse(chunk); });
  return runSlices(uses);
}

Status Runtime::Impl::cannotRun(const LaunchCall &call, uint64_t wholeBytes,
                                uint64_t smallestBytes) const {
  const KernelRecord *record = call.kernel->record;
  std::string why;
  if (smallestBytes)
    why = fmt::format("its smallest slice touches {}",
                      formatBytes(smallestBytes));
  else if (call.cooperative)
    why = "it is a cooperative launch, which cannot be sliced";
  else if (record && record->WhyNotSliceable)
    why = fmt::format("it cannot be sliced: {}",
                      call.kernel->summary->string(record->WhyNotSliceable));
  else
    why = "it cannot be sliced: what it accesses is not known";
  return Status::error(
      DRAGON_ERROR_OUT_OF_MEMORY,
      "kernel '{}' may touch {} at once: {} fit in device memory{}; {}; raise "
      "DRAGON_DEVICE_MEMORY{}",
      nameOf(call), formatBytes(wholeBytes), formatBytes(DevicePool.budget()),
      Dev->caps().hostMapped ? fmt::format(" and {} in mapped host memory",
                                           formatBytes(mappedBytes()))
                             : std::string(),
      why,
      fmt::format("{}{}",
                  Dev->caps().hostMapped ? " or DRAGON_HOST_MEMORY" : "",
                  Dev->caps().strict ? ", or leave out DRAGON_STRICT: with it, "
                                       "small buffers share no chunks"
                                     : ""));
}

Status Runtime::Impl::runBox(const LaunchCall &call, const BlockBox &box,
                             std::span<const AddressRange> touched,
                             bool anything, const KernelHandle *handle) {
  LaunchRequest request = requestOf(call, box);
  if (handle)
    request.kernel = const_cast<KernelHandle *>(handle);
  request.touched = touched;
  request.touchesAnything = anything;
  if (Watcher) {
    std::vector<AddressRange> remote;
    for (const Chunk *chunk : OnHost)
      if (chunk->hostMapped)
        remote.push_back({chunk->va(), chunk->usedEnd()});
    ObservedBlocks blocks;
    if (Watcher->wantsFootprints())
      blocks = announced(call, pointersOf(call, Allocations), Allocations, box);
    Watcher->blocksRun(blocks, remote);
  }
  DRAGON_TRY(Dev->launch(request));
  if (NumDriverMoved)
    noteLaunchOnDriverMoved();
  return {};
}

Status Runtime::Impl::launchInCore(const LaunchCall &call,
                                   const LaunchPointers &pointers) {
  BlockBox grid = wholeGrid(call);
  LaunchChunks chunks;
  std::vector<AddressRange> touched;
  bool listed = Dev->caps().strict || Tracking;
  for (const LaunchPointer &pointer : pointers.pointers)
    listed |= !pointer.allocation;
  if (listed) {
    chunks = chunksOf(call, pointers, Allocations, grid);
    touched = addressRanges(chunks);
  }
  if (Tracking)
    foresee(call, pointers, chunks);
  if (LastFetch && !Fetches.done(LastFetch))
    DRAGON_TRY(Fetches.queueWaitsFor(call.queue, LastFetch));
  DRAGON_TRY(runBox(call, grid, touched, pointers.anything));

  uint64_t ticket = 0;
  if (Tracking) {
    auto noted = Work.note(call.queue);
    if (noted.ok())
      ticket = *noted;
    else
      DRAGON_TRY(synchronizeAll());
  }
  auto used = [&](Buffer &buffer) {
    buffer.lastTouch = Clock;
    if (Tracking)
      buffer.lastUse = std::max(buffer.lastUse, ticket);
    else
      buffer.lastUntracked = Epoch;
  };
  if (pointers.anything)
    for (const std::unique_ptr<Buffer> &buffer : Buffers)
      used(*buffer);
  if (listed) {
    for (const ChunkUse &use : chunks.uses) {
      used(*use.chunk->buffer);
      if (use.mayWrite)
        DRAGON_TRY(wroteDevice(*use.chunk, use.written));
    }
    return {};
  }
  // Nothing has ever had to move: no need to know which chunks are dirty.
  for (const LaunchPointer &pointer : pointers.pointers)
    used(*pointer.allocation->buffer);
  auto wrote = [&](Buffer &buffer) -> Status {
    if (!buffer.allDeviceOnly())
      for (Chunk &chunk : buffer.chunks)
        DRAGON_TRY(wroteDevice(chunk));
    return {};
  };
  if (pointers.anything)
    for (const std::unique_ptr<Buffer> &buffer : Buffers)
      DRAGON_TRY(wrote(*buffer));
  for (const LaunchPointer &pointer : pointers.pointers)
    if (pointer.mayWrite)
      DRAGON_TRY(wrote(*pointer.allocation->buffer));
  return {};
}

std::vector<AddressRange> Runtime::Impl::dyingOf(const LaunchCall &call) {
  std::vector<AddressRange> dying;
  for (const LastUse &use : call.lastUses)
    if (Allocation *found = Allocations.find(use.address);
        found && !found->buffer->arena && !found->buffer->kept)
      dying.push_back({use.address, endOf(use, found->base, found->bytes)});
  return dying;
}

Status Runtime::Impl::runSlices(SliceUses &uses) {
  std::vector<size_t> slicesOf(uses.numLaunches());
  for (size_t i = 0; i < uses.size(); ++i)
    ++slicesOf[uses.slice(i).launch];
  for (size_t slices : slicesOf)
    if (slices > 1) {
      Bytes.count(Counter::SlicedLaunches);
      Bytes.count(Counter::Slices, slices);
    }
  if (uses.numLaunches() > 1)
    log(LogLevel::Debug,
        "'{}' runs in {} slices with the {} launches behind it",
        nameOf(uses.call(0)), uses.size(), uses.numLaunches() - 1);
  // Those of several launches are as many launches of their own to who watches.
  Observer *watcher = uses.numLaunches() > 1 ? Watcher.get() : nullptr;
  auto die = [&](Chunk &chunk, bool overwritten, Queue queue) -> Status {
    if (!overwritten)
      return discardChunk(chunk, queue);
    Move move = decide(stateOf(chunk), LaunchNeed::Overwrite, NextUse::Unknown,
                       Pressure::None);
    if (move.avoided)
      Bytes.avoided(*move.avoided, chunk.used());
    return forget(chunk);
  };

  struct Restore {
    uint64_t &value;
    ~Restore() { value = UINT64_MAX; }
  } restore{InUseSince};
  // Poison is in the order of one queue.
  const bool severalQueues =
      Dev->caps().asynchronous && Tracking && uses.size() > 1 && !Config.poison;
  const unsigned queues = severalQueues ? Config.sliceQueues : 1;
  uses.runAtATime(queues);
  DRAGON_TRY(AtATime.begin(uses.call(0).queue, queues));
  auto run = [&](size_t i) -> Status {
    if (i)
      Clock = uses.timeOf(i - 1);
    if (Dev->caps().asynchronous && uses.size() > 1)
      InUseSince = uses.inUseSince(i);
    LaunchCall call = uses.call(i);
    DRAGON_ASSIGN(call.queue, AtATime.queueFor(uses, i));
    const Slice &slice = uses.slice(i);
    std::vector<Want> wants;
    std::vector<Chunk *> used;
    bool needsNew = false;
    for (const SliceUses::Use &use : uses.uses(i)) {
      needsNew |= !use.use->chunk->device.id;
      wants.push_back({use.use->chunk, use.need()});
      used.push_back(use.use->chunk);
    }
    ++Round;
    DRAGON_TRY(bringIn(wants, call.queue, Cause::Demand, call.queue));
    std::vector<AddressRange> touched = addressRanges(*slice.chunks);
    if (slice.mapped) {
      for (const AddressRange &range : addressRanges(*slice.mapped))
        touched.push_back(range);
      for (const ChunkUse &use : slice.mapped->uses)
        used.push_back(use.chunk);
    }
    DRAGON_TRY(observed(watcher, call, [&] {
      return runBox(call, slice.box, touched, slice.chunks->anything);
    }));
    if (i == 0 || uses.slice(i).launch != uses.slice(i - 1).launch)
      Waiting.accepted.insert(shapeOf(call));
    for (const SliceUses::Use &use : uses.uses(i))
      if (use.use->mayWrite)
        DRAGON_TRY(wroteDevice(*use.use->chunk, use.use->written));
      else if (use.overwrites && !use.use->chunk->deviceValid)
        // Brought in for a slice that turned out not to write it.
        DRAGON_TRY(forget(*use.use->chunk));
    if (slice.mapped)
      for (const ChunkUse &use : slice.mapped->uses)
        if (use.mayWrite)
          DRAGON_TRY(wroteHost(*use.chunk, use.written));
    DRAGON_TRY(noteUse(used, call.queue));
    if (!used.empty())
      AtATime.ran(uses, i, used.front()->lastUse);
    uses.ran(i);
    for (const SliceUses::Use &use : uses.uses(i))
      if (use.dies)
        DRAGON_TRY(die(*use.use->chunk, use.overwrittenNext, call.queue));
    if (i == 0)
      // The launch runs: what is overwritten later is dead now.
      for (Chunk *chunk : uses.deadBefore())
        DRAGON_TRY(die(*chunk, true, call.queue));
    // Slices in a wave that need nothing new change little of what is to come.
    if (i + 1 < uses.size() &&
        (needsNew || uses.numLaunches() == 1 || i % 4 == 0))
      DRAGON_TRY(prepare(uses, i + 1));
    return {};
  };
  Status status;
  for (size_t i = 0; i < uses.size() && status.ok(); ++i)
    status = run(i);
  // Also where one failed: the others are on their way.
  Status ended = AtATime.end();
  return status.ok() ? std::move(ended) : std::move(status);
}

} // namespace dragon
