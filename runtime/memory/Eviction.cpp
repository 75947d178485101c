//===- Eviction.cpp - whom to evict ---------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Eviction.h"

#include <algorithm>
#include <iterator>

namespace dragon {

namespace {

/// As far as the farthest is what lacks less than this part of its distance.
constexpr uint64_t AsFar = 64;
/// To wait for work costs more than to fetch again a little earlier: what is in
/// use goes after what lacks less than this part.
constexpr uint64_t AsFarIfBusy = 16;
/// What streams counts as so many times as far. Of two that do, the one that is
/// idle goes if it is needed half as far from now. Where launches are others
/// for a while, when it is needed is not known, and the rest stays for theirs.
constexpr uint64_t Streams = 8, StreamsIfBusy = 4, StreamsMeanwhile = 64;

uint64_t weight(const EvictionCandidate &candidate) {
  if (!candidate.streams)
    return 1;
  if (!candidate.goesRound)
    return StreamsMeanwhile;
  return candidate.busy ? StreamsIfBusy : Streams;
}

uint64_t distance(const EvictionCandidate &candidate, uint64_t now) {
  if (candidate.nextUse > now)
    return candidate.nextUse - now;
  return now > candidate.lastTouch ? now - candidate.lastTouch : 0;
}

} // namespace

std::vector<uint32_t>
chooseVictims(const std::vector<EvictionCandidate> &candidates, uint64_t now,
              uint64_t bytes) {
  uint64_t farthest = 0;
  for (const EvictionCandidate &candidate : candidates)
    farthest = std::max(farthest, distance(candidate, now));
  const uint64_t far = farthest - farthest / AsFar,
                 busyFar = farthest - farthest / AsFarIfBusy;
  struct Ranked {
    const EvictionCandidate *candidate;
    uint64_t farness;
  };
  auto before = [](const Ranked &x, const Ranked &y) {
    const EvictionCandidate &a = *x.candidate, &b = *y.candidate;
    if (a.isFree() != b.isFree())
      return a.isFree();
    if (a.isFree() && a.busy != b.busy)
      return b.busy;
    if (a.keepLast != b.keepLast)
      return b.keepLast;
    if (a.cost() == 0 || b.cost() == 0) {
      if (a.cost() != b.cost())
        return a.cost() == 0;
    }
    const uint64_t aDistance = x.farness * std::max(b.cost(), 1u);
    const uint64_t bDistance = y.farness * std::max(a.cost(), 1u);
    if (aDistance != bDistance)
      return aDistance > bDistance;
    if (a.busy != b.busy)
      return b.busy;
    if (a.copies != b.copies)
      return b.copies;
    if (a.lastTouch != b.lastTouch)
      return a.lastTouch < b.lastTouch;
    return a.index < b.index;
  };
  std::vector<Ranked> ranked;
  ranked.reserve(candidates.size());
  for (const EvictionCandidate &candidate : candidates) {
    const uint64_t most = candidate.busy ? busyFar : far;
    ranked.push_back(
        {&candidate,
         candidate.empty
             ? most
             : std::min(distance(candidate, now), most) * weight(candidate)});
  }
  // A few of many are wanted, the best first.
  auto behind = [before](const Ranked &a, const Ranked &b) {
    return before(b, a);
  };
  std::make_heap(ranked.begin(), ranked.end(), behind);
  std::vector<uint32_t> victims;
  uint64_t freed = 0;
  for (auto end = ranked.end(); freed < bytes && end != ranked.begin(); --end) {
    std::pop_heap(ranked.begin(), end, behind);
    victims.push_back(std::prev(end)->candidate->index);
    freed += std::prev(end)->candidate->bytes;
  }
  return victims;
}

} // namespace dragon
