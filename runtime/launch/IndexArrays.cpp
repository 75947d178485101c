//===- IndexArrays.cpp - arrays that say where a launch goes --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/IndexArrays.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/launch/BoxFootprints.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace dragon {

namespace {

/// Of so many zones a sample is taken first.
constexpr size_t SampledZones = 16;
/// It is of so many at most, or of one more.
constexpr uint64_t MostGuessed = 1 << 14;
/// A block needs so much less where arrays tell something.
constexpr uint64_t LeastSaving = 2;

bool overlap(const MemoryRange &a, const MemoryRange &b) {
  return a.Begin < b.End && b.Begin < a.End;
}
MemoryRange rangeOf(const NumberPlaces &places) {
  return {places.First, places.end()};
}
MemoryRange rangeOf(const KnownMemory::Part &part) {
  return {part.Address, part.Address + part.Contents.size()};
}
bool areSame(const NumberPlaces &a, const NumberPlaces &b) {
  return a.First == b.First && a.Last == b.Last && a.Base == b.Base &&
         a.Step == b.Step && a.Inner == b.Inner && a.InnerStep == b.InnerStep &&
         a.Bits == b.Bits;
}

/// The beginnings of rows and their ends are one array.
bool join(NumberPlaces &into, const NumberPlaces &other) {
  const uint64_t apart =
      std::max(into.Base, other.Base) - std::min(into.Base, other.Base);
  if (!into.Step || into.Step != other.Step || into.Bits != other.Bits ||
      into.Inner != other.Inner || into.InnerStep != other.InnerStep ||
      apart % into.Step != 0 || !overlap(rangeOf(into), rangeOf(other)))
    return false;
  into.Base = std::min(into.Base, other.Base);
  into.First = std::min(into.First, other.First);
  into.Last = std::max(into.Last, other.Last);
  return true;
}

/// Neighbours of different allocations stay apart.
std::vector<MemoryRange> joined(std::vector<MemoryRange> ranges,
                                AddressIndex &allocations) {
  std::sort(ranges.begin(), ranges.end(),
            [](const MemoryRange &a, const MemoryRange &b) {
              return a.Begin < b.Begin;
            });
  std::vector<MemoryRange> all;
  for (const MemoryRange &range : ranges)
    if (!all.empty() && (range.Begin < all.back().End ||
                         (range.Begin == all.back().End &&
                          range.Begin != allocations.find(range.Begin)->base)))
      all.back().End = std::max(all.back().End, range.End);
    else
      all.push_back(range);
  return all;
}

} // namespace

void IndexArrays::forgetOld() {
  const uint64_t generation = Space.Allocations.generation();
  if (Generation == generation && Asked.size() < MaxEntries)
    return;
  Generation = generation;
  Asked.clear();
  Read.clear();
  Arrays.clear();
  Useless.clear();
  Written.clear();
  Keys.clear();
}

bool IndexArrays::tellMore(const ResolvedLaunch &launch,
                           const std::function<bool(uint64_t)> &isComing) {
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
  const Wanted &asked = wanted(launch);
  return std::any_of(asked.ranges.begin(), asked.ranges.end(),
                     [&](const MemoryRange &range) {
                       return !isWritten(launch, range.Begin);
                     }) ||
         std::any_of(asked.arrays.begin(), asked.arrays.end(),
                     [&](const NumberPlaces &places) {
                       return !isComing(places.First) &&
                              isWorth(launch, places);
                     });
}

const IndexArrays::Wanted &IndexArrays::wanted(const ResolvedLaunch &launch) {
  auto [found, isNew] = Asked.try_emplace(Keys.of(launch));
  if (isNew)
    found->second = evaluated(launch);
  return found->second;
}

