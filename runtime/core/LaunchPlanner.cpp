//===- LaunchPlanner.cpp - how a launch fits into the budget --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/LaunchPlanner.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace dragon {

namespace {

constexpr size_t MaxSlices = 1 << 16;

/// A box is long enough when it takes this share of what it may: finding the
/// longest one takes several times as many footprints to evaluate. Not where
/// a single layer takes much: what chunks a layer has, the next ones may share.
bool isLongEnough(uint64_t bytes, uint64_t limit, uint64_t layer) {
  return layer <= limit / 8 && bytes >= limit - limit / 8;
}

/// Cuts a grid along one dimension, and what does not fit along the others.
/// Slices are small beside the budget: the rest of it holds what they share
/// with others, what comes for the next ones, and what the next launch finds.
constexpr uint64_t SliceShare = 8;

class Slicer {
public:
  /// Gives up when the traffic is no less than `least`.
  Slicer(const PlanInput &input, uint64_t limit, uint64_t least)
      : Input(input), Limit(std::min(limit, input.deviceBudget)), Least(least) {
  }

  bool cut(const BlockBox &box, unsigned dimension, unsigned triedBefore = 0);

  std::vector<BlockBox> Boxes;
  uint64_t Traffic = 0;  ///< bytes of slices that the slice before has not
  uint64_t TooLarge = 0; ///< bytes of what could not be cut further

private:
  uint64_t bytes(const BlockBox &box) const {
    return bytesOf(Input.footprint(box), Input.buffers);
  }
  /// The end of a box from box.Lo that stays within the limit, or within what
  /// its first layer takes alone, and is long enough. `found`: its bytes.
  uint32_t longest(BlockBox box, unsigned dimension, uint32_t guess,
                   uint64_t &found);

  const PlanInput &Input;
  const uint64_t Limit;
  const uint64_t Least;
  ChunkSet Last;
  /// What the layer took that was looked at last, in the dimension that is cut.
  std::optional<uint64_t> Layer;
};

uint32_t Slicer::longest(BlockBox box, unsigned dimension, uint32_t guess,
                         uint64_t &found) {
  const uint32_t lo = box.Lo[dimension], end = box.Hi[dimension];
  auto measure = [&](uint32_t hi) {
    BlockBox part = box;
    part.Hi[dimension] = hi;
    return bytes(part);
  };
  const uint32_t guessedEnd =
      uint32_t(std::min<uint64_t>(end, uint64_t(lo) + guess));
  if (Layer && guess > 1) {
    // Mostly the next box is like the one before.
    found = measure(guessedEnd);
    if (found <= Limit &&
        (guessedEnd == end || isLongEnough(found, Limit, *Layer)))
      return guessedEnd;
  }
  // What one layer takes, chunks being what they are, is no waste for more.
  const uint64_t layer = measure(lo + 1);
  Layer = layer;
  if (layer > Input.deviceBudget) {
    found = layer;
    return lo + 1;
  }
  const uint64_t limit = std::max(Limit, layer);
  uint32_t good = lo + 1; // the longest known to fit
  found = layer;
  uint32_t bad = end + 1;
  uint64_t step = std::clamp<uint64_t>(guess, 1, end - lo);
  // Gallop from the guess, up or down; it is mostly right ...
  bool guessed = false;
  while (good + 1 < bad) {
    uint32_t hi = uint32_t(std::min<uint64_t>(end, lo + step));
    if (std::exchange(guessed, true) && good == lo + guess)
      hi = good + 1;
    if (hi <= good || hi >= bad)
      break;
    uint64_t size = measure(hi);
    if (size <= limit) {
      good = hi;
      found = size;
      if (hi == end || isLongEnough(size, limit, layer))
        return good;
      step *= 2;
    } else {
      bad = hi;
      step = std::max<uint64_t>(step / 2, 1);
      if (good != lo + 1)
        break;
    }
  }
  // ... and search between what fits and what does not.
  while (bad - good > 1 && !isLongEnough(found, limit, layer)) {
    uint32_t middle = good + (bad - good) / 2;
    uint64_t size = measure(middle);
    if (size <= limit) {
      good = middle;
      found = size;
    } else {
      bad = middle;
    }
  }
  return good;
}

bool Slicer::cut(const BlockBox &box, unsigned dimension,
                 unsigned triedBefore) {
  unsigned tried = triedBefore | (1u << dimension);
  Layer.reset();
  uint32_t width = std::max(1u, (box.Hi[dimension] - box.Lo[dimension]) / 4);
  for (uint32_t lo = box.Lo[dimension]; lo < box.Hi[dimension];) {
    BlockBox part = box;
    part.Lo[dimension] = lo;
    uint64_t size = 0;
    uint32_t hi = longest(part, dimension, width, size);
    part.Hi[dimension] = hi;
    if (size <= Input.deviceBudget) {
      if (Boxes.size() >= MaxSlices)
        return false;
      Boxes.push_back(part);
      ChunkSet set = Input.footprint(part);
      Traffic += size - bytesOf(intersection(set, Last), Input.buffers);
      if (Traffic >= Least)
        return false;
      Last = std::move(set);
    } else {
      // One layer is too large.
      unsigned next = 3;
      for (unsigned d = 3; d-- > 0 && next == 3;)
        if (!(tried & (1u << d)) && part.Hi[d] - part.Lo[d] > 1)
          next = d;
      if (next == 3) {
        TooLarge = size;
        return false;
      }
      if (!cut(part, next, tried))
        return false;
      Layer.reset();
    }
    width = hi - lo;
    lo = hi;
  }
  return true;
}

BlockBox firstLayer(BlockBox box, unsigned dimension) {
  box.Hi[dimension] = box.Lo[dimension] + 1;
  return box;
}
BlockBox lastLayer(BlockBox box, unsigned dimension) {
  box.Lo[dimension] = box.Hi[dimension] - 1;
  return box;
}

} // namespace

