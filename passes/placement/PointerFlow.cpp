//===- PointerFlow.cpp - which buffer a pointer is ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/PointerFlow.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

PointerFlow::PointerFlow(const BufferProgram &Program, const FlowGraph &Graph)
    : Program(Program), Graph(Graph) {
  MadeIn.resize(Program.Blocks.size());
  for (unsigned P = 0; P < Program.Pointers.size(); ++P)
    MadeIn[Program.Pointers[P].Block].push_back(Program.nameOf(P));
  findBuffers();
  findSame();
}

void PointerFlow::findBuffers() {
  const size_t NumBuffers = Program.Buffers.size();
  Buffers.assign(NumBuffers + Program.Pointers.size(), BitVector(NumBuffers));
  for (size_t B = 0; B < NumBuffers; ++B)
    Buffers[B].set(B);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned P = 0; P < Program.Pointers.size(); ++P) {
      BitVector &Of = Buffers[Program.nameOf(P)];
      const size_t Before = Of.count();
      for (const Pointer::Incoming &W : Program.Pointers[P].Incomings)
        for (NameId Name : W.Names)
          Of |= Buffers[Name];
      Changed |= Of.count() != Before;
    }
  }
}

/// Both of one block: phis come first.
bool PointerFlow::isLater(const Pointer &A, const Pointer &B) const {
  if (A.Block != B.Block)
    return Graph.dominates(B.Block, A.Block);
  if (A.isPhi() != B.isPhi())
    return B.isPhi();
  return &A > &B;
}

bool PointerFlow::anySame(ArrayRef<NameId> A, ArrayRef<NameId> B) const {
  return any_of(A, [&](NameId Left) {
    return any_of(B, [&](NameId Right) { return Same[Left][Right]; });
  });
}

/// By what is known of the names that they come from.
bool PointerFlow::mayMeet(NameId A, NameId B) const {
  const Pointer &P = *Program.pointer(A), &Q = *Program.pointer(B);
  const bool SideBySide =
      P.Condition == Q.Condition && (!P.isPhi() || P.Block == Q.Block);
  if (SideBySide)
    return any_of(P.Incomings, [&](const Pointer::Incoming &W) {
      const Pointer::Incoming *Other = Q.from(W.From);
      return !Other || anySame(W.Names, Other->Names);
    });
  if (isLater(Q, P))
    return any_of(Q.Incomings, [&](const Pointer::Incoming &W) {
      return anySame(A, W.Names);
    });
  if (isLater(P, Q))
    return mayMeet(B, A);
  return true; // never known in one place
}

void PointerFlow::findSame() {
  Same.assign(names(), BitVector(names()));
  const NameId First = Program.nameOf(0);
  for (NameId A = 0; A < names(); ++A)
    for (NameId B = 0; B < names(); ++B)
      if (A == B ||
          ((A < First || B < First) && Buffers[A].anyCommon(Buffers[B])))
        Same[A].set(B);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (NameId A = First; A < names(); ++A)
      for (NameId B = First; B < A; ++B)
        if (!Same[A][B] && Buffers[A].anyCommon(Buffers[B]) && mayMeet(A, B)) {
          Same[A].set(B);
          Same[B].set(A);
          Changed = true;
        }
  }
}

bool PointerFlow::mayTouch(const Event &E, NameId Name, bool Read) const {
  return any_of(E.Uses,
                [&](const BufferUse &U) {
                  return !U.ByPointer && Buffers[Name][U.Buffer] &&
                         (U.Reads || !Read);
                }) ||
         any_of(E.Pointers, [&](const UseByPointer &U) {
           return maySame(Program.nameOf(U.Pointer), Name) &&
                  (U.Reads || !Read);
         });
}

BitVector PointerFlow::withSame(const BitVector &Names) const {
  BitVector Result = Names;
  for (NameId Name : Names.set_bits())
    Result |= Same[Name];
  return Result;
}

bool PointerFlow::isKnown(NameId Name, EventRef At) const {
  const Pointer *P = Program.pointer(Name);
  if (!P)
    return true;
  if (P->Block != At.Block)
    return Graph.dominates(P->Block, At.Block);
  return P->isPhi() || P->Index <= At.Index;
}

BitVector PointerFlow::onEdge(const BitVector &Names, unsigned From,
                              unsigned To) const {
  BitVector Result = Names;
  for (NameId Name : MadeIn[To])
    if (Program.pointer(Name)->isPhi())
      Result.reset(Name);
  for (NameId Name : MadeIn[To]) {
    const Pointer &P = *Program.pointer(Name);
    if (!P.isPhi() || !Names[Name])
      continue;
    const Pointer::Incoming *W = P.from(From);
    if (!W)
      for (unsigned B : Buffers[Name].set_bits())
        Result.set(B);
    else
      for (NameId Is : W->Names)
        Result.set(Is);
  }
  return Result;
}

BitVector PointerFlow::beforeSelects(const BitVector &Names, EventRef At,
                                     int Condition, bool Given) const {
  BitVector Result = Names;
  for (NameId Name : reverse(MadeIn[At.Block])) {
    const Pointer &P = *Program.pointer(Name);
    if (P.isPhi() || P.Index != At.Index || !Result[Name])
      continue;
    Result.reset(Name);
    for (const Pointer::Incoming &W : P.Incomings)
      if (Condition < 0 || P.Condition != Condition ||
          W.From == static_cast<unsigned>(Given))
        for (NameId Is : W.Names)
          Result.set(Is);
  }
  return Result;
}

} // namespace dragon