IndexArrays::Wanted IndexArrays::evaluated(const ResolvedLaunch &launch) const {
  Wanted all;
  struct Few {
    NumberPlaces places;
    const LaunchPointer *by;
  };
  std::vector<Few> few; // numbers
  // What lies where known numbers lead.
  const std::vector<BlockBox> groups =
      launch.memory ? equalBoxes(launch, GroupsOfGrid)
                    : std::vector<BlockBox>{wholeGrid(launch)};
  auto addArray = [&](const NumberPlaces &places, const LaunchPointer &by) {
    if (by.allocation && LeastGain * places.bytes() <= by.allocation->bytes &&
        std::none_of(all.arrays.begin(), all.arrays.end(),
                     [&](NumberPlaces &other) { return join(other, places); }))
      all.arrays.push_back(places);
  };
  for (const LaunchPointer &pointer : launch.pointers) {
    if (!launch.kernel->footprints->dependsOnMemory(pointer.index))
      continue;
    std::vector<std::vector<NumberPlaces>> found(groups.size());
    hostThreads().forEach(
        groups.size(), (groups.size() - 1) / BoxesPerThread + 1,
        [&](size_t group) {
          LaunchDims dims = dimsOf(launch);
          dims.Wanted = &found[group];
          EvalLimits limits;
          limits.WithMust = false;
          limits.MaxRanges = 1; // what is asked for matters alone
          evaluateFootprint(*launch.kernel->summary, *launch.kernel->record,
                            pointer.index, dims, groups[group], limits);
        });
    for (const NumberPlaces &places : found | std::views::join) {
      const Allocation *array = Space.Allocations.find(places.First);
      if (!array || places.end() > array->end())
        continue;
      if (places.bytes() <= MostWanted)
        few.push_back({places, &pointer});
      else
        addArray(places, pointer);
    }
  }
  for (const Few &one : few)
    all.ranges.push_back(rangeOf(one.places));
  all.ranges = joined(std::move(all.ranges), Space.Allocations);
  uint64_t bytes = 0;
  for (const MemoryRange &range : all.ranges)
    bytes += range.End - range.Begin;
  if (bytes > MostWanted) { // together they are long
    all.ranges.clear();
    for (const Few &one : few)
      addArray(one.places, *one.by);
  }
  return all;
}

bool IndexArrays::isWritten(const ResolvedLaunch &launch,
                            uint64_t address) const {
  return Written.contains(
      {launch.kernel->record, Space.Allocations.find(address)->base});
}

bool IndexArrays::isWorth(const ResolvedLaunch &launch,
                          const NumberPlaces &array) {
  const Allocation *in = Space.Allocations.find(array.First);
  // Long arrays are written where they are written at all.
  if (std::any_of(launch.pointers.begin(), launch.pointers.end(),
                  [in](const LaunchPointer &pointer) {
                    return pointer.mayWrite && pointer.allocation == in;
                  }) ||
      isWritten(launch, array.First))
    return false;
  const auto idle = Useless.find(array.First);
  if (idle == Useless.end())
    return true;
  const bool isSame = idle->second.end == array.end() &&
                      Data.isUnchanged(idle->second.remembered);
  if (isSame || idle->second.left > 0) {
    idle->second.left -= idle->second.left > 0;
    return false;
  }
  return true;
}

bool IndexArrays::canRemember(uint64_t address) const {
  return Time.Tracking &&
         Space.Allocations.find(address)->buffer->showsWrites();
}

Status IndexArrays::waitFor(AddressRange range, Queue queue, bool &waited) {
  if (Zones.isAtHand(range))
    return {};
  Copied.follow(range);
  return std::exchange(waited, true) ? Status() : Ahead.wait(queue);
}

StatusOr<KnownMemory::Part> IndexArrays::contentsOf(const MemoryRange &range,
                                                    Queue queue, bool &waited) {
  const size_t bytes = range.End - range.Begin;
  const auto known =
      std::find_if(Read.begin(), Read.end(), [&](const ReadPart &read) {
        return read.part.Address == range.Begin &&
               read.part.Contents.size() == bytes;
      });
  if (known != Read.end()) {
    if (Data.isUnchanged(known->remembered))
      return known->part;
    Read.erase(known);
  }
  DRAGON_TRY(waitFor({range.Begin, range.End}, queue, waited));
  KnownMemory::Part part{range.Begin, std::vector<char>(bytes), 0};
  DRAGON_TRY(
      Zones.copyOut(range.Begin, range.End, part.Contents.data(), queue));
  part.Number = numberOf(part);
  if (canRemember(range.Begin)) {
    if (Read.size() == MaxRead)
      Read.erase(Read.begin());
    Read.push_back({part, Data.remember({range.Begin, range.End})});
  }
  return part;
}

uint64_t IndexArrays::numberOf(const KnownMemory::Part &part) {
  const auto same =
      std::ranges::find_if(Named, [&](const KnownMemory::Part &other) {
        return other.Address == part.Address && other.Contents == part.Contents;
      });
  if (same != Named.end()) {
    std::rotate(same, std::next(same), Named.end()); // it is the last used now
    return Named.back().Number;
  }
  if (Named.size() == MaxRead)
    Named.erase(Named.begin());
  Named.push_back({part.Address, part.Contents, ++LastNumber});
  return LastNumber;
}

