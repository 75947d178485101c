//===- PendingMaps.h - what the driver is to be told next -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chunks that were mapped and unmapped since the last batch, as ranges. Only
// what counts in the end is told: what was unmapped and is mapped again is
// discarded and prefetched, what was mapped and unmapped again is discarded.
//
// Example, chunks of 2 MiB: unmap 0, unmap 2, map 2, map 4, unmap 4 gives
// "discard [0, 2) [4, 6)" and "discard and prefetch [2, 4)".
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_MANAGED_PENDINGMAPS_H
#define DRAGON_RUNTIME_DEVICE_MANAGED_PENDINGMAPS_H

#include "runtime/device/Device.h"

#include <map>
#include <vector>

namespace dragon {

class PendingMaps {
public:
  void map(const AddressRange &chunk) { put(chunk, true); }
  void unmap(const AddressRange &chunk) { put(chunk, false); }
  /// The addresses are nobody's any more.
  void forget(const AddressRange &range);
  bool empty() const { return Chunks.empty(); }
  void clear() { Chunks.clear(); }
  /// In ascending order, neighbours as one, but for those that `apart` begins.
  template <typename Apart>
  std::vector<AddressRange> ranges(bool mapped, Apart apart) const {
    std::vector<AddressRange> result;
    for (const auto &[begin, chunk] : Chunks) {
      if (chunk.mapped != mapped)
        continue;
      if (!result.empty() && result.back().end == begin && !apart(begin))
        result.back().end = chunk.end;
      else
        result.push_back({begin, chunk.end});
    }
    return result;
  }

private:
  struct Chunk {
    uintptr_t end;
    bool mapped;
  };
  void put(const AddressRange &chunk, bool mapped) {
    forget(chunk);
    Chunks[chunk.begin] = {chunk.end, mapped};
  }
  std::map<uintptr_t, Chunk> Chunks; // by begin; they do not overlap
};

inline void PendingMaps::forget(const AddressRange &range) {
  auto first = Chunks.lower_bound(range.begin);
  if (first != Chunks.begin() && std::prev(first)->second.end > range.begin)
    --first;
  Chunks.erase(first, Chunks.lower_bound(range.end));
}

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_MANAGED_PENDINGMAPS_H
