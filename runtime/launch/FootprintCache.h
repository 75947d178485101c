//===- FootprintCache.h - footprints that were evaluated before -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A footprint is relative to its pointer: it depends on the grid, the block and
// the arguments that the summary's expressions mention, not on the address. The
// same layer of a network is launched for other weights again and again, and a
// program goes through its launches again after each of their plans was dropped
// (LaunchCache.h): the evaluation, which is most of a plan for large kernels,
// is done once. Where addresses depend on arrays of indices, what these hold is
// among the inputs.
//
// Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_FOOTPRINTCACHE_H
#define DRAGON_RUNTIME_LAUNCH_FOOTPRINTCACHE_H

#include "dragon/FootprintEval.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dragon {

/// Of one kernel.
class FootprintCache {
public:
  using Footprint = std::shared_ptr<const ByteFootprint>;

  /// Both outlive it. At least `mostRanges` ranges are kept, and at most twice
  /// as many; a footprint counts as one range more than it has.
  FootprintCache(const SummaryView &summary, const KernelRecord &record,
                 size_t mostRanges = DefaultMostRanges);

  /// As evaluateFootprint() of the pointer with this index in the summary.
  Footprint of(uint32_t pointer, const LaunchDims &launch, const BlockBox &box,
               const EvalLimits &limits);
  /// The footprint of the pointer with this index in the summary depends on
  /// what device memory holds.
  bool dependsOnMemory(uint32_t pointer) const {
    return Inputs[pointer - Kernel.FirstPointer].memory;
  }

private:
  static constexpr size_t DefaultMostRanges = size_t(1) << 14;

  using Footprints = std::unordered_map<std::string, Footprint>;
  std::string keyOf(uint32_t pointer, const LaunchDims &launch,
                    const BlockBox &box, const EvalLimits &limits) const;
  Footprint find(const std::string &key);
  void keep(std::string key, Footprint footprint);

  const SummaryView &Summary;
  const KernelRecord &Kernel;
  const size_t MostRanges;
  /// What its expressions mention.
  struct Mentioned {
    std::vector<uint32_t> arguments;
    bool memory;
  };
  std::vector<Mentioned> Inputs; ///< by pointer of the kernel

  std::mutex Lock;
  Footprints Recent; ///< used since Before was
  Footprints Before;
  size_t RecentRanges = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_FOOTPRINTCACHE_H
