//===- LoopLegality.cpp - may a loop run in separate launches -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LoopLegality.h"

#include "passes/support/ExtraParameters.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

namespace {

bool isShared(const Value &Object) {
  return Object.getType()->isPointerTy() &&
         Object.getType()->getPointerAddressSpace() ==
             NVPTXAS::ADDRESS_SPACE_SHARED;
}

/// The block's memory, or the thread's.
bool isOwn(const Value &Object) {
  return isShared(Object) || isa<AllocaInst>(Object);
}

constexpr const char *Writes = "what is in front of it writes memory";

/// A thread keeps no more variables than those.
constexpr uint64_t MostLocalBytes = 512;

bool holdsAddresses(Type &T) {
  return T.isPtrOrPtrVectorTy() ||
         any_of(T.subtypes(), [](Type *Part) { return holdsAddresses(*Part); });
}

/// It is only read, through addresses that are made of it here.
bool isOnlyRead(const Value &Address) {
  return all_of(Address.users(), [](const User *By) {
    return isa<LoadInst>(By) ||
           ((isa<GetElementPtrInst>(By) || isa<AddrSpaceCastInst>(By)) &&
            isOnlyRead(*By));
  });
}

/// A parameter's own memory, or a constant.
bool neverChanges(const Value &Object) {
  if (const auto *Arg = dyn_cast<Argument>(&Object))
    return Arg->hasByValAttr() && isOnlyRead(*Arg);
  const auto *Variable = dyn_cast<GlobalVariable>(&Object);
  return Variable &&
         (Variable->isConstant() ||
          Variable->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST);
}

/// Barriers, and exchanges of values within a warp.
bool isCooperation(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isIntrinsic())
    return false;
  StringRef Name = Callee->getName();
  return Name.consume_front("llvm.nvvm.") &&
         (Name.starts_with("barrier") || Name.starts_with("bar.") ||
          Name.starts_with("shfl") || Name.starts_with("vote") ||
          Name.starts_with("match") || Name.starts_with("redux") ||
          Name.starts_with("membar"));
}

/// It may give something else in each launch, whatever memory holds.
bool variesByLaunch(const CallBase &Call) {
  StringRef Text;
  if (const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    Text = Asm->getAsmString();
  else if (const Function *Callee = Call.getCalledFunction();
           Callee && Callee->isIntrinsic())
    Text = Callee->getName();
  for (StringRef Varying : {"smid", "warpid", "clock", "globaltimer",
                            "activemask", "sreg.pm", "%pm"})
    if (Text.contains(Varying))
      return true;
  return false;
}

bool mayEndThreads(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
    return StringRef(Asm->getAsmString()).contains("exit");
  return Call->getIntrinsicID() == Intrinsic::nvvm_exit;
}

/// A mathematical function that has its result as its only one.
bool isOfNumbers(const Function &Callee) {
  if (!Callee.isDeclaration() || Callee.getName() == "__nvvm_reflect")
    return Callee.isDeclaration();
  return Callee.getName().starts_with("__nv_") &&
         none_of(Callee.args(), [](const Argument &Arg) {
           return Arg.getType()->isPointerTy();
         });
}

/// Calls of it can be made again in each launch; `together`: by all threads
/// that made them before.
bool onlyComputes(Function &Callee, bool Together) {
  bool Indirect = false;
  for (Function *F : reachableFunctions(Callee, &Indirect))
    for (Instruction &I : instructions(*F)) {
      const Value *Address = getLoadStorePointerOperand(&I);
      const auto *Call = dyn_cast<CallBase>(&I);
      if (Call && variesByLaunch(*Call))
        return false;
      if (Call && isCooperation(*Call)) {
        if (!Together)
          return false;
        continue;
      }
      if (!I.mayReadOrWriteMemory() ||
          (Address && isa<AllocaInst>(getUnderlyingObject(Address))))
        continue;
      const Function *Called = Call ? Call->getCalledFunction() : nullptr;
      const auto *Intrinsic = dyn_cast<IntrinsicInst>(&I);
      if (Called && (!Called->isDeclaration() || isOfNumbers(*Called) ||
                     (Intrinsic && Intrinsic->isAssumeLikeIntrinsic())))
        continue;
      return false;
    }
  return !Indirect;
}

bool canBeKept(const PHINode &Phi) {
  Type *T = Phi.getType();
  if (T->isPointerTy()) {
    if (T->getPointerAddressSpace() != NVPTXAS::ADDRESS_SPACE_GENERIC &&
        T->getPointerAddressSpace() != NVPTXAS::ADDRESS_SPACE_GLOBAL)
      return false;
    for (const Value *From : Phi.incoming_values()) {
      const Value *Object = getUnderlyingObject(From);
      const auto *Arg = dyn_cast<Argument>(Object);
      if (Object != &Phi && !(Arg && !Arg->hasByValAttr()))
        return false;
    }
    return true;
  }
  const DataLayout &Layout = Phi.getDataLayout();
  return (T->isIntOrIntVectorTy() || T->isFPOrFPVectorTy()) &&
         !Layout.getTypeStoreSize(T).isScalable() &&
         Layout.getTypeStoreSize(T) <= 16;
}

} // namespace

