//===- CountingCopies.cpp - kernels that count their accesses
//---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads that are not in the sample have a `count` of zero, so that nothing is
// below it: a comparison is all that they do.
//
//===----------------------------------------------------------------------===//

#include "passes/counting/CountingCopies.h"

#include "passes/support/ExtraParameters.h"
#include "passes/support/GlobalAccesses.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

/// The extra parameters of the kernel's copy; the copies of functions have the
/// first four.
enum Parameter : unsigned { Counters, Base, Count, Shift, Blocks, Lanes };
constexpr unsigned NumParameters = 6;
constexpr unsigned NumPassed = 4;
constexpr StringRef Names[NumParameters] = {"dragon.counters", "dragon.base",
                                            "dragon.count",    "dragon.shift",
                                            "dragon.blocks",   "dragon.lanes"};
/// The bytes that they take, with their alignment.
constexpr uint64_t ParameterBytes = 48;

constexpr StringRef CounterName = "dragon.count.access";

class CountingCopier {
public:
  CountingCopier(Module &M, CounterCode How)
      : M(M), How(How), Accessing(functionsThatNeed(M, accessesGlobalMemory)),
        Pointer(PointerType::get(M.getContext(), 0)),
        I32(Type::getInt32Ty(M.getContext())),
        I64(Type::getInt64Ty(M.getContext())) {}

  void addCopy(Function &Kernel);

private:
  Function *copy(Function &F, unsigned NumExtra, const Twine &Name);
  /// In the kernel's copy: its `count`, or zero.
  Value *sample(Function &Copy);
  void rewrite(Function &Copy, ArrayRef<Value *> Extra);
  /// What is called for an access, with its address and the extra arguments.
  FunctionCallee counter();
  Function *counterFunction(FunctionType *Type);

  Module &M;
  const CounterCode How;
  const SmallPtrSet<Function *, 16> Accessing;
  PointerType *const Pointer;
  IntegerType *const I32;
  IntegerType *const I64;
  /// Original -> copy of called functions; shared by all kernels.
  DenseMap<Function *, Function *> Copies;
  SmallVector<Function *, 16> Pending;
};

void CountingCopier::addCopy(Function &Kernel) {
  Function *Copy =
      copy(Kernel, NumParameters, countingCopyName(Kernel.getName()));
  SmallVector<Value *, NumPassed> Extra;
  const size_t First = Kernel.arg_size();
  for (unsigned I = 0; I < NumPassed; ++I)
    Extra.push_back(Copy->getArg(First + I));
  // What is inserted for the sample makes no accesses.
  Extra[Count] = sample(*Copy);
  rewrite(*Copy, Extra);
  while (!Pending.empty()) {
    Function *Callee = Pending.pop_back_val();
    Extra.clear();
    for (unsigned I = 0; I < NumPassed; ++I)
      Extra.push_back(Callee->getArg(Callee->arg_size() - NumPassed + I));
    rewrite(*Callee, Extra);
  }
  keepCopyOfKernel(Kernel, *Copy);
}

Function *CountingCopier::copy(Function &F, unsigned NumExtra,
                               const Twine &Name) {
  Type *const Types[NumParameters] = {Pointer, I64, I64, I32, I32, I32};
  Function *Copy =
      cloneWithExtraParameters(F, ArrayRef(Types).take_front(NumExtra),
                               ArrayRef(Names).take_front(NumExtra), Name);
  for (unsigned I = 0; I < NumExtra; ++I)
    Copy->addParamAttr(F.arg_size() + I, Attribute::NoUndef);
  // It writes where the original may only have read.
  Copy->removeFnAttr(Attribute::Memory);
  Copy->removeFnAttr(Attribute::Speculatable);
  return Copy;
}

Value *CountingCopier::sample(Function &Copy) {
  const size_t First = Copy.arg_size() - NumParameters;
  IRBuilder<> B(&*Copy.getEntryBlock().getFirstInsertionPt());
  auto Read = [&](Intrinsic::ID ID) { return B.CreateIntrinsic(I32, ID, {}); };
  // The number of (x, y, z) in (nx, ny, ...).
  auto Number = [&](Intrinsic::ID X, Intrinsic::ID Y, Intrinsic::ID Z,
                    Intrinsic::ID NX, Intrinsic::ID NY) -> Value * {
    Value *Row = B.CreateAdd(Read(Y), B.CreateMul(Read(NY), Read(Z)));
    return B.CreateAdd(Read(X), B.CreateMul(Read(NX), Row));
  };
  Value *Block = Number(Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                        Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                        Intrinsic::nvvm_read_ptx_sreg_ctaid_z,
                        Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                        Intrinsic::nvvm_read_ptx_sreg_nctaid_y);
  Value *Thread = Number(
      Intrinsic::nvvm_read_ptx_sreg_tid_x, Intrinsic::nvvm_read_ptx_sreg_tid_y,
      Intrinsic::nvvm_read_ptx_sreg_tid_z, Intrinsic::nvvm_read_ptx_sreg_ntid_x,
      Intrinsic::nvvm_read_ptx_sreg_ntid_y);
  // Fibonacci hashing: the upper bits are good.
  Value *Hash = B.CreateLShr(B.CreateMul(Block, B.getInt32(0x9e3779b1)), 8);
  Value *OtherBlock = B.CreateAnd(Hash, Copy.getArg(First + Blocks));
  Value *OtherLane =
      B.CreateAnd(B.CreateAdd(Thread, Hash), Copy.getArg(First + Lanes));
  Value *Counts =
      B.CreateICmpEQ(B.CreateOr(OtherBlock, OtherLane), B.getInt32(0));
  return B.CreateSelect(Counts, Copy.getArg(First + Count), B.getInt64(0));
}

