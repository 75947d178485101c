//===- SliceUses.cpp - when the slices of a launch need what --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/SliceUses.h"

#include "runtime/launch/Wavefront.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace dragon {

std::vector<uint32_t> sliceOrder(std::span<const LaunchFootprint> parts,
                                 bool ofOwn) {
  std::unordered_map<const Chunk *, size_t> users;
  if (ofOwn)
    for (const LaunchFootprint &part : parts)
      for (const ChunkUse &use : part.uses)
        ++users[use.chunk];
  std::vector<uint32_t> order, others;
  for (uint32_t i = 0; i < parts.size(); ++i) {
    const bool there = std::all_of(
        parts[i].uses.begin(), parts[i].uses.end(), [&](const ChunkUse &use) {
          return use.chunk->device.id ||
                 (ofOwn && users[use.chunk] == parts.size());
        });
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
      if (use.mustWrite())
        overwritten[i].insert(use.chunk);
  using Place = std::pair<size_t, size_t>; // slice and use
  struct Turns {
    Place first;
    Overwriters<Place> overwriters;
  };
  std::unordered_map<Chunk *, Turns> turns;
  for (size_t i = 0; i < Slices.size(); ++i)
    for (const ChunkUse &use : Slices[i].chunks->uses) {
      const uint32_t launch = Slices[i].launch;
      const Place here(i, Uses[i].size());
      Turns &known =
          turns.try_emplace(use.chunk, Turns{here, {}}).first->second;
      known.overwriters.used(launch, [this](Place place) {
        Uses[place.first][place.second].overwrites = false;
      });
      const bool overwrites = overwritten[launch].erase(use.chunk);
      if (overwrites)
        known.overwriters.overwritten(launch, here);
      Uses[i].push_back(
          {&use, uint32_t(known.first.first), None, overwrites, false, false});
    }
  for (size_t i = 1; i < Slices.size(); ++i)
    for (size_t k = 0; k < Uses[i].size(); ++k)
      if (Chunk *chunk = Uses[i][k].use->chunk;
          Uses[i][k].overwrites && turns.at(chunk).first == Place(i, k))
        Dead.push_back(chunk);
  struct Next {
    uint32_t slice = None;
    bool overwrites = false;
  };
  std::unordered_map<Chunk *, Next> next;
  for (size_t i = Slices.size(); i-- > 0;)
    for (Use &use : Uses[i]) {
      Next &known = next[use.use->chunk];
      use.next = known.slice;
      use.dies = use.overwrittenNext = known.slice == None
                                           ? isOverwrittenLater(*use.use->chunk)
                                           : known.overwrites;
      known = {uint32_t(i), use.overwrites};
    }
  findDeaths();
}

bool SliceUses::isOverwrittenLater(Chunk &chunk) const {
  const Forecast later = After(chunk);
  return later.certain && later.overwritten;
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
