//===- FirstLaunch.cpp - what only the first launch of a loop does --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/FirstLaunch.h"

#include "passes/support/ExtraParameters.h"
#include "passes/support/UsedGlobals.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace dragon {

bool FirstLaunch::isForBuffersAlone(const CallBase &Call) {
  Function *Callee = Call.getCalledFunction();
  if (!Call.use_empty() || !Callee || Callee->isDeclaration() ||
      any_of(Call.args(), [](const Value *Arg) {
        return Arg->getType()->isPointerTy() &&
               !isa<Argument>(getUnderlyingObject(Arg));
      }))
    return false;
  bool Indirect = false;
  const auto Reached = reachableFunctions(*Callee, &Indirect);
  return !Indirect && all_of(Reached, [](Function *F) {
    return all_of(instructions(*F), [](const Instruction &I) {
      const auto *Inner = dyn_cast<CallBase>(&I);
      const Function *Called = Inner ? Inner->getCalledFunction() : nullptr;
      return none_of(variablesOf(I),
                     [](const GlobalVariable *Variable) {
                       return isShared(*Variable);
                     }) &&
             (!Inner ||
              (Called && (!Called->isDeclaration() ||
                          (Called->isIntrinsic() && !Called->isConvergent()))));
    });
  });
}

const char *FirstLaunch::obstacleIn(const KernelSummary &Summary,
                                    uint32_t Number) {
  auto IsClearing = [Number](const AccessSummary &Access) {
    return (Access.Flags & AccessWrite) &&
           is_contained(Access.Beside, std::pair(Number, LoopPlace::First));
  };
  for (const PointerSummary &Pointer : Summary.Pointers)
    if (!(Pointer.Flags & PointerReadBeforeWrite) &&
        any_of(Pointer.Accesses, IsClearing) &&
        any_of(Pointer.Accesses, [](const AccessSummary &Access) {
          return Access.Flags & AccessRead;
        }))
      return "what is written in front of it is read in it";
  return nullptr;
}

/// Or beside it, on the way to its end.
bool FirstLaunch::isInFront(const BasicBlock &Block) const {
  return !L.contains(&Block) && !DT.dominates(L.getHeader(), &Block);
}

/// Whether all is well with a user of what was read.
bool FirstLaunch::follow(Instruction &User) {
  if (Once.contains(&User))
    return true;
  // Other launches would have nothing to divide by, or to decide by.
  if (User.isTerminator() || User.isIntDivRem() || isa<CallBase>(User) ||
      User.mayWriteToMemory())
    return false;
  if (isa<LoadInst>(User))
    Once.insert(&User);
  Read.insert(&User);
  return true;
}

bool FirstLaunch::canGoOn() {
  for (Instruction *I : Once)
    if (isa<LoadInst>(I))
      Read.insert(I);
  for (unsigned Next = 0; Next < Read.size(); ++Next) {
    Instruction *From = Read[Next];
    for (const Use &Use : From->uses()) {
      auto *User = cast<Instruction>(Use.getUser());
      const auto *Phi = dyn_cast<PHINode>(User);
      if (Phi && Phi->getParent() == L.getHeader() &&
          !L.contains(Phi->getIncomingBlock(Use)))
        continue; // of the first launch alone
      BasicBlock *At = Phi ? Phi->getIncomingBlock(Use) : User->getParent();
      if (!isInFront(*At))
        Kept.insert(From);
      else if (isPotentiallyReachable(L.getHeader(), At, nullptr, &DT) ||
               !follow(*User))
        return false;
    }
  }
  return all_of(Kept, [&](const Instruction *I) {
    Type *T = I->getType();
    return (T->isIntOrIntVectorTy() || T->isFPOrFPVectorTy()) &&
           I->getDataLayout().getTypeStoreSize(T) <= 16 &&
           DT.dominates(I->getParent(), L.getHeader());
  });
}

void FirstLaunch::rewrite(const ValueToValueMapTy &Map, Loop &CopysLoop,
                          Value &Begin) const {
  if (Once.empty())
    return;
  BasicBlock *Head = CopysLoop.getHeader();
  BasicBlock &Entry = Head->getParent()->getEntryBlock();
  IRBuilder<> AtEntry(&*Entry.getFirstNonPHIOrDbgOrAlloca());
  Value *IsFirst =
      AtEntry.CreateICmpEQ(&Begin, Constant::getNullValue(Begin.getType()));
  // The loop's blocks, and those behind it, use what is kept.
  const DominatorTree CopysTree(*Head->getParent());
  for (Instruction *Original : Kept) {
    auto *I = cast<Instruction>(Map.lookup(Original));
    IRBuilder<> B(Head, Head->begin());
    PHINode *Phi = B.CreatePHI(I->getType(), 2, "dragon.kept");
    I->replaceUsesWithIf(Phi, [&](const Use &Use) {
      const auto *User = cast<Instruction>(Use.getUser());
      const auto *InPhi = dyn_cast<PHINode>(User);
      const BasicBlock *At =
          InPhi ? InPhi->getIncomingBlock(Use) : User->getParent();
      return CopysTree.dominates(Head, At);
    });
    Phi->addIncoming(I, CopysLoop.getLoopPreheader());
    Phi->addIncoming(Phi, CopysLoop.getLoopLatch());
  }
  for (Instruction *Original : Once) {
    auto *I = cast<Instruction>(Map.lookup(Original));
    Instruction *Then = SplitBlockAndInsertIfThen(IsFirst, I->getIterator(),
                                                  /*Unreachable=*/false);
    BasicBlock *Before = Then->getParent()->getSinglePredecessor();
    BasicBlock *After = I->getParent();
    I->moveBefore(Then->getIterator());
    if (I->getType()->isVoidTy() || I->use_empty())
      continue;
    IRBuilder<> B(After, After->begin());
    PHINode *Phi = B.CreatePHI(I->getType(), 2);
    I->replaceAllUsesWith(Phi);
    Phi->addIncoming(I, Then->getParent());
    Phi->addIncoming(Constant::getNullValue(I->getType()), Before);
  }
}

} // namespace dragon
