//===- Choices.cpp - indices that are chosen ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/Choices.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace dragon {

/// An access becomes at most so many.
constexpr size_t MaxChoices = 8;

std::optional<Fork> Fork::above(const BasicBlock &Block,
                                const DominatorTree &DT, const LoopInfo &LI) {
  const DomTreeNode *Node = DT.getNode(&Block);
  if (LI.isLoopHeader(&Block) || !Node || !Node->getIDom())
    return std::nullopt;
  const BasicBlock *Where = Node->getIDom()->getBlock();
  const auto *Branch = dyn_cast<BranchInst>(Where->getTerminator());
  if (!Branch || !Branch->isConditional() ||
      Branch->getSuccessor(0) == Branch->getSuccessor(1) ||
      LI.getLoopFor(Where) != LI.getLoopFor(&Block))
    return std::nullopt;
  return Fork(*Branch, Block, DT);
}

const BasicBlock &Fork::where() const { return *Branch->getParent(); }

Value *Fork::condition() const { return Branch->getCondition(); }

std::optional<unsigned> Fork::sideOf(const BasicBlock &From) const {
  for (unsigned Side : {0u, 1u}) {
    const BasicBlock *First = Branch->getSuccessor(Side);
    if (&From == &where()
            ? First == Block
            : DT->dominates(BasicBlockEdge(&where(), First), &From))
      return Side;
  }
  return std::nullopt;
}

Chooser chooserOf(const Instruction &I, const DominatorTree &DT,
                  const LoopInfo &LI) {
  if (auto *Select = dyn_cast<SelectInst>(&I)) {
    if (!Select->getCondition()->getType()->isIntegerTy(1))
      return {};
    return {&I, const_cast<Value *>(Select->getCondition()),
            const_cast<Value *>(Select->getTrueValue()),
            const_cast<Value *>(Select->getFalseValue()), I.getParent()};
  }
  // A condition as a number, 1 or 0.
  if (isa<ICmpInst>(I) && I.getType()->isIntegerTy(1))
    return {&I, const_cast<Instruction *>(&I),
            ConstantInt::getTrue(I.getContext()),
            ConstantInt::getFalse(I.getContext()), I.getParent()};
  auto *Phi = dyn_cast<PHINode>(&I);
  const std::optional<Fork> Above =
      Phi ? Fork::above(*Phi->getParent(), DT, LI) : std::nullopt;
  if (!Above)
    return {};
  // Each side has one value, from wherever it comes.
  Value *Sides[2] = {nullptr, nullptr};
  for (unsigned In = 0; In < Phi->getNumIncomingValues(); ++In) {
    const std::optional<unsigned> Side =
        Above->sideOf(*Phi->getIncomingBlock(In));
    if (!Side)
      return {};
    Value *&Is = Sides[*Side];
    if (Is && Is != Phi->getIncomingValue(In))
      return {};
    Is = Phi->getIncomingValue(In);
  }
  if (!Sides[0] || !Sides[1])
    return {};
  return {&I, Above->condition(), Sides[0], Sides[1], &Above->where()};
}

namespace {

/// Puts a value in the place of another.
class Replacement : public SCEVRewriteVisitor<Replacement> {
public:
  Replacement(ScalarEvolution &SE, const Value &Old, const SCEV *New)
      : SCEVRewriteVisitor(SE), Old(Old), New(New) {}

