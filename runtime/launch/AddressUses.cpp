//===- AddressUses.cpp - which launches use an address --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/AddressUses.h"

#include <algorithm>
#include <bit>

namespace dragon {

/// Chunks are not smaller, and those who ask, ask about chunks.
static constexpr unsigned SmallestLevel = 21;

unsigned AddressUses::levelOf(AddressRange range) {
  const uint64_t bytes = range.end - range.begin;
  return std::max(unsigned(std::bit_width(bytes - 1)), SmallestLevel);
}

void AddressUses::add(AddressRange range, uint32_t launch) {
  if (range.begin >= range.end)
    return;
  const auto [known, isNew] =
      Numbers.try_emplace({range.begin, range.end}, uint32_t(Ranges.size()));
  if (isNew) {
    Ranges.push_back({range, {}});
    const unsigned level = levelOf(range);
    auto &cells = Cells[level];
    const uintptr_t first = range.begin >> level,
                    last = (range.end - 1) >> level;
    cells[first].push_back(known->second);
    if (last != first)
      cells[last].push_back(known->second);
  }
  std::vector<uint32_t> &launches = Ranges[known->second].launches;
  if (launches.empty() || launches.back() != launch)
    launches.push_back(launch);
}

std::vector<uint32_t> AddressUses::of(uintptr_t address, uint32_t first,
                                      uint32_t last) const {
  std::vector<uint32_t> found;
  for (const auto &[level, cells] : Cells) {
    const auto cell = cells.find(address >> level);
    if (cell == cells.end())
      continue;
    for (uint32_t number : cell->second) {
      const auto &[range, launches] = Ranges[number];
      if (range.holds(address))
        found.insert(found.end(),
                     std::lower_bound(launches.begin(), launches.end(), first),
                     std::upper_bound(launches.begin(), launches.end(), last));
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void AddressUses::clear() {
  Ranges.clear();
  Numbers.clear();
  Cells.clear();
}

} // namespace dragon