const char *LoopLegality::structureObstacle() {
  const BasicBlock *Head = L.getHeader();
  if (L.getParentLoop())
    return "it is inside of another loop";
  if (!L.getLoopLatch())
    return "it goes back to its head from several places";
  if (L.getExitingBlock() != Head || L.getLoopLatch() == Head ||
      !isa<BranchInst>(Head->getTerminator()))
    return "it can be left in another place than at its head";
  for (const Instruction &I : *Head) {
    const auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Callee && !Callee->isDeclaration() &&
        onlyComputes(*Callee, /*Together=*/false))
      continue;
    if (Call && (Call->isConvergent() || variesByLaunch(*Call)))
      return "its condition depends on other threads";
    if (isa<PHINode>(I) || !I.mayReadOrWriteMemory() ||
        isa<DbgInfoIntrinsic>(I))
      continue;
    const auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !Load->isSimple() ||
        !neverChanges(*getUnderlyingObject(Load->getPointerOperand())))
      return "its condition depends on memory";
  }
  return nullptr;
}

const char *LoopLegality::stateObstacle() {
  uint64_t LocalBytes = 0;
  for (Instruction &I : instructions(Kernel))
    if (auto *Local = dyn_cast<AllocaInst>(&I)) {
      const auto Bytes = Local->getAllocationSize(Kernel.getDataLayout());
      if (!Local->isStaticAlloca() || !Bytes || Bytes->isScalable() ||
          holdsAddresses(*Local->getAllocatedType()))
        return "a variable in local memory may hold addresses";
      LocalBytes += *Bytes;
      Locals.push_back(Local);
    }
  if (LocalBytes > MostLocalBytes)
    return "the kernel has much local memory";
  for (Function *F : reachableFunctions(Kernel))
    if (any_of(instructions(*F), mayEndThreads))
      return "a thread may end anywhere";
  for (const PHINode &Phi : L.getHeader()->phis())
    if (!canBeKept(Phi))
      return "a pointer that it moves, or a value, cannot be kept for the next "
             "launch";
  return nullptr;
}

const char *LoopLegality::obstacleInLoad(const Value &Address) {
  const Value *Object = getUnderlyingObject(&Address);
  if (neverChanges(*Object) || isOwn(*Object))
    return nullptr;
  if (const auto *Arg = dyn_cast<Argument>(Object)) {
    const PointerSummary *Pointer = Summary.pointer(Arg->getArgNo());
    if (Pointer && Pointer->Mode == AccessMode::Read) {
      NeedsDistinct = true;
      return nullptr;
    }
  }
  return "what is in front of it reads memory that the kernel may change";
}

