//===- ProtectedMemory.h - the program's memory as it was -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chunks may be fetched from the program's memory long after the copy that the
// program asked for (files/ProgramMemory.h). Where the compiler cannot show
// that the memory stays as it is until then, its pages are made read-only: the
// first store to a unit raises a signal, whose handler saves the unit's bytes,
// makes it writable and lets the store run. Fetches read what was saved then:
//
//   cudaMemcpy(d, h, 16 MiB)     the whole units of h are protected; the bytes
//                                in front of them and behind them are copied
//   h[0] = 1                     unit 0 is saved, and writable
//   a slice fetches chunk 0      from what was saved
//   the next call of CUDA        what is still to be fetched from saved units
//                                goes to host memory (hasSaved, forget)
//
// The handler takes no lock but the one here, which is held over copies of
// memory alone: it may run on any thread that holds anything else.
//
// Only memory whose end the process hears of can be protected: private,
// anonymous, no stack, in a process where nobody has pages written by other
// means than stores and the C library's calls. free(), munmap() and the like
// save first (cudart/process/InterposeMemory.cpp). Memory that the program
// pinned can be as long as the device does not write to it (PinnedRanges.h);
// what the driver has mapped is shared with children, and saved before fork().
//
// Units are those of HostRanges.h, where protected ones are marked: system
// calls that would write to them get other memory, as the kernel raises no
// signal.
//
// Sources: mprotect(2), proc_pid_maps(5). The idea is that of copy-on-write
// checkpoints in user space (Plank et al., libckpt, USENIX 1995).
// Threads: all functions from any thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_PROTECTEDMEMORY_H
#define DRAGON_RUNTIME_TIER_PROTECTEDMEMORY_H

#include "runtime/base/HostRanges.h"
#include "runtime/base/Intervals.h"
#include "runtime/base/Rounding.h"
#include "runtime/device/FaultHandling.h"

#include <boost/icl/separate_interval_set.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <pthread.h>
#include <string>
#include <utility>
#include <vector>

namespace dragon {

class ProtectedMemory final : public FaultSink {
public:
  static constexpr uintptr_t UnitBytes = HostRanges::UnitBytes;

  /// The process's. Never destroyed: faults may come as late as in exit
  /// handlers.
  static ProtectedMemory &get();

  /// The whole units in [begin, end).
  static std::pair<uintptr_t, uintptr_t> unitsIn(uintptr_t begin,
                                                 uintptr_t end) {
    return {roundUp(begin, UnitBytes), end / UnitBytes * UnitBytes};
  }

  /// The units that [begin, end) touches.
  static std::pair<uintptr_t, uintptr_t> unitsOf(uintptr_t begin,
                                                 uintptr_t end) {
    return {begin / UnitBytes * UnitBytes, roundUp(end, UnitBytes)};
  }

  /// Copies of more than so many bytes in all are in a file without a name in
  /// that directory.
  void setRoom(uint64_t bytes, std::string directory);

  /// What the memory is besides the program's.
  enum class Kind : uint8_t {
    Pageable,
    Registered, ///< the device does not write to it (PinnedRanges.h)
    Driver      ///< the same, and the driver has mapped it: children share it
  };
  /// False: nothing has been done, since the memory is of a kind that cannot be
  /// protected, or has no whole unit, or there are copies of some of it.
  bool protect(uintptr_t begin, uintptr_t end, Kind kind = Kind::Pageable);
  /// The program is about to change or release the memory: what is protected is
  /// saved and writable. False, with errno: there is no room to save it in, and
  /// what was not saved is protected still.
  bool save(uintptr_t begin, uintptr_t end);
  /// The device reads the bytes where they lie until they are let go
  /// (HeldMemory.h): stores to them wait. False: some are elsewhere, or too
  /// much is held.
  bool hold(uintptr_t begin, uintptr_t end);
  /// Nobody needs the bytes any more: forget(), and what is protected becomes
  /// writable.
  void release(uintptr_t begin, uintptr_t end);

