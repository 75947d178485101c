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
                   const PointerFlow *Pointers, const std::vector<bool> &Elided,
                   bool AssumeTests)
    : Program(Program), Graph(Graph), Pointers(Pointers),
      AssumeTests(AssumeTests) {
  for (unsigned B = 0; B < Program.Buffers.size(); ++B)
    if (Elided[B])
      for (EventRef At : Program.uses(B))
        if (Program.event(At).is<CopyOutEvent>())
          Views.emplace_back(B, At);
  const size_t Names = Program.Buffers.size() + Program.Pointers.size();
  BitVector AtReturn(Names);
  for (unsigned B = 0; B < Program.Buffers.size(); ++B)
    AtReturn[B] = Program.Buffers[B].Escapes;
  In.assign(Program.Blocks.size(), BitVector(Names));
  Out = In;
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto It = Graph.order().rbegin(); It != Graph.order().rend(); ++It) {
      const Block &B = Program.Blocks[*It];
      // Where the program ends, functions registered with atexit may still
      // look at what escapes.
      BitVector Live = B.Successors.empty() ? AtReturn : BitVector(Names);
      for (unsigned S : B.Successors)
        Live |= Pointers ? Pointers->onEdge(In[S], *It, S) : In[S];
      Out[*It] = Live;
      Live = readsWithin(*It).front();
      if (Live != In[*It]) {
        In[*It] = Live;
        Changed = true;
      }
    }
  }
}

void Liveness::transfer(const Event &E, BitVector &Live) const {
  for (const BufferUse &U : E.Uses) {
    if (!U.Must || Program.Buffers[U.Buffer].IsSummary)
      continue;
    // A file may be shorter than what is asked of it.
    bool Overwrites = U.Writes &&
                      (U.Whole || (AssumeTests && U.Testable && !U.Reads)) &&
                      !E.is<FileReadEvent>();
    if (E.is<AllocateEvent, FreeEvent>() || Overwrites)
      Live.reset(U.Buffer);
  }
  if (Pointers)
    for (const UseByPointer &U : E.Pointers)
      if (U.Writes && U.Whole && !E.is<FileReadEvent>())
        Live.reset(Program.nameOf(U.Pointer));
  for (const BufferUse &U : E.Uses)
    if (U.Reads && !(Pointers && U.ByPointer))
      Live.set(U.Buffer);
  if (Pointers)
    for (const UseByPointer &U : E.Pointers)
      if (U.Reads)
        Live.set(Program.nameOf(U.Pointer));
}

std::vector<BitVector> Liveness::readsWithin(unsigned Block) const {
  const auto &Events = Program.Blocks[Block].Events;
  std::vector<BitVector> Result(Events.size() + 1);
  BitVector Live = Out[Block];
  for (size_t I = Events.size();; --I) {
    if (Pointers)
      Live = Pointers->beforeSelects(Live, {Block, static_cast<unsigned>(I)});
    Result[I] = Live;
    if (I == 0)
      return Result;
    transfer(Events[I - 1], Live);
  }
}

/// A pointer may be another buffer's address by now, so they go by their own.
BitVector Liveness::withViewed(BitVector Names, EventRef At) const {
  BitVector Viewed(Names.size());
  for (const auto &[Staging, Copy] : Views)
    if (Names[Staging] && Graph.mayPrecede(Copy, At))
      for (const BufferUse &U : Program.event(Copy).Uses)
        if (U.Reads)
          Viewed.set(U.Buffer);
  return Names |= Viewed;
}

BitVector Liveness::all(const BitVector &Names, EventRef At) const {
  BitVector Result = withViewed(Names, At);
  return Pointers ? Pointers->withSame(Result) : Result;
}

EventRef Liveness::endOf(unsigned Block) const {
  return {Block, static_cast<unsigned>(Program.Blocks[Block].Events.size())};
}

std::vector<BitVector> Liveness::namesWithin(unsigned Block) const {
  std::vector<BitVector> Result = readsWithin(Block);
  for (unsigned I = 0; I < Result.size(); ++I)
    Result[I] = withViewed(Result[I], {Block, I});
  return Result;
}

std::vector<BitVector> Liveness::liveWithin(unsigned Block) const {
  std::vector<BitVector> Result = readsWithin(Block);
  for (unsigned I = 0; I < Result.size(); ++I)
    Result[I] = all(Result[I], {Block, I});
  return Result;
}

BitVector Liveness::readsBehindSelects(EventRef At) const {
  if (At == endOf(At.Block))
    return Out[At.Block];
  BitVector Live = readsWithin(At.Block)[At.Index + 1];
  transfer(Program.event(At), Live);
  return Live;
}

BitVector Liveness::liveBehindSelects(EventRef At) const {
  return all(readsBehindSelects(At), At);
}

BitVector Liveness::liveIn(unsigned Block) const {
  return all(In[Block], {Block, 0});
}

BitVector Liveness::liveOut(unsigned Block) const {
  return all(Out[Block], endOf(Block));
}

BitVector Liveness::liveOnEdge(unsigned From, unsigned To) const {
  return all(Pointers ? Pointers->onEdge(In[To], From, To) : In[To],
             endOf(From));
}

BitVector Liveness::liveIf(EventRef At, int Condition, bool Given) const {
  const BitVector Reads = readsBehindSelects(At);
  return all(Pointers ? Pointers->beforeSelects(Reads, At, Condition, Given)
                      : Reads,
             At);
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
    if (E.is<AllocateEvent>()) {
      S.Holds.reset(U.Buffer);
      S.Allocated.set(U.Buffer);
    } else if (E.is<FreeEvent>()) {
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
