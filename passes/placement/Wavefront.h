//===- Wavefront.h - launches that run together --------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two launches over the same data need not move it twice: with each slice of
// the first, as much of the second can run as depends on nothing that is still
// to come (temporal blocking, the wavefront of stencil codes; HHRT leaves it to
// the programmer). For that the runtime must keep the first launch back until
// the second is made. Whether there will be one, and soon, is read off the
// buffer program:
//
//   block loop                 step is followed by step, round the loop: its
//   launch step read(a|b) write(a|b)       end is less likely than its going on
//   -> loop, after
//
// A guess about paths, not a proof: the runtime must do without the second.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_WAVEFRONT_H
#define DRAGON_PASSES_PLACEMENT_WAVEFRONT_H

#include "passes/placement/FlowGraph.h"

#include <optional>

namespace dragon {

/// A launch and the next one that shares data with it, on the likeliest path;
/// few others come in between. All can be sliced.
struct LaunchPair {
  EventRef First, Second;
  /// Both touch them, and perhaps the same bytes.
  llvm::SmallVector<unsigned, 4> Shared;
  /// What the first must not wait for, or would wait for too long.
  std::optional<EventRef> Between;
};

/// All that share a buffer, in block order.
std::vector<LaunchPair> launchPairs(const BufferProgram &Program,
                                    const FlowGraph &Graph);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_WAVEFRONT_H
