//===- HostRanges.cpp - addresses whose host accesses may fault -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/HostRanges.h"

#include <algorithm>

namespace dragon {

namespace {

// 8 MiB of addresses; memory is taken for what is marked only.
constexpr unsigned AddressBits = 47;
constexpr uintptr_t NumUnits =
    (uintptr_t(1) << AddressBits) / HostRanges::UnitBytes;
std::atomic<uint64_t> marks[NumUnits / 64];

uintptr_t unitOf(uintptr_t address) { return address / HostRanges::UnitBytes; }

bool isMarked(uintptr_t unit) {
  return unit < NumUnits &&
         (marks[unit / 64].load(std::memory_order_relaxed) >> (unit % 64) & 1);
}

/// The first unit after [begin, end), an address that wraps included.
uintptr_t endUnit(uintptr_t begin, size_t bytes) {
  uintptr_t last;
  if (__builtin_add_overflow(begin, bytes - 1, &last))
    last = UINTPTR_MAX;
  return std::min(unitOf(last) + 1, NumUnits);
}

} // namespace

std::atomic<uint64_t> HostRanges::Units{0};

void HostRanges::add(uintptr_t begin, uintptr_t end) {
  for (uintptr_t unit = unitOf(begin); unit < endUnit(begin, end - begin);
       ++unit)
    if (!(marks[unit / 64].fetch_or(uint64_t(1) << (unit % 64)) >> (unit % 64) &
          1))
      ++Units;
}

void HostRanges::remove(uintptr_t begin, uintptr_t end) {
  for (uintptr_t unit = unitOf(begin); unit < endUnit(begin, end - begin);
       ++unit)
    if (marks[unit / 64].fetch_and(~(uint64_t(1) << (unit % 64))) >>
            (unit % 64) &
        1)
      --Units;
}

bool HostRanges::find(const void *memory, size_t bytes) {
  auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t end = endUnit(begin, bytes);
  for (uintptr_t unit = unitOf(begin); unit < end; ++unit)
    if (isMarked(unit))
      return true;
  return false;
}

size_t HostRanges::runAt(const void *memory, size_t bytes, bool &isOne) {
  auto begin = reinterpret_cast<uintptr_t>(memory);
  uintptr_t unit = unitOf(begin);
  isOne = isMarked(unit);
  const uintptr_t end = bytes ? endUnit(begin, bytes) : unit + 1;
  for (++unit; unit < end && isMarked(unit) == isOne;)
    ++unit;
  if (unit >= end)
    return bytes;
  return std::min<size_t>(bytes, unit * UnitBytes - begin);
}

} // namespace dragon
