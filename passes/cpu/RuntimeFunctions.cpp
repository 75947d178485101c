//===- RuntimeFunctions.cpp - what lowered code calls ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/RuntimeFunctions.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include <optional>

using namespace llvm;

namespace dragon {

namespace {

enum class Kind { Waits, Context, Ends, Plain, Math };
enum TypeCode { Void, I16, I32, I64, F32, F64, Ptr };

struct Signature {
  StringRef Name;
  TypeCode Result;
  Kind How;
  SmallVector<TypeCode, 8> Parameters;
};

const Signature &signature(RuntimeFunction Which) {
  static const Signature Table[] = {
#define RUNTIME_FUNCTION(NAME, RESULT, KIND, ...)                              \
  {#NAME, RESULT, Kind::KIND, {__VA_ARGS__}},
#include "passes/cpu/RuntimeFunctions.def"
  };
  return Table[static_cast<unsigned>(Which)];
}

Type *typeOf(LLVMContext &C, TypeCode Code) {
  switch (Code) {
  case Void:
    return Type::getVoidTy(C);
  case I16:
    return Type::getInt16Ty(C);
  case I32:
    return Type::getInt32Ty(C);
  case I64:
    return Type::getInt64Ty(C);
  case F32:
    return Type::getFloatTy(C);
  case F64:
    return Type::getDoubleTy(C);
  case Ptr:
    return PointerType::get(C, 0);
  }
  llvm_unreachable("unknown type code");
}

const Function *callee(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call ? Call->getCalledFunction() : nullptr;
}

} // namespace

std::optional<RuntimeFunction> runtimeFunctionByName(StringRef Name) {
  return StringSwitch<std::optional<RuntimeFunction>>(Name)
#define RUNTIME_FUNCTION(NAME, ...) .Case(#NAME, RuntimeFunction::NAME)
#include "passes/cpu/RuntimeFunctions.def"
      .Default(std::nullopt);
}

Function *runtimeFunction(Module &M, RuntimeFunction Which) {
  const Signature &Wanted = signature(Which);
  if (Function *Known = M.getFunction(Wanted.Name))
    return Known;
  LLVMContext &C = M.getContext();
  SmallVector<Type *, 8> Parameters;
  for (TypeCode Code : Wanted.Parameters)
    Parameters.push_back(typeOf(C, Code));
  Function *F = Function::Create(
      FunctionType::get(typeOf(C, Wanted.Result), Parameters, false),
      GlobalValue::ExternalLinkage, Wanted.Name, M);
  F->setDoesNotThrow();
  if (Wanted.How == Kind::Math) {
    F->setDoesNotAccessMemory();
    F->addFnAttr(Attribute::WillReturn);
  }
  if (Wanted.How == Kind::Ends ||
      Which == RuntimeFunction::dragon_cpu_exit_thread)
    F->setDoesNotReturn();
  if (Wanted.How == Kind::Ends)
    F->addFnAttr(Attribute::Cold);
  return F;
}

bool letsOtherThreadsRun(const Instruction &I) {
  const Function *F = callee(I);
  if (!F || !F->isDeclaration())
    return false;
  std::optional<RuntimeFunction> Which = runtimeFunctionByName(F->getName());
  if (Which == RuntimeFunction::dragon_cpu_yield) {
    auto *Waits = dyn_cast<ConstantInt>(I.getOperand(1));
    return Waits && Waits->isOne();
  }
  return Which && signature(*Which).How == Kind::Waits;
}

bool mayLookAtContext(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || Call->isInlineAsm())
    return false;
  const Function *F = Call->getCalledFunction();
  if (!F)
    return true; // through a pointer: the wrappers ask for the context
  if (!F->isDeclaration() || F->isIntrinsic())
    return false;
  std::optional<RuntimeFunction> Which = runtimeFunctionByName(F->getName());
  if (!Which || Which == RuntimeFunction::dragon_cpu_yield)
    return false;
  Kind How = signature(*Which).How;
  return How != Kind::Plain && How != Kind::Math;
}

} // namespace dragon
