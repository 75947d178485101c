//===- Writers.cpp - what computes a buffer's contents --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Writers.h"

using namespace llvm;

namespace dragon {

SmallVector<EventRef, 4> writersBefore(const BufferProgram &Program,
                                       const FlowGraph &Graph, unsigned Buffer,
                                       EventRef End) {
  SmallVector<EventRef, 4> Writers;
  for (EventRef At : Program.uses(Buffer)) {
    const Event &E = Program.event(At);
    bool Computes = E.is<LaunchEvent, CopyEvent, FillEvent>();
    if (Computes && E.writes(Buffer) && Graph.mayPrecede(At, End))
      Writers.push_back(At);
  }
  return Writers;
}

std::optional<EventRef> pointInFrontOf(ArrayRef<EventRef> Writers,
                                       const BufferProgram &Program,
                                       const FlowGraph &Graph) {
  unsigned Block = Writers[0].Block;
  for (EventRef W : Writers)
    Block = Graph.commonDominator(Block, W.Block);
  while (Graph.inCycle(Block)) {
    if (Block == 0)
      return std::nullopt;
    Block = Graph.immediateDominator(Block);
  }
  EventRef Point{Block,
                 static_cast<unsigned>(Program.Blocks[Block].Events.size())};
  for (EventRef W : Writers)
    if (W.Block == Block && W.Index < Point.Index)
      Point = W;
  return Point;
}

} // namespace dragon
