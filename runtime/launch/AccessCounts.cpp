//===- AccessCounts.cpp - what launches were seen to access
//--------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/AccessCounts.h"

#include <algorithm>

namespace dragon {

namespace {

/// Threads that count, about; fewer tell chance from frequency badly.
constexpr uint64_t Sample = 1 << 16;
constexpr uint32_t LanesOfWarp = 32;
/// Launches from one that counts to the next, in the long run.
constexpr uint64_t MostBetweenLooks = 16;

} // namespace

void chooseSample(uint64_t blocks, uint32_t threadsPerBlock,
                  AccessCounters &counters) {
  uint64_t each = 1;
  while (blocks * threadsPerBlock / (2 * each) >= Sample)
    each *= 2;
  // Other threads of a warp first: the accesses of neighbours are alike.
  const uint64_t lanes = std::min<uint64_t>(each, LanesOfWarp);
  counters.lanes = uint32_t(lanes - 1);
  counters.blocks = uint32_t(std::min<uint64_t>(each / lanes, 1 << 20) - 1);
}

bool AccessCounts::begins(uint64_t shape) {
  Shape &known = Shapes[shape];
  if (++known.launches < known.next)
    return false;
  known.next = known.launches + std::min(known.launches, MostBetweenLooks);
  return true;
}

void AccessCounts::counted(uint64_t shape, const AccessCounters &how,
                           std::span<const uint32_t> counters) {
  Shape &known = Shapes[shape];
  if (known.known)
    for (auto it = known.byRange.begin(); it != known.byRange.end();)
      it = (it->second /= 2) < 1 ? known.byRange.erase(it) : std::next(it);
  const double weight = (known.known ? 0.5 : 1.0) * how.scale() * AccessBytes;
  known.known = true;
  for (size_t i = 0; i < counters.size(); ++i)
    if (counters[i])
      known.byRange[(how.base >> Shift) + i] += weight * double(counters[i]);
}

std::optional<double> AccessCounts::accessBytes(uint64_t shape, uintptr_t begin,
                                                uintptr_t end) const {
  auto known = Shapes.find(shape);
  if (known == Shapes.end() || !known->second.known)
    return std::nullopt;
  double sum = 0;
  for (uintptr_t at = begin >> Shift; at << Shift < end; ++at)
    if (auto found = known->second.byRange.find(at);
        found != known->second.byRange.end())
      sum += found->second;
  return sum;
}

} // namespace dragon
