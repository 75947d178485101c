//===- ModuleEmbedding.cpp - what an object tells the runtime -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/ModuleEmbedding.h"

#include "dragon/CompilerABI.h"
#include "passes/Options.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace dragon {

namespace {

// Clang's constructors have 65535. A smaller number runs earlier; up to 100 is
// reserved for the implementation.
constexpr int ConstructorPriority = 100;
constexpr int RegistrationPriority = 101;

GlobalVariable *constantBytes(Module &M, Constant *Value, const Twine &Name) {
  auto *Global = new GlobalVariable(M, Value->getType(), /*isConstant=*/true,
                                    GlobalValue::PrivateLinkage, Value, Name);
  Global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return Global;
}

} // namespace

EmbeddingOptions EmbeddingOptions::given(const Module &M, StringRef Summary) {
  EmbeddingOptions Result;
  Result.Summary = Summary;
  Result.ModuleId = options::moduleId();
  Result.Source = options::source().empty() ? StringRef(M.getSourceFileName())
                                            : options::source();
  Result.Cpu = options::cpu();
  Result.Relocatable = options::relocatable();
  return Result;
}

void registerBeforeConstructors(Module &M) {
  GlobalVariable *List = M.getGlobalVariable("llvm.global_ctors");
  auto *Rows = List && List->hasInitializer()
                   ? dyn_cast<ConstantArray>(List->getInitializer())
                   : nullptr;
  if (!Rows)
    return;
  SmallVector<Constant *, 4> Changed;
  for (const Use &Row : Rows->operands()) {
    auto *Fields = cast<ConstantStruct>(Row);
    if (Fields->getOperand(1)->getName() == "__cuda_module_ctor")
      Fields = cast<ConstantStruct>(ConstantStruct::get(
          Fields->getType(), {ConstantInt::get(Type::getInt32Ty(M.getContext()),
                                               RegistrationPriority),
                              Fields->getOperand(1), Fields->getOperand(2)}));
    Changed.push_back(Fields);
  }
  List->setInitializer(ConstantArray::get(Rows->getType(), Changed));
}

bool embedModule(Module &M, const EmbeddingOptions &Options) {
  LLVMContext &Context = M.getContext();
  auto *Pointer = PointerType::getUnqual(Context);
  auto *I32 = Type::getInt32Ty(Context);
  auto *I64 = Type::getInt64Ty(Context);
  Constant *Null = ConstantPointerNull::get(Pointer);

  Constant *Wrapper =
      M.getGlobalVariable("__cuda_fatbin_wrapper", /*AllowInternal=*/true);
  if (Options.Relocatable ||
      (Options.Summary.empty() && !Wrapper && !Options.Cpu))
    return false;

  Constant *Summary = Null;
  if (!Options.Summary.empty()) {
    auto *Global =
        constantBytes(M,
                      ConstantDataArray::getString(Context, Options.Summary,
                                                   /*AddNull=*/false),
                      "dragon.summary");
    Global->setAlignment(Align(8));
    Summary = Global;
  }

  Constant *Cpu = Null;
  if (Options.Cpu) {
    std::string Name = ("dragon_cpu_module_" + Options.ModuleId).str();
    GlobalVariable *Global = M.getGlobalVariable(Name);
    if (!Global)
      Global = new GlobalVariable(
          M, ArrayType::get(Type::getInt8Ty(Context), 0),
          /*isConstant=*/true, GlobalValue::ExternalWeakLinkage, nullptr, Name);
    Cpu = Global;
  }

  GlobalVariable *Source =
      constantBytes(M, ConstantDataArray::getString(Context, Options.Source),
                    "dragon.source");

  // struct dragon_module, field by field.
  Constant *Fields[] = {
      ConstantInt::get(I32, DRAGON_MODULE_VERSION),
      ConstantInt::get(I32, 0),
      Wrapper ? Wrapper : Null,
      Summary,
      ConstantInt::get(I64, Options.Summary.size()),
      Cpu,
      Source,
  };
  static_assert(sizeof(dragon_module) == 48, "dragon_module has changed");
  Constant *Row = ConstantStruct::getAnon(Fields);
  auto *Descriptor =
      new GlobalVariable(M, Row->getType(), /*isConstant=*/true,
                         GlobalValue::InternalLinkage, Row, "dragon.module");

  FunctionCallee Register = M.getOrInsertFunction(
      "__dragon_register_module", Type::getVoidTy(Context), Pointer);
  Function *Constructor = Function::Create(
      FunctionType::get(Type::getVoidTy(Context), false),
      GlobalValue::InternalLinkage, "dragon.register_module", M);
  Constructor->setDoesNotThrow();
  IRBuilder<> Builder(BasicBlock::Create(Context, "entry", Constructor));
  Builder.CreateCall(Register, {Descriptor});
  Builder.CreateRetVoid();
  appendToGlobalCtors(M, Constructor, ConstructorPriority);
  registerBeforeConstructors(M);
  return true;
}

} // namespace dragon
