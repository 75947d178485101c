//===- KnownMemory.h - contents that a footprint depends on -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a kernel goes may be written in device memory, in a small array: the
// experts that a token is sent to, the rows that are gathered, the blocks of a
// cache. A footprint that is evaluated with these numbers is as precise as any
// other. The summary says which loads they are (ExprOp::Loaded), the caller
// reads the memory. Plain data: thread-safe as long as nobody changes it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_KNOWNMEMORY_H
#define DRAGON_KNOWNMEMORY_H

#include "dragon/NumberZones.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace dragon {

/// Addresses [Begin, End) of device memory.
struct MemoryRange {
  uint64_t Begin;
  uint64_t End;
};

/// Of longer arrays zones are asked for: to look at each number would cost more
/// than it tells.
constexpr uint64_t MostWanted = uint64_t(1) << 16;

/// What some of the device's memory holds when a launch begins, and for as long
/// as it runs.
struct KnownMemory {
  struct Part {
    uint64_t Address;
    std::vector<char> Contents;
    /// No other contents at this address have it, while the process lives.
    uint64_t Number = 0; ///< 0: they have none
  };
  /// What a long array holds. The number is its own: no other has it, while
  /// the process lives.
  struct Array {
    uint64_t Number;
    std::shared_ptr<const NumberZones> Zones;
  };
  std::vector<Part> Parts; ///< ascending, disjoint
  std::vector<Array> Arrays;

  bool empty() const { return Parts.empty() && Arrays.empty(); }
  /// All of it, for keys of what was evaluated with it.
  void appendTo(std::string &Key) const {
    for (const Part &P : Parts) {
      Key.append(reinterpret_cast<const char *>(&P.Address), sizeof(P.Address));
      Key.append(reinterpret_cast<const char *>(&P.Number), sizeof(P.Number));
      if (P.Number == 0)
        Key.append(P.Contents.data(), P.Contents.size());
    }
    for (const Array &A : Arrays)
      Key.append(reinterpret_cast<const char *>(&A.Number), sizeof(A.Number));
  }
  /// At most `Most` ranges that hold all numbers of these places; false: they
  /// are not known.
  bool find(const NumberPlaces &Places, size_t Most,
            std::vector<NumberRange> &Ranges) const {
    return std::any_of(Arrays.begin(), Arrays.end(), [&](const Array &A) {
      return A.Zones->find(Places, Most, Ranges);
    });
  }
  /// The bytes of [Begin, End); null if not all of them are known.
  const char *find(uint64_t Begin, uint64_t End) const {
    auto After = std::upper_bound(
        Parts.begin(), Parts.end(), Begin,
        [](uint64_t At, const Part &P) { return At < P.Address; });
    if (After == Parts.begin())
      return nullptr;
    const Part &P = *std::prev(After);
    return Begin <= End && End <= P.Address + P.Contents.size()
               ? P.Contents.data() + (Begin - P.Address)
               : nullptr;
  }
};

} // namespace dragon

#endif // DRAGON_KNOWNMEMORY_H
