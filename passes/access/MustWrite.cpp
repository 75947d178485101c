//===- MustWrite.cpp - reads that may come before writes ------------------===//
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

#include <algorithm>

using namespace llvm;

namespace dragon {

/// A - B as a constant.
static std::optional<int64_t> distance(const SCEV *A, const SCEV *B,
                                       ScalarEvolution &SE) {
  if (!A || !B)
    return std::nullopt;
  auto *Constant = dyn_cast<SCEVConstant>(SE.getMinusSCEV(A, B));
  if (!Constant || !Constant->getAPInt().isSignedIntN(63))
    return std::nullopt;
  return Constant->getAPInt().getSExtValue();
}

/// Write happens before Read in the same thread, and to all of Read's bytes.
static bool writtenBy(const FoundAccess &Read, const FoundAccess &Write,
                      ScalarEvolution &SE, DominatorTree &DT, LoopInfo &LI) {
  constexpr uint8_t Kinds = AccessRead | AccessWrite | AccessUnbounded;
  if ((Write.Summary.Flags & Kinds) != AccessWrite || Write.At == Read.At ||
      !isa<StoreInst>(Write.At) || !DT.dominates(Write.At, Read.At))
    return false;
  std::optional<int64_t> D = distance(Read.Offset, Write.Offset, SE);
  if (!D || *D < 0 || uint64_t(*D) + Read.Summary.Width > Write.Summary.Width)
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

bool mayReadBeforeWrite(const std::vector<FoundAccess> &Accesses,
                        ScalarEvolution &SE, DominatorTree &DT, LoopInfo &LI) {
  for (const FoundAccess &Read : Accesses) {
    if (!(Read.Summary.Flags & AccessRead))
      continue;
    if ((Read.Summary.Flags & AccessUnbounded) ||
        std::none_of(Accesses.begin(), Accesses.end(),
                     [&](const FoundAccess &Write) {
                       return writtenBy(Read, Write, SE, DT, LI);
                     }))
      return true;
  }
  return false;
}

static bool sameGuards(const AccessSummary &A, const AccessSummary &B) {
  return std::equal(A.Guards.begin(), A.Guards.end(), B.Guards.begin(),
                    B.Guards.end(), same);
}

/// Whether all that B does A does as well: the same bytes under fewer
/// conditions, and not less surely.
static bool covers(const AccessSummary &A, const AccessSummary &B) {
  constexpr uint8_t Apart = AccessExact | AccessIndirect | AccessConditional;
  if ((A.Flags | Apart) != (B.Flags | Apart) ||
      (A.Flags & AccessExact) < (B.Flags & AccessExact) ||
      (A.Flags & AccessConditional) > (B.Flags & AccessConditional) ||
      A.Offset != B.Offset || A.Width < B.Width)
    return false;
  return std::all_of(
      A.Guards.begin(), A.Guards.end(), [&](const GuardRecord &X) {
        return std::any_of(B.Guards.begin(), B.Guards.end(),
                           [&](const GuardRecord &Y) { return same(X, Y); });
      });
}

void dropCovered(std::vector<FoundAccess> &Accesses) {
  for (size_t I = 0; I < Accesses.size(); ++I)
    for (size_t J = Accesses.size(); J-- > 0;)
      if (I != J && covers(Accesses[I].Summary, Accesses[J].Summary)) {
        Accesses.erase(Accesses.begin() + ptrdiff_t(J));
        I -= J < I;
      }
}

void joinNeighbours(std::vector<FoundAccess> &Accesses, ScalarEvolution &SE,
                    LoopInfo &LI) {
  for (size_t I = 0; I < Accesses.size(); ++I) {
    FoundAccess &A = Accesses[I];
    for (size_t J = I + 1; J < Accesses.size();) {
      FoundAccess &B = Accesses[J];
      bool Alike =
          A.Summary.Flags == B.Summary.Flags && A.Taken == B.Taken &&
          sameGuards(A.Summary, B.Summary) &&
          LI.getLoopFor(A.At->getParent()) == LI.getLoopFor(B.At->getParent());
      bool Both = A.Summary.Flags & AccessUnbounded;
      std::optional<int64_t> D;
      if (Alike && !Both)
        D = distance(B.Offset, A.Offset, SE);
      int64_t Width = A.Summary.Width;
      constexpr int64_t MaxWidth = 1 << 20;
      if (D && *D <= Width && -*D <= int64_t(B.Summary.Width) &&
          std::max(Width, *D + int64_t(B.Summary.Width)) -
                  std::min<int64_t>(0, *D) <
              MaxWidth) {
        int64_t End = std::max(Width, *D + int64_t(B.Summary.Width));
        if (*D < 0) {
          A.Offset = B.Offset;
          A.Summary.Offset = B.Summary.Offset;
        }
        A.Summary.Width = uint32_t(End - std::min<int64_t>(0, *D));
        J = I; // what did not touch A before may do so now
      } else if (!Alike || !Both) {
        ++J;
        continue;
      }
      Accesses.erase(&B - Accesses.data() + Accesses.begin());
      if (J == I)
        ++J;
    }
  }
}

} // namespace dragon
