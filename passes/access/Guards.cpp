//===- Guards.cpp - under which conditions a block runs -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/Guards.h"

#include "passes/access/Canonicalize.h"
#include "passes/access/LoadedData.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace dragon {

/// More guards than this are left out (the access is then not exact).
constexpr size_t MaxGuards = 64;

static void limit(Guards::Conditions &C) {
  if (C.Records.size() > MaxGuards) {
    C.Records.resize(MaxGuards);
    C.Exact = false;
    C.Unsaid |= C.Loaded;
  }
}

const Guards::Conditions &Guards::of(const BasicBlock &Block) {
  auto It = Known.find(&Block);
  if (It != Known.end())
    return It->second;
  return Known[&Block] = compute(Block);
}

Guards::Conditions Guards::of(const BasicBlock &Block, Assumption Assume) {
  SaveAndRestore Now(Assumed, Assume);
  return compute(Block);
}

Guards::Conditions Guards::compute(const BasicBlock &Block) {
  Conditions C;
  SmallVector<const BasicBlock *, 16> Chain;
  for (auto *Node = DT.getNode(&Block); Node; Node = Node->getIDom())
    Chain.push_back(Node->getBlock());
  if (Chain.empty()) // not reachable
    C.Exact = false;
  // From the entry down.
  for (size_t I = Chain.size(); I-- > 1;)
    addEdge(*Chain[I], *Chain[I - 1], C);
  checkLoops(Block, C);
  limit(C);
  return C;
}

Footprint::Index Guards::translate(Value &V, const Loop *Scope) {
  if (Assumed)
    if (const SCEV *S = Assumed(V))
      return Indices.translate(S, Scope);
  return Indices.translate(V, Scope);
}

bool Guards::contradictory(const Conditions &C) const {
  const std::vector<ExprNode> &Nodes = Indices.pool().Nodes;
  for (size_t I = 0; I < C.Records.size(); ++I) {
    const GuardRecord &X = C.Records[I];
    const ExprNode &L = Nodes[X.Lhs], &R = Nodes[X.Rhs];
    if (L.Op == ExprOp::Const && R.Op == ExprOp::Const) {
      APInt A(L.Bits, static_cast<uint64_t>(L.Imm), true, true);
      APInt B(L.Bits, static_cast<uint64_t>(R.Imm), true, true);
      const bool Holds = X.Pred == GuardPred::EQ    ? A == B
                         : X.Pred == GuardPred::NE  ? A != B
                         : X.Pred == GuardPred::SLT ? A.slt(B)
                         : X.Pred == GuardPred::SLE ? A.sle(B)
                         : X.Pred == GuardPred::ULT ? A.ult(B)
                                                    : A.ule(B);
      if (!Holds)
        return true;
    }
    // a < b and b <= a, a == b and a != b.
    for (size_t J = 0; J < I; ++J) {
      const GuardRecord &Y = C.Records[J];
      auto Are = [&](GuardPred One, GuardPred Other) {
        return (X.Pred == One && Y.Pred == Other) ||
               (X.Pred == Other && Y.Pred == One);
      };
      const bool Straight = X.Lhs == Y.Lhs && X.Rhs == Y.Rhs;
      const bool Crossed = X.Lhs == Y.Rhs && X.Rhs == Y.Lhs;
      if ((Crossed && (Are(GuardPred::SLT, GuardPred::SLE) ||
                       Are(GuardPred::SLT, GuardPred::SLT) ||
                       Are(GuardPred::ULT, GuardPred::ULE) ||
                       Are(GuardPred::ULT, GuardPred::ULT))) ||
          ((Straight || Crossed) && (Are(GuardPred::EQ, GuardPred::NE) ||
                                     Are(GuardPred::EQ, GuardPred::SLT) ||
                                     Are(GuardPred::EQ, GuardPred::ULT))))
        return true;
    }
  }
  return false;
}

void Guards::add(Value &Condition, bool Holds, const BasicBlock &At,
                 Conditions &C, Assumption Assume) {
  SaveAndRestore Now(Assumed, Assume);
  C.Loaded |= dependsOnMemory(Condition);
  if (!addCondition(Condition, Holds, At, NoIndex, C))
    C.Exact = false;
  limit(C);
}