StatusOr<KnownMemory::Array> IndexArrays::sampled(const NumberPlaces &places,
                                                  Queue queue) {
  // What is guessed of others need not be known for each few numbers.
  const uint64_t numbers =
      places.records() * std::max<uint64_t>(places.Inner, 1);
  auto zones = std::make_shared<NumberZones>(
      places, std::max(NumberZones::ZoneNumbers, numbers / MostGuessed));
  const size_t count = zones->zones();
  const size_t samples = std::min(count, SampledZones);
  for (size_t i = 0; i < samples; ++i) {
    const size_t zone = samples == 1 ? 0 : i * (count - 1) / (samples - 1);
    DRAGON_TRY(Zones.read(*zones, zone, zone + 1, queue));
  }
  zones->guess();
  return KnownMemory::Array{0, std::move(zones)};
}

StatusOr<KnownMemory::Array> IndexArrays::whole(const NumberPlaces &places,
                                                Queue queue) {
  auto zones = std::make_shared<NumberZones>(places);
  DRAGON_TRY(Zones.read(*zones, 0, zones->zones(), queue));
  zones->finish();
  return KnownMemory::Array{++LastNumber, std::move(zones)};
}

uint64_t IndexArrays::bytesOfBlocks(const ResolvedLaunch &launch,
                                    const KnownMemory &memory) const {
  LaunchDims dims = dimsOf(launch);
  dims.Memory = &memory;
  EvalLimits limits;
  limits.WithMust = false;
  limits.MergeGap = int64_t(Ctx.limits.chunkBytes) - 1;
  uint64_t bytes = 0;
  for (uint32_t quarter = 1; quarter < 4; ++quarter) {
    BlockBox block = wholeGrid(launch);
    for (unsigned d = 0; d < 3; ++d) {
      block.Lo[d] = uint32_t(uint64_t(launch.grid[d]) * quarter / 4);
      block.Hi[d] = block.Lo[d] + 1;
    }
    for (const LaunchPointer &pointer : launch.pointers) {
      if (!pointer.allocation ||
          !launch.kernel->footprints->dependsOnMemory(pointer.index))
        continue;
      const uint64_t most = pointer.allocation->bytes;
      ByteFootprint found =
          evaluateFootprint(*launch.kernel->summary, *launch.kernel->record,
                            pointer.index, dims, block, limits);
      unite(found.MayRead, found.MayWrite);
      uint64_t touched = found.MayRead.Everything ? most : 0;
      for (const ByteRange &range : found.MayRead.Ranges)
        touched += std::min(most, uint64_t(range.End) - uint64_t(range.Begin));
      bytes += std::min(most, touched);
    }
  }
  return bytes;
}

Status IndexArrays::addArrays(KnownMemory &known, const ResolvedLaunch &launch,
                              std::vector<NumberPlaces> arrays, bool &waited,
                              uint64_t &bytes) {
  // Those that are as they were.
  std::erase_if(arrays, [&](const NumberPlaces &places) {
    const auto old =
        std::find_if(Arrays.begin(), Arrays.end(), [&](const LongArray &array) {
          return areSame(array.places, places);
        });
    if (old == Arrays.end())
      return false;
    if (!Data.isUnchanged(old->remembered)) {
      Arrays.erase(old);
      return false;
    }
    known.Arrays.push_back(old->array);
    return true;
  });
  if (arrays.empty())
    return {};
  KnownMemory guessed = known;
  for (const NumberPlaces &places : arrays) {
    DRAGON_TRY(waitFor({places.First, places.end()}, launch.queue, waited));
    DRAGON_ASSIGN(KnownMemory::Array array, sampled(places, launch.queue));
    guessed.Arrays.push_back(std::move(array));
  }
  const bool tells = LeastSaving * bytesOfBlocks(launch, guessed) <=
                     bytesOfBlocks(launch, known);
  for (const NumberPlaces &places : arrays) {
    auto remember = [&] {
      return canRemember(places.First)
                 ? Data.remember({places.First, places.end()})
                 : 0;
    };
    if (!tells) {
      Idle &idle = Useless[places.First];
      idle.left = idle.launches;
      idle.launches *= 2;
      idle.end = places.end();
      idle.remembered = remember();
    } else {
      DRAGON_ASSIGN(KnownMemory::Array array, whole(places, launch.queue));
      known.Arrays.push_back(array);
      bytes += places.bytes();
      Useless.erase(places.First);
      if (!canRemember(places.First))
        continue;
      if (Arrays.size() == MaxArrays)
        Arrays.erase(Arrays.begin());
      Arrays.push_back({places, std::move(array), remember()});
    }
  }
  return {};
}

