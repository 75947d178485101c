//===- StorageRunner.cpp - launches beyond device and host memory ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/StorageRunner.h"

#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_set>

namespace dragon {

namespace {

/// What is not on the device comes where so much of each of its bytes is
/// accessed.
constexpr double Dense = .25;
/// It stays there even if nothing can run again that writes it there: each word
/// is accessed twice and more.
constexpr double Hot = AccessCounts::AccessBytes / 2;
/// And to host memory where it is so much: then most of its pages are, where
/// accesses are of eight bytes and go anywhere.
constexpr double PageDense = 8. / double(PageCache::PageBytes);
/// Chunks of device memory that others may need, and of host memory for what is
/// stored.
constexpr uint64_t SpareChunks = 2;

} // namespace

bool StorageRunner::canRun(const ResolvedLaunch &launch,
                           const PlannedLaunch &planned) const {
  return Pages.canRun(launch) &&
         std::ranges::none_of(planned.whole.uses, [](const ChunkUse &use) {
           return use.chunk->buffer->driverMoved;
         });
}

StorageRunner::Densities
StorageRunner::densitiesOf(const ResolvedLaunch &launch,
                           PlannedLaunch &planned) {
  const std::vector<ChunkUse> &uses = planned.whole.uses;
  Densities result{Counting.accessBytes(launch, planned), {}, 0};
  auto &[of, order, dense] = result;
  for (size_t i = 0; i < uses.size(); ++i)
    of[i] /= double(std::max<size_t>(uses[i].chunk->used(), 1));
  for (size_t i = 0; i < uses.size(); ++i)
    dense += of[i] >= Dense ? uses[i].chunk->bytes() : 0;
  order.resize(uses.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return std::tuple(of[a], uses[a].chunk->device.id != 0, b) >
           std::tuple(of[b], uses[b].chunk->device.id != 0, a);
  });
  return result;
}

Status StorageRunner::bringToDevice(const Work &work, uint64_t room) {
  std::vector<ChunkUse> coming;
  std::vector<Chunk *> going;
  for (size_t i : work.densities.order) {
    Chunk &chunk = *work.whole.uses[i].chunk;
    if (work.repeats && work.undo[i]) {
      if (chunk.copies.device)
        going.push_back(&chunk);
    } else if ((chunk.device.id || work.densities.of[i] >= Dense) &&
               chunk.bytes() <= room) {
      room -= chunk.bytes();
      coming.push_back(work.whole.uses[i]);
    }
  }
  Ctx.pins.next();
  DRAGON_TRY(OnDevice.evict(going, Cause::Eviction));
  OnDevice.claim(coming);
  return Resident.bringIn(coming, work.launch.queue, Cause::Demand);
}

Status StorageRunner::bringToHost(const Work &work) {
  for (size_t i : work.densities.order) {
    Chunk &chunk = *work.whole.uses[i].chunk;
    if (chunk.copies.device || chunk.copies.host || Ctx.pins.has(chunk))
      continue;
    if (livesInStorage(stateOf(chunk)) && work.densities.of[i] < PageDense)
      continue;
    if (!chunk.host.id) {
      if (!Slabs.hasRoom(chunk.bytes()))
        continue;
      DRAGON_ASSIGN(chunk.host, Host.takeTransit(chunk.bytes()));
      Slabs.list(chunk, true);
    }
    Ctx.pins.add(chunk);
    DRAGON_TRY(Resident.bringToSlab(chunk, LaunchNeed::Write, Cause::Demand));
  }
  return {};
}

StatusOr<std::vector<PagedChunk>>
StorageRunner::elsewhere(const LaunchFootprint &whole) {
  std::vector<PagedChunk> others;
  for (const ChunkUse &use : whole.uses) {
    Chunk &chunk = *use.chunk;
    // All of what is to be overwritten has no contents there yet.
    const bool arrived = chunk.device.id && Ctx.pins.has(chunk);
    if (chunk.copies.device || (arrived && !chunk.copies.host)) {
      Ctx.pins.add(chunk);
      continue;
    }
    DRAGON_TRY(Time.settle(chunk)); // what it has left may be on its way
    if (chunk.device.id)            // with no contents
      DRAGON_TRY(OnDevice.release(chunk));
    DRAGON_TRY(Data.finishWrite(chunk));
    DRAGON_TRY(Host.bringHome(chunk));
    Ctx.pins.add(chunk);
    others.push_back({&use, chunk.copies.host ? reinterpret_cast<uintptr_t>(
                                                    chunk.host.copyView())
                                              : 0});
  }
  return others;
}