/// From is To's immediate dominator. Adds the condition of getting from the one
/// to the other.
void Guards::addEdge(const BasicBlock &From, const BasicBlock &To,
                     Conditions &C) {
  const Instruction &End = *From.getTerminator();
  const Loop *Inner = LI.getLoopFor(&From);
  // Where a loop is left that has tests of its own, they say nothing here.
  bool LeavesLoop = Inner && !Inner->contains(&To);
  if (To.getSinglePredecessor() == &From && !LeavesLoop) {
    if (End.getNumSuccessors() == 1)
      return;
    const bool Loaded = noteBranch(From, C);
    if (auto *Branch = dyn_cast<BranchInst>(&End)) {
      if (Branch->getSuccessor(0) == Branch->getSuccessor(1))
        return;
      bool Holds = Branch->getSuccessor(0) == &To;
      // A test that ends the loop when it fails.
      uint32_t LoopNode = NoIndex;
      const BasicBlock *Other = Branch->getSuccessor(Holds ? 1 : 0);
      BasicBlock *Latch = Inner ? Inner->getLoopLatch() : nullptr;
      if (Latch && !Inner->contains(Other) && DT.dominates(&From, Latch))
        LoopNode = Indices.counterOf(*Inner).Node;
      if (!addCondition(*Branch->getCondition(), Holds, From, LoopNode, C))
        C.Exact = false;
      return;
    }
    if (auto *Switch = dyn_cast<SwitchInst>(&End)) {
      Footprint::Index Value = translate(*Switch->getCondition(), Inner);
      unsigned Bits = Indices.pool().Nodes[Value.Node].Bits;
      unsigned Cases = 0;
      for (auto &Case : Switch->cases())
        Cases += Case.getCaseSuccessor() == &To;
      bool Default = Switch->getDefaultDest() == &To;
      if (!Value.Exact || Cases + Default > 1)
        C.Exact = false;
      if (Cases + Default > 1) {
        C.Unsaid |= Loaded;
        return;
      }
      for (auto &Case : Switch->cases()) {
        if (!Default && Case.getCaseSuccessor() != &To)
          continue;
        uint32_t Constant =
            Indices.pool().constant(Case.getCaseValue()->getSExtValue(), Bits);
        C.Records.push_back({Value.Node,
                             Constant,
                             NoIndex,
                             Default ? GuardPred::NE : GuardPred::EQ,
                             {}});
      }
      return;
    }
    C.Exact = false;
    C.Unsaid |= Loaded;
    return;
  }
  if (!noWayAround(From, To, C))
    C.Exact = false;
}

bool Guards::noteBranch(const BasicBlock &B, Conditions &C) const {
  bool Loaded = false;
  if (auto *Branch = dyn_cast<BranchInst>(B.getTerminator()))
    Loaded =
        Branch->isConditional() && dependsOnMemory(*Branch->getCondition());
  else if (auto *Switch = dyn_cast<SwitchInst>(B.getTerminator()))
    Loaded = dependsOnMemory(*Switch->getCondition());
  C.Loaded |= Loaded;
  return Loaded;
}

/// Every path from From comes to To before the function or an iteration of a
/// loop around To ends. If not, notes the branches in between.
bool Guards::noWayAround(const BasicBlock &From, const BasicBlock &To,
                         Conditions &C) {
  SmallPtrSet<const BasicBlock *, 16> Seen;
  auto WayAround = [&] {
    C.Unsaid |= noteBranch(From, C);
    for (const BasicBlock *B : Seen)
      C.Unsaid |= noteBranch(*B, C);
    return false;
  };
  SmallVector<const BasicBlock *, 16> Work(1, &From);
  while (!Work.empty()) {
    const BasicBlock *B = Work.pop_back_val();
    // A thread that ends in a trap ends the program.
    if (succ_empty(B) && !isa<UnreachableInst>(B->getTerminator()))
      return WayAround();
    for (const BasicBlock *Next : successors(B)) {
      if (Next == &To || !Seen.insert(Next).second)
        continue;
      const Loop *Header = LI.getLoopFor(Next);
      if (Header && Header->getHeader() == Next && Header->contains(&From) &&
          Header->contains(&To))
        return WayAround();
      // Out of a loop that contains both.
      for (const Loop *L = LI.getLoopFor(&To); L; L = L->getParentLoop())
        if (L->contains(&From) && !L->contains(Next))
          return WayAround();
      Work.push_back(Next);
    }
  }
  return true;
}

