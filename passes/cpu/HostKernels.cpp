//===- HostKernels.cpp - entries of kernels on the host -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/HostKernels.h"

#include "dragon/CompilerABI.h"
#include "passes/cpu/RuntimeFunctions.h"
#include "passes/cpu/ThreadContext.h"
#include "passes/support/ExtraParameters.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned MaxThreads[3] = {1024, 1024, 64};

/// What decides how a kernel is run: facts about the functions it reaches.
class Reach {
public:
  explicit Reach(Module &M)
      : Waiting(functionsThatNeed(
            M, [](Instruction &I) { return letsOtherThreadsRun(I); })),
        Looking(functionsThatNeed(
            M, [](Instruction &I) { return mayLookAtContext(I); })) {
    for (Function &F : M)
      if (!F.isDeclaration() && addressIsTaken(F) && Waiting.contains(&F))
        PointersMayWait = true;
  }

  bool needsFibers(Function &Kernel) const {
    if (Waiting.contains(&Kernel))
      return true;
    bool Indirect = false;
    reachableFunctions(Kernel, &Indirect);
    return Indirect && PointersMayWait;
  }
  bool looksAtContext(Function &Kernel) const {
    return Looking.contains(&Kernel);
  }

private:
  SmallPtrSet<Function *, 16> Waiting;
  SmallPtrSet<Function *, 16> Looking;
  bool PointersMayWait = false;
};

class EntryBuilder {
public:
  EntryBuilder(Module &M, const HostKernel &Kernel)
      : M(M), Kernel(Kernel), B(M.getContext()) {}

  Function *build(bool Fibers, bool StoreIndex);

private:
  void describe();
  SmallVector<Value *, 16> loadArguments();
  void callThread(ArrayRef<Value *> Args, ArrayRef<Value *> Index);
  void emitLoops(ArrayRef<Value *> Args, bool StoreIndex);

  Module &M;
  const HostKernel &Kernel;
  IRBuilder<> B;
  Function *Entry = nullptr;
};

/// Debug information: the entry is at the kernel's line, so that what is
/// inlined into it keeps its places.
void EntryBuilder::describe() {
  DISubprogram *Of = Kernel.Thread->getSubprogram();
  if (!Of)
    return;
  auto *Subprogram = DISubprogram::getDistinct(
      M.getContext(), Of->getScope(), Of->getName(), Kernel.Name, Of->getFile(),
      Of->getLine(), Of->getType(), Of->getScopeLine(), nullptr, 0, 0,
      Of->getFlags() | DINode::FlagArtificial, Of->getSPFlags(), Of->getUnit());
  Entry->setSubprogram(Subprogram);
  B.SetCurrentDebugLocation(
      DILocation::get(M.getContext(), Of->getLine(), 0, Subprogram));
}

/// Arguments are the same for all threads. Structures by value are copied once,
/// to where nobody else can change them; each call then has its own copy.
SmallVector<Value *, 16> EntryBuilder::loadArguments() {
  const DataLayout &DL = M.getDataLayout();
  SmallVector<Value *, 16> Result;
  unsigned Count = Kernel.Thread->arg_size() - ThreadContext::NumParameters;
  for (unsigned I = 0; I < Count; ++I) {
    Argument *A = Kernel.Thread->getArg(I);
    Value *Slot =
        B.CreateConstInBoundsGEP1_32(B.getPtrTy(), Entry->getArg(1), I);
    LoadInst *Address = B.CreateLoad(B.getPtrTy(), Slot);
    if (!A->hasByValAttr()) {
      Result.push_back(B.CreateLoad(A->getType(), Address, A->getName()));
      continue;
    }
    Type *Struct = A->getParamByValType();
    Align Alignment = A->getParamAlign().valueOrOne();
    AllocaInst *Copy = B.CreateAlloca(Struct, nullptr, A->getName());
    Copy->setAlignment(std::max(Alignment, Copy->getAlign()));
    B.CreateMemCpy(Copy, Copy->getAlign(), Address, Align(1),
                   DL.getTypeAllocSize(Struct));
    Result.push_back(Copy);
  }
  return Result;
}

