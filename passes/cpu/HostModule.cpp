//===- HostModule.cpp - the shell of a lowered module ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/HostModule.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/GlobalStatus.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace dragon {

namespace {

int reflect(const Module &M, StringRef Name) {
  if (Name == "__CUDA_ARCH")
    return static_cast<int>(gpuArchitecture(M) * 10);
  if (Name == "__CUDA_PREC_SQRT" || Name == "__CUDA_PREC_DIV")
    return 1;
  if (Name == "__CUDA_FTZ")
    if (auto *Flag = mdconst::extract_or_null<ConstantInt>(
            M.getModuleFlag("nvvm-reflect-ftz")))
      return static_cast<int>(Flag->getSExtValue());
  return 0;
}

/// __nvvm_reflect("__CUDA_FTZ") and the like are questions to the compiler.
void resolveReflect(Module &M) {
  SmallVector<CallInst *, 16> Calls;
  for (Function &F : M)
    if (F.getName() == "__nvvm_reflect" ||
        F.getIntrinsicID() == Intrinsic::nvvm_reflect)
      for (User *U : F.users())
        if (auto *Call = dyn_cast<CallInst>(U))
          Calls.push_back(Call);
  for (CallInst *Call : Calls) {
    StringRef Name;
    auto *Variable =
        dyn_cast<GlobalVariable>(Call->getArgOperand(0)->stripPointerCasts());
    if (Variable && Variable->hasInitializer())
      if (auto *Text =
              dyn_cast<ConstantDataSequential>(Variable->getInitializer());
          Text && Text->isCString())
        Name = Text->getAsCString();
    Call->replaceAllUsesWith(
        ConstantInt::get(Call->getType(), reflect(M, Name)));
    Call->eraseFromParent();
  }
}

} // namespace

void prepareDeviceModule(Module &M, ArrayRef<Function *> Kernels) {
  // Lists of used symbols would keep all of libdevice.
  for (StringRef Name : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *List = M.getNamedGlobal(Name))
      List->eraseFromParent();
  SmallPtrSet<Function *, 16> Roots(Kernels.begin(), Kernels.end());
  for (Function &F : M)
    if (!F.isDeclaration() && !Roots.contains(&F)) {
      F.setLinkage(GlobalValue::InternalLinkage);
      F.setComdat(nullptr);
      F.setVisibility(GlobalValue::DefaultVisibility);
      F.setDSOLocal(true);
    }
  resolveReflect(M);
  ModuleAnalysisManager None;
  GlobalDCEPass().run(M, None);
}

void refuseForeignVariables(Module &M, Unsupported &Refused) {
  SmallVector<Constant *, 4> Foreign;
  for (GlobalVariable &V : M.globals())
    if (V.isDeclaration() && !V.hasExternalWeakLinkage() &&
        V.getAddressSpace() != 0 &&
        V.getAddressSpace() != NVPTXAS::ADDRESS_SPACE_SHARED)
      Foreign.push_back(&V);
  convertUsersOfConstantsToInstructions(Foreign);
  for (Constant *V : Foreign) {
    SmallVector<WeakVH, 8> Users;
    for (User *U : V->users())
      if (isa<Instruction>(U))
        Users.push_back(U);
    for (WeakVH &Handle : Users)
      if (Handle)
        Refused.replace(*cast<Instruction>(&*Handle),
                        "the variable '" + V->getName() +
                            "' of another translation unit");
  }
}

SmallVector<HostVariable, 8> moveVariables(Module &M) {
  SmallVector<HostVariable, 8> Result;
  SmallVector<GlobalVariable *, 16> Old;
  for (GlobalVariable &V : M.globals())
    if (V.getAddressSpace() != 0 &&
        V.getAddressSpace() != NVPTXAS::ADDRESS_SPACE_SHARED)
      Old.push_back(&V);
  DenseMap<GlobalVariable *, GlobalVariable *> NewOf;
  for (GlobalVariable *V : Old) {
    if (V->isDeclaration())
      continue;
    // The program may write to __constant__ variables before a launch.
    bool Constant = V->isConstant() && !V->isExternallyInitialized();
    auto *New = new GlobalVariable(M, V->getValueType(), Constant,
                                   GlobalValue::InternalLinkage, nullptr, "", V,
                                   V->getThreadLocalMode(), 0);
    New->setAlignment(V->getAlign());
    New->setUnnamedAddr(V->getUnnamedAddr());
    NewOf[V] = New;
  }
  // Uses first: initialisers may refer to each other.
  for (GlobalVariable *V : Old) {
    if (!NewOf.contains(V)) {
      // Nobody defines it: on the GPU, its address is null.
      V->replaceAllUsesWith(Constant::getNullValue(V->getType()));
      V->eraseFromParent();
      continue;
    }
    GlobalVariable *New = NewOf[V];
    for (User *U : make_early_inc_range(V->users()))
      if (auto *Cast = dyn_cast<ConstantExpr>(U);
          Cast && Cast->getOpcode() == Instruction::AddrSpaceCast &&
          Cast->getType()->getPointerAddressSpace() == 0)
        Cast->replaceAllUsesWith(New);
    V->removeDeadConstantUsers();
    V->replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(New, V->getType()));
  }
  for (GlobalVariable *V : Old) {
    auto Found = NewOf.find(V);
    if (Found == NewOf.end())
      continue;
    GlobalVariable *New = Found->second;
    New->setInitializer(V->getInitializer());
    bool Named = !V->hasPrivateLinkage() &&
                 (V->isExternallyInitialized() || !V->hasLocalLinkage());
    New->takeName(V);
    // Those that only kernels know of are listed, if one may write them, for a
    // reset of the device.
    GlobalStatus Use;
    bool Changes = !New->isConstant() &&
                   (GlobalStatus::analyzeGlobal(New, Use) ||
                    Use.StoredType > GlobalStatus::InitializerStored);
    if (Named || Changes)
      Result.push_back({New->getName().str(), New});
    V->eraseFromParent();
  }
  return Result;
}

