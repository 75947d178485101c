//===- AddressUses.h - which launches use an address ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches that come again use the same ranges of addresses: each range is kept
// once, with the numbers of its launches. To find the ranges that hold an
// address, a range of up to 2^k bytes is entered in the two cells of 2^k bytes,
// at most, that it lies in.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_ADDRESSUSES_H
#define DRAGON_RUNTIME_LAUNCH_ADDRESSUSES_H

#include "runtime/device/Device.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dragon {

class AddressUses {
public:
  /// The launch, of which no number is less than those before, uses the range.
  void add(AddressRange range, uint32_t launch);
  /// The launches from `first` up to `last` that use the address; ascending.
  std::vector<uint32_t> of(uintptr_t address, uint32_t first,
                           uint32_t last) const;
  void clear();

private:
  struct Used {
    AddressRange range;
    std::vector<uint32_t> launches; ///< ascending
  };
  /// Where a range of that size is entered: in cells of 2^k bytes.
  static unsigned levelOf(AddressRange range);

  std::vector<Used> Ranges;
  std::map<std::pair<uintptr_t, uintptr_t>, uint32_t> Numbers; ///< of Ranges
  /// By level, and by what is left of an address in cells of that size.
  std::map<unsigned, std::unordered_map<uintptr_t, std::vector<uint32_t>>>
      Cells;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_ADDRESSUSES_H
