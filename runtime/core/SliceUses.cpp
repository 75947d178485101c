//===- SliceUses.cpp - when the slices of a launch need what --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/SliceUses.h"

#include <algorithm>

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

SliceUses::SliceUses(std::span<const LaunchChunks> parts,
                     std::span<const uint32_t> order, uint64_t clock,
                     Foreseen foreseen)
    : Parts(parts), Order(order), Start(clock),
      NextLaunch(std::move(foreseen)) {
  for (size_t i = 0; i < order.size(); ++i)
    for (const ChunkUse &use : parts[order[i]].uses)
      Slices[use.chunk].push_back(uint32_t(i));
  for (auto &[chunk, slices] : Slices) {
    chunk->nextUse = {timeOf(slices.front())};
    chunk->nextUseOf = Start;
  }
}

uint64_t SliceUses::timeOf(uint64_t slice) const {
  return Start + 1 + slice * LaunchSpan / Parts.size();
}

Forecast SliceUses::nextAfter(size_t slice, Chunk &chunk) const {
  const std::vector<uint32_t> &slices = Slices.at(&chunk);
  auto next = std::upper_bound(slices.begin(), slices.end(), uint32_t(slice));
  if (next != slices.end())
    return {timeOf(*next)};
  Forecast foreseen = NextLaunch(chunk);
  foreseen.clock = foreseen.clock
                       ? std::max(foreseen.clock, timeOf(Parts.size()))
                       : timeOf(slices.front()) + LaunchTime;
  return foreseen;
}

void SliceUses::ran(size_t slice) {
  for (const ChunkUse &use : uses(slice))
    use.chunk->nextUse = nextAfter(slice, *use.chunk);
}

} // namespace dragon
