//===- LaunchFootprint.cpp - what a launch does to which chunks -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchFootprint.h"
#include "runtime/oracle/Observer.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>

namespace dragon {

namespace {

/// What a launch does to one buffer; offsets from its base.
struct BufferFootprint : ByteFootprint {
  /// By pointer: what it may read, to void others' must-writes.
  std::vector<std::pair<uint32_t, ByteSet>> reads;
  std::vector<std::pair<uint32_t, ByteSet>> musts;

  ByteSet touched() const {
    ByteSet touched = MayRead;
    unite(touched, MayWrite);
    return touched;
  }
};
struct ByBase {
  bool operator()(const Buffer *a, const Buffer *b) const {
    return a->base < b->base;
  }
};
using BufferFootprints = std::map<Buffer *, BufferFootprint, ByBase>;

/// The set, which is relative to `value`, within [begin, end) relative to
/// `base`.
ByteSet clip(const ByteSet &set, uintptr_t value, uintptr_t begin,
             uintptr_t end, uintptr_t base) {
  ByteSet result;
  const int64_t lo = int64_t(begin - base), hi = int64_t(end - base);
  if (set.Everything) {
    result.Ranges.push_back({lo, hi});
    return result;
  }
  const int64_t shift = int64_t(value - base);
  for (const ByteRange &range : set.Ranges) {
    int64_t from, to;
    if (__builtin_add_overflow(range.Begin, shift, &from))
      from = range.Begin < 0 ? INT64_MIN : INT64_MAX;
    if (__builtin_add_overflow(range.End, shift, &to))
      to = range.End < 0 ? INT64_MIN : INT64_MAX;
    from = std::max(from, lo);
    to = std::min(to, hi);
    if (from < to)
      result.Ranges.push_back({from, to});
  }
  return result;
}

/// The addresses that a set can reach from `value`, for pointers into nothing.
AddressRange reach(const ByteFootprint &footprint, uintptr_t value) {
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (const ByteSet *set : {&footprint.MayRead, &footprint.MayWrite}) {
    if (set->Everything)
      return {0, UINTPTR_MAX};
    if (set->Ranges.empty())
      continue;
    lo = std::min(lo, set->Ranges.front().Begin);
    hi = std::max(hi, set->Ranges.back().End);
  }
  if (lo >= hi)
    return {value, value};
  return {value + uintptr_t(lo), value + uintptr_t(hi)};
}

void add(BufferFootprint &use, uint32_t pointer, const ByteFootprint &footprint,
         uintptr_t value, const Allocation &allocation) {
  uintptr_t base = allocation.buffer->base;
  auto clipped = [&](const ByteSet &set) {
    return clip(set, value, allocation.base, allocation.end(), base);
  };
  ByteSet read = clipped(footprint.MayRead);
  unite(use.MayRead, read);
  unite(use.MayWrite, clipped(footprint.MayWrite));
  unite(use.Affine, clipped(footprint.Affine));
  unite(use.Atomic, clipped(footprint.Atomic));
  ByteSet must = clipped(footprint.MustWrite);
  if (!must.Ranges.empty())
    use.musts.emplace_back(pointer, std::move(must));
  use.reads.emplace_back(pointer, std::move(read));
}

/// The least part of the chunk at `used` that holds what of the set is in it.
ChunkPart hullOf(const ByteSet &set, ByteRange used) {
  if (set.Everything)
    return {0, size_t(used.End - used.Begin)};
  auto first = std::partition_point(
      set.Ranges.begin(), set.Ranges.end(),
      [&](const ByteRange &range) { return range.End <= used.Begin; });
  auto last = std::partition_point(
      first, set.Ranges.end(),
      [&](const ByteRange &range) { return range.Begin < used.End; });
  if (first == last)
    return {};
  return {size_t(std::max(first->Begin, used.Begin) - used.Begin),
          size_t(std::min(std::prev(last)->End, used.End) - used.Begin)};
}

void settleMustWrites(BufferFootprint &use) {
  for (auto &[pointer, must] : use.musts) {
    for (const auto &[reader, read] : use.reads)
      if (reader != pointer)
        must = subtract(must, read);
    unite(use.MustWrite, must);
  }
}

/// Data, which are known, say what is touched through the pointer.
bool goesByData(const ResolvedLaunch &launch, const LaunchPointer &pointer) {
  return launch.memory &&
         launch.kernel->footprints->dependsOnMemory(pointer.index);
}

/// Parts that are so near come as one: what lies between costs less than a copy
/// of its own, and far less than to list the accesses of each warp.
constexpr int64_t PartsGap = 4095;

/// What is asked for byte by byte is large, and asked for once.
FootprintCache::Footprint evaluated(const KernelInfo &kernel, uint32_t pointer,
                                    const LaunchDims &dims, const BlockBox &box,
                                    const EvalLimits &limits) {
  if (kernel.footprints && !limits.WithAffine)
    return kernel.footprints->of(pointer, dims, box, limits);
  return std::make_shared<const ByteFootprint>(evaluateFootprint(
      *kernel.summary, *kernel.record, pointer, dims, box, limits));
}

/// By the blocks of the box. `exact`: byte by byte; else gaps that hold no
/// chunk may be filled.
BufferFootprints footprintsOf(const ResolvedLaunch &launch,
                              AddressIndex &allocations, const BlockBox &box,
                              bool withMust, bool exact) {
  const LaunchDims dims = dimsOf(launch);
  EvalLimits limits;
  limits.WithMust = withMust;
  limits.WithAffine = exact;
  if (exact)
    limits.MaxRanges = size_t(1) << 20;
  BufferFootprints uses;
  for (const LaunchPointer &pointer : launch.pointers) {
    if (pointer.elsewhere)
      continue;
    const bool inParts = goesByData(launch, pointer); // which come alone
    limits.MergeGap = !pointer.allocation || exact ? 0
                      : inParts
                          ? PartsGap
                          : int64_t(pointer.allocation->buffer->chunkBytes) - 1;
    const FootprintCache::Footprint found =
        evaluated(*launch.kernel, pointer.index, dims, box, limits);
    const ByteFootprint &footprint = *found;
    if (pointer.allocation) {
      add(uses[pointer.allocation->buffer], pointer.index, footprint,
          pointer.value, *pointer.allocation);
      continue;
    }
    AddressRange range = reach(footprint, pointer.value);
    if (range.begin == 0 && range.end == UINTPTR_MAX)
      continue; // nothing says that it is one of ours: the host's memory
    for (Allocation *allocation :
         allocations.overlapping(range.begin, range.end))
      add(uses[allocation->buffer], pointer.index, footprint, pointer.value,
          *allocation);
  }
  for (auto &[buffer, use] : uses)
    settleMustWrites(use);
  return uses;
}

} // namespace

bool isWithin(const Chunk &chunk, std::span<const AddressRange> ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](AddressRange range) {
    return range.begin <= chunk.va() && chunk.usedEnd() <= range.end;
  });
}

