//===- Eviction.cpp - whom to evict ---------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Eviction.h"

#include <algorithm>

namespace dragon {

namespace {

uint64_t distance(const EvictionCandidate &candidate, uint64_t now) {
  if (candidate.nextUse > now)
    return candidate.nextUse - now;
  return now > candidate.lastTouch ? now - candidate.lastTouch : 0;
}

} // namespace

std::vector<uint32_t> chooseVictims(std::vector<EvictionCandidate> candidates,
                                    uint64_t now, uint64_t bytes) {
  auto before = [now](const EvictionCandidate &a, const EvictionCandidate &b) {
    if (a.empty != b.empty)
      return a.empty;
    if (a.empty && a.busy != b.busy)
      return b.busy;
    if (a.keepLast != b.keepLast)
      return b.keepLast;
    if (a.cost() == 0 || b.cost() == 0) {
      if (a.cost() != b.cost())
        return a.cost() == 0;
    }
    const uint64_t aDistance = distance(a, now) * std::max(b.cost(), 1u);
    const uint64_t bDistance = distance(b, now) * std::max(a.cost(), 1u);
    if (aDistance != bDistance)
      return aDistance > bDistance;
    if (a.busy != b.busy)
      return b.busy;
    if (a.copies != b.copies)
      return b.copies;
    return a.index < b.index;
  };
  std::sort(candidates.begin(), candidates.end(), before);
  std::vector<uint32_t> victims;
  uint64_t freed = 0;
  for (const EvictionCandidate &candidate : candidates) {
    if (freed >= bytes)
      break;
    victims.push_back(candidate.index);
    freed += candidate.bytes;
  }
  return victims;
}

} // namespace dragon
