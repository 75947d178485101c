//===- SliceUses.cpp - when the slices of a launch need what --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/SliceUses.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace dragon {

std::vector<uint32_t> sliceOrder(std::span<const LaunchChunks> parts) {
  std::vector<uint32_t> order, others;
  for (uint32_t i = 0; i < parts.size(); ++i) {
    const bool there =
        std::all_of(parts[i].uses.begin(), parts[i].uses.end(),
                    [](const ChunkUse &use) { return use.chunk->device.id; });
    (there ? order : others).push_back(i);
  }
  order.insert(order.end(), others.begin(), others.end());
  return order;
}

SliceUses::SliceUses(std::vector<SlicedLaunch> launches,
                     std::vector<Slice> slices, uint64_t clock,
                     Foreseen foreseen)
    : Launches(std::move(launches)), Slices(std::move(slices)), Start(clock),
      After(std::move(foreseen)), Uses(Slices.size()) {
  std::vector<std::unordered_set<Chunk *>> overwritten(Launches.size());
  for (size_t i = 0; i < Launches.size(); ++i)
    for (const ChunkUse &use : Launches[i].whole->uses)
      if (use.mustWrite)
        overwritten[i].insert(use.chunk);
  std::unordered_map<Chunk *, uint32_t> first;
  for (size_t i = 0; i < Slices.size(); ++i)
    for (const ChunkUse &use : Slices[i].chunks->uses) {
      const bool overwrites = overwritten[Slices[i].launch].erase(use.chunk);
      const auto [known, isFirst] = first.emplace(use.chunk, uint32_t(i));
      Uses[i].push_back({&use, known->second, None, overwrites, false, false});
      if (isFirst && i && overwrites)
        Dead.push_back(use.chunk);
    }
  struct Next {
    uint32_t slice = None;
    bool overwrites = false;
  };
  std::unordered_map<Chunk *, Next> next;
  for (size_t i = Slices.size(); i-- > 0;)
    for (Use &use : Uses[i]) {
      Next &known = next[use.use->chunk];
      use.next = known.slice;
      use.dies = use.overwrittenNext = known.overwrites;
      known = {uint32_t(i), use.overwrites};
    }
  findDeaths();
}

void SliceUses::findDeaths() {
  for (uint32_t launch = 0; launch < Launches.size(); ++launch) {
    const std::vector<AddressRange> &dying = Launches[launch].dying;
    if (dying.empty())
      continue;
    struct Last {
      Use *use = nullptr; ///< by this launch or one before
      bool usedLater = false;
      bool needed = false; ///< by one of these behind a later launch's slice
    };
    std::vector<Last> last;
    std::unordered_map<const Chunk *, size_t> places;
    for (size_t i = 0; i < Slices.size(); ++i)
      for (Use &use : Uses[i]) {
        if (!isWithin(*use.use->chunk, dying))
          continue;
        auto [place, isNew] = places.emplace(use.use->chunk, last.size());
        if (isNew)
          last.emplace_back();
        Last &known = last[place->second];
        if (Slices[i].launch > launch)
          known.usedLater = true;
        else if (known.usedLater)
          known.needed = true;
        else
          known.use = &use;
      }
    for (const Last &known : last)
      if (known.use && !known.needed)
        known.use->dies = true;
  }
}

void SliceUses::announce(uint64_t launchClock) {
  Announced = true;
  for (size_t i = Slices.size(); i-- > 0;)
    for (const Use &use : Uses[i]) {
      use.use->chunk->nextUse = {timeOf(i)};
      use.use->chunk->nextUseOf = launchClock;
    }
}

uint64_t SliceUses::timeOf(uint64_t slice) const {
  const uint64_t span = (Launches.size() - 1) * LaunchTime + LaunchSpan;
  return Start + 1 + slice * span / Slices.size();
}

Forecast SliceUses::nextAfter(const Use &use) const {
  if (use.next != None)
    return {timeOf(use.next), use.dies};
  Forecast foreseen = After(*use.use->chunk);
  foreseen.clock = foreseen.clock
                       ? std::max(foreseen.clock, timeOf(size()))
                       : timeOf(use.first) + Launches.size() * LaunchTime;
  return foreseen;
}

void SliceUses::ran(size_t slice) {
  if (Announced)
    for (const Use &use : Uses[slice])
      use.use->chunk->nextUse = nextAfter(use);
}

} // namespace dragon
