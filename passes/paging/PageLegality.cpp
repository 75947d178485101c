//===- PageLegality.cpp - which kernels may fetch pages -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paging/PageLegality.h"

#include "passes/SourceNames.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/GlobalAccesses.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace dragon {

MovableAccess movable(Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return {&Load->getOperandUse(LoadInst::getPointerOperandIndex()), false};
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return {&Store->getOperandUse(StoreInst::getPointerOperandIndex()), true};
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    return {&Update->getOperandUse(AtomicRMWInst::getPointerOperandIndex()),
            true};
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    return {
        &Exchange->getOperandUse(AtomicCmpXchgInst::getPointerOperandIndex()),
        true};
  if (auto *Call = dyn_cast<IntrinsicInst>(&I))
    if (accessesGlobalMemory(I) && !isa<AnyMemIntrinsic>(Call))
      return {&Call->getArgOperandUse(0), false};
  return {};
}

namespace {

/// Of the 48 KiB that a kernel can have without asking, a copy needs some for
/// pages on their way.
constexpr uint64_t MostShared = 30 << 10;

Align alignmentOf(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->getAlign();
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->getAlign();
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    return Update->getAlign();
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    return Exchange->getAlign();
  // Reads by an intrinsic, which says so.
  return cast<ConstantInt>(cast<IntrinsicInst>(I).getArgOperand(1))
      ->getAlignValue();
}

bool staysInPage(Instruction &I) {
  bool Stays = true;
  findGlobalAccesses(I, [&](const GlobalAccess &Access) {
    const auto *Bytes = dyn_cast<ConstantInt>(Access.Bytes);
    Stays &= Bytes && Bytes->getZExtValue() <= SmallestPage &&
             alignmentOf(I).value() >= PowerOf2Ceil(Bytes->getZExtValue());
  });
  return Stays;
}

bool mayBePointer(const Value &V) {
  return V.getType()->isPointerTy() || V.getType()->isIntegerTy(64) ||
         V.getType()->isAggregateType();
}

/// Local memory, shared memory, or constants of the module.
bool isOwn(const Value &Pointer) {
  const Value *Object = getUnderlyingObject(&Pointer);
  const unsigned Space = Object->getType()->isPointerTy()
                             ? Object->getType()->getPointerAddressSpace()
                             : NVPTXAS::ADDRESS_SPACE_GENERIC;
  const auto *Variable = dyn_cast<GlobalVariable>(Object);
  return isa<AllocaInst>(Object) || (Variable && Variable->isConstant()) ||
         (Space != NVPTXAS::ADDRESS_SPACE_GENERIC &&
          Space != NVPTXAS::ADDRESS_SPACE_GLOBAL);
}

/// Instructions of PTX, some with effects that clang is not told of.
bool accessesMemory(const InlineAsm &Assembly) {
  static const Regex Accesses("(^|[^a-z0-9_.%])(ld|ldu|st|atom|red|tex|tld4|"
                              "suld|sust|sured|cp|prefetch|"
                              "multimem|wmma\\.(load|store)|tcgen05)\\.");
  return Accesses.match(Assembly.getAsmString());
}

/// Or surfaces, which are memory of buffers as well.
bool readsTexture(const Function &Intrinsic) {
  const StringRef Name = Intrinsic.getName();
  return any_of(ArrayRef<StringRef>{"llvm.nvvm.tex.", "llvm.nvvm.tld4.",
                                    "llvm.nvvm.suld.", "llvm.nvvm.sust."},
                [&](StringRef Known) { return Name.starts_with(Known); });
}

std::string whyNot(Instruction &I) {
  if (isa<AnyMemIntrinsic>(I))
    return "";
  if (movable(I).Pointer)
    return staysInPage(I) ? "" : "an access may cross the border of a page";
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return "";
  const auto *Assembly = dyn_cast<InlineAsm>(Call->getCalledOperand());
  const Function *Callee = Call->getCalledFunction();
  if (Callee && readsTexture(*Callee))
    return "it uses textures";
  if (!Call->mayReadOrWriteMemory() && !(Assembly && accessesMemory(*Assembly)))
    return "";
  const bool Given = any_of(Call->args(), [](const Use &U) {
    return mayBePointer(*U) && !(U->getType()->isPointerTy() && isOwn(*U));
  });
  if (Assembly)
    return Given ? "inline assembly may access memory" : "";
  if (!Callee)
    return "it calls a function through a pointer";
  if (!Callee->isDeclaration() || !Given)
    return "";
  if (Callee->isIntrinsic() &&
      (Call->onlyAccessesInaccessibleMemory() ||
       isa<LifetimeIntrinsic, AssumeInst>(Call) ||
       Callee->getName().starts_with("llvm.nvvm.prefetch")))
    return "";
  return "'" + displayName(Callee->getName()) + "' may access memory";
}

/// Shared memory of fixed size that functions use.
uint64_t sharedBytes(const Module &M, const SetVector<Function *> &Functions) {
  uint64_t Bytes = 0;
  for (const GlobalVariable &Variable : M.globals()) {
    if (Variable.getAddressSpace() != NVPTXAS::ADDRESS_SPACE_SHARED)
      continue;
    SmallVector<const User *, 16> Pending(Variable.users());
    SmallPtrSet<const User *, 16> Seen(Pending.begin(), Pending.end());
    bool Uses = false;
    while (!Pending.empty() && !Uses) {
      const User *By = Pending.pop_back_val();
      if (const auto *I = dyn_cast<Instruction>(By))
        Uses = Functions.contains(const_cast<Function *>(I->getFunction()));
      else
        for (const User *Next : By->users())
          if (Seen.insert(Next).second)
            Pending.push_back(Next);
    }
    if (Uses)
      Bytes +=
          alignTo(M.getDataLayout().getTypeAllocSize(Variable.getValueType()),
                  Variable.getAlign().valueOrOne());
  }
  return Bytes;
}

} // namespace

std::string whyNotPaged(Function &Kernel) {
  if (!hasRoomFor(Kernel, PageParameterBytes))
    return "it has too many parameters";
  const SetVector<Function *> Functions = reachableFunctions(Kernel);
  if (sharedBytes(*Kernel.getParent(), Functions) > MostShared)
    return "it has too much shared memory";
  bool Accesses = false;
  for (Function *F : Functions)
    for (Instruction &I : instructions(*F)) {
      Accesses |= accessesGlobalMemory(I);
      if (std::string Why = whyNot(I); !Why.empty())
        return Why;
    }
  return Accesses ? "" : "it accesses no memory";
}

} // namespace dragon
