//===- LaunchHistory.h - what the next launches will need -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs repeat themselves: time steps, training iterations, queries. The
// history remembers which launches there were, on which addresses, and finds
// the earlier point that looks most like the present one: the position whose
// preceding launches agree with the latest ones for the longest stretch. The
// addresses that they use count first: the layers of a network are the same
// kernels on the same buffers, each in its own part of them. Where no launch
// used these addresses before, kernels and buffers count alone. What followed
// there is what is foreseen now. From that comes, for each address,
// the time of its next use, so that eviction can take what is needed last
// (Belady, "A study of replacement algorithms for a virtual-storage computer",
// 1966) instead of what was used longest ago.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LAUNCHHISTORY_H
#define DRAGON_RUNTIME_LAUNCH_LAUNCHHISTORY_H

#include "runtime/device/Device.h"
#include "runtime/launch/AddressUses.h"
#include "runtime/memory/NextUse.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace dragon {

class LaunchHistory {
public:
  /// Addresses of a launch, each list ascending.
  struct Addresses {
    std::vector<AddressRange> uses; ///< it may touch them
    /// Others, that it overwrites before any read.
    std::vector<AddressRange> overwrites = {};
    /// Others, that it may touch because data say so (IndexArrays.h): the next
    /// time it may be something else.
    std::vector<AddressRange> byData = {};
    /// Of `uses`, which are whole chunks, what is to be fetched; empty: all.
    std::vector<AddressRange> touched = {};
    /// Of these, where data may say what is touched: where they have not been
    /// looked at, all of it is among the others.
    std::vector<AddressRange> unsure = {};
    /// What is to be fetched of what it reads whatever data say.
    const std::vector<AddressRange> &fetched() const {
      return touched.empty() ? uses : touched;
    }
    bool operator==(const Addresses &) const = default;
  };
  /// The launch that begins at `clock`. Equal signatures: the same kernel on
  /// the same buffers.
  void begin(uint64_t signature, Addresses addresses, uint64_t clock);
  /// A copy or a fill after that launch has overwritten the addresses.
  void overwritten(AddressRange range);
  /// The launch that began last is the one that was foreseen.
  bool foreseen() const { return Foreseen; }
  /// There is a forecast for what follows that launch.
  bool foresees() const { return Period != 0; }
  /// How many launches there are in what is foreseen: the one that began last
  /// is expected once more after so many.
  size_t period() const { return Period; }
  /// How many of the last 64 launches used the addresses that they had used a
  /// period before.
  unsigned repeated() const { return unsigned(std::popcount(Repeated)); }
  /// visit(addresses) for each launch of the period, in their order.
  template <typename Visit> void forPeriod(Visit visit) const {
    const size_t first = Entries.size() - 1 - Period;
    for (size_t k = 1; k <= Period; ++k)
      visit(Entries[first + k].addresses);
  }
  /// The expected next use of the address after that launch and the copies
  /// that followed it. Of what data said once, and not the time before, it is
  /// a period later than if data say the same again.
  Forecast nextUse(uintptr_t address) const;
  /// visit(addresses) for each of the launches that are expected next, in their
  /// order, so many of them, until it returns false.
  template <typename Visit> void forNext(size_t launches, Visit visit) const {
    const size_t first = Entries.size() - 1 - Period;
    for (size_t k = 1; k <= std::min(launches, Period); ++k)
      if (!visit(Entries[first + k].addresses))
        return;
  }

private:
  struct Entry {
    uint64_t signature;
    uint64_t hash;       ///< of all signatures up to this one
    uint64_t placesHash; ///< of all signatures with their addresses
    uint64_t clock;
    Addresses addresses;
    /// By copies and fills between this launch and the next; in their order.
    std::vector<AddressRange> after;
  };
  /// A hash of all launches up to an entry, and what was forgotten's.
  struct Chain {
    uint64_t Entry::*hash;
    uint64_t first = 0;
  };
  /// How many launches up to `a` and up to `b` agree; a < b.
  size_t agreement(size_t a, size_t b, const Chain &by) const;
  /// The hash of the `count` launches up to `last`.
  uint64_t hashOfLast(size_t last, size_t count, const Chain &by) const;
  /// The hash of all launches with one more.
  uint64_t extended(const Chain &by, uint64_t value) const;
  void forgetOldest();
  /// The launch at `now` and what was copied before it are what they were one
  /// period ago.
  bool repeats(size_t now) const;
  /// The launches use the same addresses, whatever data say.
  bool usesTheSame(size_t a, size_t b) const;
  /// Launch `in` uses the address, or what came just before it overwrites it.
  bool isUsed(size_t in, uintptr_t address) const;
  /// Data said so once; a period before, the launch did not use the address.
  bool isUncertain(size_t in, uintptr_t address) const;
  /// What was found of addresses that the launch uses otherwise than a period
  /// before is forgotten.
  void noteDifferences(size_t now);
  /// What comes so many launches after the present one, with the copies in
  /// front of it; no clock: that does not use the address.
  Forecast useIn(size_t launches, uintptr_t address) const;
  /// The launches of a period that useIn() may answer for, by their numbers
  /// from FoundAt on, ascending.
  const std::vector<uint32_t> &usesInPeriod(uintptr_t address) const;
  /// All launches so far are among Uses.
  void indexUses() const;
  /// The one that holds the address of ascending ones; null: none.
  static const AddressRange *findRange(const std::vector<AddressRange> &ranges,
                                       uintptr_t address);
  /// The one that the launch may touch the address in, without overwriting it.
  static const AddressRange *findUse(const Addresses &addresses,
                                     uintptr_t address) {
    const AddressRange *range = findRange(addresses.uses, address);
    return range ? range : findRange(addresses.byData, address);
  }

  std::vector<Entry> Entries;
  using Occurrences = std::unordered_map<uint64_t, std::vector<uint32_t>>;
  static void forgetBefore(uint32_t gone, Occurrences &occurrences);
  /// How far back the occurrence is that agrees for the longest stretch; 0:
  /// there is none. `isNew`: the launch has not been at its addresses before.
  size_t findPeriod(const std::vector<uint32_t> &occurrences, bool isNew) const;

  Occurrences Positions; ///< by signature
  Occurrences Places;    ///< by signature and addresses
  Chain Signatures{&Entry::hash};
  Chain PlacesSoFar{&Entry::placesHash};
  size_t Period = 0; ///< the last launch corresponds to the one so far back
  bool Foreseen = false;
  uint64_t Repeated = 0; ///< a bit for each of the last launches
  /// Kept while launches repeat themselves: to look at all of a long period for
  /// each chunk that might be evicted takes longer than a launch.
  mutable std::unordered_map<uintptr_t, std::vector<uint32_t>> Found;
  mutable size_t FoundAt = 0;
  /// By the numbers of entries; copies and fills belong to the launch that
  /// they come before. As far as somebody asked.
  mutable AddressUses Uses;
  mutable size_t NumIndexed = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LAUNCHHISTORY_H
