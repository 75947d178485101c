//===- LaunchHistory.cpp - what the next launches will need ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchHistory.h"

#include <algorithm>
#include <utility>

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
/// Addresses whose uses in a period are kept.
constexpr size_t MaxFound = 1 << 16;

/// A sequence's hash is the sum of signature * Multiplier^(launches behind it).
constexpr uint64_t Multiplier = 0x9e3779b97f4a7c15;
constexpr struct PowersOfMultiplier {
  uint64_t of[MaxAgreement + 1] = {1};
  constexpr PowersOfMultiplier() {
    for (size_t i = 1; i <= MaxAgreement; ++i)
      of[i] = of[i - 1] * Multiplier;
  }
} Powers;

bool holds(const std::vector<AddressRange> &ranges, uintptr_t address) {
  return std::any_of(
      ranges.begin(), ranges.end(),
      [address](const AddressRange &range) { return range.holds(address); });
}

/// What data say is left out: where we are is the same.
uint64_t placeOf(uint64_t signature,
                 const LaunchHistory::Addresses &addresses) {
  uint64_t hash = signature;
  auto isUnsure = [&addresses](const AddressRange &range) {
    return std::any_of(addresses.unsure.begin(), addresses.unsure.end(),
                       [&range](const AddressRange &in) {
                         return in.begin < range.end && range.begin < in.end;
                       });
  };
  for (const auto *ranges : {&addresses.uses, &addresses.overwrites}) {
    size_t count = 0;
    for (const AddressRange &range : *ranges) {
      if (isUnsure(range))
        continue;
      hash = ((hash ^ range.begin) * Multiplier ^ range.end) * Multiplier;
      ++count;
    }
    hash = (hash ^ count) * Multiplier;
  }
  return hash;
}
} // namespace

uint64_t LaunchHistory::hashOfLast(size_t last, size_t count,
                                   const Chain &by) const {
  const uint64_t before =
      count <= last ? Entries[last - count].*by.hash : by.first;
  return Entries[last].*by.hash - before * Powers.of[count];
}

uint64_t LaunchHistory::extended(const Chain &by, uint64_t value) const {
  const uint64_t all = Entries.empty() ? by.first : Entries.back().*by.hash;
  return all * Multiplier + (value + 1) * Multiplier;
}

size_t LaunchHistory::agreement(size_t a, size_t b, const Chain &by) const {
  size_t agree = 0, differ = std::min(MaxAgreement, a + 1) + 1;
  while (differ - agree > 1) {
    const size_t middle = (agree + differ) / 2;
    (hashOfLast(a, middle, by) == hashOfLast(b, middle, by) ? agree : differ) =
        middle;
  }
  return agree;
}

bool LaunchHistory::repeats(size_t now) const {
  const Entry &entry = Entries[now], &then = Entries[now - Period];
  return entry.addresses == then.addresses &&
         Entries[now - 1].after == Entries[now - 1 - Period].after;
}

bool LaunchHistory::usesTheSame(size_t a, size_t b) const {
  const Addresses &x = Entries[a].addresses, &y = Entries[b].addresses;
  return x.uses == y.uses && x.overwrites == y.overwrites;
}

bool LaunchHistory::isUsed(size_t in, uintptr_t address) const {
  const Entry &entry = Entries[in];
  return holds(Entries[in - 1].after, address) ||
         findUse(entry.addresses, address) ||
         findRange(entry.addresses.overwrites, address);
}

void LaunchHistory::noteDifferences(size_t now) {
  if (!Foreseen || now <= Period) {
    Found.clear();
    return;
  }
  if (!repeats(now))
    std::erase_if(Found, [&](const auto &found) {
      return isUsed(now, found.first) != isUsed(now - Period, found.first);
    });
}

void LaunchHistory::forgetBefore(uint32_t gone, Occurrences &occurrences) {
  for (auto it = occurrences.begin(); it != occurrences.end();) {
    std::vector<uint32_t> &list = it->second;
    list.erase(list.begin(), std::lower_bound(list.begin(), list.end(), gone));
    for (uint32_t &position : list)
      position -= gone;
    it = list.empty() ? occurrences.erase(it) : std::next(it);
  }
}

void LaunchHistory::forgetOldest() {
  const uint32_t gone = MaxEntries / 2;
  Found.clear();
  Uses.clear();
  NumIndexed = 0;
  for (Chain *chain : {&Signatures, &PlacesSoFar})
    chain->first = Entries[gone - 1].*chain->hash;
  Entries.erase(Entries.begin(), Entries.begin() + gone);
  forgetBefore(gone, Positions);
  forgetBefore(gone, Places);
  if (Period > Entries.size())
    Period = 0;
}

size_t LaunchHistory::findPeriod(const std::vector<uint32_t> &occurrences,
                                 bool isNew) const {
  const size_t now = Entries.size() - 1;
  const size_t oldest = occurrences.size() > MaxOccurrences
                            ? occurrences.size() - MaxOccurrences
                            : 0;
  // A launch that is new in its addresses agrees with none in them: those in
  // front of it say where it is.
  const size_t newest = isNew ? 1 : 0;
  auto agreed = [&](size_t then) {
    return std::pair{then >= newest
                         ? agreement(then - newest, now - newest, PlacesSoFar)
                         : 0,
                     agreement(then, now, Signatures)};
  };
  // The period that told this launch stays as long as no other is better.
  size_t period = Foreseen ? Period : 0;
  std::pair<size_t, size_t> best{0, 0};
  if (Foreseen)
    best = agreed(now - Period);
  for (size_t i = occurrences.size(); i-- > oldest;) {
    const std::pair agrees = agreed(occurrences[i]);
    if (agrees <= best)
      continue; // of equals the latest
    best = agrees;
    period = now - occurrences[i];
  }
  return period;
}

