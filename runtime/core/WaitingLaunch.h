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
#ifndef DRAGON_RUNTIME_CORE_WAITINGLAUNCH_H
#define DRAGON_RUNTIME_CORE_WAITINGLAUNCH_H

#include "runtime/core/LaunchCache.h"
#include "runtime/core/LaunchHistory.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace dragon {

/// The kernel and the shape of the launch, hashed.
uint64_t shapeOf(const LaunchCall &call);

/// The launch as the device wants it, but for what it touches.
LaunchRequest requestOf(const LaunchCall &call, const BlockBox &box);

/// Owns what a call refers to.
class WaitingLaunch {
public:
  WaitingLaunch(const LaunchCall &call, std::shared_ptr<PlannedLaunch> planned,
                uint64_t clock);

  /// Valid as long as this.
  LaunchCall call() const;
  Queue queue() const { return Call.queue; }
  PlannedLaunch &planned() const { return *Planned; }
  /// The runtime's clock when it was launched.
  uint64_t clock() const { return Clock; }
  /// Nobody needs the contents behind it.
  void addLastUse(LastUse use) { LastUses.push_back(use); }

private:
  LaunchCall Call;
  std::unique_ptr<char[]> Bytes;
  mutable std::vector<void *> Args;
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

/// The launches that wait, in one queue, and what is known of their like.
struct WaitingLaunches {
  std::vector<WaitingLaunch> launches;
  std::optional<ComingUses> coming; ///< while they run
  /// The device accepted such launches (the kernel and its shape, hashed; it
  /// is asked about the others): they will not be refused when nobody waits for
  /// the answer any more.
  std::unordered_set<uint64_t> accepted;
  /// The waves in which they ran the last time, by their plans and what died.
  std::unordered_map<std::string, Waves> together;
  uint64_t generation = 0; ///< of the plans
  /// The launch before, in what queue and when it returned.
  std::shared_ptr<PlannedLaunch> last;
  Queue lastQueue = nullptr;
  std::chrono::steady_clock::time_point lastEnd;
  /// Something else was called since then; may be set without the lock.
  std::atomic<bool> interrupted{false};
  /// Launches wait, or are being submitted. May be read without the lock.
  std::atomic<bool> any{false};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_WAITINGLAUNCH_H
