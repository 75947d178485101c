//===- LaunchCache.h - plans of launches that come again --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluating the footprints of a launch, for it as a whole and for the boxes
// that its slices may be, takes milliseconds to tenths of a second. Time steps
// and iterations launch the same kernel on the same buffers with the same
// numbers again and again, for which it is the same each time: the footprints
// depend on the kernel, the grid, the block, the bytes of the arguments and
// where which buffers are, the plan on the budget besides.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LAUNCHCACHE_H
#define DRAGON_RUNTIME_LAUNCH_LAUNCHCACHE_H

#include "runtime/launch/LaunchFootprint.h"
#include "runtime/launch/LaunchKey.h"
#include "runtime/launch/LaunchPlanner.h"

#include <algorithm>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dragon {

/// How large slices are planned.
struct SliceSize {
  uint64_t share = 1; ///< for the device's budget divided by it; more than 1:
                      ///< to be together with others
  bool large = false; ///< and may take twice as much of that
};

/// How a launch fits, and the chunks of its slices.
struct Slicing {
  /// What it was made for.
  struct Conditions {
    uint64_t deviceBudget;
    HostRoom hostRoom;
    bool sparing;
    bool again;               ///< such launches come again and again
    bool largeSlices = false; ///< PlanInput's
    bool onPeers = false;     ///< what does not fit has room on peers
    uint32_t pieces = 0; ///< equal ones, whatever they take; 0: as many as fit
    bool operator==(const Conditions &) const = default;
  };
  Conditions conditions;
  LaunchPlan plan;
  std::vector<LaunchFootprint> parts; ///< of the plan's boxes, if it is sliced
  /// Mixed: what of them stays in host memory, and of the whole launch.
  std::vector<LaunchFootprint> mappedParts;
  LaunchFootprint mapped;
};

/// Slice by slice in any order, or at once, in device memory.
inline bool canRun(const Slicing &slicing) {
  return slicing.plan.kind == LaunchPlan::Resident ||
         slicing.plan.kind == LaunchPlan::Sliced;
}

/// What was found out about a launch. Refers to chunks: valid as long as the
/// allocations are what they were.
struct PlannedLaunch {
  LaunchFootprint whole;
  std::vector<const Buffer *> buffers; ///< of `whole`
  uint64_t bytes = 0;                  ///< of its chunks
  /// The last ones, the latest first: as a launch of its own, and in smaller
  /// slices to run together with others.
  static constexpr size_t MaxSlicings = 8;
  std::list<Slicing> slicings;
  /// The last time, another launch in the queue came next.
  bool followed = false;
  /// Access bytes of the uses in `whole`, once asked for (LinkCost.h).
  std::vector<double> accessBytes;
  bool told = false; ///< how it runs, and why
  uint32_t launches = 0;
  /// A plan weighed memory that is mapped, which is made once for all launches.
  bool weighsMapping = false;
  /// With no more device memory and mapped host memory than that, it runs from
  /// storage (StorageRunner.h).
  struct Room {
    uint64_t device, mapped;
    bool holds(const Room &other) const {
      return other.device <= device && other.mapped <= mapped;
    }
  };
  std::optional<Room> stored;

  /// What it holds: uses of chunks.
  size_t held() const { return Held; }

  void isFor(LaunchFootprint chunks) {
    whole = std::move(chunks);
    Held += whole.uses.size();
    for (const ChunkUse &use : whole.uses) {
      bytes += use.chunk->bytes();
      if (buffers.empty() || buffers.back() != use.chunk->buffer)
        buffers.push_back(use.chunk->buffer);
    }
  }
  /// What was made for these conditions before; null: nothing.
  const Slicing *find(const Slicing::Conditions &conditions) {
    auto found =
        std::find_if(slicings.begin(), slicings.end(), [&](const Slicing &s) {
          return s.conditions == conditions;
        });
    if (found == slicings.end())
      return nullptr;
    slicings.splice(slicings.begin(), slicings, found);
    return &slicings.front();
  }
  const Slicing &keep(Slicing slicing) {
    Held += usesOf(slicing);
    slicings.push_front(std::move(slicing));
    if (slicings.size() > MaxSlicings) {
      Held -= usesOf(slicings.back());
      slicings.pop_back();
    }
    return slicings.front();
  }
  std::span<const LaunchFootprint> parts(const Slicing &slicing) const {
    return slicing.plan.kind == LaunchPlan::Sliced ||
                   slicing.plan.kind == LaunchPlan::LoopSliced ||
                   slicing.plan.kind == LaunchPlan::Mixed
               ? std::span<const LaunchFootprint>(slicing.parts)
               : std::span<const LaunchFootprint>(&whole, 1);
  }

private:
  static size_t usesOf(const Slicing &slicing) {
    size_t uses = slicing.mapped.uses.size();
    for (const auto *parts : {&slicing.parts, &slicing.mappedParts})
      for (const LaunchFootprint &part : *parts)
        uses += part.uses.size();
    return uses;
  }

  size_t Held = 0;
};

/// Launches are the same if their footprint keys are (LaunchKey.h); arguments
/// that no address depends on, such as a factor, may differ.
class LaunchCache {
public:
  /// A training step has some thousands of launches.
  static constexpr size_t MaxEntries = 8192;
  /// Uses of chunks that all entries hold, about: 64 MiB.
  static constexpr size_t MaxHeld = size_t(1) << 20;

  /// The entry of such a launch, new or as it was left. The caller may keep it.
  std::shared_ptr<PlannedLaunch>
  entry(const LaunchCall &call, const AddressIndex &allocations, bool &isNew);
  /// For who remembers what he found out about several: it is void as soon as
  /// the number changes.
  uint64_t generation() const { return Generation; }

private:
  struct Entry {
    std::string key;
    std::shared_ptr<PlannedLaunch> launch;
    size_t counted = 0; ///< of what it holds, in Held
  };
  /// What the launch before has come to hold.
  void countLatest();
  /// So that there is room for another entry.
  void dropOld();

  std::list<Entry> Entries; ///< the last used one first
  size_t Held = 0;
  std::unordered_map<std::string, std::list<Entry>::iterator> Places;
  FootprintKeys Keys;
  uint64_t Generation = 0; ///< of the allocations that the entries are for
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LAUNCHCACHE_H
