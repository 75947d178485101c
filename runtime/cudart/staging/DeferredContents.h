//===- DeferredContents.h - where staged contents are -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all that works on staging buffers shares: the map of deferred contents
// under its lock, and how contents are really brought (materialised).
//
// A device range that is being written to a file is read without the lock: it
// cannot change until that has ended.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_DEFERREDCONTENTS_H
#define DRAGON_RUNTIME_CUDART_STAGING_DEFERREDCONTENTS_H

#include "runtime/core/Runtime.h"
#include "runtime/cudart/staging/DeferredMap.h"
#include "runtime/cudart/staging/InputFiles.h"

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <vector>

namespace dragon {

class DeferredContents {
public:
  using Guard = std::unique_lock<std::recursive_mutex>;

  // -- Without the lock
  Guard lock() { return Guard(Lock); }
  /// The lock, with nothing of the device range being written to a file.
  Guard lockWhenStill(uintptr_t begin, uintptr_t end);
  /// Something is deferred.
  bool any() const { return AnyDeferred.load(std::memory_order_acquire); }
  /// Something of it is in device memory, or is being read there.
  bool anyOfDevice() const {
    return AnyOfDevice.load(std::memory_order_acquire);
  }
  const std::atomic<bool> &anyOfDeviceFlag() const { return AnyOfDevice; }
  /// Map or Dead may have something of the range.
  bool mayHave(uintptr_t begin, uintptr_t end) const {
    return end > KnownBegin.load(std::memory_order_acquire) &&
           begin < KnownEnd.load(std::memory_order_acquire);
  }

  // -- With the lock
  DeferredMap Map;
  DeferredMap Dead; ///< for who watches: what directives have ended
  InputFiles Files;
  Runtime *Attached = nullptr; ///< null: there is no runtime yet
  /// Map or Dead has been changed.
  void changed();
  /// The program frees the device range. True: there is something of it in Map,
  /// and the range is released when there is nothing any more.
  bool keepFreed(uintptr_t begin, uintptr_t end);
  /// They are in memory from now on. What could not be brought is lost, and the
  /// error sticks: nobody may take old bytes for it.
  Status materialise(const std::vector<Segment> &list);
  /// The segment's contents to `memory`.
  Status bring(const Segment &segment, void *memory);
  /// Nobody needs what the segment stands for. By a directive: then who watches
  /// is told of those who read it even so.
  void end(Segment &segment, const dragon_reason *why);
  /// `read` runs without the lock, on the device range, which does not change
  /// meanwhile.
  template <typename Read>
  void readDevice(Guard &guard, uintptr_t begin, uintptr_t end, Read read) {
    auto reading = Readings.insert(Readings.end(), Reading{begin, end});
    changed();
    guard.unlock();
    read();
    guard.lock();
    Readings.erase(reading);
    changed();
    ReadingEnds.notify_all();
  }

  // -- Over a fork
  void lockForFork() { Lock.lock(); }
  void unlockInParent() { Lock.unlock(); }
  void renewInChild();

private:
  /// A device range that is being written to a file.
  struct Reading {
    uintptr_t begin;
    uintptr_t end;
  };

  bool isRead(uintptr_t begin, uintptr_t end) const;
  void releaseFreed();

  std::recursive_mutex Lock;
  std::condition_variable_any ReadingEnds;
  std::list<Reading> Readings;
  /// Device ranges that the program has freed.
  std::vector<std::pair<uintptr_t, uintptr_t>> Freed;
  std::atomic<bool> AnyDeferred{false};
  std::atomic<bool> AnyOfDevice{false};
  std::atomic<uintptr_t> KnownBegin{UINTPTR_MAX}; ///< of Map and Dead
  std::atomic<uintptr_t> KnownEnd{0};             ///< 0: both are empty
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STAGING_DEFERREDCONTENTS_H