LaunchFootprint footprintOf(const ResolvedLaunch &launch,
                            AddressIndex &allocations, const BlockBox &box,
                            const ChunksAsked &asked) {
  LaunchFootprint result;
  result.anything = launch.anything;
  if (launch.anything) {
    Buffer *last = nullptr;
    for (auto &[base, allocation] : allocations.all()) {
      if (allocation.buffer == last)
        continue; // an arena's next allocation
      last = allocation.buffer;
      if (last->driverMoved != asked.ofDriver)
        continue;
      for (Chunk &chunk : last->chunks)
        result.uses.push_back(useOfAll(chunk, LaunchNeed::Write));
    }
    return result;
  }

  BufferFootprints uses =
      footprintsOf(launch, allocations, box, asked.withMust, false);

  std::set<const Buffer *> byData;
  for (const LaunchPointer &pointer : launch.pointers)
    if (pointer.allocation && goesByData(launch, pointer))
      byData.insert(pointer.allocation->buffer);
  for (auto &[buffer, use] : uses) {
    if (buffer->driverMoved != asked.ofDriver)
      continue;
    const bool partly = byData.contains(buffer);
    // Slices' footprints are evaluated by several threads at a time.
    if (partly)
      std::atomic_ref(buffer->byData).store(true, std::memory_order_relaxed);
    const ByteSet touched = use.touched();
    if (asked.touch)
      asked.touch(*buffer, touched);
    const int64_t unit = int64_t(buffer->chunkBytes);
    int64_t next = 0; // the first chunk that is not listed yet
    for (const ByteRange &range : touched.Ranges) {
      int64_t first = std::max(next, range.Begin / unit);
      int64_t last = (range.End + unit - 1) / unit;
      for (int64_t i = first; i < last; ++i) {
        Chunk &chunk = buffer->chunks[size_t(i)];
        ByteRange used{i * unit, i * unit + int64_t(chunk.used())};
        const ChunkPart written = hullOf(use.MayWrite, used);
        const LaunchNeed need = covers(use.MustWrite, used)
                                    ? LaunchNeed::Overwrite
                                : written.empty() ? LaunchNeed::Read
                                                  : LaunchNeed::Write;
        result.uses.push_back({&chunk, need, hullOf(touched, used), written,
                               intersects(use.Atomic, used), partly});
      }
      next = std::max(next, last);
    }
  }
  return result;
}

