//===- RuntimeLock.h - the runtime's lock, in two parts ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   moves   Threads that move contents, or change what buffers there are, have
//           it for a whole call. One at a time.
//   state   What they see and change is consistent for who has it. They have it
//           as well, but while they wait for files.
//
// A launch in core takes `state` alone, so that no other thread's reads and
// writes of files keep it waiting. What such a launch may rely on and change
// while a mover waits is said in launch/Launcher.h.
//
// Both parts go to threads in the order of their calls (FairMutex.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_RUNTIMELOCK_H
#define DRAGON_RUNTIME_BASE_RUNTIMELOCK_H

#include "runtime/base/FairMutex.h"

#include <functional>
#include <utility>

namespace dragon {

class RuntimeLock {
public:
  /// Both parts.
  void lock() {
    Moves.lock();
    lockState();
    Held = true;
  }
  bool try_lock() { // NOLINT(readability-identifier-naming): Lockable's
    if (!Moves.try_lock())
      return false;
    if (!State.try_lock()) {
      Moves.unlock();
      return false;
    }
    Held = true;
    return true;
  }
  void unlock() {
    if (AtEnd)
      AtEnd();
    Held = false;
    unlockState();
    Moves.unlock();
  }

  /// Called by who has both parts, at the end of each call. To be set before
  /// there are others.
  void setAtEnd(std::function<void()> atEnd) { AtEnd = std::move(atEnd); }

  void lockState() { State.lock(); }
  bool tryLockState() { return State.try_lock(); }
  void unlockState() { State.unlock(); }

  /// The thread that has both parts waits for files: others may have `state`
  /// until this ends. Nothing happens where the lock was not taken, as in tests
  /// of single parts, or is kept (Whole).
  class WaitForFiles {
  public:
    explicit WaitForFiles(RuntimeLock &lock)
        : Lock(lock), GaveUp(lock.Held && !lock.Kept) {
      if (!GaveUp)
        return;
      Lock.Held = false;
      Lock.unlockState();
    }
    ~WaitForFiles() {
      if (!GaveUp)
        return;
      Lock.lockState();
      Lock.Held = true;
    }
    WaitForFiles(const WaitForFiles &) = delete;
    WaitForFiles &operator=(const WaitForFiles &) = delete;

  private:
    RuntimeLock &Lock;
    const bool GaveUp;
  };

  /// Who has both parts keeps them, also while it waits: the device may go
  /// away.
  class Whole {
  public:
    explicit Whole(RuntimeLock &lock)
        : Lock(lock), Before(std::exchange(lock.Kept, true)) {}
    ~Whole() { Lock.Kept = Before; }
    Whole(const Whole &) = delete;
    Whole &operator=(const Whole &) = delete;

  private:
    RuntimeLock &Lock;
    const bool Before;
  };

private:
  FairMutex Moves;
  FairMutex State;
  std::function<void()> AtEnd;
  // They belong to who has `moves`, and change with both parts held.
  bool Held = false; ///< it has `state` as well
  bool Kept = false;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_RUNTIMELOCK_H
