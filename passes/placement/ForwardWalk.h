//===- ForwardWalk.h - what comes after an event --------------- -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_FORWARDWALK_H
#define DRAGON_PASSES_PLACEMENT_FORWARDWALK_H

#include "passes/placement/BufferProgram.h"

#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace dragon {

/// How a walk goes on behind an event.
enum class Walk {
  On,
  Leave, ///< nothing behind it on this path
  End    ///< nothing any more
};

/// Calls Visit(event) for the events from From on, on all paths; each block is
/// entered once. False: a visit has ended it.
template <typename Fn>
bool walkForward(const BufferProgram &Program, EventRef From, Fn &&Visit) {
  std::vector<bool> Entered(Program.Blocks.size(), false);
  llvm::SmallVector<EventRef, 8> Pending{From};
  while (!Pending.empty()) {
    EventRef At = Pending.pop_back_val();
    const Block &In = Program.Blocks[At.Block];
    Walk How = Walk::On;
    for (; At.Index < In.Events.size() && How == Walk::On; ++At.Index)
      How = Visit(At);
    if (How == Walk::End)
      return false;
    if (How == Walk::Leave)
      continue;
    for (unsigned S : In.Successors)
      if (!Entered[S]) {
        Entered[S] = true;
        Pending.push_back({S, 0});
      }
  }
  return true;
}

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_FORWARDWALK_H
