//===- OrdinaryMemory.h - evicted contents that are not pinned --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pinned memory takes the driver long to make, and keeps its other calls
// waiting meanwhile. Contents that leave the device while there is none can
// stay in memory of the process as it is: they go there from a pinned slab, by
// the processor, as they would go to swap, and the slab serves the next. They
// come back as copies of the program's memory do (memory/ProgramFetch.h), so
// places are given as those of BackingFile::programMemory().
//
// Places that are given back are kept: their pages are there.
//
// Threads: one at a time.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_ORDINARYMEMORY_H
#define DRAGON_RUNTIME_TIER_ORDINARYMEMORY_H

#include "runtime/tier/FileTier.h"

#include <functional>
#include <map>

namespace dragon {

class OrdinaryMemory {
public:
  OrdinaryMemory() = default;
  ~OrdinaryMemory();
  OrdinaryMemory(const OrdinaryMemory &) = delete;
  OrdinaryMemory &operator=(const OrdinaryMemory &) = delete;

  /// So many bytes at most. `charge`: so many more (or less) are held; false:
  /// there is no room for them.
  void setBudget(uint64_t most, std::function<bool(int64_t)> charge) {
    Most = most;
    Charge = std::move(charge);
  }
  /// Without memory: there is no room, or the system has none.
  SwapFile::Slot allocate(size_t bytes);
  void release(const SwapFile::Slot &slot);
  /// Gives back what nobody has.
  void trim();
  uint64_t held() const { return Held; }

private:
  uint64_t Most = 0; ///< none: nobody has said how much
  std::function<bool(int64_t)> Charge;
  std::multimap<size_t, uintptr_t> Free; ///< by their sizes
  uint64_t Held = 0;                     ///< with those that are free
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_ORDINARYMEMORY_H
