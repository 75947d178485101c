//===- MustWrite.cpp - which instruction writes what another reads --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/MustWrite.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace dragon {

std::optional<int64_t>
InstructionAccesses::distance(const FoundAccess &A,
                              const FoundAccess &B) const {
  if (!A.Offset || !B.Offset)
    return std::nullopt;
  auto *Constant = dyn_cast<SCEVConstant>(SE.getMinusSCEV(A.Offset, B.Offset));
  if (!Constant || !Constant->getAPInt().isSignedIntN(63))
    return std::nullopt;
  return Constant->getAPInt().getSExtValue();
}

bool InstructionAccesses::comesFirst(const FoundAccess &Write,
                                     const FoundAccess &Read) const {
  if (Write.At == Read.At || !isa<StoreInst>(Write.At) ||
      !DT.dominates(Write.At, Read.At) || !Write.Offset || !Read.Offset)
    return false;
  // The offset has the same value at both: it does not change in the loops
  // around the write that the read is not in, nor in those of the read alone.
  const Loop *Common = LI.getLoopFor(Write.At->getParent());
  while (Common && !Common->contains(Read.At->getParent()))
    Common = Common->getParentLoop();
  for (const FoundAccess *A : {&Read, &Write})
    for (const Loop *L = LI.getLoopFor(A->At->getParent()); L != Common;
         L = L->getParentLoop())
      if (!SE.isLoopInvariant(A->Offset, L))
        return false;
  return true;
}

bool InstructionAccesses::alike(const FoundAccess &A,
                                const FoundAccess &B) const {
  return A.Taken == B.Taken &&
         LI.getLoopFor(A.At->getParent()) == LI.getLoopFor(B.At->getParent());
}

} // namespace dragon
