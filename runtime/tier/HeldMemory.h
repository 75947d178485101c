//===- HeldMemory.h - what the device reads where it lies -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory that the program pinned is copied from by the device, without a copy
// in host memory. The program may go on meanwhile: from its point of view the
// copy has been made. So what the device still has to read is held, and who is
// about to let the program change or release some of it waits until it is let
// go (tier/ProtectedMemory.h, files/ProgramMemory.h).
//
// Source: CUDA C++ Programming Guide, "Page-Locked Host Memory".
// Threads: all functions from any thread; await() from signal handlers as well:
// it takes neither a lock nor memory. In a forked child nothing is held.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_HELDMEMORY_H
#define DRAGON_RUNTIME_TIER_HELDMEMORY_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dragon {

class HeldMemory {
public:
  /// The process's. Never destroyed.
  static HeldMemory &get();

  /// False: too many ranges are held. The caller keeps those away who are about
  /// to call await() for some of it.
  bool hold(uintptr_t begin, uintptr_t end);
  /// A range that was held, once for each time.
  void letGo(uintptr_t begin, uintptr_t end);
  /// Returns when none of [begin, end) is held.
  void await(uintptr_t begin, uintptr_t end) const;

private:
  bool overlaps(uintptr_t begin, uintptr_t end) const;
  void clear();

  /// Free where `begin` is 0; while `end` is, it is being made or given up.
  struct Range {
    std::atomic<uintptr_t> begin{0}, end{0};
  };
  /// More than threads that fetch.
  std::array<Range, 64> Ranges;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_HELDMEMORY_H