void EntryBuilder::callThread(ArrayRef<Value *> Args, ArrayRef<Value *> Index) {
  SmallVector<Value *, 16> All(Args);
  All.push_back(Entry->getArg(0));
  All.append(Index.begin(), Index.end());
  CallInst *Call = B.CreateCall(Kernel.Thread, All);
  // By-value parameters are part of how a function is called.
  for (unsigned I = 0; I < Args.size(); ++I)
    if (Kernel.Thread->hasParamAttribute(I, Attribute::ByVal)) {
      Call->addParamAttr(I,
                         Kernel.Thread->getParamAttribute(I, Attribute::ByVal));
      if (MaybeAlign Alignment = Kernel.Thread->getParamAlign(I))
        Call->addParamAttr(
            I, Attribute::getWithAlignment(M.getContext(), *Alignment));
    }
}

/// for (z = 0; ...) for (y = 0; ...) for (x = 0; ...) thread(x, y, z)
void EntryBuilder::emitLoops(ArrayRef<Value *> Args, bool StoreIndex) {
  LLVMContext &C = M.getContext();
  Value *Count[3];
  for (unsigned Dim = 0; Dim < 3; ++Dim) {
    Value *Address = B.CreateConstInBoundsGEP1_32(
        B.getInt8Ty(), Entry->getArg(0),
        offsetof(dragon_cpu_context, ntid) + 4 * Dim);
    LoadInst *Load = B.CreateAlignedLoad(B.getInt32Ty(), Address, Align(4));
    Load->setMetadata(
        LLVMContext::MD_range,
        MDBuilder(C).createRange(APInt(32, 1), APInt(32, MaxThreads[Dim] + 1)));
    Load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(C, {}));
    Count[Dim] = Load;
  }
  // Blocks outermost (z) to innermost; every count is at least 1.
  BasicBlock *Head[3], *Tail[3];
  PHINode *Index[3];
  static constexpr const char *Names[3] = {"x", "y", "z"};
  for (int Dim = 2; Dim >= 0; --Dim) {
    Head[Dim] = BasicBlock::Create(C, Names[Dim], Entry);
    BasicBlock *From = B.GetInsertBlock();
    B.CreateBr(Head[Dim]);
    B.SetInsertPoint(Head[Dim]);
    Index[Dim] = B.CreatePHI(B.getInt32Ty(), 2);
    Index[Dim]->addIncoming(B.getInt32(0), From);
  }
  if (StoreIndex)
    for (unsigned Dim = 0; Dim < 3; ++Dim)
      storeThreadIdx(B, Entry->getArg(0), Dim, Index[Dim]);
  callThread(Args, {Index[0], Index[1], Index[2]});
  for (unsigned Dim = 0; Dim < 3; ++Dim) {
    Tail[Dim] = BasicBlock::Create(C, Twine(Names[Dim]) + ".next", Entry);
    B.CreateBr(Tail[Dim]);
    B.SetInsertPoint(Tail[Dim]);
    Value *Next = B.CreateAdd(Index[Dim], B.getInt32(1), "", true, true);
    Index[Dim]->addIncoming(Next, Tail[Dim]);
    BasicBlock *After = BasicBlock::Create(C, "", Entry);
    B.CreateCondBr(B.CreateICmpULT(Next, Count[Dim]), Head[Dim], After);
    B.SetInsertPoint(After);
  }
}

