//===- HostKernels.cpp - entries of kernels on the host -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/HostKernels.h"

#include "dragon/CompilerABI.h"
#include "passes/cpu/LoopInterchange.h"
#include "passes/cpu/RunModes.h"
#include "passes/cpu/RuntimeFunctions.h"
#include "passes/cpu/ThreadContext.h"
#include "passes/cpu/ThreadTurns.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned MaxThreads[3] = {1024, 1024, 64};
constexpr unsigned MaxBlockThreads = 1024;

class EntryBuilder {
public:
  EntryBuilder(Module &M, const HostKernel &Kernel)
      : M(M), Kernel(Kernel), B(M.getContext()) {}

  Function *build(RunDecision D);

private:
  void describe();
  SmallVector<Value *, 16> loadArguments();
  CallInst *callThread(Function *Thread, ArrayRef<Value *> Args,
                       ArrayRef<Value *> Index, ArrayRef<Value *> Extra = {});
  Value *emitLoops(bool StoreIndex,
                   function_ref<Value *(ArrayRef<Value *>)> Body);
  void loadCounts();
  Value *threadNumber(ArrayRef<Value *> Index);
  void emitTurns(Function *Thread, ArrayRef<Value *> Args, bool StoreIndex);
  void emitInterchanged(const InterchangedThread &Parts, ArrayRef<Value *> Args,
                        bool StoreIndex);

