//===- NextUses.h - when chunks are needed next, from all that is known *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches that wait to run say it for certain, what was seen before says it
// from experience (LaunchHistory.h), and the compiler announces it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_NEXTUSES_H
#define DRAGON_RUNTIME_LAUNCH_NEXTUSES_H

#include "runtime/launch/LaunchFootprint.h"
#include "runtime/launch/LaunchHistory.h"
#include "runtime/memory/Context.h"
#include "runtime/memory/WorkTracker.h"

namespace dragon {

class ComingUses; // WaitingLaunch.h

class NextUses : public NextUsePredictor {
public:
  NextUses(Context &context, WorkTracker &time) : Ctx(context), Time(time) {}

  /// By what is certain, else by what was seen, else by what the compiler said;
  /// asked for once in a launch.
  Forecast nextUseOf(Chunk &chunk) override;
  void overwritten(uintptr_t begin, uintptr_t end) override;
  /// The same as nextUseOf(), found out anew.
  Forecast foresee(const Chunk &chunk) const;

  /// A launch begins: its number, and its time on the clock.
  uint64_t beginLaunch();
  /// The clock of the launch that the predictions are for.
  uint64_t launchClock() const { return LaunchClock; }
  void setLaunchClock(uint64_t clock) { LaunchClock = clock; }
  /// Remembers the launch; what follows it may be foreseen then.
  void remember(const ResolvedLaunch &launch, const LaunchFootprint &whole);
  /// The same for work of others, on whole chunks.
  void remember(uint64_t signature, std::span<const ChunkUse> uses);
  /// There is a forecast for what follows the launch.
  bool foresees() const { return History.foresees(); }
  /// LaunchHistory::forNext().
  template <typename Visit> void forNext(size_t launches, Visit visit) const {
    History.forNext(launches, visit);
  }
  /// LaunchHistory's period(), repeated() and forPeriod().
  const LaunchHistory &history() const { return History; }
  static constexpr uint32_t NeverAgain = UINT32_MAX;
  /// The compiler says that the buffer is needed after so many launches, or
  /// NeverAgain.
  void announce(Buffer &buffer, uint32_t launches);
  /// Launches that wait, in their order; null: none.
  void setComing(const ComingUses *coming) { Coming = coming; }

private:
  /// The clock of the next use by what the compiler said; 0: nothing.
  uint64_t announcedUse(const Buffer &buffer) const;

  Context &Ctx;
  WorkTracker &Time;
  uint64_t LaunchClock = 0; ///< when the last launch began
  LaunchHistory History;
  const ComingUses *Coming = nullptr;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_NEXTUSES_H
