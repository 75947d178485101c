//===- Division.h - how programs divide one memory --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Max-min fairness with weights (Bertsekas and Gallager, Data Networks, section
// 6.5.2): who wants less than its share gets what it wants, and the others
// divide the rest by their weights. What nobody wants is lent by weight, too: a
// program alone has all. Who waits for something else than the device comes
// behind all who do not (HHRT: ranks that wait for a message lend their
// memory). Who takes spare memory (GAME: memory that no program of the GPU
// wants serves the host) comes behind everybody. Who waits for its turn
// (Turns.cpp) comes behind all who do not.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_SHARE_DIVISION_H
#define DRAGON_RUNTIME_SHARE_DIVISION_H

#include <cstdint>
#include <span>
#include <vector>

namespace dragon {

/// What one program asks for. All in bytes but the weight, which is not 0.
struct ShareWish {
  uint64_t weight;
  uint64_t most;   ///< it never takes more (DRAGON_DEVICE_MEMORY)
  uint64_t wanted; ///< of that: what its buffers need
  /// It waits for something else: it is served last, but what nobody else wants
  /// stays with it.
  bool yields = false;
  /// It cannot work with less: that comes first, whatever the weights are, if
  /// it does not yield.
  uint64_t least = 0;
  /// It has no claim: it is served after all others, also those that yield, and
  /// nothing is lent to it.
  bool spare = false;
  /// It holds that, and cannot give it back now: it has so much, whoever comes
  /// first.
  uint64_t firm = 0;
  /// It waits for its turn: it is served behind all who do not, before those
  /// that yield.
  bool waits = false;
};

/// What each may hold, in their order; `total` at most in sum.
std::vector<uint64_t> divide(uint64_t total, std::span<const ShareWish> wishes);

/// The same, as if everybody could give back everything.
std::vector<uint64_t> divideFreely(uint64_t total,
                                   std::span<const ShareWish> wishes);

} // namespace dragon

#endif // DRAGON_RUNTIME_SHARE_DIVISION_H