uint64_t StorageRunner::deviceRoom(const PlannedLaunch &planned) const {
  const uint64_t device = Plans.deviceBytesFor(planned);
  return device -
         std::min(device, SpareChunks * uint64_t(Ctx.limits.chunkBytes));
}

uint32_t StorageRunner::beginLoop(const ResolvedLaunch &launch) {
  if (!PageCache::runsInSlices(launch) || !Loops.canCutPaged(launch))
    return 0;
  const uint32_t trips = LoopState::tripsOf(launch);
  return trips >= 2 && Loops.begin(launch, blocksOfPanel(launch), true).ok()
             ? trips
             : 0;
}

uint64_t StorageRunner::blocksOfPanel(const LaunchCall &launch) const {
  return std::min(
      StorageParts::blocksOfPanel(Pages.bytes() / PageCache::PageBytes,
                                  threadsOfBlock(launch)),
      blocksOf(wholeGrid(launch)));
}

/// A thread that accesses memory may end without others that wait for it: they
/// do so at barriers, and for locks.
static bool mayEndThreads(const LaunchCall &launch) {
  const KernelRecord &record = *launch.kernel->record;
  const SummaryView &summary = *launch.kernel->summary;
  if (record.Flags & KernelHasBarrier)
    return false;
  if (record.Flags & KernelNeverWaits)
    return true;
  for (uint32_t i = 0; i < record.NumPointers; ++i) {
    const PointerRecord &pointer = summary.pointer(record.FirstPointer + i);
    for (uint32_t k = 0; k < pointer.NumAccesses; ++k)
      if (summary.access(pointer.FirstAccess + k).Flags & AccessAtomic)
        return false;
  }
  return true;
}

/// The blocks of a slice that has not been complete can run again, if what they
/// have written besides frames is not read.
static bool mayRepeat(const ResolvedLaunch &launch) {
  const KernelRecord *record = launch.kernel->record;
  return record && !launch.anything &&
         record->Flags & KernelActsOnBuffersOnly &&
         !(record->Flags & KernelHasPrintf) && mayEndThreads(launch) &&
         PageCache::runsInSlices(launch);
}

/// Which uses that is: they are both written and read.
static std::vector<bool> usesToUndo(const ResolvedLaunch &launch,
                                    const LaunchFootprint &whole) {
  std::vector<AddressRange> read;
  for (const LaunchPointer &pointer : launch.pointers)
    if (pointer.allocation &&
        launch.kernel->summary->pointer(pointer.index).Mode !=
            AccessMode::Write)
      read.push_back({pointer.allocation->base,
                      pointer.allocation->base + pointer.allocation->bytes});
  std::vector<bool> undo;
  undo.reserve(whole.uses.size());
  for (const ChunkUse &use : whole.uses) {
    const uintptr_t begin = use.chunk->va() + use.written.begin,
                    end = use.chunk->va() + use.written.end;
    undo.push_back(use.mayWrite() && !use.mustWrite() &&
                   std::ranges::any_of(read, [&](const AddressRange &range) {
                     return range.begin < end && begin < range.end;
                   }));
  }
  return undo;
}