  Module &M;
  const HostKernel &Kernel;
  IRBuilder<> B;
  Function *Entry = nullptr;
  Value *Count[3] = {};
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

CallInst *EntryBuilder::callThread(Function *Thread, ArrayRef<Value *> Args,
                                   ArrayRef<Value *> Index,
                                   ArrayRef<Value *> Extra) {
  SmallVector<Value *, 16> All(Args);
  All.push_back(Entry->getArg(0));
  All.append(Index.begin(), Index.end());
  All.append(Extra.begin(), Extra.end());
  CallInst *Call = B.CreateCall(Thread, All);
  // By-value parameters are part of how a function is called.
  for (unsigned I = 0; I < Args.size(); ++I)
    if (Thread->hasParamAttribute(I, Attribute::ByVal)) {
      Call->addParamAttr(I, Thread->getParamAttribute(I, Attribute::ByVal));
      if (MaybeAlign Alignment = Thread->getParamAlign(I))
        Call->addParamAttr(
            I, Attribute::getWithAlignment(M.getContext(), *Alignment));
    }
  return Call;
}

/// for (z = 0; ...) for (y = 0; ...) for (x = 0; ...) Body({x, y, z}), and the
/// disjunction of what Body returns, if it returns anything (i1).
Value *EntryBuilder::emitLoops(bool StoreIndex,
                               function_ref<Value *(ArrayRef<Value *>)> Body) {
  LLVMContext &C = M.getContext();
  // From the outermost loop (z) to the innermost; every count is at least 1.
  BasicBlock *Head[3];
  PHINode *Index[3], *Any[3];
  static constexpr const char *Names[3] = {"x", "y", "z"};
  Value *Sofar = B.getFalse();
  for (int Dim = 2; Dim >= 0; --Dim) {
    Head[Dim] = BasicBlock::Create(C, Names[Dim], Entry);
    BasicBlock *From = B.GetInsertBlock();
    B.CreateBr(Head[Dim]);
    B.SetInsertPoint(Head[Dim]);
    Index[Dim] = B.CreatePHI(B.getInt32Ty(), 2);
    Index[Dim]->addIncoming(B.getInt32(0), From);
    Any[Dim] = B.CreatePHI(B.getInt1Ty(), 2);
    Any[Dim]->addIncoming(Sofar, From);
    Sofar = Any[Dim];
  }
  if (StoreIndex)
    for (unsigned Dim = 0; Dim < 3; ++Dim)
      storeThreadIdx(B, Entry->getArg(0), Dim, Index[Dim]);
  Value *Result = Body({Index[0], Index[1], Index[2]});
  if (Result)
    Sofar = B.CreateOr(Sofar, Result);
  for (unsigned Dim = 0; Dim < 3; ++Dim) {
    BasicBlock *Tail =
        BasicBlock::Create(C, Twine(Names[Dim]) + ".next", Entry);
    B.CreateBr(Tail);
    B.SetInsertPoint(Tail);
    Value *Next = B.CreateAdd(Index[Dim], B.getInt32(1), "", true, true);
    Index[Dim]->addIncoming(Next, Tail);
    Any[Dim]->addIncoming(Sofar, Tail);
    BasicBlock *After = BasicBlock::Create(C, "", Entry);
    B.CreateCondBr(B.CreateICmpULT(Next, Count[Dim]), Head[Dim], After);
    B.SetInsertPoint(After);
  }
  if (!Result)
    for (PHINode *Unused : {Any[0], Any[1], Any[2]}) {
      Unused->replaceAllUsesWith(B.getFalse());
      Unused->eraseFromParent();
    }
  return Result ? Sofar : nullptr;
}

void EntryBuilder::loadCounts() {
  LLVMContext &C = M.getContext();
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
}

Value *EntryBuilder::threadNumber(ArrayRef<Value *> Index) {
  Value *Row = B.CreateAdd(B.CreateMul(Index[2], Count[1], "", true, true),
                           Index[1], "", true, true);
  return B.CreateAdd(B.CreateMul(Row, Count[0], "", true, true), Index[0], "",
                     true, true);
}

/// See ThreadTurns.h.
void EntryBuilder::emitTurns(Function *Thread, ArrayRef<Value *> Args,
                             bool StoreIndex) {
  LLVMContext &C = M.getContext();
  Type *VotesType = TurnVotes::type(C);
  AllocaInst *Votes = B.CreateAlloca(VotesType);
  AllocaInst *Handles =
      B.CreateAlloca(ArrayType::get(B.getPtrTy(), MaxBlockThreads));
  auto HandleOf = [&](Value *Number) {
    return B.CreateInBoundsGEP(B.getPtrTy(), Handles,
                               B.CreateZExt(Number, B.getInt64Ty()));
  };
  auto Call = [&](Intrinsic::ID Which, Value *Handle) {
    return B.CreateCall(Intrinsic::getOrInsertDeclaration(&M, Which), Handle);
  };
  B.CreateStore(Constant::getNullValue(VotesType), Votes);
  TurnVotes::move(B, Votes);
  Value *AnyLeft = emitLoops(StoreIndex, [&](ArrayRef<Value *> Index) {
    Value *Number = threadNumber(Index);
    Value *Handle = callThread(Thread, Args, Index, {Number, Votes});
    B.CreateStore(Handle, HandleOf(Number));
    return B.CreateNot(Call(Intrinsic::coro_done, Handle));
  });
  BasicBlock *Turn = BasicBlock::Create(C, "turn", Entry);
  BasicBlock *Ended = BasicBlock::Create(C, "ended", Entry);
  B.CreateCondBr(AnyLeft, Turn, Ended);
  B.SetInsertPoint(Turn);
  TurnVotes::move(B, Votes);
  AnyLeft = emitLoops(StoreIndex, [&](ArrayRef<Value *> Index) {
    Value *Handle = B.CreateLoad(B.getPtrTy(), HandleOf(threadNumber(Index)));
    Value *Done = Call(Intrinsic::coro_done, Handle);
    BasicBlock *Skipped = B.GetInsertBlock();
    BasicBlock *Left = BasicBlock::Create(C, "left", Entry);
    BasicBlock *Next = BasicBlock::Create(C, "", Entry);
    B.CreateCondBr(Done, Next, Left);
    B.SetInsertPoint(Left);
    Call(Intrinsic::coro_resume, Handle);
    Value *StillLeft = B.CreateNot(Call(Intrinsic::coro_done, Handle));
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
    PHINode *Result = B.CreatePHI(B.getInt1Ty(), 2);
    Result->addIncoming(B.getFalse(), Skipped);
    Result->addIncoming(StillLeft, Left);
    return Result;
  });
  B.CreateCondBr(AnyLeft, Turn, Ended);
  B.SetInsertPoint(Ended);
}

/// See LoopInterchange.h.
void EntryBuilder::emitInterchanged(const InterchangedThread &Parts,
                                    ArrayRef<Value *> Args, bool StoreIndex) {
  SmallVector<std::pair<AllocaInst *, Type *>, 8> Arrays;
  auto AddArray = [&](Type *Element) {
    AllocaInst *Array =
        B.CreateAlloca(ArrayType::get(Element, MaxBlockThreads));
    Array->setAlignment(std::max(Array->getAlign(), Align(64)));
    Arrays.push_back({Array, Element});
  };
  for (Type *Saved : Parts.Saved)
    AddArray(Saved);
  if (Parts.HasState)
    AddArray(B.getInt8Ty());

  auto Run = [&](Function *Part, Value *Iteration) {
    return emitLoops(StoreIndex, [&](ArrayRef<Value *> Index) -> Value * {
      SmallVector<Value *, 8> Extra;
      if (Iteration)
        Extra.push_back(Iteration);
      Value *Number = B.CreateZExt(threadNumber(Index), B.getInt64Ty());
      for (auto [Array, Element] : Arrays)
        Extra.push_back(B.CreateInBoundsGEP(Element, Array, Number));
      CallInst *Call = callThread(Part, Args, Index, Extra);
      return Iteration ? Call : nullptr;
    });
  };
  Run(Parts.Before, nullptr);
  LLVMContext &C = M.getContext();
  BasicBlock *From = B.GetInsertBlock();
  BasicBlock *Sweep = BasicBlock::Create(C, "sweep", Entry);
  B.CreateBr(Sweep);
  B.SetInsertPoint(Sweep);
  PHINode *Iteration = B.CreatePHI(B.getInt64Ty(), 2);
  Iteration->addIncoming(B.getInt64(0), From);
  Value *Continues = Run(Parts.Iteration, Iteration);
  Value *Next = B.CreateAdd(Iteration, B.getInt64(1), "", true, true);
  Iteration->addIncoming(Next, B.GetInsertBlock());
  BasicBlock *Done = BasicBlock::Create(C, "", Entry);
  B.CreateCondBr(Continues, Sweep, Done);
  B.SetInsertPoint(Done);
  if (Parts.After)
    Run(Parts.After, nullptr);
}

Function *EntryBuilder::build(RunDecision D) {
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
  // Else a debugger finds the thread's frame, with its arguments and locals.
  if (Kernel.Optimise) {
    Thread.removeFnAttr(Attribute::NoInline);
    if (D.How != RunMode::Turns) // is split first
      Thread.addFnAttr(Attribute::AlwaysInline);
  }
  if (Thread.hasFnAttribute("target-cpu"))
    Entry->addFnAttr(Thread.getFnAttribute("target-cpu"));
  std::optional<InterchangedThread> Parts;
  if (D.How == RunMode::Interchange)
    Parts = interchangeLoop(Thread);

  B.SetInsertPoint(BasicBlock::Create(C, "entry", Entry));
  describe();
  SmallVector<Value *, 16> Args = loadArguments();
  if (D.How == RunMode::Fibers) {
    SmallVector<Value *, 3> Index;
    for (unsigned Dim = 0; Dim < 3; ++Dim)
      Index.push_back(loadThreadIdx(B, Entry->getArg(0), Dim));
    callThread(&Thread, Args, Index);
  } else {
    loadCounts();
    if (D.How == RunMode::Turns)
      emitTurns(makeTurns(Thread), Args, D.StoreIndex);
    else if (Parts)
      emitInterchanged(*Parts, Args, D.StoreIndex);
    else
      emitLoops(D.StoreIndex, [&](ArrayRef<Value *> Index) {
        callThread(&Thread, Args, Index);
        return nullptr;
      });
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
                     ArrayRef<HostVariable> Variables,
                     const HostModuleFacts &Facts, bool Traced) {
  LLVMContext &C = M.getContext();
  IRBuilder<> B(C);
  Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  auto Text = [&](StringRef S) {
    return B.CreateGlobalString(S, "dragon.name", 0, &M);
  };

  const SmallVector<RunDecision, 16> Decisions = decideRunModes(M, Kernels);
  auto *KernelRow = StructType::get(C, {Ptr, Ptr, I32, I32});
  SmallVector<Constant *, 16> Rows;
  for (auto [Kernel, D] : zip(Kernels, Decisions)) {
    Function *Entry = EntryBuilder(M, Kernel).build(D);
    Rows.push_back(ConstantStruct::get(
        KernelRow,
        {Text(Kernel.Name), Entry,
         ConstantInt::get(
             I32, (D.How == RunMode::Fibers ? DRAGON_CPU_NEEDS_FIBERS : 0) |
                      (Traced ? DRAGON_CPU_TRACED : 0) |
                      Kernel.MaxThreads << DRAGON_CPU_MAX_THREADS_SHIFT),
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
  if (!Facts.Processor.empty())
    Needs = Text(Facts.Processor);
  auto *ModuleRow = StructType::get(C, {I32, I32, Ptr, I64, Ptr, Ptr, I64});
  new GlobalVariable(
      M, ModuleRow, /*isConstant=*/true, GlobalValue::ExternalLinkage,
      ConstantStruct::get(
          ModuleRow, {ConstantInt::get(I32, DRAGON_CPU_MODULE_VERSION),
                      ConstantInt::get(I32, Kernels.size()), KernelTable,
                      ConstantInt::get(I64, Variables.size()), VariableTable,
                      Needs, ConstantInt::get(I64, Facts.Architecture)}),
      "dragon_cpu_module_" + Facts.Id);
  // What was made with `new` is the module's.
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks)
}

} // namespace dragon
