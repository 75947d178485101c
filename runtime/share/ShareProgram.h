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
  uint64_t gang;     ///< no bytes: those of one have their turns together
  uint64_t turn;     ///< nanoseconds that its turn lasts; 0: it takes no turns
  uint64_t crowded;  ///< 1: it and others do not fit together
  uint64_t waits;    ///< 1: it waits for its turn
  uint64_t beats;    ///< no bytes: changes as long as it runs; 0: nobody counts
  uint64_t follows;  ///< 1: who counts them may wait for a call of its own
  uint64_t stopped;  ///< 1: it does not run (SIGSTOP, a debugger, a freezer)
  uint64_t turns;    ///< no bytes: how many times it has got the turn

  /// What nobody can call back: all, of one that does not run.
  uint64_t firm() const {
    const uint64_t most = stays > claim ? stays : claim;
    return stopped && held > most ? held : most;
  }
  /// Others come first: it does nothing with the device.
  bool rests() const { return yields || stopped; }
  /// It waits for a claim, and will take it.
  bool asks() const { return pid && asksFor && !stopped; }
  /// What it would take.
  uint64_t wish() const { return wanted < most ? wanted : most; }
};

} // namespace dragon

#endif // DRAGON_RUNTIME_SHARE_SHAREPROGRAM_H