Status StorageRunner::run(const ResolvedLaunch &launch, PlannedLaunch &planned,
                          bool &begun) {
  TraceZone zone("launch");
  zone.on(nameOf(launch));
  DRAGON_TRY(Data.forgetDead());
  const Densities uses = densitiesOf(launch, planned);
  // What runs again is in frames alone. What is accessed often stays on the
  // device: then nothing runs again.
  const std::vector<bool> undo = usesToUndo(launch, planned.whole);
  bool repeats = mayRepeat(launch);
  const bool counted = Counting.hasCounted(launch);
  for (size_t i = 0; i < undo.size(); ++i)
    repeats &= !undo[i] || !counted || uses.of[i] < Hot;
  const uint64_t room = deviceRoom(planned) + Pages.bytes();
  const bool slices = PageCache::runsInSlices(launch);
  if (slices)
    DRAGON_TRY(Pages.make(0));
  // All blocks at once, and one that cannot run again, have all the frames that
  // they may need.
  if (!slices || (!repeats &&
                  StorageParts::mayNeedAll(Pages.bytes() / PageCache::PageBytes,
                                           threadsOfBlock(launch))))
    DRAGON_TRY(Pages.makeLarge(room - std::min(uses.denseBytes, room / 2)));
  struct Loop {
    LoopState &loops;
    const ResolvedLaunch &launch;
    uint32_t trips;
    ~Loop() {
      if (trips)
        loops.end(launch).ignore();
    }
  } loop{Loops, launch, beginLoop(launch)};
  const uintptr_t state = Loops.address();
  StorageParts parts(
      launch.grid,
      {slices ? Pages.bytes() / PageCache::PageBytes : UINT64_MAX,
       threadsOfBlock(launch), repeats, loop.trips, blocksOfPanel(launch)});
  Work work{launch, planned, planned.whole, uses, undo, repeats, parts, begun};
  DRAGON_TRY(runParts(work, zone));
  if (parts.done())
    return {};
  // The smallest part finds too few frames. They may have nearly all memory;
  // what has been overwritten in part has contents now.
  for (ChunkUse &use : work.whole.uses)
    if (use.mustWrite())
      use.need = LaunchNeed::Write;
  const uint64_t before = Pages.bytes();
  const uint64_t most = deviceRoom(planned) + before;
  DRAGON_TRY(Pages.makeLarge(most - std::min(uses.denseBytes, most / 8)));
  if (Pages.bytes() > before && (!loop.trips || Loops.address() == state)) {
    log(LogLevel::Debug, "'{}' goes on with frames of {} in place of {}",
        nameOf(launch), formatBytes(Pages.bytes()), formatBytes(before));
    DRAGON_TRY(runParts(work, zone));
  }
  return parts.done() ? Status() : outOfFrames(launch, parts.last());
}

Status StorageRunner::runParts(Work &work, TraceZone &zone) {
  const ResolvedLaunch &launch = work.launch;
  const bool isFirst = !work.begun;
  DRAGON_TRY(bringToDevice(work, deviceRoom(work.planned)));
  DRAGON_TRY(Stored.make());
  struct Ends {
    StoredPages &stored;
    ~Ends() { stored.end().ignore(); } // of one that did not begin
  } ends{Stored};
  DRAGON_TRY(
      Host.makeRoom(SpareChunks * uint64_t(Ctx.limits.chunkBytes), true));
  DRAGON_TRY(bringToHost(work));
  DRAGON_ASSIGN(const std::vector<PagedChunk> others, elsewhere(work.whole));
  std::vector<Chunk *> stored;
  uint64_t storedBytes = 0;
  for (const PagedChunk &one : others)
    if (one.at == 0) {
      stored.push_back(one.use->chunk);
      storedBytes += one.use->chunk->used();
    }
  zone.note("fetches pages of storage", storedBytes);
  log(LogLevel::Info,
      "'{}' fetches pages of {} from storage: it may touch {} at once",
      nameOf(launch), formatBytes(storedBytes),
      formatBytes(work.planned.bytes));
  DRAGON_TRY(Stored.begin(std::move(stored)));
  Status status = runSlices(work, others);
  if (!status.ok())
    Pages.forget(); // who runs may still ask
  if (Status read = Stored.end(); status.ok() && !read.ok()) {
    Pages.forget(); // frames have zeros instead
    status = std::move(read);
  }
  if (!work.begun)
    return status;
  if (isFirst)
    Ctx.ledger.count(Counter::PagedLaunches);
  if (Status noted = noteWrites(work.whole, others); status.ok())
    status = std::move(noted);
  if (status.ok())
    Pages.keep(others);
  if (Status noted = Time.noteUse(chunksOf(work.whole), launch.queue);
      status.ok())
    status = std::move(noted);
  return status;
}

static std::unordered_set<const ChunkUse *>
usesOf(std::span<const PagedChunk> chunks) {
  std::unordered_set<const ChunkUse *> uses;
  for (const PagedChunk &chunk : chunks)
    uses.insert(chunk.use);
  return uses;
}

