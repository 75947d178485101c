//===- CalleeAccess.cpp - functions that are not inlined ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/CalleeAccess.h"

#include "passes/access/Assembly.h"
#include "passes/support/DeviceFunctions.h"
#include "passes/support/ExtraParameters.h"

#include "dragon/KernelSummary.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/NVPTXAddrSpace.h"

#include <map>
#include <utility>

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned AllObjects = 0; // no limit of steps

bool isOwnSpace(const Type &Pointer) {
  switch (Pointer.getPointerAddressSpace()) {
  case NVPTXAS::ADDRESS_SPACE_SHARED:
  case NVPTXAS::ADDRESS_SPACE_CONST:
  case NVPTXAS::ADDRESS_SPACE_LOCAL:
    return true;
  default:
    return false;
  }
}

/// What the address begins at, but for memory that no buffer is in; null among
/// them: something else.
SmallVector<const Argument *, 4> rootsOf(const Value &Address) {
  SmallVector<const Argument *, 4> Roots;
  if (isOwnSpace(*Address.getType()))
    return Roots;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(&Address, Objects, nullptr, AllObjects);
  for (const Value *Object : Objects)
    if (!isa<AllocaInst, UndefValue, ConstantPointerNull>(Object) &&
        !(Object->getType()->isPointerTy() && isOwnSpace(*Object->getType())))
      Roots.push_back(dyn_cast<Argument>(Object));
  return Roots;
}

/// Somebody else may use the address where the value is stored.
bool keepsAddress(const Value &Stored) {
  const Value *Pointer = &Stored;
  if (const auto *Cast = dyn_cast<PtrToIntOperator>(Pointer))
    Pointer = Cast->getPointerOperand();
  return Pointer->getType()->isPointerTy() && !rootsOf(*Pointer).empty();
}

/// What is known so far of all functions that are reached.
using KnownFunctions = std::map<const Function *, CalleeAccess>;

/// Puts together what the instructions of a function do.
class Visitor {
public:
  Visitor(const Function &Callee, const KnownFunctions &Known) : Known(Known) {
    Found.Kinds.resize(Callee.arg_size());
  }
  /// False: what it does is not known.
  bool visit(Instruction &I);
  CalleeAccess Found;

private:
  bool visitCall(CallBase &Call);
  bool visitAssembly(CallBase &Call);
  bool visitIntrinsic(IntrinsicInst &Call);
  /// False: the address is another one.
  bool access(const Value &Address, uint8_t Kinds);
  bool accessPointers(const CallBase &Call, uint8_t Kinds) {
    return all_of(Call.args(), [&](const Use &Arg) {
      return !Arg->getType()->isPointerTy() || access(*Arg, Kinds);
    });
  }

  const KnownFunctions &Known;
};

bool Visitor::access(const Value &Address, uint8_t Kinds) {
  const Value *Pointer = &Address;
  if (!Pointer->getType()->isPointerTy()) {
    const auto *Cast = dyn_cast<PtrToIntOperator>(Pointer);
    if (!Cast)
      return false;
    Pointer = Cast->getPointerOperand();
  }
  for (const Argument *Root : rootsOf(*Pointer)) {
    if (!Root)
      return false;
    Found.Kinds[Root->getArgNo()] |= Kinds;
  }
  return true;
}

bool Visitor::visitAssembly(CallBase &Call) {
  const StringRef Text =
      cast<InlineAsm>(Call.getCalledOperand())->getAsmString();
  const CalleeAccess Effects = effectsOfAssembly(Text);
  Found.Flags |= Effects.Flags;
  Found.ThreadsMayExit |= Effects.ThreadsMayExit;
  if (!touchesMemory(Text))
    return true;
  const auto Accesses = accessesOfAssembly(Call);
  if (!Accesses)
    return false;
  return all_of(*Accesses, [&](const AssemblyAccess &A) {
    return access(*A.Address, A.Kinds);
  });
}

