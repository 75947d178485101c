//===- Liveness.cpp - whose contents are still needed ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Liveness.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

Liveness::Liveness(const BufferProgram &Program, const FlowGraph &Graph,
                   const DeferredSources &Deferred, bool AssumeTests)
    : Program(Program), Deferred(Deferred), AssumeTests(AssumeTests) {
  size_t NumBuffers = Program.Buffers.size();
  BitVector AtReturn(NumBuffers);
  for (unsigned B = 0; B < NumBuffers; ++B)
    AtReturn[B] = Program.Buffers[B].Escapes;
  In.assign(Program.Blocks.size(), BitVector(NumBuffers));
  Out = In;
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto It = Graph.order().rbegin(); It != Graph.order().rend(); ++It) {
      const Block &B = Program.Blocks[*It];
      // Where the program ends, functions registered with atexit may still
      // look at what escapes.
      BitVector Live = B.Successors.empty() ? AtReturn : BitVector(NumBuffers);
      for (unsigned S : B.Successors)
        Live |= In[S];
      Out[*It] = Live;
      for (auto E = B.Events.rbegin(); E != B.Events.rend(); ++E)
        transfer(*E, Live);
      if (Live != In[*It]) {
        In[*It] = Live;
        Changed = true;
      }
    }
  }
}

void Liveness::transfer(const Event &E, BitVector &Live) const {
  // What a live view stands for is read in front of whatever ends it: the view
  // is filled then.
  auto IsViewed = [&](unsigned Buffer) {
    for (unsigned View : Live.set_bits())
      if (is_contained(Deferred[View], Buffer))
        return true;
    return false;
  };
  SmallVector<unsigned, 4> Ended;
  for (const BufferUse &U : E.Uses) {
    if (!U.Must || Program.Buffers[U.Buffer].Several)
      continue;
    // A file may be shorter than what is asked of it.
    bool Overwrites = U.Writes &&
                      (U.Whole || (AssumeTests && U.Testable && !U.Reads)) &&
                      E.Kind != EventKind::FileRead;
    bool Ends = E.Kind == EventKind::Allocate || E.Kind == EventKind::Free ||
                Overwrites;
    if (Ends && !IsViewed(U.Buffer))
      Ended.push_back(U.Buffer);
  }
  for (unsigned Buffer : Ended)
    Live.reset(Buffer);
  for (const BufferUse &U : E.Uses) {
    if (!U.Reads)
      continue;
    Live.set(U.Buffer);
    for (unsigned Source : Deferred[U.Buffer])
      Live.set(Source);
  }
}

std::vector<BitVector> Liveness::liveWithin(unsigned Block) const {
  const auto &Events = Program.Blocks[Block].Events;
  std::vector<BitVector> Result(Events.size() + 1);
  Result.back() = Out[Block];
  for (size_t I = Events.size(); I > 0; --I) {
    Result[I - 1] = Result[I];
    transfer(Events[I - 1], Result[I - 1]);
  }
  return Result;
}

Contents::Contents(const BufferProgram &Program, const FlowGraph &Graph,
                   ArrayRef<End> Given)
    : Program(Program), Ends(Given.begin(), Given.end()) {
  size_t NumBuffers = Program.Buffers.size();
  // Optimistic: everything allocated, nothing held; then meet.
  State Top{BitVector(NumBuffers, true), BitVector(NumBuffers)};
  In.assign(Program.Blocks.size(), Top);
  if (In.empty())
    return;
  In[0].Allocated.reset();
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned B : Graph.order()) {
      State S =
          stateAt({B, static_cast<unsigned>(Program.Blocks[B].Events.size())});
      for (unsigned Successor : Program.Blocks[B].Successors) {
        State New = In[Successor];
        New.Allocated &= S.Allocated;
        New.Holds |= S.Holds;
        if (New.Allocated != In[Successor].Allocated ||
            New.Holds != In[Successor].Holds) {
          In[Successor] = std::move(New);
          Changed = true;
        }
      }
    }
  }
}

void Contents::transfer(EventRef At, State &S) const {
  const Event &E = Program.event(At);
  for (const BufferUse &U : E.Uses) {
    if (E.Kind == EventKind::Allocate) {
      S.Holds.reset(U.Buffer);
      S.Allocated.set(U.Buffer);
    } else if (E.Kind == EventKind::Free) {
      S.Allocated.reset(U.Buffer);
    } else if (U.Writes) {
      S.Holds.set(U.Buffer);
    }
  }
}

Contents::State Contents::stateAt(EventRef At) const {
  State S = In[At.Block];
  for (unsigned I = 0;; ++I) {
    for (const End &E : Ends)
      if (E.At == EventRef{At.Block, I})
        S.Holds.reset(E.Buffer);
    if (I == At.Index)
      return S;
    transfer({At.Block, I}, S);
  }
}

bool Contents::mustBeAllocated(unsigned Buffer, EventRef At) const {
  return stateAt(At).Allocated[Buffer];
}

bool Contents::mayHold(unsigned Buffer, EventRef At) const {
  return stateAt(At).Holds[Buffer];
}

} // namespace dragon
