//===- WaveLengths.cpp - how many launches run together -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/ThreadPool.h"
#include "runtime/launch/Wavefront.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace dragon {

namespace {

constexpr uint32_t Never = UINT32_MAX;

const WaveSlice &sliceAt(WaveLaunches launches, WaveStep step) {
  return (*launches[step.launch].slices)[step.slice];
}

/// When a chunk that a step uses is used next.
struct Following {
  uint32_t step;
  bool overwritten; ///< its contents are dead until then
};

/// The chunks that no launch behind its last one needs.
std::vector<bool> deadAfter(WaveLaunches launches, size_t numChunks) {
  std::vector<bool> dead(numChunks);
  for (const WaveLaunch &launch : launches) {
    for (const WaveSlice &slice : *launch.slices)
      for (const WaveUse &use : slice)
        dead[use.chunk] = false;
    for (uint32_t chunk : launch.dying)
      dead[chunk] = true;
  }
  return dead;
}

/// The uses of all steps, one behind the other: of step i those from first[i]
/// to first[i + 1].
struct StepUses {
  std::vector<size_t> first;
  std::vector<Following> next;
  /// Overwrites the chunk, as the first slice of its launch that uses it.
  std::vector<bool> overwrites;
};

StepUses followingOf(WaveLaunches launches, std::span<const WaveStep> order,
                     const std::vector<bool> &dead) {
  const size_t numChunks = dead.size();
  StepUses result;
  result.first.reserve(order.size() + 1);
  result.first.push_back(0);
  for (const WaveStep &step : order)
    result.first.push_back(result.first.back() +
                           sliceAt(launches, step).size());
  const size_t numUses = result.first.back();
  result.overwrites.resize(numUses);
  // The first use of each chunk by each launch, without those that do not
  // overwrite it or not yet.
  std::vector<bool> seen(launches.size() * numChunks);
  std::vector<Overwriters<size_t>> overwriters(numChunks);
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t launch = order[i].launch;
    size_t at = result.first[i];
    for (const WaveUse &use : sliceAt(launches, order[i])) {
      auto &turns = overwriters[use.chunk];
      turns.used(launch,
                 [&](size_t other) { result.overwrites[other] = false; });
      auto known = seen[launch * numChunks + use.chunk];
      if (!known && use.overwritten) {
        result.overwrites[at] = true;
        turns.overwritten(launch, at);
      }
      known = true;
      ++at;
    }
  }
  std::vector<Following> next;
  next.reserve(numChunks);
  for (size_t chunk = 0; chunk < numChunks; ++chunk)
    next.push_back({Never, dead[chunk]});
  result.next.resize(numUses);
  for (size_t i = order.size(); i-- > 0;) {
    const WaveSlice &uses = sliceAt(launches, order[i]);
    const size_t first = result.first[i];
    for (size_t k = 0; k < uses.size(); ++k)
      result.next[first + k] = next[uses[k].chunk];
    for (size_t k = 0; k < uses.size(); ++k)
      next[uses[k].chunk] = {uint32_t(i), result.overwrites[first + k]};
  }
  return result;
}

/// Appends the launches from there on, one after the other, back and forth:
/// each begins with what the one before has left on the device.
void appendOneByOne(std::vector<WaveStep> &order, WaveLaunches launches,
                    size_t first) {
  for (size_t launch = first; launch < launches.size(); ++launch) {
    const uint32_t slices = uint32_t(launches[launch].slices->size());
    for (uint32_t i = 0; i < slices; ++i)
      order.push_back({uint32_t(launch), launch % 2 ? slices - 1 - i : i});
  }
}

std::vector<WaveStep> oneByOne(WaveLaunches launches) {
  std::vector<WaveStep> order;
  appendOneByOne(order, launches, 0);
  return order;
}

/// What no order moves less than: each chunk comes once, and leaves once.
uint64_t leastMoved(WaveLaunches launches,
                    std::span<const uint64_t> chunkBytes) {
  return bytesMoved(launches, oneByOne(launches), chunkBytes, UINT64_MAX);
}

/// One or two kinds of launches in turns, such as the time steps of a stencil.
bool areSteps(WaveLaunches launches) {
  for (size_t i = 2; i < launches.size(); ++i)
    if (launches[i].slices != launches[i - 2].slices)
      return false;
  return true;
}

/// What the function says of each length, found out by several threads.
std::vector<uint64_t>
ofEach(const std::vector<size_t> &lengths,
       const std::function<uint64_t(size_t length)> &function) {
  std::vector<uint64_t> result(lengths.size());
  hostThreads().forEach(lengths.size(), lengths.size(),
                        [&](size_t i) { result[i] = function(lengths[i]); });
  return result;
}

/// The length of waves of time steps.
size_t stepsTogether(WaveLaunches launches,
                     std::span<const uint64_t> chunkBytes, uint64_t budget) {
  // Four say what each moves where the next one finds something of it left.
  const WaveLaunches some =
      launches.first(std::min<size_t>(launches.size(), 4));
  const uint64_t alone =
      bytesMoved(some, oneByOne(some), chunkBytes, budget) / some.size();
  // Less than this is not worth slices that are smaller.
  uint64_t least = alone - alone / 4;
  if (leastMoved(launches, chunkBytes) / launches.size() >= least)
    return 1;
  std::vector<size_t> lengths;
  for (size_t parts = launches.size(); parts-- > 1;) {
    const size_t together = (launches.size() + parts - 1) / parts;
    if (together > 1 && (lengths.empty() || together != lengths.back()))
      lengths.push_back(together);
  }
  const std::vector<uint64_t> moved = ofEach(lengths, [&](size_t together) {
    const WaveLaunches wave = launches.first(together);
    return bytesMoved(wave, wavefront(wave), chunkBytes, budget) / together;
  });
  size_t best = 1;
  for (size_t i = 0; i < lengths.size(); ++i)
    if (moved[i] < least) {
      least = moved[i];
      best = lengths[i];
    }
  return best;
}

