//===- BoxFootprints.cpp - the chunks of parts of a grid ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/BoxFootprints.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dragon {

size_t BoxFootprints::Hash::operator()(const BlockBox &box) const {
  uint64_t hash = 0;
  for (unsigned d = 0; d < std::size(box.Lo); ++d) {
    hash = (hash ^ box.Lo[d]) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 29) ^ box.Hi[d]) * 0xbf58476d1ce4e5b9;
  }
  return size_t(hash ^ (hash >> 32));
}

bool BoxFootprints::Same::operator()(const BlockBox &a,
                                     const BlockBox &b) const {
  return std::ranges::equal(a.Lo, b.Lo) && std::ranges::equal(a.Hi, b.Hi);
}

BoxFootprints::BoxFootprints(const ResolvedLaunch &launch,
                             AddressIndex &allocations,
                             const LaunchFootprint &whole, ThreadPool &threads)
    : Launch(launch), Allocations(allocations), Threads(threads) {
  for (const ChunkUse &use : whole.uses) {
    const Buffer &buffer = *use.chunk->buffer;
    if (Numbers.emplace(&buffer, uint32_t(Shapes.size())).second)
      Shapes.push_back({buffer.vaBytes, buffer.chunkBytes});
  }
  Seen[wholeGrid(launch)].set = setOf(whole);
}

ChunkSet BoxFootprints::setOf(const LaunchFootprint &chunks) const {
  ChunkSet set;
  const Buffer *last = nullptr;
  for (const ChunkUse &use : chunks.uses) {
    const uint32_t index = use.chunk->index;
    if (use.chunk->buffer == last && set.back().end == index) {
      ++set.back().end;
      continue;
    }
    last = use.chunk->buffer;
    set.push_back({Numbers.at(last), index, index + 1});
  }
  normalize(set);
  return set;
}

BoxFootprints::Known BoxFootprints::evaluate(const BlockBox &box) const {
  Known known;
  ChunksAsked asked;
  asked.withMust = false;
  // Each box's footprint is an approximation by itself. What the grid's does
  // not have is not touched, whatever a part's says.
  asked.touch = [&](const Buffer &buffer, const ByteSet &touched) {
    if (const auto number = Numbers.find(&buffer); number != Numbers.end())
      for (const ByteRange &range : touched.Ranges)
        known.extents.push_back({number->second, range.Begin, range.End});
  };
  known.chunks = footprintOf(Launch, Allocations, box, asked);
  const Buffer *last = nullptr; // a buffer's chunks follow one another
  bool isGrids = false;
  std::erase_if(known.chunks.uses, [&](const ChunkUse &use) {
    if (use.chunk->buffer != last) {
      last = use.chunk->buffer;
      isGrids = Numbers.contains(last);
    }
    return !isGrids;
  });
  known.set = setOf(known.chunks);
  return known;
}

const ChunkSet &BoxFootprints::of(const BlockBox &box) {
  auto [known, isNew] = Seen.try_emplace(box);
  if (isNew)
    known->second = evaluate(box);
  return known->second.set;
}

std::span<const ByteInterval>
BoxFootprints::extentsOf(const BlockBox &box) const {
  return Seen.at(box).extents;
}

void BoxFootprints::foresee(std::span<const BlockBox> boxes) {
  if (Threads.threads() < 2)
    return; // they may not be asked for
  std::vector<std::pair<const BlockBox *, Known *>> asked;
  for (const BlockBox &box : boxes)
    if (auto [known, isNew] = Seen.try_emplace(box); isNew)
      asked.emplace_back(&box, &known->second); // stays where it is
  Threads.forEach(asked.size(), asked.size() / BoxesPerThread, [&](size_t i) {
    *asked[i].second = evaluate(*asked[i].first);
  });
}

LaunchFootprint BoxFootprints::take(const BlockBox &box) {
  return std::move(Seen.at(box).chunks);
}

LaunchFootprint narrowed(const ResolvedLaunch &launch,
                         AddressIndex &allocations,
                         const LaunchFootprint &whole) {
  const std::vector<BlockBox> groups = equalBoxes(launch, GroupsOfGrid);
  if (whole.anything || groups.size() < 2)
    return whole;
  BoxFootprints boxes(launch, allocations, whole);
  boxes.foresee(groups);
  std::unordered_map<const Chunk *, ChunkUse> touched;
  for (const BlockBox &group : groups) {
    boxes.of(group);
    const LaunchFootprint part = boxes.take(group);
    if (part.anything)
      return whole;
    for (const ChunkUse &use : part.uses) {
      auto [known, isNew] = touched.try_emplace(use.chunk, use);
      if (isNew)
        continue;
      ChunkUse &all = known->second;
      all.need = std::max(all.need, use.need);
      all.touched = hull(all.touched, use.touched);
      all.written = hull(all.written, use.written);
      all.atomic |= use.atomic;
    }
  }
  LaunchFootprint result;
  for (const ChunkUse &use : whole.uses)
    if (use.mustWrite())
      result.uses.push_back(use);
    else if (const auto found = touched.find(use.chunk); found != touched.end())
      result.uses.push_back(found->second);
  return result;
}

} // namespace dragon
