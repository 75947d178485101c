//===- HostMappedPages.cpp - launches that fetch pages themselves ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/HostMappedRunner.h"

#include "runtime/tier/ProtectedMemory.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <unordered_set>

namespace dragon {

/// Where the program has the chunk's bytes, if they are nowhere else and the
/// launch only reads them: whole pages that lie together.
static std::optional<AddressRange> placeInProgram(const ChunkUse &use) {
  const Chunk &chunk = *use.chunk;
  constexpr uintptr_t Alignment = 16; // of what pages are copied by
  if (use.mayWrite() || chunk.buffer->hostAccessible || chunk.host.id ||
      chunk.copies.inMemory() || !chunk.copies.storage ||
      chunk.transit.reading || chunk.used() % PageCache::PageBytes ||
      chunk.storage.numberOfPieces() != 1)
    return std::nullopt;
  const Piece piece = *chunk.storage.pieces().begin();
  const auto begin = uintptr_t(piece.offset);
  if (!piece.file || !piece.file->isMemory() || piece.begin != 0 ||
      piece.end < chunk.used() || (begin - chunk.va()) % Alignment)
    return std::nullopt;
  return AddressRange{begin, begin + chunk.used()};
}

/// The program has not changed it since it was copied.
static bool isInPlace(const ProtectedMemory::Reading &memory,
                      const AddressRange &range) {
  size_t bytes = range.end - range.begin;
  return memory.placeOf(range.begin, bytes) ==
             reinterpret_cast<const void *>(range.begin) &&
         bytes == range.end - range.begin;
}

std::vector<PagedChunk>
HostMappedRunner::pinInPlace(std::span<const ChunkUse *const> uses) {
  std::vector<AddressRange> ranges;
  std::vector<const ChunkUse *> candidates;
  {
    const ProtectedMemory::Reading memory;
    for (const ChunkUse *use : uses)
      if (const std::optional<AddressRange> place = placeInProgram(*use);
          place && isInPlace(memory, *place)) {
        ranges.push_back(*place);
        candidates.push_back(use);
      }
  }
  Pinned.add(ranges);
  std::vector<PagedChunk> inPlace;
  for (size_t i = 0; i < ranges.size(); ++i)
    if (Pinned.holds(ranges[i].begin, ranges[i].end))
      inPlace.push_back({candidates[i], ranges[i].begin});
  return inPlace;
}

StatusOr<bool> HostMappedRunner::runFetching(const ResolvedLaunch &launch,
                                             const LaunchFootprint &whole,
                                             const Places &places,
                                             SparseSlices *sparse) {
  std::vector<PagedChunk> inPlace = pinInPlace(places.onHost);
  for (;;) {
    std::unordered_set<const ChunkUse *> stay;
    for (const PagedChunk &chunk : inPlace) {
      stay.insert(chunk.use);
      if (Chunk &its = *chunk.use->chunk; its.device.id) { // with no contents
        DRAGON_TRY(Time.settle(its));
        DRAGON_TRY(OnDevice.release(its));
      }
    }
    std::vector<const ChunkUse *> toSlabs;
    for (const ChunkUse *use : places.onHost)
      if (!stay.contains(use))
        toSlabs.push_back(use);
    DRAGON_TRY(comeTogether(places, toSlabs, launch.queue, Reach::Paged));

    // Stores to the program's memory wait until the launch has ended.
    std::optional<ProtectedMemory::Reading> memory;
    if (!inPlace.empty()) {
      memory.emplace();
      if (std::erase_if(inPlace, [&](const PagedChunk &chunk) {
            return !isInPlace(*memory,
                              {chunk.at, chunk.at + chunk.use->chunk->used()});
          }))
        continue; // the program was quicker
      log(LogLevel::Debug, "'{}' reads {} chunks in the program's memory",
          nameOf(launch), inPlace.size());
    }
    std::vector<PagedChunk> onHost = inPlace;
    for (const ChunkUse *use : toSlabs)
      onHost.push_back(
          {use, reinterpret_cast<uintptr_t>(use->chunk->host.copyView())});
    StatusOr<bool> done = runPaged(launch, whole, places, onHost, sparse);
    if (memory)
      if (Status ended = Pages.wait(); done.ok() && !ended.ok())
        return ended;
    return done;
  }
}

/// The grid, in about so many slices if it can be sliced.
static std::vector<BlockBox> slicesOf(const ResolvedLaunch &launch,
                                      unsigned number) {
  if (number < 2 || !PageCache::runsInSlices(launch))
    return {wholeGrid(launch)};
  // Neighbours in the fastest dimensions often need the same.
  unsigned axis = 2;
  while (axis > 0 && launch.grid[axis] < number)
    --axis;
  return equalBoxes(launch, axis, std::min(number, launch.grid[axis]));
}

/// Of slices that may turn out to be dense: some are tried first.
static constexpr unsigned FewestGroups = 8;

/// A page takes a launch so many times as long as the same bytes in a copy
/// beside the slice before: threads wait for some (H200: 16 GB/s of 50 where
/// all of 1.7 GiB was fetched).
static constexpr double PageCost = 3;

/// What took as long to fetch.
static double bytesOfCopies(const PageCounts &counts) {
  return (PageCost * double(counts.pages) +
          double(counts.requests) / double(PageCache::BreakEven)) *
         double(PageCache::PageBytes);
}

StatusOr<bool> HostMappedRunner::runPaged(const ResolvedLaunch &launch,
                                          const LaunchFootprint &whole,
                                          const Places &places,
                                          std::span<const PagedChunk> onHost,
                                          SparseSlices *sparse) {
  auto view = Pages.begin(launch, whole, onHost);
  size_t begun = 0;
  Status status =
      view.ok() ? runPagedSlices(launch, whole, onHost, *view, sparse, begun)
                : view.takeStatus();
  if (!status.ok()) {
    Pages.forget();
    if (begun)
      return status;
    // It needs more registers than the kernel: it may not run in such blocks.
    log(LogLevel::Info, "'{}' cannot fetch pages: {}", nameOf(launch),
        status.message());
    Pages.refuse(launch);
    return false;
  }
  Ctx.ledger.count(Counter::PagedLaunches);
  DRAGON_TRY(noteWrites(places));
  Pages.keep(onHost);
  DRAGON_TRY(Time.noteUse(chunksOf(whole), launch.queue));
  return true;
}

/// A bit for each argument of the kernel that points into an allocation of
/// which nothing is in host memory.
static uint64_t residentArguments(const ResolvedLaunch &launch,
                                  std::span<const PagedChunk> onHost) {
  uint64_t resident = 0;
  for (const LaunchPointer &pointer : launch.pointers) {
    const PointerRecord &record =
        launch.kernel->summary->pointer(pointer.index);
    if (!pointer.allocation || record.ByteOffset != 0 ||
        record.ArgIndex >= MostResidentArguments)
      continue;
    const Allocation &its = *pointer.allocation;
    if (std::none_of(onHost.begin(), onHost.end(), [&](const PagedChunk &one) {
          const Chunk &chunk = *one.use->chunk;
          return chunk.va() < its.base + its.bytes &&
                 its.base < chunk.va() + chunk.bytes();
        }))
      resident |= uint64_t(1) << record.ArgIndex;
  }
  return resident;
}

Status HostMappedRunner::runPagedSlices(const ResolvedLaunch &launch,
                                        const LaunchFootprint &whole,
                                        std::span<const PagedChunk> onHost,
                                        const PageView &view,
                                        SparseSlices *sparse, size_t &begun) {
  uint64_t bytes = 0;
  for (const PagedChunk &chunk : onHost)
    bytes += chunk.use->chunk->used();
  PageView values = view;
  values.resident = residentArguments(launch, onHost);
  PagedArguments with(launch, whole, values, Pages.range());
  const unsigned number = Pages.slicesFor(bytes);
  std::vector<BlockBox> boxes;
  if (sparse) {
    DRAGON_TRY(Pages.forgetHabit(launch.queue));
    for (const SparseSlices::Group &group :
         sparse->group(std::max(number, FewestGroups)))
      boxes.push_back(group.box);
  } else {
    boxes = slicesOf(launch, number);
  }
  Progress::Slices shown(Ctx.progress, nameOf(launch), 0, boxes.size());
  for (const BlockBox &box : boxes) {
    shown.run(begun);
    DRAGON_TRY(Submit.run(launch, with.submission(box)));
    ++begun;
    // What is foreseen is what neighbours read.
    DRAGON_TRY(
        Pages.endSlice(launch, begun == boxes.size() ||
                                   (sparse && !sparse->isFollowed(begun))));
    if (sparse && begun < boxes.size() && sparse->isLookedAt(begun)) {
      DRAGON_TRY(Pages.end(launch));
      if (sparse->isDense(begun, bytesOfCopies(Pages.collect()))) {
        sparse->ran(begun);
        return {};
      }
    }
  }
  if (sparse)
    sparse->ran(begun);
  return Pages.end(launch);
}

/// What of its chunks is not on the device.
static uint64_t missingBytes(const LaunchFootprint &whole) {
  uint64_t bytes = 0;
  for (const ChunkUse &use : whole.uses)
    if (!use.mustWrite() && !use.chunk->copies.device)
      bytes += use.chunk->used();
  return bytes;
}

std::optional<HostMappedRunner::Places>
HostMappedRunner::asTheyAre(const PlannedLaunch &planned,
                            const LaunchFootprint &whole) const {
  const uint64_t room = Plans.deviceBytesFor(planned);
  uint64_t there = 0;
  for (const ChunkUse &use : whole.uses)
    there += use.chunk->device.id ? use.chunk->bytes() : 0;
  if (there < room / 4 * 3 || there > room)
    return std::nullopt;
  Places places;
  const HostRoom host = Plans.hostRoom();
  uint64_t onHost = 0, hostOnly = 0;
  for (const ChunkUse &use : whole.uses) {
    const Chunk &chunk = *use.chunk;
    if (chunk.device.id) {
      places.toDevice.push_back(use);
      continue;
    }
    onHost += chunk.bytes();
    hostOnly += chunk.buffer->hostAccessible ? chunk.bytes() : 0;
    if (use.atomic || !host.holds(onHost, hostOnly))
      return std::nullopt; // some has to come
    places.onHost.push_back(&use);
  }
  return places;
}

StatusOr<SparseSlices>
HostMappedRunner::runWhileSparse(const ResolvedLaunch &launch,
                                 PlannedLaunch &planned,
                                 const std::vector<BlockBox> &boxes) {
  // A part of the grid overwrites nothing as a whole.
  LaunchFootprint whole = planned.whole;
  for (ChunkUse &use : whole.uses)
    if (use.need == LaunchNeed::Overwrite)
      use.need = LaunchNeed::Write;
  SparseSlices sparse(boxes, missingBytes(planned.whole));
  const uint64_t stays = bytesThatStay(whole);
  if (!Pages.any() || !OnDevice.holds(stays) ||
      planned.bytes > Plans.deviceBytesFor(planned) + Slabs.mappedBytes())
    return sparse;
  // Slices that run after all find on the device what they left there.
  std::optional<Places> places = asTheyAre(planned, whole);
  if (!places) {
    std::optional<AccessCounters> counters;
    StatusOr<Places> chosen = choose(launch, planned, whole, counters);
    if (!chosen.ok() || !Pages.any()) // it made room
      return sparse;
    places = std::move(*chosen);
  }
  claim(*places);
  Pages.collect();
  DRAGON_TRY(runFetching(launch, whole, *places, &sparse).takeStatus());
  log(LogLevel::Debug, "'{}' fetched pages in {} of {} parts", nameOf(launch),
      sparse.numRan(), sparse.pieces().size());
  return sparse;
}

} // namespace dragon
