//===- Cursors.cpp - buffers that loops walk through ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Cursors.h"

using namespace llvm;

namespace dragon {

CursorLiveness::CursorLiveness(const BufferProgram &Program,
                               const FlowGraph &Graph, const Liveness &Live,
                               unsigned Cursor)
    : Program(Program), Live(Live), Cursor(Cursor),
      Buffer(Program.Cursors[Cursor].Buffer),
      Inside(Graph.naturalLoop(Program.Cursors[Cursor].Header)),
      In(Program.Blocks.size()) {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto It = Graph.order().rbegin(); It != Graph.order().rend(); ++It) {
      if (!Inside[*It])
        continue;
      State S = stateAt({*It, 0});
      if (S.Below != In[*It].Below || S.BelowNext != In[*It].BelowNext) {
        In[*It] = S;
        Changed = true;
      }
    }
  }
}

CursorLiveness::State CursorLiveness::endOf(unsigned Block) const {
  State Result;
  for (unsigned S : Program.Blocks[Block].Successors) {
    State Next = In[S];
    if (!Inside[S])
      Next.Below = Next.BelowNext = Live.liveIn(S)[Buffer];
    else if (S == Program.Cursors[Cursor].Header)
      Next.BelowNext = Next.Below;
    Result.Below |= Next.Below;
    Result.BelowNext |= Next.BelowNext;
  }
  return Result;
}

void CursorLiveness::transfer(const Event &E, State &S) const {
  for (const BufferUse &U : E.Uses)
    if (U.Buffer == Buffer && U.Must &&
        (E.is<AllocateEvent, FreeEvent>() ||
         (U.Writes && U.Whole && !E.is<FileReadEvent>())))
      S = {};
  for (const BufferUse &U : E.Uses)
    if (U.Buffer == Buffer && U.Reads) {
      S.BelowNext = true;
      S.Below |= U.Cursor != static_cast<int>(Cursor);
    }
}

CursorLiveness::State CursorLiveness::stateAt(EventRef At) const {
  State S = endOf(At.Block);
  const std::vector<Event> &Events = Program.Blocks[At.Block].Events;
  for (size_t I = Events.size(); I > At.Index; --I)
    transfer(Events[I - 1], S);
  return S;
}

bool CursorLiveness::mayReadBehind(EventRef At) const {
  return stateAt(At).BelowNext;
}

std::vector<CursorEnd> endsBehindCursors(const BufferProgram &Program,
                                         const FlowGraph &Graph,
                                         const Liveness &Live) {
  std::vector<CursorEnd> Result;
  for (unsigned C = 0; C < Program.Cursors.size(); ++C) {
    const unsigned Buffer = Program.Cursors[C].Buffer;
    CursorLiveness Behind(Program, Graph, Live, C);
    std::vector<EventRef> Tests, Ends;
    for (unsigned Block : Graph.order()) {
      if (!Behind.inLoop(Block))
        continue;
      const std::vector<Event> &Events = Program.Blocks[Block].Events;
      std::vector<BitVector> Within = Live.liveWithin(Block);
      for (unsigned I = 0; I < Events.size(); ++I) {
        const BufferUse *U = Events[I].find(Buffer);
        if (!U || U->Cursor != static_cast<int>(C))
          continue;
        if (Events[I].is<LaunchEvent>())
          Tests.push_back({Block, I});
        // Where all of it is dead, there is a directive for all of it.
        if (Within[I + 1][Buffer] && !Behind.mayReadBehind({Block, I + 1}))
          Ends.push_back({Block, I});
      }
    }
    for (EventRef At : Ends)
      Result.push_back({C, At, Tests});
  }
  return Result;
}

} // namespace dragon