void LaunchHistory::begin(uint64_t signature, Addresses addresses,
                          uint64_t clock) {
  if (Entries.size() == MaxEntries)
    forgetOldest();
  const size_t now = Entries.size();
  Foreseen = Period && Entries[now - Period].signature == signature;
  const uint64_t place = placeOf(signature, addresses);
  Entries.push_back({signature,
                     extended(Signatures, signature),
                     extended(PlacesSoFar, place),
                     clock,
                     std::move(addresses),
                     {}});
  const size_t before = Period;
  std::vector<uint32_t> &places = Places[place];
  std::vector<uint32_t> &positions = Positions[signature];
  Period = places.empty() ? findPeriod(positions, /*isNew=*/true)
                          : findPeriod(places, /*isNew=*/false);
  places.push_back(uint32_t(now));
  positions.push_back(uint32_t(now));
  if (Period != before)
    Found.clear();
  Repeated = Repeated << 1 | uint64_t(Period && usesTheSame(now, now - Period));
  noteDifferences(now);
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

bool LaunchHistory::isUncertain(size_t in, uintptr_t address) const {
  const Addresses &addresses = Entries[in].addresses;
  return !findRange(addresses.uses, address) &&
         findRange(addresses.byData, address) &&
         !(in >= Period && findUse(Entries[in - Period].addresses, address));
}

Forecast LaunchHistory::useIn(size_t launches, uintptr_t address) const {
  const size_t now = Entries.size() - 1, first = now - Period;
  // After `first` came the launches up to this one, which comes again last.
  const Entry &entry = Entries[first + launches];
  const uint64_t begin =
      Entries[now].clock + (entry.clock - Entries[first].clock);
  if (holds(Entries[first + launches - 1].after, address) &&
      (launches > 1 || !holds(Entries[now].after, address)))
    return {begin, true};
  const AddressRange *range = findUse(entry.addresses, address);
  const bool overwritten = !range;
  if (overwritten)
    range = findRange(entry.addresses.overwrites, address);
  if (!range)
    return {};
  // A launch goes through its ranges from their beginning to their end.
  const uint64_t duration = std::min(
      LaunchSpan, launches < Period
                      ? Entries[first + launches + 1].clock - entry.clock
                      : Entries[first + 1].clock - Entries[first].clock);
  const double part =
      double(address - range->begin) / double(range->end - range->begin);
  return {begin + uint64_t(double(duration) * part), overwritten};
}

const std::vector<uint32_t> &
LaunchHistory::usesInPeriod(uintptr_t address) const {
  const size_t now = Entries.size() - 1, first = now - Period;
  if (Found.size() >= MaxFound)
    Found.clear();
  if (Found.empty())
    FoundAt = now;
  auto [found, isNew] = Found.try_emplace(address);
  if (!isNew)
    return found->second;
  std::vector<uint32_t> &uses = found->second;
  indexUses();
  uses = Uses.of(address, uint32_t(first + 1), uint32_t(now));
  for (uint32_t &launch : uses)
    launch = uint32_t((launch + Period - FoundAt) % Period);
  std::sort(uses.begin(), uses.end());
  return uses;
}

void LaunchHistory::indexUses() const {
  for (; NumIndexed < Entries.size(); ++NumIndexed) {
    const auto launch = uint32_t(NumIndexed);
    const Addresses &of = Entries[launch].addresses;
    for (const auto *ranges : {&of.uses, &of.overwrites, &of.byData})
      for (const AddressRange &range : *ranges)
        Uses.add(range, launch);
    if (launch)
      for (const AddressRange &range : Entries[launch - 1].after)
        Uses.add(range, launch);
  }
}

Forecast LaunchHistory::nextUse(uintptr_t address) const {
  if (!Period)
    return {};
  const size_t now = Entries.size() - 1, first = now - Period;
  const std::vector<uint32_t> &uses = usesInPeriod(address);
  const auto present = uint32_t((now - FoundAt) % Period);
  auto use = std::upper_bound(uses.begin(), uses.end(), present);
  Forecast soonest;
  for (size_t i = 0; i < uses.size(); ++i, ++use) {
    if (use == uses.end())
      use = uses.begin();
    const size_t launches =
        *use > present ? *use - present : *use + Period - present;
    Forecast next = useIn(launches, address);
    if (!next.clock)
      continue;
    // What is used whatever data say comes first.
    const bool uncertain =
        !next.overwritten && isUncertain(first + launches, address);
    if (uncertain)
      next.clock += Entries[now].clock - Entries[first].clock;
    if (!soonest.clock || next.clock < soonest.clock)
      soonest = next;
    if (!uncertain)
      break;
  }
  return soonest;
}

} // namespace dragon
