//===- AccessesBehind.cpp - what is accessed behind a loop alone ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/AccessesBehind.h"

#include "passes/support/UsedGlobals.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace dragon {

namespace {

using Arguments = SmallPtrSet<const Argument *, 8>;

/// Adds the kernel's arguments that the instruction may access memory through;
/// false: there may be others.
bool addArguments(const Instruction &I, Arguments &Through) {
  for (const Value *Operand : I.operands()) {
    // An address that is stored or handed on counts as one that is accessed.
    if (!Operand->getType()->isPointerTy())
      continue;
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(Operand, Objects, nullptr, /*MaxLookup=*/0);
    for (const Value *Object : Objects) {
      const auto *Arg = dyn_cast<Argument>(Object);
      if (Arg && !Arg->hasByValAttr())
        Through.insert(Arg);
      else if (!Arg && !isa<Function>(Object) && !isOwn(*Object) &&
               !isa<GlobalVariable>(Object))
        return false;
    }
  }
  return true;
}

} // namespace

void placeAccessesBehind(const Function &Code, const Loop &L,
                         const BlockSet &Blocks, const DominatorTree &DT,
                         KernelSummary &Summary) {
  Arguments Behind, Elsewhere;
  for (const Instruction &I : instructions(Code)) {
    BasicBlock *At = const_cast<BasicBlock *>(I.getParent());
    if (!I.mayReadOrWriteMemory() || !DT.isReachableFromEntry(At))
      continue;
    const bool IsBehind =
        !Blocks.contains(At) && DT.dominates(L.getHeader(), At);
    if (!addArguments(I, IsBehind ? Behind : Elsewhere))
      return;
  }
  for (PointerSummary &Pointer : Summary.Pointers) {
    const Argument *Arg = Code.getArg(Pointer.ArgIndex);
    if (!Arg->getType()->isPointerTy() || Arg->hasByValAttr() ||
        !Behind.contains(Arg) || Elsewhere.contains(Arg))
      continue;
    for (AccessSummary &Access : Pointer.Accesses)
      Access.Place = LoopPlace::Last;
  }
}

} // namespace dragon
