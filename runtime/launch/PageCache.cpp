//===- PageCache.cpp - pages that kernels fetch themselves ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/PageCache.h"

#include "runtime/base/Rounding.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace dragon {

namespace {

/// What of the device's memory it takes.
constexpr uint64_t ShareOfDevice = 4;
/// What kernels get over a link (H200, PCIe 5) by warps that copy whole pages,
/// in bytes a second, and of accesses to 32 bytes each; those to 128 take no
/// longer.
constexpr double PageRate = 51e9, RequestRate = 1.5e9;
constexpr uint64_t RequestBytes = 32;
/// A page costs the link as much as so many of those. Both come over the same
/// link: on a slower one it is the same number.
constexpr uint32_t breakEven(uint64_t pageBytes) {
  const double requests =
      double(pageBytes) / PageRate / (double(RequestBytes) / RequestRate);
  return uint32_t(requests) + 1;
}
constexpr uint64_t MostSlices = 64;
/// What keeps the link of a GPU busy.
constexpr uint32_t WideBlocks = 264, WideThreads = 256;

} // namespace

bool PageCache::canRun(const LaunchCall &call) const {
  // Who watches knows buffers' addresses alone.
  return call.kernel->paged && !call.cooperative &&
         Ctx.config.paging != Paging::Off && !Ctx.watcher &&
         Ctx.caps().hostMapped && !Refused.contains(call.kernel);
}

bool PageCache::isWorth(const LaunchCall &call) const {
  const KernelRecord *record = call.kernel->record;
  return canRun(call) && (Ctx.config.paging == Paging::Always || !record ||
                          !(record->Flags & KernelFetchesAtLast));
}

bool PageCache::runsInSlices(const LaunchCall &call) {
  const KernelRecord *record = call.kernel->record;
  const KernelHandle &copy = pagedCopyOf(*call.kernel).copy;
  return record && record->Flags & KernelSliceable &&
         (copy.image.cpu || copy.image.sliceCode);
}

PagedArguments::PagedArguments(const LaunchCall &call,
                               const LaunchFootprint &whole,
                               const PageView &view, const AddressRange &frames)
    : Call(call), View(view), Args(call.args, call.args + call.numArgs),
      Touched(addressRanges(whole)), Anything(whole.anything) {
  for (void *value : View.arguments())
    Args.push_back(value);
  Touched.push_back(frames);
}

Submission PagedArguments::submissionOfLoop(const BlockBox &box,
                                            std::span<void *const> arguments) {
  LoopArgs.assign(arguments.begin(), arguments.end());
  LoopArgs.insert(LoopArgs.end(), Args.begin() + Call.numArgs, Args.end());
  return {box,     Call.queue, Touched, Anything, &pagedLoopOf(*Call.kernel),
          LoopArgs};
}

StatusOr<PageControl> PageCache::control(Queue queue) const {
  PageControl now{};
  DRAGON_TRY(
      Ctx.device->copyAndWait(&now, reinterpret_cast<void *>(View.control),
                              sizeof(now), CopyKind::DeviceToHost, queue));
  return now;
}

Status PageCache::setControl(const PageControl &now, Queue queue) const {
  return Ctx.device->copyAndWait(reinterpret_cast<void *>(View.control), &now,
                                 sizeof(now), CopyKind::HostToDevice, queue);
}

uint64_t PageCache::usualBytes() const {
  const uint64_t slab = Ctx.limits.chunkBytes;
  return (OnDevice.Pool.budget() + bytes()) / ShareOfDevice / slab * slab;
}

Status PageCache::make(uint64_t stays) {
  if (any())
    return {};
  const uint64_t budget = OnDevice.Pool.budget(), bytes = usualBytes();
  if (bytes == 0 || stays > budget - bytes)
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "device memory of {} is too little for pages beside "
                         "{} that must stay in it",
                         formatBytes(budget), formatBytes(stays));
  TraceZone zone("make frames");
  zone.add(bytes);
  Ctx.pins.next();
  return Memory.make(bytes, Ctx.limits.chunkBytes);
}

Status PageCache::makeLarge(uint64_t bytes) {
  const uint64_t slab = Ctx.limits.chunkBytes;
  const uint64_t wanted = std::max(bytes / slab * slab, usualBytes());
  if (any() && this->bytes() >= wanted / 4 * 3)
    return {};
  drop();
  TraceZone zone("make frames");
  zone.add(wanted);
  Ctx.pins.next();
  IsLarge = wanted > usualBytes() && Memory.make(wanted, slab).ok();
  return IsLarge ? Status() : make(0);
}

const uint32_t PageCache::BreakEven = breakEven(PageBytes);

