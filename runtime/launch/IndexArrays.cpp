//===- IndexArrays.cpp - arrays that say where a launch goes --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/IndexArrays.h"

#include "runtime/trace/Trace.h"

#include <algorithm>
#include <utility>

namespace dragon {

void IndexArrays::forgetOld() {
  const uint64_t generation = Space.Allocations.generation();
  if (Generation == generation && Asked.size() < MaxEntries)
    return;
  Generation = generation;
  Asked.clear();
  Read.clear();
  Writers.clear();
  Keys.clear();
}

bool IndexArrays::tellMore(const ResolvedLaunch &launch) {
  if (launch.anything || !launch.kernel->footprints || !OnDevice.mayMove() ||
      Ctx.caps().migrates)
    return false;
  const FootprintCache &footprints = *launch.kernel->footprints;
  // Of a buffer of one chunk, a part is as much as the whole.
  const bool spares =
      std::any_of(launch.pointers.begin(), launch.pointers.end(),
                  [&](const LaunchPointer &pointer) {
                    return pointer.allocation &&
                           footprints.dependsOnMemory(pointer.index) &&
                           pointer.allocation->buffer->chunks.size() > 1 &&
                           !pointer.allocation->buffer->allOnDevice();
                  });
  if (!spares)
    return false;
  forgetOld();
  return !Writers.contains(launch.kernel->record) && !wanted(launch).empty();
}

const IndexArrays::Ranges &IndexArrays::wanted(const ResolvedLaunch &launch) {
  auto [found, isNew] = Asked.try_emplace(Keys.of(launch));
  if (isNew)
    found->second = evaluated(launch);
  return found->second;
}

IndexArrays::Ranges IndexArrays::evaluated(const ResolvedLaunch &launch) const {
  Ranges all;
  LaunchDims dims = dimsOf(launch);
  dims.Wanted = &all;
  EvalLimits limits;
  limits.WithMust = false;
  limits.MaxRanges = 1; // what is asked for matters alone
  for (const LaunchPointer &pointer : launch.pointers)
    if (launch.kernel->footprints->dependsOnMemory(pointer.index))
      evaluateFootprint(*launch.kernel->summary, *launch.kernel->record,
                        pointer.index, dims, wholeGrid(launch), limits);
  std::erase_if(all, [this](const MemoryRange &range) {
    const Allocation *found = Space.Allocations.find(range.Begin);
    return !found || range.End > found->end();
  });
  std::sort(all.begin(), all.end(),
            [](const MemoryRange &a, const MemoryRange &b) {
              return a.Begin < b.Begin;
            });
  Ranges joined;
  uint64_t bytes = 0;
  for (const MemoryRange &range : all) {
    // Neighbours of different buffers stay apart.
    if (!joined.empty() && range.Begin < joined.back().End)
      joined.back().End = std::max(joined.back().End, range.End);
    else
      joined.push_back(range);
  }
  for (const MemoryRange &range : joined)
    bytes += range.End - range.Begin;
  return bytes <= MostWanted ? joined : Ranges();
}

StatusOr<KnownMemory::Part> IndexArrays::contentsOf(const MemoryRange &range,
                                                    Queue queue, bool &waited) {
  const AddressRange addresses{range.Begin, range.End};
  const size_t bytes = range.End - range.Begin;
  const auto known = std::find_if(
      Read.begin(), Read.end(), [&](const KnownMemory::Part &part) {
        return part.Address == range.Begin && part.Contents.size() == bytes;
      });
  if (known != Read.end()) {
    if (Data.isUnchanged(addresses))
      return *known;
    Read.erase(known);
  }
  if (!std::exchange(waited, true))
    DRAGON_TRY(Ahead.wait(queue));
  KnownMemory::Part part{range.Begin, std::vector<char>(bytes)};
  Buffer &buffer = *Space.Allocations.find(range.Begin)->buffer;
  HostSide side;
  side.pageable = true;
  DRAGON_TRY(Moves.fromBuffer(buffer, part.Contents.data(), range.Begin, bytes,
                              queue, side));
  DRAGON_TRY(Ctx.device->synchronize(queue));
  if (Time.Tracking && !buffer.hostAccessible && !buffer.driverMoved) {
    if (Read.size() == MaxRead)
      Read.erase(Read.begin());
    Read.push_back(part);
    Data.remember(addresses);
  }
  return part;
}

Status IndexArrays::read(ResolvedLaunch &launch) {
  TraceZone zone("read indices");
  zone.detail(nameOf(launch));
  KnownMemory known;
  bool waited = false;
  for (unsigned round = 0; round < MostRounds; ++round) {
    const Ranges ranges = wanted(launch);
    if (ranges.empty())
      break;
    for (MemoryRange range : ranges) {
      std::erase_if(known.Parts, [&range](const KnownMemory::Part &part) {
        const uint64_t end = part.Address + part.Contents.size();
        const bool overlap = part.Address < range.End && range.Begin < end;
        if (overlap)
          range = {std::min(range.Begin, part.Address),
                   std::max(range.End, end)};
        return overlap;
      });
      DRAGON_ASSIGN(KnownMemory::Part part,
                    contentsOf(range, launch.queue, waited));
      zone.add(part.Contents.size());
      known.Parts.push_back(std::move(part));
    }
    std::sort(known.Parts.begin(), known.Parts.end(),
              [](const KnownMemory::Part &a, const KnownMemory::Part &b) {
                return a.Address < b.Address;
              });
    launch.memory = std::make_shared<const KnownMemory>(known);
  }
  if (launch.memory && mayWrite(launch, *launch.memory)) {
    Writers.insert(launch.kernel->record);
    launch.memory = nullptr;
  }
  return {};
}

bool IndexArrays::mayWrite(const ResolvedLaunch &launch,
                           const KnownMemory &memory) const {
  EvalLimits limits;
  limits.WithMust = false;
  const LaunchDims dims = dimsOf(launch);
  for (const LaunchPointer &pointer : launch.pointers) {
    if (!pointer.mayWrite || pointer.elsewhere)
      continue;
    const FootprintCache::Footprint found = launch.kernel->footprints->of(
        pointer.index, dims, wholeGrid(launch), limits);
    const ByteSet &written = found->MayWrite;
    for (const KnownMemory::Part &part : memory.Parts) {
      const auto begin = int64_t(part.Address - pointer.value);
      // Through a pointer into an allocation nothing else is written.
      const bool apart =
          pointer.allocation &&
          (part.Address >= pointer.allocation->end() ||
           part.Address + part.Contents.size() <= pointer.allocation->base);
      if (!apart &&
          intersects(written, {begin, begin + int64_t(part.Contents.size())}))
        return true;
    }
  }
  return false;
}

} // namespace dragon
