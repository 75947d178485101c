//===- SpinLoops.cpp - loops that wait for other threads ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/SpinLoops.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

bool SpinLoops::concerns(const Value *Pointer) const {
  const Value *Object = getUnderlyingObject(Pointer, 0);
  if (isa<AllocaInst>(Object))
    return false;
  auto *Type = dyn_cast<PointerType>(Object->getType());
  return Which != GlobalMemory || !Type ||
         Type->getAddressSpace() != NVPTXAS::ADDRESS_SPACE_SHARED;
}

/// I reads memory that another thread may be changing at this time, and (but
/// for Contends) leaves it as it is.
bool SpinLoops::observes(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return (Load->isVolatile() || Load->isAtomic()) &&
           concerns(Load->getPointerOperand());
  if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I)) {
    auto *Operand = dyn_cast<ConstantInt>(Rmw->getValOperand());
    if (!concerns(Rmw->getPointerOperand()))
      return false;
    if (Which == Contends)
      return true;
    if (!Operand)
      return false;
    switch (Rmw->getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::Xor:
    case AtomicRMWInst::UMax:
      return Operand->isZero();
    case AtomicRMWInst::And:
    case AtomicRMWInst::UMin:
      return Operand->isMinusOne();
    default:
      return false;
    }
  }
  if (auto *Cas = dyn_cast<AtomicCmpXchgInst>(&I))
    return (Which == Contends ||
            Cas->getCompareOperand() == Cas->getNewValOperand()) &&
           concerns(Cas->getPointerOperand());
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand())) {
    StringRef Text = Asm->getAsmString();
    return (Which != GlobalMemory || !Text.contains(".shared")) &&
           (Text.contains("ld.volatile") || Text.contains("ld.acquire") ||
            Text.contains("ld.relaxed") || Text.contains("ld.mmio"));
  }
  Function *Callee = Call->getCalledFunction();
  return Callee &&
         (observes(*Callee) || (mayChangeNothing(*Call) && updates(*Callee)));
}

/// Unoptimised code hands the operand of an atomic to a function: atomicAdd(p,
/// 0), atomicCAS(p, x, x).
bool SpinLoops::mayChangeNothing(const CallBase &Call) {
  SmallPtrSet<const Value *, 4> Numbers;
  for (const Value *Arg : Call.args()) {
    if (!Arg->getType()->isIntegerTy())
      continue;
    auto *Constant = dyn_cast<ConstantInt>(Arg);
    if ((Constant && (Constant->isZero() || Constant->isMinusOne())) ||
        !Numbers.insert(Arg).second)
      return true;
  }
  return false;
}

/// F contains an atomic whose operand is known to its callers alone.
bool SpinLoops::updates(const Function &F) {
  auto [Entry, New] = Updating.try_emplace(&F, false);
  if (!New)
    return Entry->second;
  for (const Instruction &I : instructions(F)) {
    bool Found = false;
    if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
      Found = Rmw->getOperation() != AtomicRMWInst::Xchg &&
              !isa<Constant>(Rmw->getValOperand()) &&
              concerns(Rmw->getPointerOperand());
    else if (auto *Cas = dyn_cast<AtomicCmpXchgInst>(&I))
      Found = !isa<Constant>(Cas->getNewValOperand()) &&
              concerns(Cas->getPointerOperand());
    else if (auto *Call = dyn_cast<CallBase>(&I))
      Found = Call->getCalledFunction() && updates(*Call->getCalledFunction());
    if (Found)
      return Updating[&F] = true;
  }
  return false;
}

bool SpinLoops::observes(Function &F) {
  auto [Entry, New] = Known.try_emplace(&F, false);
  if (!New)
    return Entry->second;
  for (Instruction &I : instructions(F))
    if (observes(I))
      return Known[&F] = true;
  return false;
}

const Instruction *SpinLoops::find(const Loop &L, const DominatorTree &DT) {
  SmallVector<const Value *, 16> Worklist;
  SmallPtrSet<const Value *, 32> Seen;
  auto Push = [&](const Value *V) {
    if (auto *I = dyn_cast<Instruction>(V);
        I && L.contains(I) && Seen.insert(I).second)
      Worklist.push_back(I);
  };
  auto PushCondition = [&](const BasicBlock *Block) {
    const Instruction *End = Block->getTerminator();
    if (auto *Branch = dyn_cast<BranchInst>(End)) {
      if (Branch->isConditional())
        Push(Branch->getCondition());
    } else if (auto *Switch = dyn_cast<SwitchInst>(End)) {
      Push(Switch->getCondition());
    }
  };
  // What decides whether Block is reached within an iteration.
  auto PushGuards = [&](const BasicBlock *Block) {
    for (const DomTreeNode *Node = DT.getNode(Block);
         Node && L.contains(Node->getBlock()); Node = Node->getIDom())
      PushCondition(Node->getBlock());
  };

  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  for (BasicBlock *Block : Exiting)
    PushCondition(Block);
  while (!Worklist.empty()) {
    auto *I = cast<Instruction>(Worklist.pop_back_val());
    if (observes(*I))
      return I;
    for (const Value *Operand : I->operands())
      Push(Operand);
    if (auto *Phi = dyn_cast<PHINode>(I)) {
      for (const BasicBlock *Incoming : Phi->blocks())
        PushGuards(Incoming);
    } else if (auto *Load = dyn_cast<LoadInst>(I)) {
      // A local variable in unoptimised code: what is stored to it.
      if (auto *Variable = dyn_cast<AllocaInst>(
              Load->getPointerOperand()->stripPointerCasts()))
        for (const User *U : Variable->users())
          if (auto *Store = dyn_cast<StoreInst>(U);
              Store && L.contains(Store)) {
            Push(Store->getValueOperand());
            PushGuards(Store->getParent());
          }
    }
  }
  return nullptr;
}

const Instruction *SpinLoops::find(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (Loop *L : LI.getLoopsInPreorder())
    if (const Instruction *I = find(*L, DT))
      return I;
  // A loop within one piece of assembly.
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand());
          Asm && StringRef(Asm->getAsmString()).contains("bra") && observes(I))
        return &I;
  return nullptr;
}

} // namespace dragon
