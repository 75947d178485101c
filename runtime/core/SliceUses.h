//===- SliceUses.h - when the slices of a launch need what ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sliced launch knows which chunks each of its slices uses, so the order of
// its slices can be chosen, and while one runs it is known exactly what later
// ones need: eviction asks for that (Chunk::nextUse), and so does who lets
// leave ahead of time what later slices will evict (SlicePipeline.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_SLICEUSES_H
#define DRAGON_RUNTIME_CORE_SLICEUSES_H

#include "runtime/core/LaunchFootprint.h"

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace dragon {

/// The order in which slices move the least: blocks may run in any order, so
/// those whose chunks are on the device from before come first. The others
/// follow as they lie: neighbours share chunks.
std::vector<uint32_t> sliceOrder(std::span<const LaunchChunks> parts);

/// When the chunks of a sliced launch are needed next: in a later slice, else
/// when it is foreseen, else in the same slice of the next launch, which is as
/// likely as anything. Slices are numbered in their order.
class SliceUses {
public:
  /// The next use after the launch.
  using Foreseen = std::function<Forecast(Chunk &)>;

  /// parts and order must outlive it. Sets the chunks' next uses.
  SliceUses(std::span<const LaunchChunks> parts,
            std::span<const uint32_t> order, uint64_t clock, Foreseen foreseen);

  size_t size() const { return Order.size(); }
  const std::vector<ChunkUse> &uses(size_t slice) const {
    return Parts[Order[slice]].uses;
  }
  /// The slice was queued: its chunks' next uses are later ones.
  void ran(size_t slice);
  /// The next use of one of the slice's chunks behind that slice.
  Forecast nextAfter(size_t slice, Chunk &chunk) const;
  /// Later than now for the slice that is about to run.
  uint64_t timeOf(uint64_t slice) const;
  /// No later slice than this one uses the chunk.
  bool isLast(size_t slice, Chunk &chunk) const {
    return Slices.at(&chunk).back() == slice;
  }

private:
  std::span<const LaunchChunks> Parts;
  std::span<const uint32_t> Order;
  const uint64_t Start;
  const Foreseen NextLaunch;
  std::unordered_map<Chunk *, std::vector<uint32_t>> Slices;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_SLICEUSES_H
