//===- BehindLoops.cpp - positions that loops leave behind ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/BehindLoops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace dragon {

/// A pointer has no more accesses than that for being behind loops.
static constexpr size_t MostAccesses = 64;

void BehindLoops::renumber() {
  for (const Loop *L : LI.getLoopsInPreorder()) {
    const std::optional<uint32_t> Number = Found.indices().numberOf(*L);
    if (!Number)
      continue;
    const uint32_t Count =
        Found.pool().Nodes[Found.indices().counterOf(*L).Node].A;
    std::optional<Left> Behind;
    for (AccessRecorder::Pointer &P : Found.pointers())
      for (size_t I = 0, Size = P.Accesses.size(); I < Size; ++I) {
        const FoundAccess A = P.Accesses[I];
        if (L->contains(A.At->getParent()) ||
            !Found.pool().counts(A.Summary, *Number))
          continue;
        if (!Behind)
          Behind.emplace(
              Left{*L, *Number, Found.indices().freshCounter(Count)});
        if (P.Accesses.size() >= MostAccesses) { // any number of iterations
          P.Accesses[I] = behind(A, *Behind, Behind->Last);
          continue;
        }
        ExprPool &Pool = Found.pool();
        P.Accesses[I] = behind(A, *Behind, Pool.constant(0));
        FoundAccess Some =
            behind(A, *Behind,
                   Pool.binary(ExprOp::Add, Behind->Last, Pool.constant(1)));
        addTest(Some, *Behind, true, Behind->Last);
        P.Accesses.push_back(std::move(Some));
      }
  }
}

FoundAccess BehindLoops::behind(const FoundAccess &A, Left &Loop,
                                uint32_t Count) {
  FoundAccess Result = A;
  AccessSummary &S = Result.Summary;
  if (S.Offset != NoIndex)
    S.Offset = replaced(S.Offset, Loop, Count);
  for (GuardRecord &G : S.Guards) {
    G.Lhs = replaced(G.Lhs, Loop, Count);
    G.Rhs = replaced(G.Rhs, Loop, Count);
    if (G.Loop != NoIndex && Found.pool().counts(G.Loop, Loop.Number))
      G.Loop = NoIndex;
  }
  S.Flags &= ~AccessExact; // it happens for one of the numbers
  if (Loop.L.getExitingBlock())
    addTest(Result, Loop, false, Count);
  return Result;
}

void BehindLoops::addTest(FoundAccess &A, Left &Loop, bool GoesOn,
                          uint32_t At) {
  const llvm::Loop &L = Loop.L;
  const BasicBlock *Test = L.getHeader();
  if (!L.isLoopExiting(Test))
    Test = L.getLoopLatch();
  const auto *Branch =
      Test ? dyn_cast<BranchInst>(Test->getTerminator()) : nullptr;
  if (!Branch || !Branch->isConditional() || !L.isLoopExiting(Test) ||
      !DT.dominates(Test, A.At->getParent()))
    return;
  Guards::Conditions Said;
  Found.conditions().add(*Branch->getCondition(),
                         L.contains(Branch->getSuccessor(0)) == GoesOn, *Test,
                         Said, nullptr);
  const ExprPool &Pool = Found.pool();
  std::vector<GuardRecord> Before;
  for (GuardRecord G : Said.Records) {
    if (!Pool.counts(G.Lhs, Loop.Number) && !Pool.counts(G.Rhs, Loop.Number))
      continue;
    G.Lhs = replaced(G.Lhs, Loop, At);
    G.Rhs = replaced(G.Rhs, Loop, At);
    G.Loop = GoesOn ? Loop.Last : NoIndex;
    Before.push_back(G);
  }
  A.Summary.Guards.insert(A.Summary.Guards.begin(), Before.begin(),
                          Before.end());
}

/// The node with another one in place of the loop's counter.
uint32_t BehindLoops::replaced(uint32_t Node, Left &Loop, uint32_t By) {
  ExprPool &Pool = Found.pool();
  if (Node == NoIndex || !Pool.counts(Node, Loop.Number))
    return Node;
  if (const auto Known = Loop.Replaced.find({By, Node});
      Known != Loop.Replaced.end())
    return Known->second;
  const ExprNode N = Pool.Nodes[Node];
  uint32_t Result = By;
  if (N.Op != ExprOp::Loop || N.Imm != int64_t(Loop.Number)) {
    const uint32_t A = replaced(N.A, Loop, By), B = replaced(N.B, Loop, By);
    if (N.Op == ExprOp::Add || N.Op == ExprOp::Mul)
      Result = Pool.binary(N.Op, A, B, N.Flags);
    else if (N.Op == ExprOp::Trunc && Pool.isConstant(A, 0))
      Result = Pool.constant(0, N.Bits);
    else
      Result = Pool.add(N.Op, N.Bits, A, B, N.Imm, N.Flags, N.C);
  }
  Loop.Replaced[{By, Node}] = Result;
  return Result;
}

} // namespace dragon