/// The waves of launches of several kinds, each chosen behind those before it
/// as if the rest were to run one by one.
std::vector<size_t> wavesByChoice(WaveLaunches launches,
                                  std::span<const uint64_t> chunkBytes,
                                  uint64_t budget) {
  std::vector<size_t> lengths;
  std::vector<WaveStep> before; // the steps of these waves
  const uint64_t alone =
      bytesMoved(launches, oneByOne(launches), chunkBytes, budget);
  // Less than this is not worth slices that are smaller.
  const uint64_t clearlyLess = alone - alone / 8,
                 least = leastMoved(launches, chunkBytes);
  if (least > clearlyLess)
    return std::vector<size_t>(launches.size(), 1);
  const uint64_t inOne =
      bytesMoved(launches, wavefront(launches), chunkBytes, budget);
  if (inOne <= clearlyLess && inOne == least)
    return {launches.size()};
  uint64_t soFar = alone; // with the waves so far
  for (size_t first = 0; first < launches.size(); first += lengths.back()) {
    const size_t left = launches.size() - first;
    size_t best = 1;
    // What shortens a loop's rounds to one wave comes again in the next round.
    const size_t last = lengths.empty() ? 0 : lengths.back();
    auto isRepeated = [&] {
      for (size_t i = 0; i < last; ++i)
        if (launches[first + i].slices != launches[first + i - last].slices)
          return false;
      return true;
    };
    if (last > 1 && last <= left && isRepeated()) {
      best = last;
    } else {
      // The one that gains the most for each of its launches: those that a
      // shorter one leaves may gain more in a wave of their own.
      std::vector<size_t> tried;
      for (size_t length = 2; length <= left;
           length += std::max<size_t>(1, length / 3))
        tried.push_back(length);
      const std::vector<uint64_t> moved = ofEach(tried, [&](size_t length) {
        std::vector<WaveStep> order = before;
        appendWave(order, launches, first, length);
        appendOneByOne(order, launches, first + length);
        return bytesMoved(launches, order, chunkBytes, budget);
      });
      double mostEach = 0;
      uint64_t withBest = soFar;
      for (size_t i = 0; i < tried.size(); ++i) {
        const double each =
            moved[i] < soFar ? double(soFar - moved[i]) / double(tried[i]) : 0;
        if (each > mostEach) {
          mostEach = each;
          withBest = moved[i];
          best = tried[i];
        }
      }
      soFar = withBest;
    }
    appendWave(before, launches, first, best);
    lengths.push_back(best);
  }
  const uint64_t chosen = bytesMoved(launches, before, chunkBytes, budget);
  if (inOne < chosen && inOne <= clearlyLess)
    return {launches.size()};
  if (chosen > clearlyLess)
    lengths.assign(launches.size(), 1);
  return lengths;
}

} // namespace

uint64_t bytesMoved(WaveLaunches launches, std::span<const WaveStep> order,
                    std::span<const uint64_t> chunkBytes, uint64_t budget) {
  const std::vector<bool> dead = deadAfter(launches, chunkBytes.size());
  const StepUses following = followingOf(launches, order, dead);
  struct Chunk {
    bool present = false, dirty = false;
    Following next{Never, false};
  };
  std::vector<Chunk> chunks(chunkBytes.size());
  using Entry = std::pair<uint32_t, uint32_t>; ///< next step, chunk
  std::priority_queue<Entry> farthest;         ///< with entries that are stale
  uint64_t moved = 0, used = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const WaveSlice &uses = sliceAt(launches, order[i]);
    const size_t first = following.first[i];
    for (size_t k = 0; k < uses.size(); ++k) {
      Chunk &chunk = chunks[uses[k].chunk];
      if (!chunk.present) {
        used += chunkBytes[uses[k].chunk];
        moved +=
            following.overwrites[first + k] ? 0 : chunkBytes[uses[k].chunk];
      }
      chunk.present = true;
      chunk.next = {uint32_t(i), false}; // stays for this step
    }
    while (used > budget) {
      if (farthest.empty())
        return UINT64_MAX;
      const auto [next, number] = farthest.top();
      farthest.pop();
      Chunk &chunk = chunks[number];
      if (!chunk.present || chunk.next.step != next || next == i)
        continue;
      used -= chunkBytes[number];
      moved += chunk.dirty && !chunk.next.overwritten ? chunkBytes[number] : 0;
      chunk.present = chunk.dirty = false;
    }
    for (size_t k = 0; k < uses.size(); ++k) {
      Chunk &chunk = chunks[uses[k].chunk];
      chunk.dirty |= uses[k].writes;
      chunk.next = following.next[first + k];
      farthest.emplace(chunk.next.step, uses[k].chunk);
    }
  }
  for (size_t number = 0; number < chunks.size(); ++number)
    moved += chunks[number].dirty && !dead[number] ? chunkBytes[number] : 0;
  return moved;
}

std::vector<size_t> wavesOf(WaveLaunches launches,
                            std::span<const uint64_t> chunkBytes,
                            uint64_t budget) {
  if (!areSteps(launches))
    return wavesByChoice(launches, chunkBytes, budget);
  const size_t together = stepsTogether(launches, chunkBytes, budget);
  std::vector<size_t> lengths;
  for (size_t left = launches.size(); left; left -= lengths.back())
    lengths.push_back(std::min(left, together));
  return lengths;
}

} // namespace dragon