namespace {

/// Metadata of device modules goes.
void dropDeviceMetadata(Module &M) {
  for (StringRef Name : {"nvvm.annotations", "nvvmir.version", "nvvm.ident",
                         "llvm.ident", "nvvm.internalize.after.link"})
    if (NamedMDNode *Node = M.getNamedMetadata(Name))
      Node->eraseFromParent();
  if (NamedMDNode *Flags = M.getModuleFlagsMetadata()) {
    SmallVector<MDNode *, 8> Kept;
    for (MDNode *Flag : Flags->operands()) {
      auto *Key = dyn_cast_or_null<MDString>(Flag->getOperand(1));
      if (Key && !Key->getString().starts_with("nvvm") &&
          Key->getString() != "CUDA SDK version" &&
          Key->getString() != "SDK Version")
        Kept.push_back(Flag);
    }
    Flags->clearOperands();
    for (MDNode *Flag : Kept)
      Flags->addOperand(Flag);
  }
}

void dropDeviceAttributes(Function &F) {
  F.setCallingConv(CallingConv::C);
  for (StringRef Name : {"target-cpu", "target-features",
                         "uniform-work-group-size", "denormal-fp-math-f32",
                         "denormal-fp-math", "stack-protector-buffer-size"})
    F.removeFnAttr(Name);
  SmallVector<StringRef, 4> Nvvm;
  for (Attribute A : F.getAttributes().getFnAttrs())
    if (A.isStringAttribute() && A.getKindAsString().starts_with("nvvm."))
      Nvvm.push_back(A.getKindAsString());
  for (StringRef Name : Nvvm)
    F.removeFnAttr(Name);
  // Each thread of the host is on its own: no operation is convergent.
  F.removeFnAttr(Attribute::Convergent);
  for (Argument &A : F.args())
    F.removeParamAttr(A.getArgNo(), "nvvm.grid_constant");
}

/// Calls follow the host's convention; atomic operations hold for all threads.
void makeHostInstruction(Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I)) {
    Call->setCallingConv(CallingConv::C);
    Call->removeFnAttr(Attribute::Convergent);
  } else if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I)) {
    Rmw->setSyncScopeID(SyncScope::System);
  } else if (auto *Cas = dyn_cast<AtomicCmpXchgInst>(&I)) {
    Cas->setSyncScopeID(SyncScope::System);
  } else if (auto *Fence = dyn_cast<FenceInst>(&I)) {
    Fence->setSyncScopeID(SyncScope::System);
  } else if (auto *Load = dyn_cast<LoadInst>(&I)) {
    if (Load->isAtomic())
      Load->setSyncScopeID(SyncScope::System);
  } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
    if (Store->isAtomic())
      Store->setSyncScopeID(SyncScope::System);
  }
}

void makeInternal(GlobalObject &Object) {
  Object.setLinkage(GlobalValue::InternalLinkage);
  Object.setComdat(nullptr);
  Object.setVisibility(GlobalValue::DefaultVisibility);
}

} // namespace

unsigned gpuArchitecture(const Module &M) {
  for (const Function &F : M) {
    StringRef Cpu = F.getFnAttribute("target-cpu").getValueAsString();
    unsigned Number;
    if (Cpu.consume_front("sm_") && !Cpu.consumeInteger(10, Number))
      return Number;
  }
  return 0;
}

void makeHostModule(Module &M, StringRef Processor) {
  Triple Host(sys::getDefaultTargetTriple());
  M.setTargetTriple(Host);
  M.setDataLayout(Host.computeDataLayout());
  M.setModuleInlineAsm("");
  dropDeviceMetadata(M);
  if (M.getPICLevel() == PICLevel::NotPIC)
    M.setPICLevel(PICLevel::BigPIC);

  for (Function &F : M) {
    dropDeviceAttributes(F);
    for (Instruction &I : instructions(F))
      makeHostInstruction(I);
    if (!F.isDeclaration()) {
      if (!Processor.empty())
        F.addFnAttr("target-cpu", Processor);
      makeInternal(F);
      F.setDSOLocal(true);
    }
  }
  for (GlobalVariable &V : M.globals()) {
    V.setExternallyInitialized(false);
    if (!V.isDeclaration() && !V.hasLocalLinkage() &&
        !V.getName().starts_with("dragon_cpu_module_"))
      makeInternal(V);
  }
}

} // namespace dragon