void CountingCopier::rewrite(Function &Copy, ArrayRef<Value *> Extra) {
  SmallVector<Instruction *, 64> Work;
  for (Instruction &I : instructions(Copy))
    Work.push_back(&I);
  for (Instruction *I : Work) {
    findGlobalAccesses(*I, [&](const GlobalAccess &Found) {
      IRBuilder<> B(I);
      B.SetCurrentDebugLocation(I->getDebugLoc());
      Value *Address =
          B.CreatePtrToInt(B.CreateAddrSpaceCast(Found.Pointer, Pointer), I64);
      SmallVector<Value *, NumPassed + 1> Args{Address};
      Args.append(Extra.begin(), Extra.end());
      CallInst *Call = B.CreateCall(counter(), Args);
      if (Call->isInlineAsm()) {
        // Nobody else looks at the counters.
        Call->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
        Call->setDoesNotThrow();
      }
    });
    auto *Call = dyn_cast<CallBase>(I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || Callee->isDeclaration() || !Accessing.contains(Callee))
      continue;
    Function *&CalleeCopy = Copies[Callee];
    if (!CalleeCopy) {
      CalleeCopy =
          copy(*Callee, NumPassed, Callee->getName() + ".dragon.count");
      CalleeCopy->setLinkage(GlobalValue::InternalLinkage);
      CalleeCopy->setComdat(nullptr);
      CalleeCopy->setVisibility(GlobalValue::DefaultVisibility);
      Pending.push_back(CalleeCopy);
    }
    appendArguments(*Call, CalleeCopy, Extra)->removeFnAttr(Attribute::Memory);
  }
}

FunctionCallee CountingCopier::counter() {
  auto *Type =
      FunctionType::get(Type::getVoidTy(M.getContext()),
                        {I64, Pointer, I64, I64, I32}, /*isVarArg=*/false);
  if (How == CounterCode::Function)
    return {Type, counterFunction(Type)};
  // $0 address, $1 counters, $2 base, $3 count, $4 shift
  return {Type, InlineAsm::get(Type,
                               "{\n\t"
                               ".reg .pred counts;\n\t"
                               ".reg .b64 at;\n\t"
                               "sub.s64 at, $0, $2;\n\t"
                               "shr.u64 at, at, $4;\n\t"
                               "setp.lt.u64 counts, at, $3;\n\t"
                               "shl.b64 at, at, 2;\n\t"
                               "add.s64 at, at, $1;\n\t"
                               "@counts red.relaxed.gpu.add.u32 [at], 1;\n\t"
                               "}",
                               "l,l,l,l,r", /*hasSideEffects=*/true)};
}

Function *CountingCopier::counterFunction(FunctionType *Type) {
  if (Function *Known = M.getFunction(CounterName))
    return Known;
  auto *F =
      Function::Create(Type, GlobalValue::InternalLinkage, CounterName, M);
  F->addFnAttr(Attribute::NoUnwind);
  F->addFnAttr(Attribute::WillReturn);
  Value *Address = F->getArg(0);
  Value *Array = F->getArg(1 + Counters);
  LLVMContext &Context = M.getContext();
  IRBuilder<> B(BasicBlock::Create(Context, "entry", F));
  auto *Hit = BasicBlock::Create(Context, "counts", F);
  auto *Done = BasicBlock::Create(Context, "done", F);
  Value *Index = B.CreateLShr(B.CreateSub(Address, F->getArg(1 + Base)),
                              B.CreateZExt(F->getArg(1 + Shift), I64));
  B.CreateCondBr(B.CreateICmpULT(Index, F->getArg(1 + Count)), Hit, Done);
  B.SetInsertPoint(Hit);
  B.CreateAtomicRMW(AtomicRMWInst::Add, B.CreateGEP(I32, Array, Index),
                    B.getInt32(1), Align(4), AtomicOrdering::Monotonic);
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
  B.CreateRetVoid();
  return F;
}

} // namespace

std::string countingCopyName(StringRef Kernel) {
  return ("__dragon_count_" + Kernel).str();
}

StringSet<> countableKernels(Module &M, const StringSet<> &Kernels) {
  const SmallPtrSet<Function *, 16> Accessing =
      functionsThatNeed(M, accessesGlobalMemory);
  StringSet<> Result;
  for (Function *F : Accessing)
    if (Kernels.contains(F->getName()) && hasRoomFor(*F, ParameterBytes) &&
        !M.getFunction(countingCopyName(F->getName())))
      Result.insert(F->getName());
  return Result;
}

void addCountingCopies(Module &M, const StringSet<> &Kernels, CounterCode How) {
  if (Kernels.empty())
    return;
  SmallVector<Function *, 16> Work;
  for (Function &F : M)
    if (Kernels.contains(F.getName()))
      Work.push_back(&F);
  CountingCopier Copier(M, How);
  for (Function *Kernel : Work)
    Copier.addCopy(*Kernel);
}

PreservedAnalyses CountingCopiesPass::run(Module &M, ModuleAnalysisManager &) {
  StringSet<> Kernels;
  for (Function &F : M)
    if (F.getCallingConv() == CallingConv::PTX_Kernel)
      Kernels.insert(F.getName());
  Kernels = countableKernels(M, Kernels);
  addCountingCopies(M, Kernels, CounterCode::Function);
  return Kernels.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace dragon