const char *LoopLegality::obstacleInCall(CallBase &Call) {
  constexpr const char *Unknown =
      "what is in front of it calls a function that may do more than compute";
  if (variesByLaunch(Call))
    return "what is in front of it reads a clock, or where the thread runs";
  if (Call.isInlineAsm())
    return Call.mayReadOrWriteMemory()
               ? "what is in front of it is inline assembly"
               : nullptr;
  Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return Unknown;
  if (auto *Copy = dyn_cast<MemIntrinsic>(&Call)) {
    const auto *Transfer = dyn_cast<MemTransferInst>(Copy);
    return isOwn(*getUnderlyingObject(Copy->getRawDest()))
               ? (Transfer ? obstacleInLoad(*Transfer->getRawSource())
                           : nullptr)
               : Writes;
  }
  const auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call);
  if (isCooperation(Call) || (Intrinsic && Intrinsic->isAssumeLikeIntrinsic()))
    return nullptr;
  if (!Callee->isDeclaration())
    return onlyComputes(*Callee, /*Together=*/true) ? nullptr : Unknown;
  return isOfNumbers(*Callee) || !Call.mayReadOrWriteMemory() ? nullptr
                                                              : Unknown;
}

/// Of code that runs in each launch.
const char *LoopLegality::obstacleInFront(Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return obstacleInCall(*Call);
  if (!I.mayReadOrWriteMemory() || isa<FenceInst>(I))
    return nullptr;
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    if (Load->isAtomic())
      return "what is in front of it reads memory that the kernel may change";
    return obstacleInLoad(*Load->getPointerOperand());
  }
  const Value *Address = nullptr;
  if (auto *Store = dyn_cast<StoreInst>(&I))
    Address = Store->getPointerOperand();
  else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I)) {
    // Threads come in another order each time.
    if (!Atomic->use_empty())
      return "what is in front of it depends on the order of threads";
    Address = Atomic->getPointerOperand();
  }
  const Value *Object = Address ? getUnderlyingObject(Address) : nullptr;
  return Object && isOwn(*Object) ? nullptr : Writes;
}

void LoopLegality::addShared(BasicBlock &Block) {
  SmallVector<Value *, 16> Left;
  SmallPtrSet<Value *, 32> Seen;
  auto Add = [&](Value *V) {
    if (isa<Constant>(V) && !isa<Function>(V) && Seen.insert(V).second)
      Left.push_back(V);
  };
  auto AddOperands = [&](BasicBlock &Code) {
    for (Instruction &I : Code)
      for (Use &Operand : I.operands())
        Add(Operand.get());
  };
  AddOperands(Block);
  for (Instruction &I : Block)
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (Function *Callee = Call->getCalledFunction();
          Callee && !Callee->isDeclaration())
        for (Function *F : reachableFunctions(*Callee))
          for (BasicBlock &Code : *F)
            AddOperands(Code);
  while (!Left.empty()) {
    auto *User = cast<Constant>(Left.pop_back_val());
    if (auto *Variable = dyn_cast<GlobalVariable>(User)) {
      if (isShared(*Variable))
        Shared.insert(Variable);
    } else if (!isa<GlobalValue>(User)) {
      for (Use &Operand : User->operands())
        Add(Operand.get());
    }
  }
}

/// What is used behind the loop alone has no contents before.
void LoopLegality::findShared() {
  for (BasicBlock &Block : Kernel)
    if (L.contains(&Block) || !DT.dominates(L.getHeader(), &Block))
      addShared(Block);
}

std::string LoopLegality::whyNot() {
  if (const char *Why = structureObstacle())
    return Why;
  if (const char *Why = stateObstacle())
    return Why;
  for (BasicBlock &Block : Kernel)
    if (DT.isReachableFromEntry(&Block) && !DT.dominates(L.getHeader(), &Block))
      for (Instruction &I : Block)
        if (const char *Why = obstacleInFront(I))
          return Why;
  findShared();
  // All threads of a block keep its shared memory together.
  if (!Shared.empty() && !PostDominatorTree(Kernel).dominates(
                             L.getHeader(), &Kernel.getEntryBlock()))
    return "the block has shared memory, and some of its threads may not come "
           "to the loop";
  return "";
}

} // namespace dragon
