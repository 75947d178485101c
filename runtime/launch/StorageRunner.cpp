//===- StorageRunner.cpp - launches beyond device and host memory ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/StorageRunner.h"

#include "runtime/launch/LoopState.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_set>

namespace dragon {

namespace {

/// A slice should take this part of the frames: the half of them is free when
/// it begins.
constexpr uint64_t ShareOfFrames = 8;
/// The first slice's threads are expected to touch so many pages each.
constexpr uint64_t FirstPages = 4;
/// From one slice to the next it grows at most so many times.
constexpr uint64_t Growth = 4;
/// What is not on the device comes where so much of each of its bytes is
/// accessed.
constexpr double Dense = .25;
/// And to host memory where it is so much: then most of its pages are, where
/// accesses are of eight bytes and go anywhere.
constexpr double PageDense = 8. / double(PageCache::PageBytes);
/// Chunks of device memory that others may need, and of host memory for what is
/// stored.
constexpr uint64_t SpareChunks = 2;

} // namespace

BlockBox BlockRuns::next(uint64_t blocks) {
  BlockBox box{};
  for (unsigned d = 0; d < 3; ++d) {
    box.Lo[d] = At[d];
    box.Hi[d] = At[d] + 1;
  }
  // Along the slowest dimension of which all that is faster fits, and is there.
  uint64_t faster = 1;
  unsigned axis = 0;
  while (axis < 2 && At[axis] == 0 && faster * Grid[axis] <= blocks) {
    box.Hi[axis] = Grid[axis];
    faster *= Grid[axis++];
  }
  const uint64_t count =
      std::clamp<uint64_t>(blocks / faster, 1, Grid[axis] - At[axis]);
  box.Hi[axis] = At[axis] += uint32_t(count);
  for (; axis < 2 && At[axis] == Grid[axis]; ++axis) {
    At[axis] = 0;
    ++At[axis + 1];
  }
  return box;
}

void BlockRuns::again(const BlockBox &box) { std::copy_n(box.Lo, 3, At); }

BlocksAtOnce::BlocksAtOnce(uint64_t frames, uint64_t blockThreads, bool again)
    : Wanted(std::max<uint64_t>(frames / ShareOfFrames, 1)),
      Blocks(std::max<uint64_t>(
          Wanted / std::max<uint64_t>(blockThreads * FirstPages, 1), 1)),
      Most(again ? UINT64_MAX : Blocks) {}

void BlocksAtOnce::took(uint64_t frames, uint64_t blocks) {
  const uint64_t next = frames == 0 ? UINT64_MAX : Wanted * blocks / frames;
  Blocks = std::clamp<uint64_t>(next, 1, std::min(Blocks * Growth, Most));
}

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
  Densities result{
      planned.whole.uses, Counting.accessBytes(launch, planned), {}};
  auto &[uses, of, order] = result;
  for (size_t i = 0; i < uses.size(); ++i)
    of[i] /= double(std::max<size_t>(uses[i].chunk->used(), 1));
  order.resize(uses.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return std::tuple(of[a], uses[a].chunk->device.id != 0, b) >
           std::tuple(of[b], uses[b].chunk->device.id != 0, a);
  });
  return result;
}

uint64_t StorageRunner::Densities::denseBytes() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < uses.size(); ++i)
    bytes += of[i] >= Dense ? uses[i].chunk->bytes() : 0;
  return bytes;
}

Status StorageRunner::bringToDevice(const Densities &uses, uint64_t room,
                                    Queue queue) {
  std::vector<ChunkUse> coming;
  for (size_t i : uses.order)
    if (const Chunk &chunk = *uses.uses[i].chunk;
        (chunk.device.id || uses.of[i] >= Dense) && chunk.bytes() <= room) {
      room -= chunk.bytes();
      coming.push_back(uses.uses[i]);
    }
  Ctx.pins.next();
  OnDevice.claim(coming);
  return Resident.bringIn(coming, queue, Cause::Demand);
}