std::vector<Chunk *> chunksOf(const LaunchFootprint &footprint) {
  std::vector<Chunk *> chunks;
  chunks.reserve(footprint.uses.size());
  for (const ChunkUse &use : footprint.uses)
    chunks.push_back(use.chunk);
  return chunks;
}

std::pair<LaunchFootprint, LaunchFootprint>
split(const LaunchFootprint &chunks,
      const std::function<bool(const ChunkUse &)> &second) {
  std::pair<LaunchFootprint, LaunchFootprint> result;
  result.first.anything = result.second.anything = chunks.anything;
  for (const ChunkUse &use : chunks.uses)
    (second(use) ? result.second : result.first).uses.push_back(use);
  return result;
}

ObservedBlocks announced(const ResolvedLaunch &launch,
                         AddressIndex &allocations, const BlockBox &box) {
  ObservedBlocks result;
  result.anything = launch.anything;
  if (launch.anything)
    return result;
  BufferFootprints uses = footprintsOf(launch, allocations, box, true, true);
  for (auto &[buffer, use] : uses) {
    auto append = [base = buffer->base](const ByteSet &set,
                                        std::vector<AddressRange> &ranges) {
      for (const ByteRange &range : set.Ranges)
        ranges.push_back(
            {base + uintptr_t(range.Begin), base + uintptr_t(range.End)});
    };
    append(use.touched(), result.may);
    append(use.MayWrite, result.mayWrite);
    append(use.MustWrite, result.must);
    append(use.Affine, result.affine);
  }
  const SummaryView &summary = *launch.kernel->summary;
  for (const LaunchPointer &pointer : launch.pointers) {
    const PointerRecord &record = summary.pointer(pointer.index);
    for (uint32_t i = 0; i < record.NumAccesses; ++i) {
      const uint8_t flags = summary.access(record.FirstAccess + i).Flags;
      result.indirect |= flags & AccessIndirect;
      result.conditional |= flags & AccessConditional;
    }
  }
  return result;
}

std::vector<AddressRange>
addressRanges(const LaunchFootprint &chunks,
              const std::function<bool(const ChunkUse &)> &which) {
  std::vector<AddressRange> ranges;
  for (const ChunkUse &use : chunks.uses) {
    if (which && !which(use))
      continue;
    uintptr_t begin = use.chunk->va(), end = begin + use.chunk->bytes();
    if (!ranges.empty() && ranges.back().end == begin)
      ranges.back().end = end;
    else
      ranges.push_back({begin, end});
  }
  return ranges;
}

} // namespace dragon