bool Visitor::visitIntrinsic(IntrinsicInst &Call) {
  if (Call.isConvergent())
    Found.Flags |= KernelHasBarrier;
  if (Call.getIntrinsicID() == Intrinsic::nvvm_exit)
    Found.ThreadsMayExit = true;
  if (Call.doesNotReturn()) { // a trap
    Found.Flags |= KernelHasPrintf;
    return true;
  }
  if (usesDescriptor(Call.getCalledFunction()->getName()))
    return false;
  if (!Call.mayReadOrWriteMemory() || Call.isAssumeLikeIntrinsic() ||
      Call.getIntrinsicID() == Intrinsic::fake_use)
    return true;
  // What has no pointer may have an address in a number, but for barriers.
  const bool HasPointer = any_of(Call.args(), [](const Use &Arg) {
    return Arg->getType()->isPointerTy();
  });
  if (!HasPointer)
    return Call.isConvergent() || Call.onlyAccessesInaccessibleMemory();
  if (const auto *Copy = dyn_cast<MemIntrinsic>(&Call)) {
    const auto *Transfer = dyn_cast<MemTransferInst>(Copy);
    return access(*Copy->getRawDest(), AccessWrite) &&
           (!Transfer || access(*Transfer->getRawSource(), AccessRead));
  }
  return accessPointers(Call, Call.onlyReadsMemory()
                                  ? AccessRead
                                  : AccessRead | AccessWrite | AccessAtomic);
}

bool Visitor::visitCall(CallBase &Call) {
  if (Call.isInlineAsm())
    return visitAssembly(Call);
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call))
    return visitIntrinsic(*Intrinsic);
  const Function *Called = Call.getCalledFunction();
  if (!Called)
    return false;
  const StringRef Name = Called->getName();
  if (isPrinting(Name)) {
    Found.Flags |= KernelHasPrintf;
    return true;
  }
  if (Name == "__nvvm_reflect")
    return true;
  if (isMathFunction(Name))
    return accessPointers(Call, AccessWrite);
  if (Called->isDeclaration())
    return !Call.mayReadOrWriteMemory();
  const auto Inside = Known.find(Called);
  if (Inside == Known.end() || Call.arg_size() > Called->arg_size())
    return false;
  Found.Flags |= Inside->second.Flags;
  Found.ThreadsMayExit |= Inside->second.ThreadsMayExit;
  return all_of(Call.args(), [&](const Use &Arg) {
    const uint8_t Kinds = Inside->second.Kinds[Call.getArgOperandNo(&Arg)];
    return !Kinds || access(*Arg, Kinds);
  });
}

bool Visitor::visit(Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return visitCall(*Call);
  if (isa<UnreachableInst>(I))
    Found.ThreadsMayExit = true;
  if (!I.mayReadOrWriteMemory() || isa<FenceInst>(I))
    return true;
  if (const auto *Store = dyn_cast<StoreInst>(&I);
      Store && keepsAddress(*Store->getValueOperand()))
    return false;
  uint8_t Kinds = isa<LoadInst>(I) ? AccessRead : AccessRead | AccessWrite;
  if (I.isAtomic())
    Kinds = AccessRead | AccessWrite | AccessAtomic;
  const Value *Address = getLoadStorePointerOperand(&I);
  if (const auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    Address = Atomic->getPointerOperand();
  else if (const auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    Address = Exchange->getPointerOperand();
  return Address && access(*Address, Kinds);
}

} // namespace

bool usesDescriptor(StringRef Intrinsic) {
  for (const char *Part : {".tensor.", ".tex.", ".suld.", ".sust.", ".sured.",
                           ".tld4.", ".tensormap."})
    if (Intrinsic.contains(Part))
      return true;
  return false;
}

CalleeAccess effectsOfAssembly(StringRef Text) {
  CalleeAccess Effects;
  // clang takes all assembly for convergent.
  for (const char *Word :
       {"bar.", "barrier", "shfl", "vote", "match.", "redux", "activemask"})
    if (Text.contains(Word))
      Effects.Flags |= KernelHasBarrier;
  Effects.ThreadsMayExit = Text.contains("exit");
  if (Text.contains("trap") || Text.contains("brkpt"))
    Effects.Flags |= KernelHasPrintf;
  return Effects;
}

std::optional<CalleeAccess> accessOfCallee(Function &Callee) {
  bool MakesIndirectCalls = false;
  const auto Reached = reachableFunctions(Callee, &MakesIndirectCalls);
  if (MakesIndirectCalls)
    return std::nullopt;
  KnownFunctions Known;
  for (const Function *F : Reached)
    Known[F].Kinds.resize(F->arg_size());
  // Functions that call one another: until nothing is added any more.
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Function *F : Reached) {
      Visitor All(*F, Known);
      if (!all_of(instructions(*F),
                  [&](Instruction &I) { return All.visit(I); }))
        return std::nullopt;
      Changed |= !(All.Found == Known[F]);
      Known[F] = std::move(All.Found);
    }
  }
  return Known[&Callee];
}

} // namespace dragon