/// Adds Condition (negated unless Holds) as guards. False if it is not all in
/// the guards: they are then necessary, but not sufficient.
bool Guards::addCondition(Value &Condition, bool Holds, const BasicBlock &At,
                          uint32_t LoopNode, Conditions &C) {
  Value *A, *B;
  if (match(&Condition, m_Not(m_Value(A))))
    return addCondition(*A, !Holds, At, LoopNode, C);
  if (auto *Constant = dyn_cast<ConstantInt>(&Condition))
    return Constant->isOne() == Holds;
  if (Holds ? match(&Condition, m_LogicalAnd(m_Value(A), m_Value(B)))
            : match(&Condition, m_LogicalOr(m_Value(A), m_Value(B)))) {
    bool First = addCondition(*A, Holds, At, LoopNode, C);
    bool Second = addCondition(*B, Holds, At, LoopNode, C);
    return First && Second;
  }
  if (match(&Condition, m_Freeze(m_Value(A))))
    return addCondition(*A, Holds, At, LoopNode, C);
  // What was tested in a loop, tested again behind it.
  if (auto *Phi = dyn_cast<PHINode>(&Condition))
    if (A = Phi->hasConstantValue(); A)
      return addCondition(*A, Holds, At, LoopNode, C);
  if (const std::optional<Footprint::Index> Flag = flagOf(Condition, At)) {
    ExprPool &Pool = Indices.pool();
    addGuard({Flag->Node,
              Pool.constant(0, Pool.Nodes[Flag->Node].Bits),
              NoIndex,
              Holds ? GuardPred::NE : GuardPred::EQ,
              {}},
             C);
    return Flag->Exact;
  }
  auto *Compare = dyn_cast<ICmpInst>(&Condition);
  Type *T = Compare ? Compare->getOperand(0)->getType() : nullptr;
  if (!T || T->isVectorTy() ||
      (!T->isPointerTy() && T->getIntegerBitWidth() > 64)) {
    C.Unsaid |= dependsOnMemory(Condition);
    return false;
  }
  const Loop *Scope = LI.getLoopFor(&At);
  Footprint::Index L = translate(*Compare->getOperand(0), Scope);
  Footprint::Index R = translate(*Compare->getOperand(1), Scope);
  CmpInst::Predicate Predicate =
      Holds ? Compare->getPredicate() : Compare->getInversePredicate();
  if (ICmpInst::isGT(Predicate) || ICmpInst::isGE(Predicate)) {
    std::swap(L, R);
    Predicate = CmpInst::getSwappedPredicate(Predicate);
  }
  GuardRecord G{L.Node, R.Node, LoopNode, GuardPred::EQ, {}};
  switch (Predicate) {
  case CmpInst::ICMP_EQ:
    G.Pred = GuardPred::EQ;
    break;
  case CmpInst::ICMP_NE:
    G.Pred = GuardPred::NE;
    break;
  case CmpInst::ICMP_SLT:
    G.Pred = GuardPred::SLT;
    break;
  case CmpInst::ICMP_SLE:
    G.Pred = GuardPred::SLE;
    break;
  case CmpInst::ICMP_ULT:
    G.Pred = GuardPred::ULT;
    break;
  case CmpInst::ICMP_ULE:
    G.Pred = GuardPred::ULE;
    break;
  default:
    return false;
  }
  // A test that does not mention the counter does not bound it.
  if (LoopNode != NoIndex && !Indices.pool().mentions(L.Node, LoopNode) &&
      !Indices.pool().mentions(R.Node, LoopNode))
    G.Loop = NoIndex;
  addGuard(G, C);
  return L.Exact && R.Exact;
}

void Guards::addGuard(const GuardRecord &G, Conditions &C) {
  if (none_of(C.Records, [&](const GuardRecord &Old) { return same(Old, G); }))
    C.Records.push_back(G);
}

/// A condition that is a number: not 0 where it holds. A bool among the
/// arguments is a byte.
std::optional<Footprint::Index> Guards::flagOf(Value &Condition,
                                               const BasicBlock &At) {
  ExprPool &Pool = Indices.pool();
  if (auto *Flag = dyn_cast<Argument>(&Condition);
      Flag && isKernel(*Flag->getParent()))
    return Footprint::Index{Pool.argument(Flag->getArgNo(), 8)};
  Value *Number;
  if (!match(&Condition, m_Trunc(m_Value(Number))) ||
      Number->getType()->isVectorTy() ||
      Number->getType()->getIntegerBitWidth() > 64 ||
      dependsOnMemory(Condition))
    return std::nullopt;
  Footprint::Index Odd = translate(*Number, LI.getLoopFor(&At));
  Odd.Node = Pool.binary(ExprOp::And, Odd.Node,
                         Pool.constant(1, Pool.Nodes[Odd.Node].Bits));
  return Odd;
}

void Guards::checkLoops(const BasicBlock &Block, Conditions &C) {
  for (const Loop *L = LI.getLoopFor(&Block); L; L = L->getParentLoop()) {
    SmallVector<BasicBlock *, 4> Exits;
    L->getExitingBlocks(Exits);
    for (const BasicBlock *Exit : Exits)
      if (noteBranch(*Exit, C) && !DT.properlyDominates(Exit, &Block) &&
          !Indices.hasExactCount(*L))
        C.Unsaid = true;
    BasicBlock *Exiting = L->getExitingBlock();
    if (!Exiting || !L->getLoopLatch() ||
        !(DT.dominates(Exiting, &Block) || Indices.hasExactCount(*L)))
      C.Exact = false;
    // A test in the middle that the block comes before must be counted.
    else if (!DT.properlyDominates(Exiting, &Block) &&
             !Indices.hasExactCount(*L))
      C.Exact = false;
  }
}

} // namespace dragon
