//===- PinnedRanges.h - host memory that the program pinned -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host memory that the program has from cudaHostAlloc, or that it registered.
// The device may write there without a signal to anybody, if a kernel, a copy
// or a library is given such an address: what has been given one is noted. The
// others are only copied from, and may back buffers as pageable memory does
// (tier/ProtectedMemory.h).
//
// Source: CUDA C++ Programming Guide, "Mapped Memory": pinned memory is at the
// same address for kernels.
// Threads: all functions from any thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_PINNEDRANGES_H
#define DRAGON_RUNTIME_BASE_PINNEDRANGES_H

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace dragon {

class PinnedRanges {
public:
  /// The process's. Never destroyed.
  static PinnedRanges &get();

  enum class Kind : uint8_t {
    Allocated,     ///< mapped by the driver
    WriteCombined, ///< the same; the processor reads it slowly
    Registered     ///< the program's memory
  };
  struct Range {
    uintptr_t begin, end;
    Kind kind;
  };

  void add(const Range &range);
  /// Nothing: none begins there, or it is one of the other kinds.
  std::optional<Range> remove(uintptr_t begin, bool registered);
  std::vector<Range> removeAllocated();

  /// There are any. The rest may be asked only if something lies in them.
  bool any() const { return High.load(std::memory_order_relaxed) != 0; }
  bool holds(uintptr_t address) const { return overlaps(address, address + 1); }
  /// Some of [begin, end) lies in one.
  bool overlaps(uintptr_t begin, uintptr_t end) const;
  /// All of [begin, end) lies in one to which the device has not written, as
  /// far as was noted: that one.
  std::optional<Range> onlyRead(uintptr_t begin, uintptr_t end) const;
  /// The device may write to [begin, end) from now on. Those of which that was
  /// not noted yet.
  std::vector<Range> noteWrites(uintptr_t begin, uintptr_t end);
  /// The device may write to any of them without being noted, now and later.
  void noteUnseenWrites() { Unseen.store(true, std::memory_order_relaxed); }

private:
  struct Known {
    uintptr_t end;
    Kind kind;
    bool written = false;
  };
  /// Some of [begin, end) may be in one. Without the lock: launches ask.
  bool mayHold(uintptr_t begin, uintptr_t end) const {
    return begin < High.load(std::memory_order_relaxed) &&
           end > Low.load(std::memory_order_relaxed);
  }
  std::map<uintptr_t, Known>::const_iterator at(uintptr_t address) const;
  void noteBounds();

  mutable std::mutex Lock;
  std::map<uintptr_t, Known> Ranges;                ///< by where they begin
  std::atomic<uintptr_t> Low{UINTPTR_MAX}, High{0}; ///< of Ranges
  std::atomic<bool> Unseen{false};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_PINNEDRANGES_H
