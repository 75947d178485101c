//===- PinnedRanges.cpp - host memory that the program pinned -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/PinnedRanges.h"

#include <iterator>

namespace dragon {

PinnedRanges &PinnedRanges::get() {
  static auto *theRanges = new PinnedRanges;
  return *theRanges;
}

void PinnedRanges::noteBounds() {
  Low = Ranges.empty() ? UINTPTR_MAX : Ranges.begin()->first;
  High = Ranges.empty() ? 0 : Ranges.rbegin()->second.end;
}

void PinnedRanges::add(const Range &range) {
  std::lock_guard<std::mutex> guard(Lock);
  Ranges[range.begin] = {range.end, range.kind};
  noteBounds();
}

std::optional<PinnedRanges::Range> PinnedRanges::remove(uintptr_t begin,
                                                        bool registered) {
  std::lock_guard<std::mutex> guard(Lock);
  auto found = Ranges.find(begin);
  if (found == Ranges.end() ||
      (found->second.kind == Kind::Registered) != registered)
    return std::nullopt;
  const Range range{begin, found->second.end, found->second.kind};
  Ranges.erase(found);
  noteBounds();
  return range;
}

std::vector<PinnedRanges::Range> PinnedRanges::removeAllocated() {
  std::lock_guard<std::mutex> guard(Lock);
  std::vector<Range> removed;
  std::erase_if(Ranges, [&](const auto &entry) {
    const auto &[begin, known] = entry;
    if (known.kind == Kind::Registered)
      return false;
    removed.push_back({begin, known.end, known.kind});
    return true;
  });
  noteBounds();
  return removed;
}

/// The end: there is none.
std::map<uintptr_t, PinnedRanges::Known>::const_iterator
PinnedRanges::at(uintptr_t address) const {
  auto it = Ranges.upper_bound(address);
  if (it == Ranges.begin())
    return Ranges.end();
  --it;
  return address < it->second.end ? it : Ranges.end();
}

bool PinnedRanges::overlaps(uintptr_t begin, uintptr_t end) const {
  if (!mayHold(begin, end))
    return false;
  std::lock_guard<std::mutex> guard(Lock);
  const auto next = Ranges.lower_bound(end);
  return next != Ranges.begin() && std::prev(next)->second.end > begin;
}

std::optional<PinnedRanges::Range> PinnedRanges::onlyRead(uintptr_t begin,
                                                          uintptr_t end) const {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = at(begin);
  if (it == Ranges.end() || end > it->second.end || it->second.written ||
      Unseen.load(std::memory_order_relaxed))
    return std::nullopt;
  return Range{it->first, it->second.end, it->second.kind};
}

std::vector<PinnedRanges::Range> PinnedRanges::noteWrites(uintptr_t begin,
                                                          uintptr_t end) {
  std::vector<Range> news;
  if (!mayHold(begin, end))
    return news;
  std::lock_guard<std::mutex> guard(Lock);
  for (auto it = Ranges.lower_bound(end); it != Ranges.begin();) {
    auto &[first, known] = *--it;
    if (known.end <= begin)
      break;
    if (!known.written)
      news.push_back({first, known.end, known.kind});
    known.written = true;
  }
  return news;
}

} // namespace dragon