void normalize(ChunkSet &set) {
  std::sort(set.begin(), set.end(),
            [](const ChunkInterval &a, const ChunkInterval &b) {
              return a.buffer != b.buffer ? a.buffer < b.buffer
                                          : a.begin < b.begin;
            });
  size_t n = 0;
  for (const ChunkInterval &interval : set) {
    if (interval.begin >= interval.end)
      continue;
    if (n && set[n - 1].buffer == interval.buffer &&
        interval.begin <= set[n - 1].end)
      set[n - 1].end = std::max(set[n - 1].end, interval.end);
    else
      set[n++] = interval;
  }
  set.resize(n);
}

ChunkSet intersection(const ChunkSet &a, const ChunkSet &b) {
  ChunkSet result;
  auto x = a.begin(), y = b.begin();
  while (x != a.end() && y != b.end()) {
    if (x->buffer != y->buffer) {
      ++(x->buffer < y->buffer ? x : y);
      continue;
    }
    uint32_t begin = std::max(x->begin, y->begin);
    uint32_t end = std::min(x->end, y->end);
    if (begin < end)
      result.push_back({x->buffer, begin, end});
    ++(x->end < y->end ? x : y);
  }
  return result;
}

uint64_t bytesOf(const ChunkSet &set, const std::vector<BufferShape> &shapes) {
  uint64_t bytes = 0;
  for (const ChunkInterval &interval : set) {
    const BufferShape &shape = shapes[interval.buffer];
    bytes += std::min(shape.bytes, interval.end * shape.chunkBytes) -
             std::min(shape.bytes, interval.begin * shape.chunkBytes);
  }
  return bytes;
}

LaunchPlan planLaunch(const PlanInput &input) {
  LaunchPlan plan{};
  BlockBox grid{{0, 0, 0}, {input.grid[0], input.grid[1], input.grid[2]}};
  plan.whole = input.footprint(grid);
  plan.wholeBytes = bytesOf(plan.whole, input.buffers);
  plan.boxes = {grid};
  plan.kind = LaunchPlan::Resident;
  const bool fits = plan.wholeBytes <= input.deviceBudget;
  if (fits && !(input.sparing && input.sliceable))
    return plan;

  if (input.sliceable) {
    std::optional<uint64_t> best;
    for (unsigned d = 3; d-- > 0;) {
      if (input.grid[d] <= 1)
        continue;
      uint64_t shared =
          bytesOf(intersection(input.footprint(firstLayer(grid, d)),
                               input.footprint(lastLayer(grid, d))),
                  input.buffers);
      shared = std::min(shared, input.deviceBudget);
      Slicer slicer(input, shared + (input.deviceBudget - shared) / SliceShare,
                    best.value_or(UINT64_MAX));
      if (!slicer.cut(grid, d)) {
        if (slicer.TooLarge &&
            (plan.smallestBytes == 0 || slicer.TooLarge < plan.smallestBytes))
          plan.smallestBytes = slicer.TooLarge;
        continue;
      }
      if (!best || slicer.Traffic < *best) {
        best = slicer.Traffic;
        plan.boxes = std::move(slicer.Boxes);
      }
    }
    if (best) {
      if (plan.boxes.size() > 1)
        plan.kind = LaunchPlan::Sliced;
      return plan;
    }
  }
  plan.boxes = {grid};
  if (fits)
    return plan;
  if (input.hostMapped &&
      plan.wholeBytes <= input.deviceBudget + input.hostBudget)
    plan.kind = LaunchPlan::HostMapped;
  else
    plan.kind = LaunchPlan::Impossible;
  return plan;
}

} // namespace dragon
