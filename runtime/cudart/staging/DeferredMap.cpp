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

bool Origin::continuesAs(const Origin &next, size_t bytes) const {
  if (kind != next.kind)
    return false;
  if (kind == Memory)
    return true;
  if (kind == File)
    return file == next.file && offset + int64_t(bytes) == next.offset;
  return queue == next.queue && used == next.used &&
         address + bytes == next.address;
}

/// Makes `at` a boundary between ranges.
void DeferredMap::split(uintptr_t at) {
  auto it = Ranges.upper_bound(at);
  if (it == Ranges.begin())
    return;
  --it;
  if (it->first == at || it->second.end <= at)
    return;
  Range rest{it->second.end, it->second.origin.advanced(at - it->first)};
  it->second.end = at;
  Ranges.emplace(at, std::move(rest));
}

/// Joins a range with its neighbours where they continue each other.
void DeferredMap::join(std::map<uintptr_t, Range>::iterator it) {
  auto next = std::next(it);
  if (next != Ranges.end() && it->second.end == next->first &&
      it->second.origin.continuesAs(next->second.origin,
                                    it->second.end - it->first)) {
    it->second.end = next->second.end;
    Ranges.erase(next);
  }
  if (it == Ranges.begin())
    return;
  auto previous = std::prev(it);
  if (previous->second.end == it->first &&
      previous->second.origin.continuesAs(
          it->second.origin, previous->second.end - previous->first)) {
    previous->second.end = it->second.end;
    Ranges.erase(it);
  }
}

void DeferredMap::assign(uintptr_t begin, uintptr_t end, Origin origin) {
  erase(begin, end);
  if (begin < end)
    join(Ranges.emplace(begin, Range{end, std::move(origin)}).first);
}

void DeferredMap::erase(uintptr_t begin, uintptr_t end) {
  if (begin >= end || Ranges.empty())
    return;
  split(begin);
  split(end);
  Ranges.erase(Ranges.lower_bound(begin), Ranges.lower_bound(end));
}

void DeferredMap::mark(uintptr_t begin, uintptr_t end) {
  if (begin >= end || Ranges.empty())
    return;
  erase(begin, end);
  auto next = Ranges.lower_bound(end);
  bool hasNeighbour =
      (next != Ranges.end() && next->first == end) ||
      (next != Ranges.begin() && std::prev(next)->second.end == begin);
  if (hasNeighbour)
    assign(begin, end, {});
}

bool DeferredMap::intersects(uintptr_t begin, uintptr_t end) const {
  for (auto it = Ranges.lower_bound(end); it != Ranges.begin();) {
    --it;
    if (it->second.end <= begin)
      break;
    if (it->second.origin.kind != Origin::Memory)
      return begin < end;
  }
  return false;
}

std::vector<Segment> DeferredMap::segments(uintptr_t begin,
                                           uintptr_t end) const {
  std::vector<Segment> result;
  auto it = Ranges.upper_bound(begin);
  if (it != Ranges.begin() && std::prev(it)->second.end > begin)
    --it;
  for (uintptr_t at = begin; at < end;) {
    if (it == Ranges.end() || it->first >= end) {
      result.push_back({at, end, {}});
      break;
    }
    if (it->first > at) {
      result.push_back({at, it->first, {}});
      at = it->first;
    }
    uintptr_t stop = std::min(end, it->second.end);
    result.push_back({at, stop, it->second.origin.advanced(at - it->first)});
    at = stop;
    ++it;
  }
  return result;
}

std::vector<Segment> DeferredMap::ofDevice(uintptr_t begin,
                                           uintptr_t end) const {
  std::vector<Segment> result;
  for (const auto &[at, range] : Ranges) {
    if (range.origin.kind != Origin::Device)
      continue;
    uintptr_t from = range.origin.address;
    uintptr_t to = from + (range.end - at);
    uintptr_t first = std::max(begin, from), last = std::min(end, to);
    if (first < last)
      result.push_back({at + (first - from), at + (last - from),
                        range.origin.advanced(first - from)});
  }
  return result;
}

std::pair<uintptr_t, uintptr_t> DeferredMap::bounds() const {
  if (Ranges.empty())
    return {UINTPTR_MAX, 0};
  return {Ranges.begin()->first, std::prev(Ranges.end())->second.end};
}

uintptr_t DeferredMap::endOfRun(uintptr_t begin) const {
  auto it = Ranges.upper_bound(begin);
  if (it == Ranges.begin() || std::prev(it)->second.end <= begin)
    return begin;
  uintptr_t end = std::prev(it)->second.end;
  for (; it != Ranges.end() && it->first == end; ++it)
    end = it->second.end;
  return end;
}

} // namespace dragon
