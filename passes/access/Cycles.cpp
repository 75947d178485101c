//===- Cycles.cpp - bounds of values that loops carry along ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that a loop carries along without being a recurrence, because it only
// changes under a condition:
//
//   for (k..) best = x[k] > x[best] ? k : best;   any of the values that flow
//                                                 into it, 0 and all k
//   for (k..) if (active) i += plane;             its start, plus up to k times
//                                                 the step
//   for (s = n / 2; s > 0; s /= 2) ..             0 to its start
//   for (; k < end; k = (k + n) / n * n) ..       whatever the numbers of the
//                                                 launch show by induction
//
// What flows into it did so at an earlier time: in the values, the counters of
// the loops are other ones than in the rest of the access.
//
//===----------------------------------------------------------------------===//

#include "passes/access/Footprint.h"
#include "passes/access/LoadedData.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace dragon {

/// More values than this are too many to tell apart.
constexpr size_t MaxCycle = 32;
constexpr size_t MaxSources = 8;
constexpr unsigned MaxStepDepth = 8;
/// Values carried along of which others are made.
constexpr unsigned MaxCarried = 2;

namespace {

/// The phis and selects that a value flows through, and where it comes from.
struct Cycle {
  SmallSetVector<Value *, 16> Through, Sources;
  SmallSetVector<const Loop *, 4> Loops; ///< of the phis in headers
  /// What only becomes smaller on its way, as an unsigned number; as a signed
  /// one nearer to 0, or to -1.
  bool Divided = false, SignedDivided = false, Shifted = false;

  Cycle(ScalarEvolution &SE, LoopInfo &LI) : SE(SE), LI(LI) {}

  /// False if a source is made of the value itself in some other way.
  bool find(PHINode &Phi) {
    Through.insert(&Phi);
    for (size_t I = 0; I < Through.size(); ++I) {
      if (Through.size() > MaxCycle || Sources.size() > MaxSources)
        return false;
      Value *V = Through[I];
      if (auto *P = dyn_cast<PHINode>(V)) {
        if (LI.isLoopHeader(P->getParent()))
          Loops.insert(LI.getLoopFor(P->getParent()));
        for (Value *Incoming : P->incoming_values())
          add(Incoming);
      } else if (auto *Select = dyn_cast<SelectInst>(V)) {
        add(Select->getTrueValue());
        add(Select->getFalseValue());
      }
    }
    Sources.remove_if([&](Value *V) { return shrinks(*V); });
    return !Sources.empty() && Sources.size() <= MaxSources &&
           none_of(Sources, [&](Value *V) { return dependsOnCycle(*V); });
  }

private:
  ScalarEvolution &SE;
  LoopInfo &LI;

  void add(Value *V) {
    bool Recurrence = isa<PHINode>(V) && !isa<SCEVUnknown>(SE.getSCEV(V));
    if (isa<PHINode, SelectInst>(V) && !Recurrence)
      Through.insert(V);
    else if (!isa<UndefValue>(V)) // as in Choices.cpp
      Sources.insert(V);
  }

  bool shrinks(Value &V) {
    Value *A;
    const APInt *C;
    bool *Kind = nullptr;
    if (match(&V, m_LShr(m_Value(A), m_Value())) ||
        match(&V, m_UDiv(m_Value(A), m_Value())))
      Kind = &Divided;
    else if (match(&V, m_SDiv(m_Value(A), m_APInt(C))) &&
             C->isStrictlyPositive())
      Kind = &SignedDivided;
    else if (match(&V, m_AShr(m_Value(A), m_Value())))
      Kind = &Shifted;
    if (!Kind || !Through.contains(A))
      return false;
    *Kind = true;
    return true;
  }

  bool dependsOnCycle(Value &From) {
    SmallPtrSet<const Value *, 16> Seen;
    SmallVector<const Value *, 16> Work(1, &From);
    constexpr size_t MaxValues = 200;
    while (!Work.empty()) {
      auto *I = dyn_cast<Instruction>(Work.pop_back_val());
      if (!I || !Seen.insert(I).second)
        continue;
      if (Seen.size() > MaxValues ||
          Through.contains(const_cast<Instruction *>(I)))
        return true;
      for (const Value *Operand : I->operands())
        Work.push_back(Operand);
    }
    return false;
  }
};

} // namespace

