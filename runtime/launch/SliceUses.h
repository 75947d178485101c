//===- SliceUses.h - when the slices of a launch need what ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// It is known which chunks each slice of a launch uses, so the order of the
// slices can be chosen, also of those of several launches (Wavefront.h), and
// while one runs it is known exactly what later ones need: eviction asks for
// that (Chunk::nextUse), and so does who lets leave ahead of time what later
// slices will evict (SlicePipeline.cpp). Contents that a later slice overwrites
// before anybody reads them are dead until then.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_SLICEUSES_H
#define DRAGON_RUNTIME_LAUNCH_SLICEUSES_H

#include "runtime/launch/LaunchFootprint.h"

#include <functional>
#include <span>
#include <vector>

namespace dragon {

/// The order in which slices move the least: blocks may run in any order, so
/// those whose chunks are on the device from before come first. The others
/// follow as they lie: neighbours share chunks.
/// `ofOwn`: what all of the parts use does not count.
std::vector<uint32_t> sliceOrder(std::span<const LaunchFootprint> parts,
                                 bool ofOwn = false);

/// A launch that runs in slices, alone or together with others.
struct SlicedLaunch {
  const ResolvedLaunch *launch;
  const LaunchFootprint *whole;
  /// Contents that nobody needs behind it.
  std::vector<AddressRange> dying;
};

/// A part of its grid, or of a loop of all its threads.
struct Slice {
  uint32_t launch;
  BlockBox box;
  const LaunchFootprint *chunks;
  /// What it uses besides, which stays in host memory; null: nothing.
  const LaunchFootprint *mapped = nullptr;

  bool isOfLoop() const { return box.Hi[LoopDimension] != 0; }
};

/// Slices in the order in which they run, which keeps that of launches where
/// one writes a chunk that another uses, and when their chunks are needed next:
/// in a later slice, else when it is foreseen, else in the same slice of the
/// next launch, which is as likely as anything.
class SliceUses {
public:
  static constexpr uint32_t None = UINT32_MAX;

  struct Use {
    const ChunkUse *use;
    uint32_t first;       ///< slice that uses the chunk
    uint32_t next = None; ///< the slice that uses the chunk next
    /// The launch overwrites the chunk, this is its first slice to use it, and
    /// no launch before it needs what is there any more.
    bool overwrites = false;
    /// Nobody needs the contents behind the slice: the next one, or a launch
    /// that waits, overwrites them, or the program said so.
    bool dies = false;
    bool overwrittenNext = false; ///< the first two

    LaunchNeed need() const {
      return overwrites ? LaunchNeed::Overwrite : use->need;
    }
    /// The use as it is of this slice.
    ChunkUse asNeeded() const {
      ChunkUse needed = *use;
      needed.need = need();
      return needed;
    }
  };

  /// The next use after the launches.
  using Foreseen = std::function<Forecast(Chunk &)>;

  /// What launches and slices refer to must outlive it. The first of the
  /// launches begins at `clock`.
  SliceUses(std::vector<SlicedLaunch> launches, std::vector<Slice> slices,
            uint64_t clock, Foreseen foreseen);

  /// Sets the chunks' next uses, for the launch of that clock, and keeps them
  /// right as slices run. Without it they are not changed.
  void announce(uint64_t launchClock);

  size_t size() const { return Slices.size(); }
  size_t numLaunches() const { return Launches.size(); }
  const Slice &slice(size_t index) const { return Slices[index]; }
  const ResolvedLaunch &launch(size_t index) const {
    return *Launches[Slices[index].launch].launch;
  }
  const std::vector<Use> &uses(size_t slice) const { return Uses[slice]; }
  /// What no slice needs as it was before the first one.
  const std::vector<Chunk *> &deadBefore() const { return Dead; }
  /// So many slices of each launch may run at a time.
  void runAtATime(unsigned slices) { AtATime = slices; }

  /// The slice was queued: its chunks' next uses are later ones.
  void ran(size_t slice);
  /// The next use of one of the slice's chunks behind that slice.
  Forecast nextAfter(const Use &use) const;
  /// Later than now for the slice that is about to run.
  uint64_t timeOf(uint64_t slice) const;
  /// The clock's time while the slice is queued.
  uint64_t clockOf(size_t slice) const {
    return slice ? timeOf(slice - 1) : Start;
  }
  /// What was used since then is in use when that slice needs memory: by the
  /// slices before it, of each launch those that run and one that ran.
  uint64_t inUseSince(size_t slice) const {
    const size_t behind = (1 + size_t(AtATime)) * Launches.size();
    return slice > behind ? clockOf(slice - behind) : Start;
  }
  /// Copies that waiting for a slice's chunks counts as. A wave is planned so
  /// that it has just the memory that it needs; a launch by itself has room for
  /// slices that come and go while one runs, if they are not in each other's.
  unsigned waitsCount() const { return Launches.size() == 1 ? 4 : 1; }

private:
  /// By a launch that comes for certain, before anybody reads it.
  bool isOverwrittenLater(Chunk &chunk) const;
  void findDeaths();

  const std::vector<SlicedLaunch> Launches;
  const std::vector<Slice> Slices; ///< in their order
  const uint64_t Start;
  const Foreseen After;
  unsigned AtATime = 1;
  bool Announced = false;
  std::vector<std::vector<Use>> Uses; ///< by slice
  std::vector<Chunk *> Dead;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_SLICEUSES_H