PageCounts PageCache::collect() {
  if (!NumFrames || !Time.Work.waitFor(Ticket).ok())
    return {};
  const StatusOr<PageControl> read = control(Ctx.copyOut);
  if (!read.ok())
    return {};
  const PageControl &now = *read;
  const uint64_t fetched =
      now.Recycled + std::min<uint64_t>(now.Next, NumFrames);
  Ctx.ledger.moved(Direction::HostToDevice, Cause::Paging,
                   (fetched - Fetched) * PageBytes);
  Ctx.ledger.moved(Direction::DeviceToHost, Cause::Paging,
                   (now.Written - Written) * PageBytes);
  Ctx.ledger.accessed(OverLink::Paged, (now.Direct - Direct) * RequestBytes);
  log(LogLevel::Debug,
      "pages are fetched at {} touches; {} were fetched, {} of all so far "
      "ahead, {} touches went to host memory",
      now.EnoughTouches, fetched - Fetched, now.Ahead, now.Direct - Direct);
  const PageCounts since{fetched - Fetched, now.Direct - Direct};
  Fetched = fetched;
  Written = now.Written;
  Direct = now.Direct;
  return since;
}

bool PageCache::drop() {
  if (!any())
    return false;
  collect();
  Time.Work.waitFor(Ticket).ignore();
  Memory.drop();
  NumFrames = 0;
  IsLarge = false;
  return true;
}

Status PageCache::changeKernel(const KernelInfo *next, Queue queue) {
  const KernelInfo *const before = std::exchange(Last, next);
  if (!before || before == next || !Initial.BreakEven)
    return {};
  auto habitOf = [&](const KernelInfo *kernel) {
    const auto number = uint32_t(Numbers.size() % MostKernels);
    return reinterpret_cast<void *>(
        Habits +
        Numbers.try_emplace(kernel, number).first->second * sizeof(uint32_t));
  };
  void *const now = reinterpret_cast<void *>(
      View.control + offsetof(PageControl, EnoughTouches));
  DRAGON_TRY(Ctx.device->copy(habitOf(before), now, sizeof(uint32_t),
                              CopyKind::DeviceToDevice, queue));
  return Ctx.device->copy(now, habitOf(next), sizeof(uint32_t),
                          CopyKind::DeviceToDevice, queue);
}

Status PageCache::forgetHabit(Queue queue) {
  return Ctx.device->fill(
      reinterpret_cast<void *>(View.control +
                               offsetof(PageControl, EnoughTouches)),
      Initial.EnoughTouches, sizeof(uint32_t), 1, queue);
}

/// What the table of sources says of the use, which is `at` there.
static int64_t sourceOf(const ChunkUse &use, uintptr_t at, bool needsFrames) {
  const Chunk &chunk = *use.chunk;
  if (at == 0)
    return PageStored;
  int64_t source = chunk.hostMapped ? 0 : int64_t(at - chunk.va());
  if (!use.mayWrite())
    source |= PageRead;
  if (use.mayWrite() && needsFrames)
    source |= PageInFrame;
  return source;
}

Status PageCache::setRequests(const PagesAsked &asked, Queue queue) {
  if (asked.requests == 0 && Requests == 0)
    return {};
  DRAGON_ASSIGN(PageControl now, control(queue));
  now.Requests = Requests = asked.requests;
  now.EndsThreads = asked.endsThreads;
  now.Asked = now.Again = 0;
  return setControl(now, queue);
}

