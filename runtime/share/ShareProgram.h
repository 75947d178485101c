//===- ShareProgram.h - a program on a device that is shared ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_SHARE_SHAREPROGRAM_H
#define DRAGON_RUNTIME_SHARE_SHAREPROGRAM_H

#include <cstdint>

namespace dragon {

/// A program on the device. All in bytes, but the first three and those
/// that say so.
struct ShareProgram {
  int32_t pid; ///< 0: nobody has the place. For people only
  char name[28];
  uint64_t weight;
  uint64_t most;     ///< it never takes more
  uint64_t wanted;   ///< what its buffers need
  uint64_t limit;    ///< what it may hold now
  uint64_t held;     ///< what it holds
  uint64_t waitsFor; ///< it waits for so much; 0: for nothing
  uint64_t yields;   ///< 1: it waits for something else than the device
  uint64_t least;    ///< what a call of it needs at once
  uint64_t spare;    ///< 1: it takes only what no other program wants
  uint64_t stays;    ///< it cannot give that back: it stays beyond its calls
  uint64_t claim;    ///< its call at hand holds so much at once; 0: nothing
  uint64_t asksFor;  ///< it waits for that claim; 0: for none
  uint64_t askedAt;  ///< no bytes: who asked before comes first
  uint64_t steps;    ///< no bytes: changes as it gets on

  /// What nobody can call back.
  uint64_t firm() const { return stays > claim ? stays : claim; }
};

} // namespace dragon

#endif // DRAGON_RUNTIME_SHARE_SHAREPROGRAM_H
