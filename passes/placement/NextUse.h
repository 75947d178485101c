//===- NextUse.h - who needs a buffer next -------------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a point of a buffer program, the first events on each path that touch a
// buffer. Says why contents are dead in the user's words ("overwritten by
// 'forward' at line 71 before any read"), and whether device work lies ahead
// that could use the room.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_NEXTUSE_H
#define DRAGON_PASSES_PLACEMENT_NEXTUSE_H

#include "passes/placement/FlowGraph.h"
#include "passes/placement/PointerFlow.h"

#include <optional>

namespace dragon {

struct NextUses {
  llvm::SmallVector<EventRef, 4> Events;
  /// Some path ends, or goes round for ever, without touching it.
  bool Never = false;
};

/// The first events at or after From (an index may be the block's end). Here
/// and below, paths on which the program is about to fail do not count, but for
/// Failing.
NextUses nextUses(const BufferProgram &Program, EventRef From, unsigned Buffer,
                  bool Failing = false);

/// What uses a buffer's contents next, on the path with the fewest launches. A
/// loop is taken to run many times: leaving it counts as many launches.
struct NextNeed {
  static constexpr unsigned NeverAgain = ~0u;
  /// What leaving a loop counts for.
  static constexpr unsigned LoopLaunches = 16;
  /// None: the contents are dead.
  std::optional<EventRef> At;
  /// Before the launch At, or NeverAgain if At is the host's.
  unsigned Launches = NeverAgain;
  /// The host waits for the device, or does something else, before At.
  bool HostInBetween = false;
};
NextNeed nextNeed(const BufferProgram &Program, const FlowGraph &Graph,
                  EventRef From, unsigned Buffer);

/// Whether something uses the buffer's memory, or frees it, before as many
/// launches as a loop is taken for.
bool usedSoon(const BufferProgram &Program, const FlowGraph &Graph,
              EventRef From, unsigned Buffer);

/// "never read again", "freed at line 9 before any read", ... of all these,
/// each on some edge.
std::string describeDeath(const BufferProgram &Program,
                          const PointerFlow &Pointers, EventRef From,
                          llvm::ArrayRef<NameId> Names, const Position &Where);

/// Whether something could change what a staging buffer stands for, on a path
/// from From to its free.
bool changesAhead(const BufferProgram &Program, EventRef From,
                  unsigned Staging);

/// Whether a path from From launches a kernel.
bool launchAhead(const BufferProgram &Program, EventRef From);

/// Whether a path from From allocates, copies or launches before it ends.
bool deviceWorkAhead(const BufferProgram &Program, EventRef From);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_NEXTUSE_H
