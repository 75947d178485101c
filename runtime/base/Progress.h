//===- Progress.h - where a run is ------------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches say which of their slices runs, for whoever shows it
// (core/Reporter.h). Nobody looks: a branch for each slice. Thread-safe; one
// thread at a time has slices.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_PROGRESS_H
#define DRAGON_RUNTIME_BASE_PROGRESS_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace dragon {

class Progress {
public:
  using Clock = std::chrono::steady_clock;

  struct Place {
    std::string kernel;
    size_t more = 0;   ///< launches that run with it
    size_t slice = 0;  ///< that is on its way, from 1
    size_t slices = 0; ///< 0: no launch runs in slices now
    Clock::time_point begun{};
  };

  /// While it lives, a launch runs in so many slices.
  class Slices {
  public:
    /// `more` launches run slice by slice with it.
    Slices(Progress &progress, const char *kernel, size_t more, size_t slices)
        : Told(progress.Watched.load(std::memory_order_relaxed) ? &progress
                                                                : nullptr) {
      if (!Told)
        return;
      const std::lock_guard guard(Told->Lock);
      Told->Now = {kernel, more, 0, slices, Clock::now()};
    }
    ~Slices() {
      if (!Told)
        return;
      const std::lock_guard guard(Told->Lock);
      Told->Now = {};
    }
    Slices(const Slices &) = delete;
    Slices &operator=(const Slices &) = delete;
    void run(size_t index) {
      if (!Told)
        return;
      const std::lock_guard guard(Told->Lock);
      Told->Now.slice = index + 1;
    }

  private:
    Progress *const Told;
  };

  void watch() { Watched = true; }
  Place place() const {
    const std::lock_guard guard(Lock);
    return Now;
  }
  /// Not everything fits.
  void goOutOfCore() { OutOfCore = true; }
  bool isOutOfCore() const { return OutOfCore; }

private:
  std::atomic<bool> Watched{false};
  std::atomic<bool> OutOfCore{false};
  mutable std::mutex Lock;
  Place Now;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_PROGRESS_H
