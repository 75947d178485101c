//===- ComputedContents.cpp - contents that arguments determine -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/ComputedContents.h"

#include "runtime/launch/LaunchKey.h"

#include <algorithm>

namespace dragon {

/// Of the whole grid, in buffers whose writes are all seen and in memory that
/// is none of ours.
std::vector<AddressRange>
ComputedContents::writtenBy(const ResolvedLaunch &launch) const {
  std::vector<AddressRange> written;
  for (const LaunchPointer &pointer : launch.pointers) {
    const Allocation *of = pointer.allocation;
    if (!pointer.mayWrite ||
        !(of ? of->buffer->showsWrites() : pointer.elsewhere))
      continue;
    const ByteFootprint found = evaluateFootprint(
        *launch.kernel->summary, *launch.kernel->record, pointer.index,
        dimsOf(launch), wholeGrid(launch), EvalLimits());
    for (const ByteRange &range : found.MustWrite.Ranges) {
      const AddressRange part{pointer.value + uintptr_t(range.Begin),
                              pointer.value + uintptr_t(range.End)};
      if (part.end - part.begin <= MostBytes &&
          (!of || (of->base <= part.begin && part.end <= of->end())))
        written.push_back(part);
    }
  }
  return written;
}

bool ComputedContents::isAsWritten(const Place &place) const {
  return place.remembered ? Data.isUnchanged(place.remembered)
                          : place.work == Work.load(std::memory_order_relaxed);
}

std::shared_ptr<ComputedContents::Written>
ComputedContents::writtenOnce(const ResolvedLaunch &launch) {
  if (!Wanted || !Time.Tracking || launch.anything || !launch.kernel->record ||
      !(launch.kernel->record->Flags & KernelFollowsArguments))
    return nullptr;
  const uint64_t generation = Space.Allocations.generation();
  if (Generation != generation || Launches.size() >= MaxLaunches) {
    Generation = generation;
    Launches.clear();
  }
  const auto [found, isNew] = Launches.try_emplace(contentsKey(launch));
  if (isNew) {
    found->second = std::make_shared<Written>();
    found->second->ranges = writtenBy(launch);
  }
  return found->second;
}

bool ComputedContents::isWanted(const ResolvedLaunch &launch) {
  const std::shared_ptr<Written> written = writtenOnce(launch);
  return written && !written->ranges.empty();
}

void ComputedContents::launched(const ResolvedLaunch &launch) {
  const std::shared_ptr<Written> written = writtenOnce(launch);
  if (!written)
    return;
  std::erase_if(Places,
                [this](const Place &place) { return !isAsWritten(place); });
  for (const AddressRange &range : written->ranges) {
    if (Places.size() == MaxPlaces)
      Places.erase(Places.begin());
    const bool ours = Space.Allocations.find(range.begin) != nullptr;
    Places.push_back({range, written, ours ? Data.remember(range) : 0,
                      Work.load(std::memory_order_relaxed)});
  }
}

ComputedContents::Written *
ComputedContents::writerOf(const AddressRange &range) {
  for (const Place &place : Places)
    if (place.range.begin <= range.begin && range.end <= place.range.end &&
        isAsWritten(place))
      return place.by.get();
  return nullptr;
}

std::span<const char> ComputedContents::find(uintptr_t begin, size_t bytes) {
  Wanted = true;
  AskedAt = Work;
  const AddressRange range{begin, begin + bytes};
  Written *writer = writerOf(range);
  if (!writer)
    return {};
  const auto found = writer->read.find(range);
  return found == writer->read.end() ? std::span<const char>()
                                     : std::span<const char>(found->second);
}

void ComputedContents::learn(uintptr_t begin, std::span<const char> contents) {
  const AddressRange range{begin, begin + contents.size()};
  if (Written *writer = AskedAt == Work ? writerOf(range) : nullptr)
    writer->read[range].assign(contents.begin(), contents.end());
}

} // namespace dragon