Status StorageRunner::bringToHost(const Densities &uses) {
  for (size_t i : uses.order) {
    Chunk &chunk = *uses.uses[i].chunk;
    if (chunk.copies.device || chunk.copies.host || Ctx.pins.has(chunk))
      continue;
    if (livesInStorage(stateOf(chunk)) && uses.of[i] < PageDense)
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

Status StorageRunner::run(const ResolvedLaunch &launch, PlannedLaunch &planned,
                          bool &begun) {
  TraceZone zone("launch");
  zone.on(nameOf(launch));
  DRAGON_TRY(Data.forgetDead());
  const Densities uses = densitiesOf(launch, planned);
  const uint64_t spare = SpareChunks * Ctx.limits.chunkBytes;
  auto deviceRoom = [&] {
    const uint64_t device = Plans.deviceBytesFor(planned);
    return device - std::min(device, spare);
  };
  const uint64_t room = deviceRoom() + Pages.bytes();
  // All blocks at once have all the frames that they may need.
  DRAGON_TRY(
      PageCache::runsInSlices(launch)
          ? Pages.make(0)
          : Pages.makeLarge(room - std::min(uses.denseBytes(), room / 2)));
  DRAGON_TRY(bringToDevice(uses, deviceRoom(), launch.queue));
  DRAGON_TRY(Stored.make());
  struct Ends {
    StoredPages &stored;
    ~Ends() { stored.end().ignore(); } // of one that did not begin
  } ends{Stored};
  DRAGON_TRY(Host.makeRoom(spare, true));
  DRAGON_TRY(bringToHost(uses));
  DRAGON_ASSIGN(const std::vector<PagedChunk> others, elsewhere(planned.whole));
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
      nameOf(launch), formatBytes(storedBytes), formatBytes(planned.bytes));
  DRAGON_TRY(Stored.begin(std::move(stored)));
  Status status = runSlices(launch, planned.whole, others, begun);
  if (!status.ok())
    Pages.forget(); // who runs may still ask
  if (Status read = Stored.end(); status.ok() && !read.ok()) {
    Pages.forget(); // frames have zeros instead
    status = std::move(read);
  }
  if (!begun)
    return status;
  Ctx.ledger.count(Counter::PagedLaunches);
  if (Status noted = noteWrites(planned.whole, others); status.ok())
    status = std::move(noted);
  if (status.ok())
    Pages.keep(others);
  if (Status noted = Time.noteUse(chunksOf(planned.whole), launch.queue);
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

/// A thread that accesses memory may end without others that wait for it: they
/// do so at barriers, and for locks.
static bool mayEndThreads(const LaunchCall &launch) {
  const KernelRecord &record = *launch.kernel->record;
  const SummaryView &summary = *launch.kernel->summary;
  if (record.Flags & KernelHasBarrier)
    return false;
  for (uint32_t i = 0; i < record.NumPointers; ++i) {
    const PointerRecord &pointer = summary.pointer(record.FirstPointer + i);
    for (uint32_t k = 0; k < pointer.NumAccesses; ++k)
      if (summary.access(pointer.FirstAccess + k).Flags & AccessAtomic)
        return false;
  }
  return true;
}

/// The blocks of a slice that has not been complete can run again: what they
/// have written besides frames is not read.
static bool canRepeat(const ResolvedLaunch &launch,
                      const LaunchFootprint &whole,
                      std::span<const PagedChunk> others) {
  const KernelRecord *record = launch.kernel->record;
  if (!record || launch.anything ||
      !(record->Flags & KernelActsOnBuffersOnly) ||
      record->Flags & KernelHasPrintf || !mayEndThreads(launch))
    return false;
  std::vector<AddressRange> read;
  for (const LaunchPointer &pointer : launch.pointers)
    if (pointer.allocation &&
        launch.kernel->summary->pointer(pointer.index).Mode !=
            AccessMode::Write)
      read.push_back({pointer.allocation->base,
                      pointer.allocation->base + pointer.allocation->bytes});
  const auto inFrames = usesOf(others);
  return std::ranges::none_of(whole.uses, [&](const ChunkUse &use) {
    const uintptr_t begin = use.chunk->va() + use.written.begin,
                    end = use.chunk->va() + use.written.end;
    return use.mayWrite() && !use.mustWrite() && !inFrames.contains(&use) &&
           std::ranges::any_of(read, [&](const AddressRange &range) {
             return range.begin < end && begin < range.end;
           });
  });
}

Status StorageRunner::runSlices(const ResolvedLaunch &launch,
                                const LaunchFootprint &whole,
                                std::span<const PagedChunk> others,
                                bool &begun) {
  const bool slices = PageCache::runsInSlices(launch);
  const bool repeats = slices && canRepeat(launch, whole, others);
  DRAGON_ASSIGN(const PageView view, Pages.begin(launch, whole, others,
                                                 {Stored.address(), repeats}));
  PagedArguments with(launch, whole, view, Pages.range());
  const bool storesAny = std::ranges::any_of(others, [](const PagedChunk &one) {
    return one.at == 0 && one.use->mayWrite();
  });
  BlockRuns runs(launch.grid);
  BlocksAtOnce size(Pages.frames(), threadsOfBlock(launch), repeats);
  // Of the launches before, too, no more than half of the frames have pages.
  DRAGON_TRY(Pages.endSlice(launch, false));
  uint64_t inUse = 0, ran = 0;
  Progress::Slices shown(Ctx.progress, nameOf(launch), 0,
                         blocksOf(wholeGrid(launch)));
  while (!runs.done()) {
    shown.run(ran);
    const BlockBox box = runs.next(slices ? size.blocks() : UINT64_MAX);
    const uint64_t blocks = blocksOf(box);
    Status status = Submit.run(launch, with.submission(box));
    if (status.ok()) {
      begun = true;
      status = Ctx.device->synchronize(launch.queue);
    }
    if (Stored.outOfFrames()) {
      begun = true;
      if (!repeats || !status.ok() || (blocks == 1 && inUse == 0))
        return outOfFrames(launch, blocks);
      DRAGON_TRY(Pages.undoSlice(launch, others));
      log(LogLevel::Debug, "{} blocks of '{}' need more frames: again", blocks,
          nameOf(launch));
      runs.again(box);
      size.took(Pages.frames(), blocks);
      inUse = 0;
      continue;
    }
    if (!status.ok() && !begun) // it needs more registers than the kernel
      return Status::error(DRAGON_ERROR_UNSUPPORTED, "{}", status.message());
    DRAGON_TRY(std::move(status));
    DRAGON_TRY(Pages.endSlice(launch, runs.done()));
    DRAGON_ASSIGN(const PageCache::SliceEnd slice,
                  Pages.waitForSlice(launch, storesAny));
    DRAGON_TRY(Stored.store(Pages, slice.written));
    size.took(slice.framesInUse - std::min(slice.framesInUse, inUse), blocks);
    ran += blocks;
    inUse = slice.framesInUse > Pages.frames() / 2 ? 0 : slice.framesInUse;
  }
  return Pages.end(launch);
}

Status StorageRunner::outOfFrames(const LaunchCall &launch,
                                  uint64_t blocks) const {
  return Status::error(
      DRAGON_ERROR_OUT_OF_MEMORY,
      "kernel '{}' touches more than {} of pages in {} of its blocks at once: "
      "there is no device memory for more, and what the launch has written is "
      "not complete; raise DRAGON_DEVICE_MEMORY",
      nameOf(launch), formatBytes(Pages.frames() * PageCache::PageBytes),
      blocks);
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
