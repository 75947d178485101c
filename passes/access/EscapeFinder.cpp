//===- EscapeFinder.cpp - whether a pointer leaves its kernel -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/EscapeFinder.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace dragon {

void EscapeFinder::run() {
  if (!P.From.Arg->hasByValAttr()) {
    followUses(*const_cast<Argument *>(P.From.Arg));
    return;
  }
  // Every load that may read the field; the structure itself may be copied.
  for (Instruction &I : instructions(Kernel)) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !Load->getType()->isPointerTy())
      continue;
    for (const PointerRoot &Root : findRoots(*Load, SE))
      if (Root.What == PointerRoot::Parameter && Root.From == P.From)
        followUses(*Load);
  }
}

/// end - begin: a number of bytes, no address.
static bool isDifference(const Instruction &I) {
  return I.getOpcode() == Instruction::Sub &&
         isa<PtrToIntInst>(I.getOperand(0)) &&
         isa<PtrToIntInst>(I.getOperand(1));
}

void EscapeFinder::followUses(Value &V) {
  if (!Seen.insert(&V).second)
    return;
  for (User *U : V.users()) {
    auto *I = dyn_cast<Instruction>(U);
    if (!I)
      continue;
    if (isa<GetElementPtrInst, AddrSpaceCastInst, BitCastInst, PHINode,
            SelectInst, FreezeInst>(I)) {
      followUses(*I);
    } else if (auto *Store = dyn_cast<StoreInst>(I)) {
      if (Store->getValueOperand() == &V)
        Record.keep(P, *I);
    } else if (isa<LoadInst, ICmpInst>(I)) {
      continue;
    } else if (auto *Atomic = dyn_cast<AtomicRMWInst>(I)) {
      if (Atomic->getValOperand() == &V)
        Record.keep(P, *I);
    } else if (auto *Atomic = dyn_cast<AtomicCmpXchgInst>(I)) {
      if (Atomic->getNewValOperand() == &V)
        Record.keep(P, *I);
    } else if (auto *Call = dyn_cast<CallBase>(I)) {
      followCall(*Call, V);
    } else if (isa<PtrToIntInst>(I)) {
      // As an address for inline assembly it is looked at there; numbers that
      // become pointers again are noticed where they are followed. What
      // remains are numbers in memory.
      followUses(*I);
    } else if (isa<ReturnInst>(I)) {
      Record.escape(P, *I, "is returned");
    } else if (isDifference(*I)) {
      continue;
    } else if (isa<BinaryOperator, CastInst>(I)) {
      followUses(*I);
    } else {
      Record.escape(P, *I, "is used in a way that cannot be followed");
    }
  }
}

void EscapeFinder::followCall(CallBase &Call, Value &V) {
  if (Call.isInlineAsm() || isa<IntrinsicInst>(Call)) {
    // Their accesses were recorded; a result may be the pointer itself.
    if (Call.getType()->isPointerTy())
      followUses(Call);
    return;
  }
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->isDeclaration() || Callee->isVarArg()) {
    Record.escape(P, Call, "is passed to a function that cannot be inlined");
    return;
  }
  for (const Use &Arg : Call.args())
    if (Arg == &V)
      followUses(*Callee->getArg(Call.getArgOperandNo(&Arg)));
}

} // namespace dragon
