//===- FootprintCache.cpp - footprints that were evaluated before ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/FootprintCache.h"

#include <set>

namespace dragon {

FootprintCache::FootprintCache(const SummaryView &summary,
                               const KernelRecord &record, size_t mostRanges)
    : Summary(summary), Kernel(record), MostRanges(mostRanges) {
  Inputs.reserve(record.NumPointers);
  for (uint32_t i = 0; i < record.NumPointers; ++i) {
    const PointerRecord &pointer = summary.pointer(record.FirstPointer + i);
    const std::set<uint32_t> mentioned = summary.argumentsOf(pointer);
    Inputs.push_back({{mentioned.begin(), mentioned.end()},
                      summary.dependsOnMemory(pointer)});
  }
}

std::string FootprintCache::keyOf(uint32_t pointer, const LaunchDims &launch,
                                  const BlockBox &box,
                                  const EvalLimits &limits) const {
  std::string key;
  auto add = [&key](const void *bytes, size_t count) {
    key.append(static_cast<const char *>(bytes), count);
  };
  add(&pointer, sizeof(pointer));
  add(launch.Grid, sizeof(launch.Grid));
  add(launch.Block, sizeof(launch.Block));
  add(box.Lo, sizeof(box.Lo));
  add(box.Hi, sizeof(box.Hi));
  if (box.Hi[LoopDimension]) {
    add(launch.LoopEnds, sizeof(launch.LoopEnds));
    add(launch.LoopRounds, sizeof(launch.LoopRounds));
  }
  add(&limits.MaxRanges, sizeof(limits.MaxRanges));
  add(&limits.MergeGap, sizeof(limits.MergeGap));
  key.push_back(char(limits.WithMust * 2 + limits.WithAffine));
  const uint32_t *sizes = Summary.argSizes(Kernel);
  const Mentioned &inputs = Inputs[pointer - Kernel.FirstPointer];
  for (uint32_t argument : inputs.arguments)
    add(launch.Args[argument], sizes[argument]);
  if (inputs.memory && launch.Memory)
    launch.Memory->appendTo(key);
  return key;
}

FootprintCache::Footprint FootprintCache::find(const std::string &key) {
  const std::lock_guard guard(Lock);
  if (const auto found = Recent.find(key); found != Recent.end())
    return found->second;
  const auto found = Before.find(key);
  return found == Before.end() ? nullptr : found->second;
}

void FootprintCache::keep(std::string key, Footprint footprint) {
  const std::lock_guard guard(Lock);
  if (Recent.contains(key))
    return;
  const size_t ranges =
      1 + footprint->MayRead.Ranges.size() + footprint->MayWrite.Ranges.size() +
      footprint->MustWrite.Ranges.size() + footprint->Atomic.Ranges.size() +
      footprint->Affine.Ranges.size();
  if (ranges > MostRanges)
    return;
  if (RecentRanges + ranges > MostRanges) {
    Before = std::move(Recent);
    Recent.clear();
    RecentRanges = 0;
  }
  Recent.emplace(std::move(key), std::move(footprint));
  RecentRanges += ranges;
}

FootprintCache::Footprint FootprintCache::of(uint32_t pointer,
                                             const LaunchDims &launch,
                                             const BlockBox &box,
                                             const EvalLimits &limits) {
  std::string key = keyOf(pointer, launch, box, limits);
  Footprint found = find(key);
  if (!found)
    found = std::make_shared<const ByteFootprint>(
        evaluateFootprint(Summary, Kernel, pointer, launch, box, limits));
  // What is found in the older half is used, so it is recent again.
  keep(std::move(key), found);
  return found;
}

} // namespace dragon