Function *EntryBuilder::build(bool Fibers, bool StoreIndex) {
  Function &Thread = *Kernel.Thread;
  Thread.setName(Kernel.Name + ".thread");
  auto *Type =
      FunctionType::get(B.getVoidTy(), {B.getPtrTy(), B.getPtrTy()}, false);
  Entry = Function::Create(Type, GlobalValue::InternalLinkage, Kernel.Name, M);
  Entry->setDoesNotThrow();
  LLVMContext &C = M.getContext();
  for (unsigned I = 0; I < 2; ++I) {
    Entry->addParamAttr(I, Attribute::NoUndef);
    Entry->addParamAttr(I, Attribute::NonNull);
  }
  Entry->addParamAttr(0, Attribute::getWithAlignment(C, Align(8)));
  Entry->addParamAttr(
      0, Attribute::getWithDereferenceableBytes(C, sizeof(dragon_cpu_context)));
  Entry->getArg(0)->setName("ctx");
  Entry->getArg(1)->setName("args");
  Thread.removeFnAttr(Attribute::NoInline);
  Thread.removeFnAttr(Attribute::OptimizeNone);
  Thread.addFnAttr(Attribute::AlwaysInline);

  B.SetInsertPoint(BasicBlock::Create(C, "entry", Entry));
  describe();
  SmallVector<Value *, 16> Args = loadArguments();
  if (Fibers) {
    SmallVector<Value *, 3> Index;
    for (unsigned Dim = 0; Dim < 3; ++Dim)
      Index.push_back(loadThreadIdx(B, Entry->getArg(0), Dim));
    callThread(Args, Index);
  } else {
    emitLoops(Args, StoreIndex);
  }
  B.CreateRetVoid();
  return Entry;
}

/// A private constant array of `Rows`, or null if there are none.
Constant *makeArray(Module &M, StructType *Row, ArrayRef<Constant *> Rows,
                    StringRef Name) {
  if (Rows.empty())
    return ConstantPointerNull::get(PointerType::get(M.getContext(), 0));
  auto *Type = ArrayType::get(Row, Rows.size());
  return new GlobalVariable(M, Type, /*isConstant=*/true,
                            GlobalValue::PrivateLinkage,
                            ConstantArray::get(Type, Rows), Name);
}

} // namespace

void emitHostKernels(Module &M, ArrayRef<HostKernel> Kernels,
                     ArrayRef<HostVariable> Variables, StringRef ModuleId,
                     StringRef Processor) {
  LLVMContext &C = M.getContext();
  IRBuilder<> B(C);
  Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  auto Text = [&](StringRef S) {
    return B.CreateGlobalString(S, "dragon.name", 0, &M);
  };

  Reach Facts(M);
  auto *KernelRow = StructType::get(C, {Ptr, Ptr, I32, I32});
  SmallVector<Constant *, 16> Rows;
  for (const HostKernel &Kernel : Kernels) {
    bool Fibers = Facts.needsFibers(*Kernel.Thread);
    Function *Entry = EntryBuilder(M, Kernel).build(
        Fibers, Facts.looksAtContext(*Kernel.Thread));
    Rows.push_back(ConstantStruct::get(
        KernelRow, {Text(Kernel.Name), Entry,
                    ConstantInt::get(I32, Fibers ? DRAGON_CPU_NEEDS_FIBERS : 0),
                    ConstantInt::get(I32, Kernel.SharedBytes)}));
  }
  Constant *KernelTable = makeArray(M, KernelRow, Rows, "dragon.kernels");

  auto *VariableRow = StructType::get(C, {Ptr, Ptr, I64});
  SmallVector<Constant *, 16> VariableRows;
  for (const HostVariable &Variable : Variables)
    VariableRows.push_back(ConstantStruct::get(
        VariableRow,
        {Text(Variable.Name), Variable.Storage,
         ConstantInt::get(I64, M.getDataLayout().getTypeAllocSize(
                                   Variable.Storage->getValueType()))}));
  Constant *VariableTable =
      makeArray(M, VariableRow, VariableRows, "dragon.variables");

  Constant *Needs = ConstantPointerNull::get(B.getPtrTy());
  if (!Processor.empty())
    Needs = Text(Processor);
  auto *ModuleRow = StructType::get(C, {I32, I32, Ptr, I64, Ptr, Ptr});
  new GlobalVariable(
      M, ModuleRow, /*isConstant=*/true, GlobalValue::ExternalLinkage,
      ConstantStruct::get(ModuleRow,
                          {ConstantInt::get(I32, DRAGON_CPU_MODULE_VERSION),
                           ConstantInt::get(I32, Kernels.size()), KernelTable,
                           ConstantInt::get(I64, Variables.size()),
                           VariableTable, Needs}),
      "dragon_cpu_module_" + ModuleId);
}

} // namespace dragon
