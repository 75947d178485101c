//===- LaunchHistory.cpp - what the next launches will need ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/LaunchHistory.h"

#include <algorithm>

namespace dragon {

namespace {
/// Launches that are remembered; half of them are forgotten at a time.
constexpr size_t MaxEntries = 8192;
/// Earlier occurrences of a launch that are compared with the present one, and
/// launches in front of it that have to agree at most.
constexpr size_t MaxOccurrences = 16;
constexpr size_t MaxAgreement = 512;
/// Ranges that copies overwrite between two launches.
constexpr size_t MaxAfter = 64;

bool holds(const std::vector<AddressRange> &ranges, uintptr_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [address](const AddressRange &range) {
                       return range.begin <= address && address < range.end;
                     });
}
} // namespace

size_t LaunchHistory::agreement(size_t a, size_t b) const {
  size_t n = 0;
  while (n < MaxAgreement && n <= std::min(a, b) &&
         Entries[a - n].signature == Entries[b - n].signature)
    ++n;
  return n;
}

void LaunchHistory::forgetOldest() {
  const uint32_t gone = MaxEntries / 2;
  Entries.erase(Entries.begin(), Entries.begin() + gone);
  for (auto it = Positions.begin(); it != Positions.end();) {
    std::vector<uint32_t> &list = it->second;
    list.erase(list.begin(), std::lower_bound(list.begin(), list.end(), gone));
    for (uint32_t &position : list)
      position -= gone;
    it = list.empty() ? Positions.erase(it) : std::next(it);
  }
  if (Period > Entries.size())
    Period = 0;
}

void LaunchHistory::begin(uint64_t signature, std::vector<AddressRange> uses,
                          std::vector<AddressRange> overwrites,
                          uint64_t clock) {
  if (Entries.size() == MaxEntries)
    forgetOldest();
  const size_t now = Entries.size();
  Foreseen = Period && Entries[now - Period].signature == signature;
  Entries.push_back(
      {signature, clock, std::move(uses), std::move(overwrites), {}});

  std::vector<uint32_t> &occurrences = Positions[signature];
  Period = 0;
  size_t best = 0;
  const size_t oldest = occurrences.size() > MaxOccurrences
                            ? occurrences.size() - MaxOccurrences
                            : 0;
  for (size_t i = occurrences.size(); i-- > oldest;) {
    size_t agrees = agreement(occurrences[i], now);
    if (agrees <= best)
      continue; // of equals the latest
    best = agrees;
    Period = now - occurrences[i];
  }
  occurrences.push_back(uint32_t(now));
}

void LaunchHistory::overwritten(AddressRange range) {
  if (Entries.empty())
    return;
  std::vector<AddressRange> &after = Entries.back().after;
  if (!after.empty() && after.back().end == range.begin)
    after.back().end = range.end; // the next piece of the same
  else if (after.size() < MaxAfter)
    after.push_back(range);
}

const AddressRange *
LaunchHistory::findRange(const std::vector<AddressRange> &ranges,
                         uintptr_t address) {
  auto after = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](uintptr_t at, const AddressRange &range) { return at < range.begin; });
  if (after == ranges.begin())
    return nullptr;
  const AddressRange &range = *std::prev(after);
  return address < range.end ? &range : nullptr;
}

Forecast LaunchHistory::nextUse(uintptr_t address) const {
  if (!Period)
    return {};
  const size_t now = Entries.size() - 1, first = now - Period;
  for (size_t k = 1; k <= Period; ++k) {
    // After `first` came the launches up to this one, which comes again last.
    const Entry &entry = Entries[first + k];
    const uint64_t begin =
        Entries[now].clock + (entry.clock - Entries[first].clock);
    if (holds(Entries[first + k - 1].after, address) &&
        (k > 1 || !holds(Entries[now].after, address)))
      return {begin, true};
    const AddressRange *range = findRange(entry.uses, address);
    const bool overwritten = !range;
    if (overwritten)
      range = findRange(entry.overwrites, address);
    if (!range)
      continue;
    // A launch goes through its ranges from their beginning to their end.
    const uint64_t duration =
        std::min(LaunchSpan,
                 k < Period ? Entries[first + k + 1].clock - entry.clock
                            : Entries[first + 1].clock - Entries[first].clock);
    const double part =
        double(address - range->begin) / double(range->end - range->begin);
    return {begin + uint64_t(double(duration) * part), overwritten};
  }
  return {};
}

} // namespace dragon
