//===- Wavefront.cpp - slices of several launches together ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Wavefront.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

namespace dragon {

namespace {

using Launches = std::span<const WaveLaunch *const>;

/// So many slices of the launch must have run.
struct Requirement {
  uint32_t launch;
  uint32_t slices;
};
using Requirements = std::vector<Requirement>;

void require(Requirements &list, Requirement added) {
  for (Requirement &known : list)
    if (known.launch == added.launch) {
      known.slices = std::max(known.slices, added.slices);
      return;
    }
  list.push_back(added);
}

/// What each slice waits for; slices of a launch run one behind the other.
std::vector<std::vector<Requirements>> requirementsOf(Launches launches) {
  struct Chunk {
    Requirement written{0, 0}; ///< by the last launch that writes it
    Requirements used;         ///< by that one and those behind it
  };
  std::unordered_map<uint32_t, Chunk> chunks;
  std::vector<std::vector<Requirements>> result;
  for (uint32_t launch = 0; launch < launches.size(); ++launch) {
    const WaveLaunch &slices = *launches[launch];
    struct Here {
      uint32_t used = 0, written = 0;
    };
    std::unordered_map<uint32_t, Here> here;
    result.emplace_back(slices.size());
    for (uint32_t slice = 0; slice < slices.size(); ++slice)
      for (const WaveUse &use : slices[slice]) {
        const Chunk &chunk = chunks[use.chunk];
        Requirements &needs = result.back()[slice];
        if (use.writes)
          for (const Requirement &before : chunk.used)
            require(needs, before);
        else if (chunk.written.slices)
          require(needs, chunk.written);
        here[use.chunk].used = slice + 1;
        if (use.writes)
          here[use.chunk].written = slice + 1;
      }
    for (const auto &[number, use] : here) {
      Chunk &chunk = chunks[number];
      if (use.written) {
        chunk.written = {launch, use.written};
        chunk.used.clear();
      }
      chunk.used.push_back({launch, use.used});
    }
  }
  return result;
}

constexpr uint32_t Never = UINT32_MAX;

/// When a chunk that a step uses is used next.
struct Following {
  uint32_t step;
  bool overwritten; ///< its contents are dead until then
};

/// Of each use of each step.
std::vector<std::vector<Following>>
followingOf(Launches launches, std::span<const WaveStep> order,
            size_t numChunks, std::vector<std::vector<bool>> &firstOverwrites) {
  std::vector<uint32_t> lastLaunch(numChunks, Never);
  firstOverwrites.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto [launch, slice] = order[i];
    for (const WaveUse &use : (*launches[launch])[slice]) {
      // Between slices of the launch that writes it nobody else uses it.
      firstOverwrites[i].push_back(use.overwritten &&
                                   lastLaunch[use.chunk] != launch);
      lastLaunch[use.chunk] = launch;
    }
  }
  std::vector<Following> next(numChunks, {Never, false});
  std::vector<std::vector<Following>> result(order.size());
  for (size_t i = order.size(); i-- > 0;) {
    const WaveSlice &uses = (*launches[order[i].launch])[order[i].slice];
    for (const WaveUse &use : uses)
      result[i].push_back(next[use.chunk]);
    for (size_t k = 0; k < uses.size(); ++k)
      next[uses[k].chunk] = {uint32_t(i), firstOverwrites[i][k]};
  }
  return result;
}

/// The launches one after the other, back and forth: each begins with what the
/// one before has left on the device.
std::vector<WaveStep> oneByOne(Launches launches) {
  std::vector<WaveStep> order;
  for (uint32_t launch = 0; launch < launches.size(); ++launch) {
    const uint32_t slices = uint32_t(launches[launch]->size());
    for (uint32_t i = 0; i < slices; ++i)
      order.push_back({launch, launch % 2 ? slices - 1 - i : i});
  }
  return order;
}

} // namespace

std::vector<WaveStep> wavefront(Launches launches) {
  const std::vector<std::vector<Requirements>> needs = requirementsOf(launches);
  std::vector<uint32_t> done(launches.size());
  std::vector<WaveStep> order;
  auto isReady = [&](size_t launch) {
    return done[launch] < launches[launch]->size() &&
           std::all_of(
               needs[launch][done[launch]].begin(),
               needs[launch][done[launch]].end(),
               [&](const Requirement &need) {
                 return done[need.launch] >= need.slices;
               });
  };
  // The first launch that has slices left can always go on.
  for (size_t launch = launches.size(); launch-- > 0;)
    if (isReady(launch)) {
      order.push_back({uint32_t(launch), done[launch]++});
      launch = launches.size();
    }
  return order;
}

uint64_t bytesMoved(Launches launches, std::span<const WaveStep> order,
                    std::span<const uint64_t> chunkBytes, uint64_t budget) {
  std::vector<std::vector<bool>> overwrites;
  const auto following =
      followingOf(launches, order, chunkBytes.size(), overwrites);
  struct Chunk {
    bool present = false, dirty = false;
    Following next{Never, false};
  };
  std::vector<Chunk> chunks(chunkBytes.size());
  using Entry = std::pair<uint32_t, uint32_t>; ///< next step, chunk
  std::priority_queue<Entry> farthest;         ///< with entries that are stale
  uint64_t moved = 0, used = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const WaveSlice &uses = (*launches[order[i].launch])[order[i].slice];
    for (size_t k = 0; k < uses.size(); ++k) {
      Chunk &chunk = chunks[uses[k].chunk];
      if (!chunk.present) {
        used += chunkBytes[uses[k].chunk];
        moved += overwrites[i][k] ? 0 : chunkBytes[uses[k].chunk];
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
      chunk.next = following[i][k];
      farthest.emplace(chunk.next.step, uses[k].chunk);
    }
  }
  for (size_t number = 0; number < chunks.size(); ++number)
    moved += chunks[number].dirty ? chunkBytes[number] : 0;
  return moved;
}

size_t launchesTogether(Launches launches, std::span<const uint64_t> chunkBytes,
                        uint64_t budget) {
  // Four say what each moves where the next one finds something of it left.
  const Launches some = launches.first(std::min<size_t>(launches.size(), 4));
  const uint64_t alone =
      bytesMoved(some, oneByOne(some), chunkBytes, budget) / some.size();
  // Less than this is not worth slices that are smaller.
  uint64_t least = alone - alone / 4;
  size_t best = 1, tried = 1;
  for (size_t parts = launches.size(); parts-- > 1;) {
    const size_t together = (launches.size() + parts - 1) / parts;
    if (together == tried)
      continue;
    tried = together;
    const Launches wave = launches.first(together);
    const uint64_t each =
        bytesMoved(wave, wavefront(wave), chunkBytes, budget) / together;
    if (each < least) {
      least = each;
      best = together;
    }
  }
  return best;
}

} // namespace dragon
