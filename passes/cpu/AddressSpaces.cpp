//===- AddressSpaces.cpp - one address space on the host ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/AddressSpaces.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

/// Pointer types of other address spaces, and what holds them, in address space
/// 0.
Type *flatten(Type *T) {
  LLVMContext &C = T->getContext();
  if (T->isPointerTy())
    return PointerType::get(C, 0);
  if (auto *Vector = dyn_cast<VectorType>(T))
    return VectorType::get(flatten(Vector->getElementType()),
                           Vector->getElementCount());
  if (auto *Array = dyn_cast<ArrayType>(T))
    return ArrayType::get(flatten(Array->getElementType()),
                          Array->getNumElements());
  if (auto *Struct = dyn_cast<StructType>(T)) {
    SmallVector<Type *, 8> Elements;
    bool Changed = false;
    for (Type *Element : Struct->elements()) {
      Elements.push_back(flatten(Element));
      Changed |= Elements.back() != Element;
    }
    return Changed ? StructType::get(C, Elements, Struct->isPacked()) : T;
  }
  return T;
}

Constant *flattenConstant(Constant *Old) {
  Type *To = flatten(Old->getType());
  if (To == Old->getType())
    return Old;
  if (isa<PoisonValue>(Old))
    return PoisonValue::get(To);
  if (isa<UndefValue>(Old))
    return UndefValue::get(To);
  if (Old->isNullValue())
    return Constant::getNullValue(To);
  return nullptr;
}

bool changes(Type *T) { return flatten(T) != T; }

/// Arguments, instructions and the constants that they use. Casts between
/// address spaces go.
Error flattenValues(Function &F) {
  for (Argument &A : F.args())
    if (changes(A.getType()))
      A.mutateType(flatten(A.getType()));
  // Constant expressions with other pointers become instructions.
  SmallVector<Instruction *, 16> Casts;
  for (Instruction &I : instructions(F)) {
    for (Use &U : I.operands())
      if (auto *C = dyn_cast<Constant>(U); C && changes(C->getType())) {
        Constant *Flat = flattenConstant(C);
        if (!Flat)
          if (auto *Expr = dyn_cast<ConstantExpr>(C);
              Expr && Expr->getOpcode() == Instruction::AddrSpaceCast)
            Flat = dyn_cast<Constant>(Expr->getOperand(0));
        if (!Flat || Flat->getType() != flatten(C->getType()))
          return createStringError(
              "a constant of type '" + Twine(C->getType()->getTypeID()) +
              "' with a qualified pointer in '" + F.getName() +
              "' cannot be moved to the host");
        U.set(Flat);
      }
    if (changes(I.getType()))
      I.mutateType(flatten(I.getType()));
    if (isa<AddrSpaceCastInst>(I))
      Casts.push_back(&I);
  }
  for (Instruction *Cast : Casts) {
    Cast->replaceAllUsesWith(Cast->getOperand(0));
    Cast->eraseFromParent();
  }
  return Error::success();
}

/// A function whose type changes is replaced by one of the new type, in calls
/// as well.
Error flattenType(Function *F) {
  Module &M = *F->getParent();
  FunctionType *OldType = F->getFunctionType();
  SmallVector<Type *, 8> Parameters;
  for (Type *P : OldType->params())
    Parameters.push_back(flatten(P));
  auto *NewType = FunctionType::get(flatten(OldType->getReturnType()),
                                    Parameters, OldType->isVarArg());
  if (NewType == OldType)
    return Error::success();
  Function *New;
  if (F->isIntrinsic()) {
    SmallVector<Type *, 4> Overloads;
    if (!Intrinsic::getIntrinsicSignature(F->getIntrinsicID(), NewType,
                                          Overloads))
      return createStringError("the intrinsic '" + F->getName() +
                               "' has no form for the host");
    New = Intrinsic::getOrInsertDeclaration(&M, F->getIntrinsicID(), Overloads);
  } else {
    New = Function::Create(NewType, F->getLinkage(), 0, "", &M);
    New->copyAttributesFrom(F);
    New->splice(New->begin(), F);
    auto NewArg = New->arg_begin();
    for (Argument &A : F->args()) {
      NewArg->takeName(&A);
      A.replaceAllUsesWith(&*NewArg++);
    }
    New->setSubprogram(F->getSubprogram());
    New->takeName(F);
  }
  for (User *U : make_early_inc_range(F->users()))
    if (auto *Call = dyn_cast<CallBase>(U);
        Call && Call->getCalledOperand() == F)
      Call->setCalledFunction(New);
  F->replaceAllUsesWith(New);
  F->eraseFromParent();
  return Error::success();
}

/// Types that an instruction has besides those of its values.
void flattenTypes(Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I); Call && !Call->getCalledFunction()) {
    SmallVector<Type *, 8> Parameters;
    for (Type *P : Call->getFunctionType()->params())
      Parameters.push_back(flatten(P));
    Call->mutateFunctionType(
        FunctionType::get(flatten(Call->getFunctionType()->getReturnType()),
                          Parameters, Call->getFunctionType()->isVarArg()));
  } else if (auto *Alloca = dyn_cast<AllocaInst>(&I)) {
    Alloca->setAllocatedType(flatten(Alloca->getAllocatedType()));
  } else if (auto *Gep = dyn_cast<GetElementPtrInst>(&I)) {
    Gep->setSourceElementType(flatten(Gep->getSourceElementType()));
    Gep->setResultElementType(flatten(Gep->getResultElementType()));
  }
}

} // namespace

Error flattenAddressSpaces(Module &M) {
  for (Function &F : M)
    if (!F.isDeclaration())
      if (Error Failed = flattenValues(F))
        return Failed;
  SmallVector<Function *, 16> Functions;
  for (Function &F : M)
    Functions.push_back(&F);
  for (Function *F : Functions)
    if (Error Failed = flattenType(F))
      return Failed;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      flattenTypes(I);
  return Error::success();
}

} // namespace dragon
