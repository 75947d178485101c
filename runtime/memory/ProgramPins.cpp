//===- ProgramPins.cpp - memory of the program that kernels read ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ProgramPins.h"

#include "runtime/base/Rounding.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/tier/HeldMemory.h"
#include "runtime/tier/ProtectedMemory.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <unistd.h>

namespace dragon {

namespace {
constexpr uintptr_t PieceBytes = 32 << 20; ///< that one thread pins at a time
/// The driver has a lock: more threads do not pin more.
constexpr unsigned MostThreads = 4;

uintptr_t pageBytes() { return uintptr_t(sysconf(_SC_PAGESIZE)); }
} // namespace

bool ProgramPins::holds(uintptr_t begin, uintptr_t end) const {
  auto it = Pinned.upper_bound(begin);
  if (it == Pinned.begin())
    return begin >= end;
  for (--it; begin < end; ++it) {
    if (it == Pinned.end() || it->first > begin || it->second <= begin)
      return false;
    begin = it->second;
  }
  return true;
}

size_t ProgramPins::bytesFrom(uintptr_t begin, size_t bytes) const {
  const auto next = Pinned.upper_bound(begin);
  if (next == Pinned.begin() || std::prev(next)->second <= begin)
    return 0;
  return std::min(bytes, std::prev(next)->second - begin);
}

bool ProgramPins::hold(uintptr_t begin, uintptr_t end) {
  const std::lock_guard<std::mutex> guard(Lock);
  return bytesFrom(begin, end - begin) == end - begin &&
         ProtectedMemory::get().hold(begin, end);
}

void ProgramPins::noteBounds() {
  Low = Pinned.empty() ? UINTPTR_MAX : Pinned.begin()->first;
  High = Pinned.empty() ? 0 : std::prev(Pinned.end())->second;
}

void ProgramPins::allow(uintptr_t begin, uintptr_t end) {
  Allowed.add(HalfOpen<uintptr_t>(begin, end));
}

void ProgramPins::forget(uintptr_t begin, uintptr_t end) {
  Allowed.erase(HalfOpen<uintptr_t>(begin, end));
  drop(begin, end);
}

/// Pieces of whole pages, all of which are allowed, that are not pinned yet.
std::vector<AddressRange>
ProgramPins::missing(std::span<const AddressRange> ranges) const {
  const uintptr_t page = pageBytes();
  std::vector<AddressRange> pieces;
  std::vector<AddressRange> sorted(ranges.begin(), ranges.end());
  std::ranges::sort(sorted, {}, &AddressRange::begin);
  uintptr_t behind = 0; // of the pieces
  for (const AddressRange &range : sorted) {
    const uintptr_t first = range.begin / page * page;
    const uintptr_t end = roundUp(range.end, page);
    const auto allowed = Allowed.find(HalfOpen<uintptr_t>(first, first + 1));
    if (allowed == Allowed.end() || allowed->upper() < end)
      continue;
    for (uintptr_t at = std::max(first, behind); at < end;) {
      const auto next = Pinned.upper_bound(at);
      if (next != Pinned.begin() && std::prev(next)->second > at) {
        at = std::prev(next)->second;
        continue;
      }
      uintptr_t stop = std::min(end, (at / PieceBytes + 1) * PieceBytes);
      if (next != Pinned.end())
        stop = std::min(stop, next->first);
      pieces.push_back({at, stop});
      behind = at = stop;
    }
  }
  return pieces;
}

void ProgramPins::add(std::span<const AddressRange> ranges) {
  const std::vector<AddressRange> pieces = missing(ranges);
  if (pieces.empty())
    return;
  TraceZone zone("pin the program's memory");
  std::vector<char> taken(pieces.size()); // not bits: threads write them
  hostThreads().forEach(
      pieces.size(), std::min<uint64_t>(MostThreads, pieces.size()),
      [&](size_t i) {
        const auto [begin, end] = pieces[i];
        const Status status = Ctx.device->pin(begin, end - begin);
        taken[i] = status.ok();
        if (!status.ok())
          log(LogLevel::Debug, "memory of the program stays as it is: {}",
              status.message());
      });
  const std::lock_guard<std::mutex> guard(Lock);
  for (size_t i = 0; i < pieces.size(); ++i)
    if (taken[i]) {
      Pinned.emplace(pieces[i].begin, pieces[i].end);
      zone.add(pieces[i].end - pieces[i].begin);
    }
  noteBounds();
}

void ProgramPins::drop(uintptr_t begin, uintptr_t end) {
  if (!mayHold(begin, end))
    return;
  std::vector<AddressRange> dropped;
  {
    const std::lock_guard<std::mutex> guard(Lock);
    auto it = Pinned.upper_bound(begin);
    if (it != Pinned.begin() && std::prev(it)->second > begin)
      --it;
    for (; it != Pinned.end() && it->first < end; it = Pinned.erase(it))
      dropped.push_back({it->first, it->second});
    noteBounds();
  }
  for (const AddressRange &range : dropped) {
    HeldMemory::get().await(range.begin, range.end);
    if (Status status = Ctx.device->unpin(range.begin); !status.ok())
      log(LogLevel::Debug, "{}", status.message());
  }
}

} // namespace dragon
