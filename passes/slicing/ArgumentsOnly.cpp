//===- ArgumentsOnly.cpp - kernels whose results arguments say ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/ArgumentsOnly.h"

#include "passes/support/LaunchValues.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace dragon {

namespace {

/// It reads which thread or which block it is.
bool isPosition(const IntrinsicInst &Call) {
  const std::optional<LaunchValue> Value = launchValueOf(Call.getIntrinsicID());
  return Value && Value->isPosition();
}

/// Its result is one of its operands' alone.
bool isPure(const IntrinsicInst &Call) {
  const Intrinsic::ID Id = Call.getIntrinsicID();
  return launchValueOf(Id) || Call.isAssumeLikeIntrinsic() ||
         (Call.doesNotAccessMemory() && isTriviallyVectorizable(Id));
}

bool isOfParameters(const Value &Pointer) {
  const auto *From = dyn_cast<Argument>(getUnderlyingObject(&Pointer));
  return From && From->hasByValAttr();
}

bool allows(const Instruction &I) {
  // Volatile or not: the copy that is looked at has stores that are, so that
  // none of them is lost.
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return !Load->isAtomic() && isOfParameters(*Load->getPointerOperand());
  if (const auto *Store = dyn_cast<StoreInst>(&I))
    return !Store->isAtomic();
  if (const auto *Call = dyn_cast<IntrinsicInst>(&I))
    return isPure(*Call);
  // Loops: how often they run may be anything.
  return !I.mayReadOrWriteMemory() && !isa<CallBase>(I) && !isa<PHINode>(I) &&
         !isa<AllocaInst>(I) && !isa<FreezeInst>(I);
}

using Positions = DenseSet<unsigned>;

/// What of the position the value depends on.
Positions positionsOf(const Value &V) {
  Positions Found;
  DenseSet<const Value *> Seen;
  SmallVector<const Value *, 16> Next{&V};
  while (!Next.empty()) {
    const auto *I = dyn_cast<Instruction>(Next.pop_back_val());
    if (!I || !Seen.insert(I).second)
      continue;
    if (const auto *Call = dyn_cast<IntrinsicInst>(I);
        Call && isPosition(*Call))
      Found.insert(Call->getIntrinsicID());
    append_range(Next, I->operands());
  }
  return Found;
}

} // namespace

bool followsArguments(Function &Kernel) {
  Positions All;
  for (const Instruction &I : instructions(Kernel)) {
    if (!allows(I))
      return false;
    if (const auto *Call = dyn_cast<IntrinsicInst>(&I);
        Call && isPosition(*Call))
      All.insert(Call->getIntrinsicID());
  }
  for (const Instruction &I : instructions(Kernel))
    if (const auto *Store = dyn_cast<StoreInst>(&I);
        Store && positionsOf(*Store->getPointerOperand()).size() != All.size())
      return false;
  return true;
}

} // namespace dragon