StatusOr<PageView> PageCache::begin(const LaunchCall &call,
                                    const LaunchFootprint &whole,
                                    std::span<const PagedChunk> onHost,
                                    const PagesAsked &asked) {
  const Queue queue = call.queue;
  TraceZone zone("bring the page table up to date");
  DRAGON_TRY(Time.Work.queueWaitsForOne(queue, Ticket));
  // The table is of all buffers, so that it serves the next launches, too.
  uintptr_t sizes = 0;
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    sizes |= buffer->base | buffer->chunkBytes;
  const auto granule = uint32_t(std::countr_zero(sizes));
  if (granule < GranuleShift || !covers())
    DRAGON_TRY(layOut(granule, queue));
  else // what left in an earlier launch may come again
    DRAGON_TRY(Ctx.device->fill(reinterpret_cast<void *>(Initial.Marks), 0, 1,
                                numEntries(), queue));
  DRAGON_TRY(changeKernel(call.kernel, queue));
  DRAGON_TRY(setRequests(asked, queue));

  std::unordered_map<const ChunkUse *, uintptr_t> places;
  for (const PagedChunk &chunk : onHost)
    places.emplace(chunk.use, chunk.at);
  std::vector<uint8_t> change(Granules.size(), UINT8_MAX);
  bool moved = false;
  for (const ChunkUse &use : whole.uses) {
    const Chunk &chunk = *use.chunk;
    const auto place = places.find(&use);
    const bool isOnHost = place != places.end();
    const Granule now{isOnHost ? chunk.buffer->number : 0,
                      isOnHost ? chunk.buffer->writes : 0};
    const int64_t delta =
        isOnHost ? sourceOf(use, place->second, asked.requests != 0) : 0;
    const auto [first, last] = granulesOf(chunk);
    for (size_t i = first; i < last; ++i) {
      // What was accessed in host memory has no place there any more.
      const bool needsFrames =
          isOnHost && ~Deltas[i] & delta & (PageStored | PageInFrame);
      if (isOnHost && Deltas[i] != delta) {
        Deltas[i] = delta;
        moved = true;
      }
      Granule &known = Granules[i];
      if (known.buffer == now.buffer && known.writes == now.writes &&
          !needsFrames && !chunk.buffer->hostAccessible)
        continue;
      known = now;
      change[i] = isOnHost ? PageAbsent : PageResident;
    }
  }
  for (size_t i = 0, last = 0; i < change.size(); i = last) {
    for (last = i + 1; last < change.size() && change[last] == change[i];)
      ++last;
    if (change[i] != UINT8_MAX)
      DRAGON_TRY(set(i, last - i, PageEntry(change[i]), queue));
  }
  if (moved)
    DRAGON_TRY(Ctx.device->copyAndWait(
        reinterpret_cast<void *>(Initial.Sources), Deltas.data(),
        Deltas.size() * sizeof(int64_t), CopyKind::HostToDevice, queue));
  DRAGON_TRY(setRegions(regionsOf(whole, onHost), queue));
  return View;
}

StatusOr<PageCache::SliceEnd> PageCache::waitForSlice(const LaunchCall &call,
                                                      bool withWritten) {
  DRAGON_ASSIGN(const PageControl now, control(call.queue));
  SliceEnd result{now.InUse, {}};
  if (!withWritten || now.InUse == 0)
    return result;
  std::vector<PageFrame> held(now.InUse);
  DRAGON_TRY(Ctx.device->copyAndWait(
      held.data(), reinterpret_cast<void *>(Initial.Held),
      held.size() * sizeof(PageFrame), CopyKind::DeviceToHost, call.queue));
  for (uint32_t frame = 0; frame < held.size(); ++frame)
    if (held[frame].Touches & PageToStore)
      result.written.push_back({frame, held[frame].Address});
  return result;
}

Status PageCache::copyFrames(uint32_t first, uint32_t count, void *to) const {
  return Ctx.device->copyAndWait(
      to, reinterpret_cast<void *>(View.frames + first * PageBytes),
      count * PageBytes, CopyKind::DeviceToHost, Ctx.copyOut);
}

std::vector<PageRegion>
PageCache::regionsOf(const LaunchFootprint &whole,
                     std::span<const PagedChunk> onHost) const {
  std::unordered_set<const Chunk *> read;
  for (const PagedChunk &chunk : onHost)
    if (!chunk.use->mayWrite())
      read.insert(chunk.use->chunk);
  std::vector<const Chunk *> used;
  used.reserve(whole.uses.size());
  for (const ChunkUse &use : whole.uses)
    used.push_back(use.chunk);
  std::sort(used.begin(), used.end(),
            [](const Chunk *a, const Chunk *b) { return a->va() < b->va(); });
  // What of a buffer the launch does not use may have gone.
  std::vector<PageRegion> regions;
  for (size_t i = 0, last = 0; i < used.size(); i = last) {
    const Buffer *buffer = used[i]->buffer;
    bool any = false;
    for (last = i; last < used.size() && used[last]->buffer == buffer &&
                   used[last]->index == used[i]->index + (last - i);
         ++last)
      any |= read.contains(used[last]);
    const uint64_t begin = used[i]->va();
    const uint64_t end =
        std::min(used[last - 1]->va() + used[last - 1]->bytes(),
                 buffer->base + buffer->bytes);
    const auto [granule, behind] = granulesOf(begin, end);
    if (any && granule != behind)
      regions.push_back({unsigned(granule << (GranuleShift - PageShift)),
                         unsigned((end - begin) >> PageShift), begin});
  }
  std::sort(regions.begin(), regions.end(),
            [](const auto &a, const auto &b) { return a.Count > b.Count; });
  regions.resize(std::min<size_t>(regions.size(), MostPageRegions));
  std::sort(regions.begin(), regions.end(),
            [](const auto &a, const auto &b) { return a.First < b.First; });
  return regions;
}

