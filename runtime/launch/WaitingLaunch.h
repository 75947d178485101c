//===- WaitingLaunch.h - launches that are kept back ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch returns before it has run, so it can wait for the next one: what
// both need is then moved once (Wavefront.h). It waits if another one is
// expected to follow, because the compiler says so or because it did the last
// time, and if nobody can tell: all it does is to change contents of buffers,
// which the program sees through calls that run it first.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_WAITINGLAUNCH_H
#define DRAGON_RUNTIME_LAUNCH_WAITINGLAUNCH_H

#include "runtime/launch/LaunchCache.h"
#include "runtime/launch/LaunchHistory.h"

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace dragon {

/// Owns what a call refers to.
class WaitingLaunch {
public:
  WaitingLaunch(ResolvedLaunch launch, std::shared_ptr<PlannedLaunch> planned,
                uint64_t clock);

  const ResolvedLaunch &launch() const { return Launch; }
  Queue queue() const { return Launch.queue; }
  PlannedLaunch &planned() const { return *Planned; }
  /// The runtime's clock when it was launched.
  uint64_t clock() const { return Clock; }
  /// Nobody needs the contents behind it.
  void addLastUse(LastUse use) {
    LastUses.push_back(use);
    Launch.lastUses = LastUses;
  }

private:
  ResolvedLaunch Launch; ///< refers to what follows
  std::unique_ptr<char[]> Bytes;
  std::vector<void *> Args;
  std::vector<LastUse> LastUses;
  std::shared_ptr<PlannedLaunch> Planned;
  uint64_t Clock;
};

/// What launches that do not run yet will do with chunks.
class ComingUses {
public:
  /// In the order in which they will run.
  explicit ComingUses(std::span<const WaitingLaunch> launches);
  /// So many of them have run or run now.
  void begun(size_t launches) { Begun = launches; }
  /// By the first of the others that uses the chunk.
  Forecast nextUse(const Chunk &chunk) const;

private:
  struct Use {
    size_t launch;
    Forecast forecast;
  };
  std::unordered_map<const Chunk *, std::vector<Use>> Uses;
  size_t Begun = 0;
};

/// How fine launches that run together are cut.
struct WaveCut {
  SliceSize size;
  uint32_t pieces = 0; ///< the most slices that one of the launches has, so
                       ///< that those that would fit at once are cut as well
};

/// How launches that wait should run.
struct Waves {
  std::vector<size_t> lengths; ///< of consecutive waves
  SliceSize size;              ///< of their slices
};

/// visit(use, number, count) for each: the number of so many of its buffer. A
/// launch goes through its buffers from their beginning to their end.
template <typename Visit>
void inTurn(const std::vector<ChunkUse> &uses, Visit visit) {
  for (auto first = uses.begin(); first != uses.end();) {
    const auto last = std::find_if(first, uses.end(), [&](const ChunkUse &use) {
      return use.chunk->buffer != first->chunk->buffer;
    });
    const size_t count = size_t(last - first);
    for (size_t number = 0; number < count; ++number, ++first)
      visit(*first, number, count);
  }
}

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_WAITINGLAUNCH_H