  using Ranges = std::vector<std::pair<uintptr_t, uintptr_t>>;
  /// Something has been saved, and not forgotten, because the program changed
  /// it.
  bool hasSaved() const { return Saved.load(std::memory_order_acquire); }
  Ranges saved();
  /// All that there are copies of in [begin, end), not only what was changed.
  Ranges copied(uintptr_t begin, uintptr_t end);
  /// Nobody needs the copies of what lies in [begin, end).
  void forget(uintptr_t begin, uintptr_t end);

  /// The program has written to some of it, or released it, since it was
  /// protected last.
  bool wasChanged(uintptr_t begin, uintptr_t end);

  /// Some of it is protected, or there is a copy of it.
  bool concerns(uintptr_t begin, uintptr_t end);

  /// While it lives the memory stays as it is; stores to it wait. Its thread
  /// must not make any to protected memory.
  class Reading {
  public:
    Reading();
    ~Reading();
    Reading(const Reading &) = delete;
    Reading &operator=(const Reading &) = delete;
    /// Where the bytes from `address` on are; cuts `bytes` to as many as are
    /// there.
    const void *placeOf(uintptr_t address, size_t &bytes) const;
    /// part(done, from, bytes) for all places of a range.
    template <typename Part>
    void forParts(uintptr_t address, size_t bytes, Part part) const {
      for (size_t done = 0, here; done < bytes; done += here) {
        here = bytes - done;
        const void *from = placeOf(address + done, here);
        part(done, from, here);
      }
    }
    void copy(char *to, uintptr_t address, size_t bytes) const {
      forParts(address, bytes,
               [to](size_t done, const void *from, size_t part) {
                 std::memcpy(to + done, from, part);
               });
    }
  };

  bool hostFault(uintptr_t address, bool write) override;

private:
  ProtectedMemory() = default;
  class Changing;
  void *copyToFile(uintptr_t begin, uintptr_t end, int64_t &slot);
  bool copy(uintptr_t begin, uintptr_t end, bool changed);
  Ranges copiedLocked(uintptr_t begin, uintptr_t end) const;
  void forgetLocked(uintptr_t begin, uintptr_t end);
  bool saveLocked(uintptr_t begin, uintptr_t end);
  bool canBeProtected(uintptr_t begin, uintptr_t end, Kind kind);
  bool isProtected(uintptr_t begin, uintptr_t end);
  bool takeFaults(uintptr_t begin, uintptr_t end);
  bool saveUnit(uintptr_t unit);
  bool makeWritable(uintptr_t begin, uintptr_t end);
  static void lockForFork();
  static void unlockInParent();
  static void renewInChild();

  /// Those who change it must not wait for ever while others read.
  pthread_rwlock_t Lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  static constexpr int64_t InMemory = -1;
  struct Copy {
    uintptr_t end;
    void *memory;
    int64_t slot; ///< where it is in the file, or InMemory
    bool changed; ///< the program has written to the original, or may
  };
  IntervalSet<uintptr_t> Protected;
  IntervalSet<uintptr_t> Shared;  ///< of these, with children
  IntervalSet<uintptr_t> Changed; ///< was protected, and has been saved
  /// Where faults come to us. Ranges that touch stay apart: a fault range has
  /// one beginning.
  boost::icl::separate_interval_set<uintptr_t, std::less, HalfOpen<uintptr_t>>
      Handled;
  std::map<uintptr_t, Copy> Copies; ///< by where the original begins
  uint64_t Copied = 0;              ///< bytes, of copies in memory
  size_t ChangedCopies = 0;         ///< how many of them are `changed`
  uint64_t Room = UINT64_MAX;
  std::string Directory; ///< of the file
  int File = -1;
  std::vector<int64_t> FreeSlots;
  int64_t FileEnd = 0;
  std::atomic<bool> Saved{false};
  std::atomic<bool> Any{false}; ///< protected or saved
  bool Registered = false;      ///< for forks
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_PROTECTEDMEMORY_H
