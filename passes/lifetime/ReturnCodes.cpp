//===- ReturnCodes.cpp - where main is sure to return an error ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/ReturnCodes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"

#include <set>

using namespace llvm;

namespace dragon {

/// Of more phis than these no number is known.
constexpr unsigned MaxPhis = 32;

bool ReturnCodes::exitsWell(const BasicBlock &B) {
  for (const Instruction &I : reverse(B)) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || !Callee->doesNotReturn())
      continue;
    if (!Callee->getName().ends_with_insensitive("exit") || Call->arg_empty())
      return false;
    auto *Code = dyn_cast<ConstantInt>(Call->getArgOperand(0));
    return !Code || Code->isZero();
  }
  return false;
}

/// `phi == constant`, or the reverse.
static ICmpInst *comparison(Value *V) {
  auto *Compare = dyn_cast<ICmpInst>(V);
  return Compare && Compare->isEquality() &&
                 isa<PHINode>(Compare->getOperand(0)) &&
                 isa<ConstantInt>(Compare->getOperand(1))
             ? Compare
             : nullptr;
}

/// What decides where the block goes on; null: nothing of the kind.
static Value *deciderOf(const BasicBlock &B) {
  const Instruction *End = B.getTerminator();
  if (auto *Switch = dyn_cast<SwitchInst>(End))
    return Switch->getCondition();
  auto *Branch = dyn_cast<BranchInst>(End);
  return Branch && Branch->isConditional() ? Branch->getCondition() : nullptr;
}

ReturnCodes::ReturnCodes(Function &F) {
  SmallVector<Value *, 8> Pending;
  for (BasicBlock &B : F)
    if (Value *Decider = deciderOf(B)) {
      ICmpInst *Compare = comparison(Decider);
      Pending.push_back(Compare ? Compare->getOperand(0) : Decider);
    }
  // Taken from the end: those that are returned come first.
  for (BasicBlock &B : F)
    if (auto *Return = dyn_cast<ReturnInst>(B.getTerminator()))
      Pending.push_back(Return->getReturnValue());
  while (!Pending.empty() && Phis.size() < MaxPhis)
    if (auto *Phi = dyn_cast<PHINode>(Pending.pop_back_val());
        Phi && Phi->getType()->isIntegerTy() &&
        Phis.try_emplace(Phi, Phis.size()).second)
      append_range(Pending, Phi->incoming_values());
}

bool ReturnCodes::failsIn(const BasicBlock &B) {
  auto *Return = dyn_cast<ReturnInst>(B.getTerminator());
  auto *Code = Return ? dyn_cast_or_null<ConstantInt>(Return->getReturnValue())
                      : nullptr;
  return Code && !Code->isZero();
}

ConstantInt *ReturnCodes::numberOf(Value *V, const Numbers &Known) const {
  if (auto *Number = dyn_cast<ConstantInt>(V))
    return Number;
  if (ICmpInst *Compare = comparison(V)) {
    const ConstantInt *Number = numberOf(Compare->getOperand(0), Known);
    auto *With = cast<ConstantInt>(Compare->getOperand(1));
    return Number ? ConstantInt::getBool(
                        V->getContext(),
                        ICmpInst::compare(Number->getValue(), With->getValue(),
                                          Compare->getPredicate()))
                  : nullptr;
  }
  auto *Phi = dyn_cast<PHINode>(V);
  const auto *Found = Phi ? Phis.find(Phi) : Phis.end();
  return Found == Phis.end() ? nullptr : Known[Found->second];
}

/// What is known behind the edge: all phis of a block change at once.
ReturnCodes::Numbers ReturnCodes::along(const BasicBlock &From,
                                        const BasicBlock &To,
                                        const Numbers &Known) const {
  Numbers Next = Known;
  for (auto [Phi, Index] : Phis)
    if (Phi->getParent() == &To)
      Next[Index] = numberOf(Phi->getIncomingValueForBlock(&From), Known);
  return Next;
}

/// The block that it surely goes on to; null: not known.
BasicBlock *ReturnCodes::onlyExit(const BasicBlock &B,
                                  const Numbers &Known) const {
  Value *Decider = deciderOf(B);
  ConstantInt *Number = Decider ? numberOf(Decider, Known) : nullptr;
  if (!Number)
    return nullptr;
  const Instruction *End = B.getTerminator();
  if (auto *Switch = dyn_cast<SwitchInst>(End))
    return Switch->getSuccessor(
        Switch->findCaseValue(Number)->getSuccessorIndex());
  return End->getSuccessor(Number->isZero() ? 1 : 0);
}

bool ReturnCodes::fails(BasicBlock &From, BasicBlock &To) {
  using State = std::pair<BasicBlock *, Numbers>;
  std::set<State> Seen;
  SmallVector<State, 8> Pending;
  auto Enter = [&](BasicBlock &Out, BasicBlock &In, const Numbers &Known) {
    State Next{&In, along(Out, In, Known)};
    if (Seen.insert(Next).second)
      Pending.push_back(std::move(Next));
  };
  Enter(From, To, Numbers(Phis.size()));
  while (!Pending.empty()) {
    if (StatesLeft == 0)
      return false;
    --StatesLeft;
    auto [B, Known] = Pending.pop_back_val();
    Instruction *End = B->getTerminator();
    if (auto *Return = dyn_cast<ReturnInst>(End)) {
      ConstantInt *Code = numberOf(Return->getReturnValue(), Known);
      if (!Code || Code->isZero())
        return false;
      continue;
    }
    if (isa<UnreachableInst>(End) && exitsWell(*B))
      return false;
    if (BasicBlock *Only = onlyExit(*B, Known)) {
      Enter(*B, *Only, Known);
      continue;
    }
    for (BasicBlock *S : successors(B))
      Enter(*B, *S, Known);
  }
  return true;
}

SmallVector<BasicBlock *, 2> ReturnCodes::failingEdges(BasicBlock &B) {
  SmallVector<BasicBlock *, 2> Edges;
  for (BasicBlock *To : successors(&B)) {
    const bool GivesNumber = any_of(To->phis(), [&](PHINode &Phi) {
      return Phis.contains(&Phi) &&
             isa<ConstantInt>(Phi.getIncomingValueForBlock(&B));
    });
    if (GivesNumber && !is_contained(Edges, To) && fails(B, *To))
      Edges.push_back(To);
  }
  return Edges;
}

} // namespace dragon