Status IndexArrays::addRange(KnownMemory &known, MemoryRange range, Queue queue,
                             bool &waited, uint64_t &bytes) {
  std::erase_if(known.Parts, [&range](const KnownMemory::Part &part) {
    const MemoryRange other = rangeOf(part);
    if (!overlap(range, other))
      return false;
    range = {std::min(range.Begin, other.Begin),
             std::max(range.End, other.End)};
    return true;
  });
  DRAGON_ASSIGN(KnownMemory::Part part, contentsOf(range, queue, waited));
  bytes += part.Contents.size();
  known.Parts.insert(std::upper_bound(known.Parts.begin(), known.Parts.end(),
                                      part.Address,
                                      [](uint64_t at, const auto &other) {
                                        return at < other.Address;
                                      }),
                     std::move(part));
  return {};
}

Status IndexArrays::read(ResolvedLaunch &launch) {
  TraceZone zone("read indices");
  zone.on(nameOf(launch));
  // What is read is remembered: from here on launches say what they write.
  if (!Time.Tracking) {
    DRAGON_TRY(Time.synchronizeAll());
    Time.Tracking = true;
  }
  KnownMemory known;
  bool waited = false;
  uint64_t bytes = 0;
  for (unsigned round = 0; round < MostRounds; ++round) {
    const Wanted asked = wanted(launch);
    const size_t before = known.Parts.size() + known.Arrays.size();
    for (const MemoryRange &range : asked.ranges)
      if (!isWritten(launch, range.Begin))
        DRAGON_TRY(addRange(known, range, launch.queue, waited, bytes));
    std::vector<NumberPlaces> arrays;
    std::copy_if(
        asked.arrays.begin(), asked.arrays.end(), std::back_inserter(arrays),
        [&](const NumberPlaces &array) { return isWorth(launch, array); });
    DRAGON_TRY(addArrays(known, launch, std::move(arrays), waited, bytes));
    if (known.Parts.size() + known.Arrays.size() == before)
      break;
    launch.memory = std::make_shared<const KnownMemory>(known);
  }
  zone.add(bytes);
  dropWritten(launch);
  return {};
}

void IndexArrays::dropWritten(ResolvedLaunch &launch) {
  // What is left says what is written: again, until it is all.
  while (launch.memory) {
    KnownMemory left = *launch.memory;
    auto drop = [&](uint64_t address) {
      Written.insert(
          {launch.kernel->record, Space.Allocations.find(address)->base});
      return true;
    };
    const size_t dropped =
        std::erase_if(left.Parts,
                      [&](const KnownMemory::Part &part) {
                        return mayWrite(launch, rangeOf(part)) &&
                               drop(part.Address);
                      }) +
        std::erase_if(left.Arrays, [&](const KnownMemory::Array &array) {
          const NumberPlaces &places = array.Zones->places();
          return mayWrite(launch, rangeOf(places)) && drop(places.First);
        });
    if (dropped == 0)
      return;
    launch.memory = left.empty()
                        ? nullptr
                        : std::make_shared<const KnownMemory>(std::move(left));
  }
}

bool IndexArrays::mayWrite(const ResolvedLaunch &launch,
                           const MemoryRange &range) const {
  EvalLimits limits;
  limits.WithMust = false;
  const LaunchDims dims = dimsOf(launch);
  for (const LaunchPointer &pointer : launch.pointers) {
    if (!pointer.mayWrite || pointer.elsewhere)
      continue;
    // Through a pointer into an allocation nothing else is written.
    if (pointer.allocation && (range.Begin >= pointer.allocation->end() ||
                               range.End <= pointer.allocation->base))
      continue;
    const FootprintCache::Footprint found = launch.kernel->footprints->of(
        pointer.index, dims, wholeGrid(launch), limits);
    const auto begin = int64_t(range.Begin - pointer.value);
    if (intersects(found->MayWrite,
                   {begin, begin + int64_t(range.End - range.Begin)}))
      return true;
  }
  return false;
}

} // namespace dragon
