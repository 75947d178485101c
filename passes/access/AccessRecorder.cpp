//===- AccessRecorder.cpp - accesses by pointer parameter -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/AccessRecorder.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace dragon {

AccessRecorder::AccessRecorder(ExprPool &Pool, ScalarEvolution &SE,
                               DominatorTree &DT, LoopInfo &LI)
    : SE(SE), DT(DT), LI(LI), Indices(Pool, SE, LI),
      Conditions(Indices, DT, LI) {}

std::string AccessRecorder::nameOf(const PointerParameter &From) const {
  std::string Name = From.Arg->getName().str();
  if (Name.empty())
    return Name;
  if (From.Arg->hasByValAttr())
    Name += "+" + std::to_string(From.ByteOffset);
  return Name;
}

AccessRecorder::Pointer &AccessRecorder::pointer(const PointerParameter &From) {
  for (Pointer &P : Pointers)
    if (P.From == From)
      return P;
  Pointers.push_back({From, {}});
  return Pointers.back();
}

void AccessRecorder::anything(Instruction &I, const Twine &Why) {
  if (!Anything)
    Notes.push_back({&I, "", Why.str()});
  Anything = true;
}

void AccessRecorder::escape(Pointer &P, Instruction &I, const char *How) {
  if (!P.Escapes)
    Notes.push_back({&I, nameOf(P.From), How});
  P.Escapes = true;
}

void AccessRecorder::keep(Pointer &P, Instruction &I) {
  if (!P.Kept)
    Notes.push_back({&I, nameOf(P.From), "is stored in memory"});
  P.Kept = true;
}

static void setConditions(AccessSummary &A, const Guards::Conditions &When) {
  A.Guards = When.Records;
  if (When.Loaded)
    A.Flags |= AccessConditional;
  if (When.Unsaid)
    A.Flags |= AccessUnsaid;
}

static bool isAssembly(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->isInlineAsm();
}

void AccessRecorder::access(Instruction &I, Value &Address, uint64_t Width,
                            uint8_t Kinds, int64_t Offset) {
  if (Width == 0 || Width > UINT32_MAX)
    return accessAll(I, Address, Kinds, "is accessed with unknown width");
  const Loop *Scope = LI.getLoopFor(I.getParent());
  for (const PointerRoot &Root : findRoots(Address, SE)) {
    if (Root.What == PointerRoot::NoBuffer)
      continue;
    if (Root.What == PointerRoot::Unseen) {
      anything(I, "follows a pointer that it loads from memory, or that "
                  "it makes in a way that cannot be followed");
      continue;
    }
    const SCEV *At = Root.Offset;
    if (At && Offset)
      At = SE.getAddExpr(At,
                         SE.getConstant(At->getType(), uint64_t(Offset), true));
    FoundAccess A{{}, &I, At, {}};
    A.Summary.Flags = Kinds;
    A.Summary.Width = uint32_t(Width);
    Pointer &P = pointer(Root.From);
    if (!At) {
      A.Summary.Flags |= AccessUnbounded;
      setConditions(A.Summary, Conditions.of(*I.getParent()));
      Notes.push_back({&I, nameOf(P.From),
                       "the address is not an affine "
                       "function of the parameter"});
      P.Accesses.push_back(std::move(A));
      continue;
    }
    bool Indirect = false;
    for (Choice &C : choicesOf(*At, *I.getParent(), SE, DT, LI, Conditions)) {
      FoundAccess Chosen = A;
      Footprint::Index Index = Indices.translate(C.Offset, Scope);
      Chosen.Summary.Offset = Index.Node;
      if (Index.Loaded)
        Chosen.Summary.Flags |= AccessIndirect;
      Indirect |= Index.Loaded;
      // Assembly without side effects may be left out.
      if (Index.Exact && C.When.Exact && !Root.Sometimes && !isAssembly(I))
        Chosen.Summary.Flags |= AccessExact;
      setConditions(Chosen.Summary, C.When);
      Chosen.Taken = std::move(C.Taken);
      P.Accesses.push_back(std::move(Chosen));
    }
    if (Indirect)
      Notes.push_back({&I, nameOf(P.From), "the index is loaded from memory"});
  }
}

void AccessRecorder::accessBytes(Instruction &I, Value &Address, Value &Length,
                                 uint8_t Kinds) {
  if (auto *Constant = dyn_cast<ConstantInt>(&Length)) {
    if (Constant->isZero())
      return;
    return access(I, Address, Constant->getValue().getLimitedValue(), Kinds);
  }
  // Byte k of `Length` many, k = 0 .. Length - 1.
  const Loop *Scope = LI.getLoopFor(I.getParent());
  ExprPool &Pool = Indices.pool();
  for (const PointerRoot &Root : findRoots(Address, SE)) {
    if (Root.What == PointerRoot::NoBuffer)
      continue;
    if (Root.What == PointerRoot::Unseen || !Root.Offset) {
      accessAll(I, Address, Kinds, "is copied from or to");
      return;
    }
    Footprint::Index Bytes = Indices.translate(Length, Scope);
    uint32_t Wide = Pool.cast(ExprOp::ZExt, Bytes.Node, 64);
    uint32_t Counter =
        Indices.freshCounter(Pool.binary(ExprOp::Sub, Wide, Pool.constant(1)));
    Footprint::Index Start = Indices.translate(Root.Offset, Scope);
    const Guards::Conditions &When = Conditions.of(*I.getParent());
    FoundAccess A{{}, &I, nullptr, {}};
    A.Summary.Width = 1;
    A.Summary.Offset = Pool.binary(ExprOp::Add, Start.Node, Counter);
    A.Summary.Flags = Kinds;
    setConditions(A.Summary, When);
    A.Summary.Guards.push_back(
        {Pool.constant(0), Wide, NoIndex, GuardPred::ULT, {}});
    if (Start.Loaded)
      A.Summary.Flags |= AccessIndirect;
    if (Start.Exact && Bytes.Exact && When.Exact && !Root.Sometimes)
      A.Summary.Flags |= AccessExact;
    pointer(Root.From).Accesses.push_back(std::move(A));
  }
}

void AccessRecorder::accessAll(Instruction &I, Value &Address, uint8_t Kinds,
                               const char *Why) {
  for (const PointerRoot &Root : findRoots(Address, SE)) {
    if (Root.What == PointerRoot::NoBuffer)
      continue;
    if (Root.What == PointerRoot::Unseen) {
      anything(I, "follows a pointer that it loads from memory, or that "
                  "it makes in a way that cannot be followed");
      continue;
    }
    FoundAccess A{{}, &I, nullptr, {}};
    A.Summary.Width = 1;
    A.Summary.Flags = Kinds | AccessUnbounded;
    setConditions(A.Summary, Conditions.of(*I.getParent()));
    Pointer &P = pointer(Root.From);
    Notes.push_back({&I, nameOf(P.From), Why});
    P.Accesses.push_back(std::move(A));
  }
}

} // namespace dragon