  // SCEVRewriteVisitor's way to be extended is to shadow its methods.
  // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method)
  const SCEV *visitUnknown(const SCEVUnknown *S) {
    return S->getValue() == &Old ? New : S;
  }
  /// That the whole does not overflow says nothing of the sides by themselves.
  const SCEV *visitAddRecExpr(const SCEVAddRecExpr *S) {
    SmallVector<const SCEV *, 4> Operands;
    bool Changed = false;
    for (const SCEV *Operand : S->operands()) {
      Operands.push_back(visit(Operand));
      Changed |= Operands.back() != Operand;
    }
    return Changed ? SE.getAddRecExpr(Operands, S->getLoop(), SCEV::FlagAnyWrap)
                   : S;
  }
  // NOLINTEND(bugprone-derived-method-shadowing-base-method)

private:
  const Value &Old;
  const SCEV *New;
};

/// Finds a choice in an expression that is not in `Passed`.
struct FindChooser {
  const SmallPtrSetImpl<const Instruction *> &Passed;
  const DominatorTree &DT;
  const LoopInfo &LI;
  Chooser Found;
  bool follow(const SCEV *S) {
    if (auto *Unknown = dyn_cast<SCEVUnknown>(S))
      if (auto *I = dyn_cast<Instruction>(Unknown->getValue()))
        if (!Found && !Passed.count(I))
          Found = chooserOf(*I, DT, LI);
    return !Found;
  }
  bool isDone() const { return bool(Found); }
};

/// What the condition is in the block, if a branch on it says so.
std::optional<bool> sideAt(const Value &Condition, const BasicBlock &Block,
                           const DominatorTree &DT) {
  for (const DomTreeNode *Node = DT.getNode(&Block); Node;
       Node = Node->getIDom()) {
    const BasicBlock *Above = Node->getBlock();
    const auto *Branch = dyn_cast<BranchInst>(Above->getTerminator());
    if (!Branch || !Branch->isConditional() ||
        Branch->getCondition() != &Condition ||
        Branch->getSuccessor(0) == Branch->getSuccessor(1))
      continue;
    for (unsigned Side : {0u, 1u})
      if (DT.dominates(BasicBlockEdge(Above, Branch->getSuccessor(Side)),
                       &Block))
        return Side == 0;
  }
  return std::nullopt;
}

} // namespace

std::vector<Choice> choicesOf(const SCEV &Offset, const BasicBlock &Block,
                              ScalarEvolution &SE, DominatorTree &DT,
                              LoopInfo &LI, Guards &Conditions) {
  std::vector<Choice> Result;
  Result.push_back({&Offset, Conditions.of(Block), {}});
  SmallPtrSet<const Instruction *, 4> Passed;
  for (size_t I = 0; I < Result.size();) {
    FindChooser Finder{Passed, DT, LI, {}};
    visitAll(Result[I].Offset, Finder);
    const Chooser &Found = Finder.Found;
    if (!Found) {
      ++I;
      continue;
    }
    // Nobody asks for an address that was never set.
    const Value *Set = isa<UndefValue>(Found.True)    ? Found.False
                       : isa<UndefValue>(Found.False) ? Found.True
                                                      : nullptr;
    if (Set) {
      Result[I].Offset =
          Replacement(SE, *Found.Result, SE.getSCEV(const_cast<Value *>(Set)))
              .visit(Result[I].Offset);
      continue;
    }
    // After a loop it would be the choice of the last iteration.
    const Loop *Around = LI.getLoopFor(Found.Where);
    auto Before = find_if(Result[I].Taken, [&](const ChoiceTaken &T) {
      return T.Condition == Found.Condition;
    });
    bool Decided = Before != Result[I].Taken.end();
    if ((Result.size() == MaxChoices && !Decided) ||
        (Around && !Around->contains(&Block))) {
      Passed.insert(Found.Result);
      continue;
    }
    auto take = [&](Choice C, bool Side) {
      Value *Is = Side ? Found.True : Found.False;
      C.Offset = Replacement(SE, *Found.Result, SE.getSCEV(Is)).visit(C.Offset);
      C.Taken.push_back({Found.Result, Found.Condition, Side, Is, Found.Where});
      return C;
    };
    // Where a branch on the condition leads to the access, it is known.
    if (const std::optional<bool> Side = sideAt(*Found.Condition, Block, DT)) {
      Result[I] = take(Result[I], *Side);
      continue;
    }
    // Choices by one condition are made together.
    if (Decided) {
      Result[I] = take(Result[I], Before->Side);
      continue;
    }
    Choice Yes = take(Result[I], true), No = take(Result[I], false);
    Result[I] = std::move(Yes);
    Result.push_back(std::move(No));
  }
  for (Choice &C : Result) {
    if (C.Taken.empty())
      continue;
    auto Assume = [&](Value &V) -> const SCEV * {
      if (!SE.isSCEVable(V.getType()))
        return nullptr;
      const SCEV *S = SE.getSCEV(&V);
      for (const ChoiceTaken &T : C.Taken)
        S = Replacement(SE, *T.Result, SE.getSCEV(T.Is)).visit(S);
      return S;
    };
    C.When = Conditions.of(Block, Assume);
    SmallPtrSet<const Value *, 4> Added;
    for (const ChoiceTaken &T : C.Taken)
      if (Added.insert(T.Condition).second)
        Conditions.add(*const_cast<Value *>(T.Condition), T.Side, *T.Where,
                       C.When, Assume);
  }
  erase_if(Result,
           [&](const Choice &C) { return Conditions.contradictory(C.When); });
  return Result;
}

} // namespace dragon