Status StorageRunner::runSlices(Work &work,
                                std::span<const PagedChunk> others) {
  const ResolvedLaunch &launch = work.launch;
  const auto inFrames = usesOf(others);
  bool repeats = work.repeats;
  for (size_t i = 0; i < work.undo.size(); ++i)
    repeats &= !work.undo[i] || inFrames.contains(&work.whole.uses[i]);
  DRAGON_ASSIGN(const PageView view, Pages.begin(launch, work.whole, others,
                                                 {Stored.address(), repeats}));
  PagedArguments with(launch, work.whole, view, Pages.range());
  with.touch(Loops.range());
  const bool storesAny = std::ranges::any_of(others, [](const PagedChunk &one) {
    return one.at == 0 && one.use->mayWrite();
  });
  StorageParts &parts = work.parts;
  if (PageCache::runsInSlices(launch))
    parts.resize(Pages.frames());
  // Of the launches before, too, no more than half of the frames have pages.
  DRAGON_TRY(Pages.endSlice(launch, false));
  uint64_t inUse = 0;
  Progress::Slices shown(Ctx.progress, nameOf(launch), 0,
                         blocksOf(wholeGrid(launch)));
  while (!parts.done()) {
    shown.run(parts.blocksDone());
    const StorageParts::Part part = parts.next();
    Status status = submit(launch, part, with, repeats);
    if (status.ok()) {
      work.begun = true;
      status = Ctx.device->synchronize(launch.queue);
    }
    if (Stored.outOfFrames()) {
      work.begun = true;
      if (!repeats || !status.ok())
        return outOfFrames(launch, part);
      DRAGON_TRY(Pages.undoSlice(launch, others));
      if (part.continues())
        DRAGON_TRY(Loops.restore(launch.queue));
      if (!parts.again(inUse == 0))
        break;
      log(LogLevel::Debug, "{} blocks of '{}' need more frames: again",
          blocksOf(part.box), nameOf(launch));
      inUse = 0;
      continue;
    }
    if (!status.ok() && !work.begun) // it needs more registers than the kernel
      return Status::error(DRAGON_ERROR_UNSUPPORTED, "{}", status.message());
    DRAGON_TRY(std::move(status));
    DRAGON_TRY(Pages.endSlice(launch, parts.done()));
    DRAGON_ASSIGN(const PageCache::SliceEnd slice,
                  Pages.waitForSlice(launch, storesAny));
    DRAGON_TRY(Stored.store(Pages, slice.written));
    parts.took(slice.framesInUse - std::min(slice.framesInUse, inUse));
    inUse = slice.framesInUse > Pages.frames() / 2 ? 0 : slice.framesInUse;
  }
  return Pages.end(launch);
}

/// `repeats`: what the part finds of the loop's state is kept.
Status StorageRunner::submit(const ResolvedLaunch &launch,
                             const StorageParts::Part &part,
                             PagedArguments &with, bool repeats) {
  if (!part.isOfLoop())
    return Submit.run(launch, with.submission(part.box));
  if (repeats && part.continues())
    DRAGON_TRY(Loops.remember(launch.queue));
  const LoopArguments loop(launch, Loops.address(), part.box, part.panel);
  return Submit.run(launch, with.submissionOfLoop(part.box, loop.all()));
}

Status StorageRunner::outOfFrames(const LaunchCall &launch,
                                  const StorageParts::Part &part) const {
  const uint64_t blocks = blocksOf(part.box);
  return Status::error(
      DRAGON_ERROR_OUT_OF_MEMORY,
      "kernel '{}' touches more than {} of pages in {} of its blocks{} at "
      "once: there is no device memory for more, and what the launch has "
      "written is not complete; raise DRAGON_DEVICE_MEMORY",
      nameOf(launch), formatBytes(Pages.frames() * PageCache::PageBytes),
      blocks, part.isOfLoop() ? " and an iteration of its loop" : "");
}

Status StorageRunner::noteWrites(const LaunchFootprint &whole,
                                 std::span<const PagedChunk> others) {
  for (const PagedChunk &one : others) {
    if (!one.use->mayWrite())
      continue;
    Chunk &chunk = *one.use->chunk;
    if (one.at)
      DRAGON_TRY(Data.wroteHost(chunk, one.use->written));
    else
      Data.wroteStorage(chunk, one.use->written);
  }
  const auto elsewhere = usesOf(others);
  for (const ChunkUse &use : whole.uses)
    if (use.mayWrite() && !elsewhere.contains(&use))
      DRAGON_TRY(Data.wroteDevice(*use.chunk, use.written));
  return {};
}

} // namespace dragon
