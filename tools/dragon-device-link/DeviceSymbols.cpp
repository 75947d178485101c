//===- DeviceSymbols.cpp - symbols of device code -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-device-link/DeviceSymbols.h"

#include "passes/support/UndefinedSymbols.h"
#include "passes/support/UnitSuffix.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace dragon::devicelink {

namespace {

constexpr StringLiteral HostReferences = "__clang_gpu_used_external";
constexpr unsigned SharedSpace = 3;

bool isKernel(const GlobalValue &Value) {
  auto *F = dyn_cast<Function>(&Value);
  return F && F->getCallingConv() == CallingConv::PTX_Kernel;
}

/// Variables that are not the compiler's own, such as tables of virtual
/// functions.
bool isVariable(const GlobalValue &Value) {
  auto *Variable = dyn_cast<GlobalVariable>(&Value);
  return Variable && Variable->isExternallyInitialized();
}

/// The C++ runtime's, which a device does not have: where a table of virtual
/// functions has no function.
bool isTrap(StringRef Name) {
  return Name == "__cxa_pure_virtual" || Name == "__cxa_deleted_virtual";
}

void renameStaticVariables(Module &M) {
  for (GlobalVariable &Declared : make_early_inc_range(M.globals())) {
    if (!Declared.isDeclaration())
      continue;
    for (GlobalVariable &Defined : M.globals())
      if (!Defined.isDeclaration() && &Defined != &Declared &&
          withoutUnitSuffix(Defined.getName()) == Declared.getName() &&
          Defined.getType() == Declared.getType()) {
        Declared.replaceAllUsesWith(&Defined);
        Declared.eraseFromParent();
        break;
      }
  }
}

/// threadIdx and its kin: clang's header declares them, and member functions
/// get their address, but they hold nothing. Without relocatable device code
/// clang defines them in the same way.
void defineBuiltinVariables(Module &M) {
  for (StringRef Name : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
    GlobalVariable *Variable = M.getNamedGlobal(Name);
    if (!Variable || !Variable->isDeclaration() ||
        !isBuiltinVariable(*Variable))
      continue;
    Variable->setInitializer(Constant::getNullValue(Variable->getValueType()));
    Variable->setExternallyInitialized(false);
    Variable->setVisibility(GlobalValue::DefaultVisibility);
    Variable->setLinkage(GlobalValue::InternalLinkage);
  }
}

void resolveFlushing(Module &M) {
  constexpr StringLiteral Flag = "nvvm-reflect-ftz";
  int Flushes = 0;
  if (auto *Value =
          mdconst::dyn_extract_or_null<ConstantInt>(M.getModuleFlag(Flag)))
    Flushes = !Value->isZero();
  if (Function *Reflect = M.getFunction("__nvvm_reflect"))
    for (User *U : make_early_inc_range(Reflect->users())) {
      auto *Call = dyn_cast<CallInst>(U);
      StringRef Question;
      if (Call && Call->arg_size() == 1 &&
          getConstantStringInfo(Call->getArgOperand(0)->stripPointerCasts(),
                                Question) &&
          Question == "__CUDA_FTZ") {
        Call->replaceAllUsesWith(ConstantInt::get(Call->getType(), Flushes));
        Call->eraseFromParent();
      }
    }
  NamedMDNode *Flags = M.getModuleFlagsMetadata();
  if (!Flags)
    return;
  SmallVector<MDNode *, 8> Kept;
  for (MDNode *Row : Flags->operands()) {
    auto *Key = dyn_cast_or_null<MDString>(Row->getOperand(1));
    if (!Key || Key->getString() != Flag)
      Kept.push_back(Row);
  }
  Flags->clearOperands();
  for (MDNode *Row : Kept)
    Flags->addOperand(Row);
}

/// What host code of the unit refers to, listed by clang so that linkers find
/// it.
std::vector<std::string> takeHostReferences(Module &M) {
  std::vector<std::string> Names;
  GlobalVariable *List =
      M.getGlobalVariable(HostReferences, /*AllowInternal=*/true);
  if (!List || !List->hasInitializer())
    return Names;
  for (const Use &Element : List->getInitializer()->operands())
    if (auto *Value = dyn_cast<GlobalValue>(Element->stripPointerCasts()))
      if (Value->isDeclaration())
        Names.push_back(Value->getName().str());
  removeFromUsedLists(
      M, [&](Constant *C) { return C->stripPointerCasts() == List; });
  List->eraseFromParent();
  return Names;
}

} // namespace

DeviceSymbols prepareUnit(Module &M) {
  DeviceSymbols Result;
  renameStaticVariables(M);
  defineBuiltinVariables(M);
  resolveFlushing(M);
  Result.Wanted = takeHostReferences(M);
  for (GlobalValue &Value : M.global_values()) {
    StringRef Name = Value.getName();
    Value.removeDeadConstantUsers();
    if (Value.hasLocalLinkage() || Name.starts_with("llvm.") ||
        Value.getAddressSpace() == SharedSpace)
      continue;
    if (Value.isDeclarationForLinker()) {
      if (!Value.use_empty() && !isProvidedToDevices(Name) && !isTrap(Name))
        Result.Needed.push_back(Name.str());
      continue;
    }
    (Value.isWeakForLinker() ? Result.Weak : Result.Strong)
        .push_back(Name.str());
    Result.Visible |= isKernel(Value) || isVariable(Value);
  }
  return Result;
}

void SharedMemory::add(const Module &M) {
  for (const GlobalVariable &Variable : M.globals())
    if (Variable.isDeclaration() && Variable.getAddressSpace() == SharedSpace) {
      Align &Entry = Alignment[Variable.getName()];
      Entry = std::max(Entry, Variable.getAlign().valueOrOne());
    }
}

void SharedMemory::apply(Module &M) const {
  for (GlobalVariable &Variable : M.globals())
    if (Variable.isDeclaration() && Variable.getAddressSpace() == SharedSpace)
      Variable.setAlignment(Alignment.lookup(Variable.getName()));
}

static void defineTrap(Function &F) {
  IRBuilder<> Builder(BasicBlock::Create(F.getContext(), "entry", &F));
  Builder.CreateIntrinsic(Intrinsic::trap, {});
  Builder.CreateUnreachable();
}

void closeProgram(Module &M) {
  M.getOrInsertNamedMetadata("dragon.device_link");
  for (Function &F : M)
    if (F.isDeclaration() && isTrap(F.getName()))
      defineTrap(F);
  for (GlobalObject &Object : M.global_objects()) {
    if (Object.isDeclaration() || Object.hasLocalLinkage() ||
        Object.getName().starts_with("llvm."))
      continue;
    Object.setComdat(nullptr);
    Object.setVisibility(GlobalValue::DefaultVisibility);
    Object.setLinkage(isKernel(Object) || isVariable(Object)
                          ? GlobalValue::ExternalLinkage
                          : GlobalValue::InternalLinkage);
  }
}

std::string symbolName(StringRef Symbol) {
  std::string Name = demangle(withoutUnitSuffix(Symbol));
  return "'" + Name + "'" + (Name == Symbol ? "" : " (" + Symbol.str() + ")");
}

} // namespace dragon::devicelink
