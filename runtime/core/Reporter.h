//===- Reporter.h - what is told of a run that goes on ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread writes the file of DRAGON_STATS from time to time, as a new one that
// takes the place of the old one, and shows on a terminal where the run is
// (ProgressLine.h). It takes none of the runtime's locks, and asks the driver
// nothing. Where neither is wanted there is no thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_REPORTER_H
#define DRAGON_RUNTIME_CORE_REPORTER_H

#include "runtime/core/ProgressLine.h"
#include "runtime/memory/Context.h"
#include "runtime/memory/HostSlabs.h"
#include "runtime/trace/Stats.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace dragon {

class Reporter {
public:
  using Clock = Progress::Clock;

  Reporter(Context &context, const SlabPool &onDevice, const HostSlabs &onHost)
      : Ctx(context), OnDevice(onDevice), OnHost(onHost) {}
  ~Reporter() { stop(); }

  /// Once.
  void start();
  /// Waits for the thread, and erases the line.
  void stop();
  /// The same for a process that is about to be killed: from now on the thread
  /// writes nothing. Waits for what it writes now, but not for long: a thread
  /// that will not go on may have what it needs.
  void silence();
  /// Of the run up to now: what the ledger and the pools know.
  Stats statistics(const Budget &limits, bool ended) const;
  /// DRAGON_STATS, in the folder in which the run began. 0, or what errno says.
  int writeStats(const Stats &stats) const;

private:
  struct Moved {
    std::array<uint64_t, NumDirections> bytes{}, nanoseconds{};
  };

  void run();
  void rewriteStats();
  void show(Clock::time_point now);
  Moved movedByNow() const;
  ProgressFigures figures(Clock::time_point now);

  Context &Ctx;
  const SlabPool &OnDevice;
  const HostSlabs &OnHost;
  const Clock::time_point Begun = Clock::now();
  Budget Limits{};       ///< when it began; they may be lowered
  std::string Path;      ///< of the statistics
  bool Rewrites = false; ///< they are written while the run goes on
  bool Shows = false;    ///< there may be a line
  std::optional<Clock::time_point> OutSince;
  std::optional<Clock::time_point> LastShown;
  Moved Last;
  double DiskRead = 0, DiskWrite = 0; ///< the most that was measured

  std::mutex Lock;
  std::condition_variable Changed;
  bool Stopping = false;
  std::timed_mutex Writing; ///< taken after Lock
  std::atomic<bool> Silent{false};
  std::thread Thread;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_REPORTER_H
