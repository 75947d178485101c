//===- ElementDeaths.h - the end of an array's element -------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Liveness takes an array of buffers for one. Here its elements die one by one:
//
//   1  for l = 0 up to n:          multiply tested-write(output[l])
//   2                              im2col read(output[l])
//   3  for l = n - 1 down to 0:    col2im read(output[l])
//   4  start again
//
// After col2im, element l is not touched by the later iterations of 3, whose
// counters are less. It is one of the elements 0 to n - 1, and nothing touches
// it on the way to 1, which comes to iteration l and writes to it before 2
// reads it. So the contents are dead if each multiply overwrites the element,
// which can be tested at run time.
//
// From the event on, every path is followed with the range of indices that the
// element may have: in the event's own loop by comparing offsets (the counter
// slides past the element), behind it by the loop's bounds. A loop that
// overwrites elements in the order of its counter takes those away that it has
// come by where it is left; single events take away an end of the range. A read
// that may be of an element in the range means that it lives.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_ELEMENTDEATHS_H
#define DRAGON_PASSES_PLACEMENT_ELEMENTDEATHS_H

#include "passes/placement/FlowGraph.h"

#include <vector>

namespace dragon {

struct ElementDeath {
  unsigned Buffer;
  EventRef After;
  ElementIndex Element;
  /// Launches that have to overwrite their element, which is this one.
  std::vector<EventRef> Tests;
};

std::vector<ElementDeath> elementDeaths(const BufferProgram &Program,
                                        const FlowGraph &Graph);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_ELEMENTDEATHS_H