Status PageCache::setRegions(std::vector<PageRegion> now, Queue queue) {
  auto isSame = [](const PageRegion &a, const PageRegion &b) {
    return a.First == b.First && a.Count == b.Count && a.Address == b.Address;
  };
  if (!std::ranges::equal(now, Regions, isSame)) {
    Regions = std::move(now);
    const auto count = uint32_t(Regions.size());
    DRAGON_TRY(Ctx.device->copyAndWait(
        reinterpret_cast<void *>(View.control +
                                 offsetof(PageControl, NumRegions)),
        &count, sizeof(count), CopyKind::HostToDevice, queue));
    if (count)
      DRAGON_TRY(Ctx.device->copyAndWait(
          reinterpret_cast<void *>(Initial.Regions), Regions.data(),
          count * sizeof(PageRegion), CopyKind::HostToDevice, queue));
  }
  return Ctx.device->fill(reinterpret_cast<void *>(Initial.Tracks), 0, 1,
                          MostPageRegions * sizeof(PageTrack), queue);
}

void PageCache::keep(std::span<const PagedChunk> onHost) {
  for (const PagedChunk &chunk : onHost) {
    const auto [first, last] = granulesOf(*chunk.use->chunk);
    for (size_t i = first; i < last; ++i)
      Granules[i].writes = chunk.use->chunk->buffer->writes;
  }
}

unsigned PageCache::slicesFor(uint64_t bytesOnHost) const {
  const uint64_t most = NumFrames * PageBytes / 2;
  return unsigned(std::min<uint64_t>(
      MostSlices, (bytesOnHost + most - 1) / std::max<uint64_t>(most, 1)));
}

Status PageCache::endSlice(const LaunchCall &call, bool isLast) {
  // Behind the last one pages stay for the next launch, as long as there is
  // some room for others.
  const uint64_t kept =
      isLast && !Requests ? NumFrames - NumFrames / 4 : NumFrames / 2;
  auto limit = uint32_t(kept);
  PageView view = View;
  uint32_t entries = uint32_t(numEntries());
  void *args[] = {&view.entries, &entries,      &view.shift,
                  &view.frames,  &view.control, &limit};
  void *recycleArgs[] = {&view.control, &limit};
  void *aheadArgs[] = {&view.entries, &view.shift, &view.frames, &view.control};
  const bool wide = Ctx.caps().asynchronous && Ctx.caps().hasLink;
  const uint32_t blocks = wide ? WideBlocks : 1;
  const uint32_t threads = wide ? WideThreads : 32;
  auto launch = [&](const KernelHandle &kernel, const char *name,
                    uint32_t numBlocks, uint32_t numThreads,
                    std::span<void *> values) {
    LaunchRequest request{};
    request.kernel = const_cast<KernelHandle *>(&kernel);
    request.kernelName = name;
    request.grid[0] = numBlocks;
    request.block[0] = numThreads;
    request.grid[1] = request.grid[2] = 1;
    request.block[1] = request.block[2] = 1;
    request.box = {{0, 0, 0}, {numBlocks, 1, 1}};
    request.args = values.data();
    request.numArgs = uint32_t(values.size());
    request.queue = call.queue;
    const AddressRange own = range();
    request.touched = {&own, 1};
    request.touchesAnything = true;
    return Ctx.device->launch(request);
  };
  const PagedKernel &kernel = pagedCopyOf(*call.kernel);
  DRAGON_TRY(
      launch(kernel.writeBack, DRAGON_PAGE_WRITE_BACK, blocks, threads, args));
  DRAGON_TRY(launch(kernel.recycle, DRAGON_PAGE_RECYCLE, 1, 32, recycleArgs));
  // Frames are for what is asked for where that may be all of them.
  if (isLast || Requests || Regions.empty() || Initial.BreakEven == 0)
    return {};
  return launch(kernel.ahead, DRAGON_PAGES_AHEAD, blocks, threads, aheadArgs);
}

Status PageCache::undoSlice(const LaunchCall &call,
                            std::span<const PagedChunk> onHost) {
  for (const PagedChunk &one : onHost) {
    const auto [first, last] = granulesOf(*one.use->chunk);
    DRAGON_TRY(set(first, last - first, PageAbsent, call.queue));
  }
  DRAGON_ASSIGN(PageControl now, control(call.queue));
  now.Recycled += std::min<uint64_t>(now.Next, NumFrames);
  now.Next = now.Begun = now.InUse = 0;
  return setControl(now, call.queue);
}

Status PageCache::end(const LaunchCall &call) {
  DRAGON_ASSIGN(Ticket, Time.Work.note(call.queue));
  return {};
}

void PageCache::forget() {
  Time.synchronizeAll().ignore(); // no slice of it uses the frames any more
  NumFrames = 0;
}

} // namespace dragon