/// V plus a step each time: Least and Most of the sums of steps on the paths
/// from V back to Phi. False if a path adds something else.
bool Footprint::steps(Value &V, PHINode &Phi, unsigned Depth, Index &Least,
                      Index &Most) {
  unsigned Bits = bitsOf(Phi.getType());
  if (&V == &Phi) {
    Least = Most = {Pool.constant(0, Bits)};
    return true;
  }
  auto *I = dyn_cast<Instruction>(&V);
  const Loop *L = LI.getLoopFor(Phi.getParent());
  // One step in each iteration: not in loops inside.
  if (!I || Depth == 0 || LI.getLoopFor(I->getParent()) != L)
    return false;
  Value *A, *B;
  if (match(I, m_Add(m_Value(A), m_Value(B)))) {
    if (L->isLoopInvariant(A))
      std::swap(A, B);
    if (!L->isLoopInvariant(B) || !steps(*A, Phi, Depth - 1, Least, Most))
      return false;
    Index Step = translate(*B, L->getParentLoop());
    Least = combine(ExprOp::Add, Least, Step);
    Most = combine(ExprOp::Add, Most, Step);
    return true;
  }
  SmallVector<Value *, 4> Inputs;
  if (auto *P = dyn_cast<PHINode>(I); P && P->getNumIncomingValues() <= 4)
    Inputs.append(P->value_op_begin(), P->value_op_end());
  else if (auto *Select = dyn_cast<SelectInst>(I))
    Inputs = {Select->getTrueValue(), Select->getFalseValue()};
  for (size_t N = 0; N < Inputs.size(); ++N) {
    Index InputLeast, InputMost;
    if (!steps(*Inputs[N], Phi, Depth - 1, InputLeast, InputMost))
      return false;
    Least = N ? combine(ExprOp::SMin, Least, InputLeast) : InputLeast;
    Most = N ? combine(ExprOp::SMax, Most, InputMost) : InputMost;
  }
  return !Inputs.empty();
}

/// The value of V in some iteration of the loops that Now is not in.
Footprint::Index Footprint::translateAtAnyTime(Value &V, const Loop *Now) {
  auto OldKnown = std::move(Known);
  auto OldValues = std::move(Values);
  auto OldCounters = Counters;
  Known.clear();
  Values.clear();
  Counters.clear();
  for (auto &[L, Counter] : OldCounters)
    if (Now && L->contains(Now))
      Counters.insert({L, Counter});
  auto *I = dyn_cast<Instruction>(&V);
  Index Result = translate(V, I ? LI.getLoopFor(I->getParent()) : nullptr);
  // The counters of the loops around it are the same ones again.
  for (auto &[L, Counter] : Counters)
    if (Now && L->contains(Now))
      OldCounters.insert({L, Counter});
  Known = std::move(OldKnown);
  Values = std::move(OldValues);
  Counters = std::move(OldCounters);
  return Result;
}

/// Value, a phi's, where its loop is not left in front of an iteration: within
/// the bounds of what the header compares it with.
uint32_t Footprint::whereLoopGoesOn(PHINode &Phi, uint32_t Value) {
  const Loop *L = LI.getLoopFor(Phi.getParent());
  auto *Branch = dyn_cast<BranchInst>(L->getHeader()->getTerminator());
  if (!Branch || !Branch->isConditional() ||
      L->contains(Branch->getSuccessor(0)) ==
          L->contains(Branch->getSuccessor(1)))
    return Value;
  const bool Stays = L->contains(Branch->getSuccessor(0));
  SmallVector<llvm::Value *, 4> Conditions(1, Branch->getCondition());
  const uint32_t One = Pool.constant(1, Pool.Nodes[Value].Bits);
  while (!Conditions.empty()) {
    llvm::Value *Condition = Conditions.pop_back_val(), *A, *B;
    if (Stays ? match(Condition, m_LogicalAnd(m_Value(A), m_Value(B)))
              : match(Condition, m_LogicalOr(m_Value(A), m_Value(B)))) {
      Conditions.append({A, B});
      continue;
    }
    auto *Compare = dyn_cast<ICmpInst>(Condition);
    if (!Compare)
      continue;
    CmpInst::Predicate Holds =
        Stays ? Compare->getPredicate() : Compare->getInversePredicate();
    A = Compare->getOperand(0), B = Compare->getOperand(1);
    if (B == &Phi) {
      std::swap(A, B);
      Holds = CmpInst::getSwappedPredicate(Holds);
    }
    if (A != &Phi || !L->isLoopInvariant(B) || CmpInst::isEquality(Holds))
      continue;
    uint32_t Limit = translate(*B, L->getParentLoop()).Node;
    const bool Below = ICmpInst::isLT(Holds) || ICmpInst::isLE(Holds);
    if (CmpInst::isStrictPredicate(Holds))
      Limit = Pool.binary(Below ? ExprOp::Sub : ExprOp::Add, Limit, One);
    const ExprOp Nearer = CmpInst::isSigned(Holds)
                              ? (Below ? ExprOp::SMin : ExprOp::SMax)
                              : (Below ? ExprOp::UMin : ExprOp::UMax);
    Value = Pool.binary(Nearer, Value, Limit);
  }
  return Value;
}

