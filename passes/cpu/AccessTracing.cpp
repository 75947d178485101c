//===- AccessTracing.cpp - kernels that tell their accesses ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/AccessTracing.h"
#include "passes/cpu/RuntimeFunctions.h"

#include "dragon/CompilerABI.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned GenericSpace = 0;
constexpr unsigned GlobalSpace = 1;

bool mayBeGlobal(const Value *Pointer) {
  auto InSpace = [](const Value *V) {
    unsigned Space = V->getType()->getPointerAddressSpace();
    return Space == GenericSpace || Space == GlobalSpace;
  };
  if (!InSpace(Pointer))
    return false;
  const Value *Object = getUnderlyingObject(Pointer);
  if (isa<AllocaInst>(Object))
    return false;
  if (const auto *A = dyn_cast<Argument>(Object); A && A->hasByValAttr())
    return false;
  return !Object->getType()->isPointerTy() || InSpace(Object);
}

class Tracer {
public:
  explicit Tracer(Module &M)
      : M(M), DL(M.getDataLayout()),
        Function(runtimeFunction(M, RuntimeFunction::dragon_cpu_access)) {}

  void visit(Instruction &I);

private:
  void tell(Instruction &I, Value *Pointer, Value *Bytes, unsigned Kind) {
    if (!mayBeGlobal(Pointer))
      return;
    IRBuilder<> B(&I);
    Type *Generic = PointerType::get(M.getContext(), GenericSpace);
    B.CreateCall(Function, {B.CreateAddrSpaceCast(Pointer, Generic),
                            B.CreateZExtOrTrunc(Bytes, B.getInt64Ty()),
                            B.getInt32(Kind)});
  }
  void tell(Instruction &I, Value *Pointer, Type *T, unsigned Kind) {
    tell(I, Pointer,
         ConstantInt::get(Type::getInt64Ty(M.getContext()),
                          DL.getTypeStoreSize(T).getFixedValue()),
         Kind);
  }

  Module &M;
  const DataLayout &DL;
  llvm::Function *Function;
};

void Tracer::visit(Instruction &I) {
  constexpr unsigned Both = DRAGON_CPU_READ | DRAGON_CPU_WRITE;
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    tell(I, Load->getPointerOperand(), Load->getType(), DRAGON_CPU_READ);
  } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
    tell(I, Store->getPointerOperand(), Store->getValueOperand()->getType(),
         DRAGON_CPU_WRITE);
  } else if (auto *Update = dyn_cast<AtomicRMWInst>(&I)) {
    tell(I, Update->getPointerOperand(), Update->getValOperand()->getType(),
         Both);
  } else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
    tell(I, Exchange->getPointerOperand(),
         Exchange->getNewValOperand()->getType(), Both);
  } else if (auto *Memory = dyn_cast<AnyMemIntrinsic>(&I)) {
    if (auto *Transfer = dyn_cast<AnyMemTransferInst>(Memory))
      tell(I, Transfer->getRawSource(), Transfer->getLength(), DRAGON_CPU_READ);
    tell(I, Memory->getRawDest(), Memory->getLength(), DRAGON_CPU_WRITE);
  } else if (auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    const StringRef Name = Call->getCalledFunction()->getName();
    if (Name.starts_with("llvm.nvvm.ldu.global.") ||
        Name.starts_with("llvm.nvvm.ldg.global."))
      tell(I, Call->getArgOperand(0), Call->getType(), DRAGON_CPU_READ);
  }
}

} // namespace

void traceAccesses(Module &M) {
  Tracer All(M);
  SmallVector<Instruction *, 64> Work;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      Work.push_back(&I);
  for (Instruction *I : Work)
    All.visit(*I);
}

PreservedAnalyses AccessTracingPass::run(Module &M, ModuleAnalysisManager &) {
  traceAccesses(M);
  return PreservedAnalyses::none();
}

} // namespace dragon
