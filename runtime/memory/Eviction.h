//===- Eviction.h - whom to evict -------------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Belady's rule where the next use is known (a sliced launch knows its own
// order), and his rule with a guess where it is not: what was not needed for
// long will not be needed for long (LRU). Both are distances on one clock, so
// that they can be compared. A chunk whose eviction costs two copies (out, and
// in again) counts as needed twice as soon as one that costs one, and what
// costs none goes first. To wait for work that uses the chunk counts as one
// copy in a wave, of whose chunks the farthest is the one that it has just
// left, and as several where what comes would wait for what leaves. Of equals,
// and of those that cost nothing, the one goes that nobody works on. Almost as
// far counts as equally far: in a loop over more than fits the farthest is what
// the last launch used, and to take the one before it lets copies go on while
// that launch runs. What was chosen to come and go (StreamedChunks.h) goes as
// if it were needed several times as late: where nobody works on it, more so.
// What holds nothing goes before all others, but if a launch is to wait for who
// works on it: that counts as the copies that could be made meanwhile, where
// waiting counts as several. Pure.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_EVICTION_H
#define DRAGON_RUNTIME_MEMORY_EVICTION_H

#include <cstdint>
#include <vector>

namespace dragon {

struct EvictionCandidate {
  uint32_t index;        ///< the caller's
  uint64_t bytes;        ///< that evicting it frees
  uint64_t lastTouch;    ///< clock of its last use
  uint64_t nextUse = 0;  ///< clock of its next use; before now: unknown
  bool empty = false;    ///< holds no contents that anybody needs
  bool copies = false;   ///< evicting it moves data
  bool returns = true;   ///< using it again moves data
  bool busy = false;     ///< work that uses it is under way
  unsigned waits = 0;    ///< copies that waiting for that work counts as
  bool keepLast = false; ///< the program asked for it (DRAGON_ADVISE_...)
  bool streams = false;  ///< it comes and goes so that others can stay
  bool goesRound = true; ///< and launches are those in which it did

  /// Copies that evicting it causes, or counts as.
  unsigned cost() const {
    return (empty ? 0 : unsigned(copies) + unsigned(returns)) + waits;
  }
  /// Whatever goes instead costs as much.
  bool isFree() const { return empty && waits <= 1; }
};

/// Indices of those to evict, in order, so that `bytes` become free; all if
/// that is not enough.
std::vector<uint32_t>
chooseVictims(const std::vector<EvictionCandidate> &candidates, uint64_t now,
              uint64_t bytes);

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_EVICTION_H