/// What an iteration makes of it, for the runtime to see what that leads to.
Footprint::Index Footprint::computeCarried(PHINode &Phi, unsigned Bits) {
  const Loop *L = LI.getLoopFor(Phi.getParent());
  if (Earlier.size() >= MaxCarried || dependsOnMemory(Phi))
    return unknown(Bits, dependsOnMemory(Phi));
  const Index Start = translate(
      *Phi.getIncomingValueForBlock(L->getLoopPreheader()), L->getParentLoop());
  const uint32_t Before = Pool.opaque(Bits, NoIndex, NoIndex);
  Earlier[&Phi] = whereLoopGoesOn(Phi, Before);
  const Index Next = translateAtAnyTime(
      *Phi.getIncomingValueForBlock(L->getLoopLatch()), L->getParentLoop());
  Earlier.erase(&Phi);
  if (Pool.Nodes[Next.Node].Op == ExprOp::Unknown)
    return unknown(Bits, Next.Loaded);
  return {Pool.carried(Start.Node, Next.Node, Before), false,
          Start.Loaded || Next.Loaded};
}

Footprint::Index Footprint::computeCycle(PHINode &Phi, unsigned Bits) {
  const Loop *L = LI.getLoopFor(Phi.getParent());
  BasicBlock *Preheader = L->getLoopPreheader(), *Latch = L->getLoopLatch();
  if (!Preheader || !Latch)
    return unknown(Bits, dependsOnMemory(Phi));
  Index Least, Most;
  if (steps(*Phi.getIncomingValueForBlock(Latch), Phi, MaxStepDepth, Least,
            Most)) {
    Index Start =
        translate(*Phi.getIncomingValueForBlock(Preheader), L->getParentLoop());
    Index Counter = counterOf(*L);
    if (Bits != 64)
      Counter.Node = Pool.cast(ExprOp::Trunc, Counter.Node, Bits);
    Index Zero{Pool.constant(0, Bits)};
    Index Lo =
        combine(ExprOp::Mul, combine(ExprOp::SMin, Least, Zero), Counter);
    Index Hi = combine(ExprOp::Mul, combine(ExprOp::SMax, Most, Zero), Counter);
    Index Travel{Pool.opaque(Bits, Lo.Node, Hi.Node), false,
                 Lo.Loaded || Hi.Loaded};
    return combine(ExprOp::Add, Start, Travel);
  }
  Cycle C(SE, LI);
  bool Found = C.find(Phi);
  bool AnySigned = C.SignedDivided || C.Shifted;
  if (!Found || (C.Divided && (AnySigned || Bits == 64)))
    return computeCarried(Phi, Bits);
  // The loop around all that the value goes round in.
  const Loop *Now = L->getParentLoop();
  for (const Loop *Other : C.Loops)
    while (Now && (Now == Other || !Now->contains(Other)))
      Now = Now->getParentLoop();
  Index Result{};
  for (size_t I = 0; I < C.Sources.size(); ++I) {
    Index Next = translateAtAnyTime(*C.Sources[I], Now);
    if (C.Divided)
      Next.Node = Pool.cast(ExprOp::ZExt, Next.Node, 64);
    Result = I == 0 ? Next : between(Result, Next);
  }
  unsigned Width = C.Divided ? 64 : Bits;
  if (C.Divided || AnySigned)
    Result = between(Result, {Pool.constant(0, Width)});
  if (C.Shifted)
    Result = between(Result, {Pool.constant(-1, Width)});
  Result.Node = Pool.cast(ExprOp::Trunc, Result.Node, Bits);
  Result.Exact = false;
  return Result;
}

} // namespace dragon
