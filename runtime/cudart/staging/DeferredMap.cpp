//===- DeferredMap.cpp - what staging buffers would contain ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/staging/DeferredMap.h"

#include <algorithm>

namespace dragon {

Origin Origin::advanced(size_t bytes) const {
  Origin next = *this;
  if (kind == File)
    next.offset += int64_t(bytes);
  else if (kind == Device)
    next.address += bytes;
  return next;
}

bool Origin::operator==(const Origin &other) const {
  if (kind != other.kind)
    return false;
  if (kind == Memory)
    return true;
  if (kind == File)
    return file == other.file && offset == other.offset;
  return queue == other.queue && used == other.used && address == other.address;
}

void DeferredMap::assign(uintptr_t begin, uintptr_t end, Origin origin) {
  if (begin < end)
    Origins.set({{begin, end}, origin.advanced(-begin)});
}

void DeferredMap::erase(uintptr_t begin, uintptr_t end) {
  if (begin < end)
    Origins.erase(HalfOpen<uintptr_t>(begin, end));
}

void DeferredMap::mark(uintptr_t begin, uintptr_t end) {
  if (begin >= end || Origins.empty())
    return;
  erase(begin, end);
  if ((begin && overlaps(Origins, begin - 1, begin)) ||
      overlaps(Origins, end, end + 1))
    assign(begin, end, {});
}

bool DeferredMap::intersects(uintptr_t begin, uintptr_t end) const {
  if (begin >= end)
    return false;
  const auto [first, last] =
      Origins.equal_range(HalfOpen<uintptr_t>(begin, end));
  return std::any_of(first, last, [](const auto &known) {
    return known.second.kind != Origin::Memory;
  });
}

std::vector<Segment> DeferredMap::segments(uintptr_t begin,
                                           uintptr_t end) const {
  std::vector<Segment> result;
  if (begin >= end)
    return result;
  uintptr_t at = begin;
  const auto [first, last] =
      Origins.equal_range(HalfOpen<uintptr_t>(begin, end));
  for (auto it = first; it != last; ++it) {
    const auto &[range, atZero] = *it;
    if (range.lower() > at)
      result.push_back({at, range.lower(), {}});
    result.push_back(segmentOf(
        {std::max(begin, range.lower()), std::min(end, range.upper())},
        atZero));
    at = result.back().end;
  }
  if (at < end)
    result.push_back({at, end, {}});
  return result;
}

std::vector<Segment> DeferredMap::ofDevice(uintptr_t begin,
                                           uintptr_t end) const {
  std::vector<Segment> result;
  for (const auto &[range, atZero] : Origins) {
    if (atZero.kind != Origin::Device)
      continue;
    // What lies at `address` on the device is at this much less here.
    const uintptr_t distance = atZero.address;
    const uintptr_t first = std::max(begin, range.lower() + distance);
    const uintptr_t last = std::min(end, range.upper() + distance);
    if (first < last)
      result.push_back(segmentOf({first - distance, last - distance}, atZero));
  }
  return result;
}

std::pair<uintptr_t, uintptr_t> DeferredMap::bounds() const {
  if (Origins.empty())
    return {UINTPTR_MAX, 0};
  return {Origins.begin()->first.lower(), Origins.rbegin()->first.upper()};
}

uintptr_t DeferredMap::endOfRun(uintptr_t begin) const {
  uintptr_t end = begin;
  for (auto it = Origins.find(begin);
       it != Origins.end() && it->first.lower() <= end; ++it)
    end = it->first.upper();
  return end;
}

} // namespace dragon
