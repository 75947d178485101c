//===- DeviceIntrinsics.cpp - llvm.nvvm.* on the host ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/DeviceIntrinsics.h"

#include "dragon/CompilerABI.h"
#include "passes/cpu/DeviceMath.h"
#include "passes/cpu/MatrixIntrinsics.h"
#include "passes/cpu/RuntimeFunctions.h"
#include "passes/cpu/WarpIntrinsics.h"
#include "passes/support/SpinLoops.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr StringRef NvvmPrefix = "llvm.nvvm.";

bool isSharedPointer(Type *Type) {
  auto *Pointer = dyn_cast<PointerType>(Type->getScalarType());
  return Pointer && Pointer->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED;
}

/// The dimension that a name such as "tid.x" ends in: 0..3, w is 3.
unsigned dimensionOf(StringRef Name) {
  char Last = Name.back();
  return Last == 'w' ? 3 : static_cast<unsigned>(Last - 'x');
}

class IntrinsicLowering : private WarpIntrinsics {
public:
  IntrinsicLowering(Module &M, ThreadContext *Thread, Unsupported &Refused)
      : WarpIntrinsics(M, Thread), Refused(Refused) {}

  /// Lowers the call if it is one of ours.
  void lower(CallInst &Call);

private:
  Value *intrinsic(StringRef Name);
  Value *specialRegister(StringRef Name);
  Value *barrier(StringRef Name);
  Value *atomic(StringRef Name);
  Value *copyAsync(StringRef Name);
  Value *isInSpace(StringRef Name);
  bool libraryCall(const Function &Callee);
  void replaceBy(Value *Result);

  Unsupported &Refused;
};

void IntrinsicLowering::lower(CallInst &TheCall) {
  Function *Callee = TheCall.getCalledFunction();
  if (!Callee || !Callee->isDeclaration())
    return;
  B->SetInsertPoint(&TheCall);
  Call = &TheCall;
  StringRef Name = Callee->getName();
  if (Name.consume_front(NvvmPrefix)) {
    Value *Result = lowerArithmeticIntrinsic(Name, TheCall);
    if (!Result)
      Result = intrinsic(Name);
    if (!Result)
      return Refused.replace(TheCall,
                             "the intrinsic '" + Callee->getName() + "'");
    replaceBy(Result);
    return;
  }
  if (libraryCall(*Callee) || Callee->isIntrinsic() ||
      Name.starts_with("dragon_cpu_") || Unsupported::isPlaceholder(*Callee) ||
      isMathLibraryFunction(Name))
    return;
  // The device runtime's entry points, behind <<<>>> and cudaLaunchDevice.
  if (Name.starts_with("__cudaCDP2") || Name == "cudaLaunchDeviceV2" ||
      Name == "cudaGetParameterBufferV2")
    return Refused.replace(TheCall,
                           "a kernel that launches kernels ('" + Name + "')");
  Refused.replace(TheCall,
                  "the call of '" + Name +
                      "', whose code is not in this translation unit,");
}

void IntrinsicLowering::replaceBy(Value *Result) {
  if (!Call->getType()->isVoidTy()) {
    if (isa<Instruction>(Result) && !Result->hasName())
      Result->takeName(Call);
    Call->replaceAllUsesWith(Result);
  }
  Call->eraseFromParent();
}

Value *IntrinsicLowering::specialRegister(StringRef Name) {
  Type *I32 = B->getInt32Ty();
  auto PerDimension = [&](function_ref<Value *(unsigned)> Get,
                          uint32_t FourthValue) -> Value * {
    unsigned Dim = dimensionOf(Name);
    return Dim == 3 ? B->getInt32(FourthValue) : Get(Dim);
  };
  if (Name.starts_with("tid."))
    return PerDimension([&](unsigned D) { return Thread->threadIdx(D); }, 0);
  if (Name.starts_with("ctaid.") || Name.starts_with("clusterid."))
    return PerDimension([&](unsigned D) { return Thread->blockIdx(D); }, 0);
  if (Name.starts_with("ntid."))
    return PerDimension([&](unsigned D) { return Thread->blockDim(D); }, 1);
  if (Name.starts_with("nctaid.") || Name.starts_with("nclusterid."))
    return PerDimension([&](unsigned D) { return Thread->gridDim(D); }, 1);
  // A cluster is one block here.
  if (Name.starts_with("cluster.ctaid.") || Name == "cluster.ctarank")
    return B->getInt32(0);
  if (Name.starts_with("cluster.nctaid.") || Name == "cluster.nctarank")
    return B->getInt32(1);
  if (Name == "laneid")
    return Thread->laneId();
  if (Name.consume_front("lanemask.")) {
    Value *Bit = B->CreateShl(B->getInt32(1), Thread->laneId());
    Value *Below = B->CreateSub(Bit, B->getInt32(1));
    if (Name == "eq")
      return Bit;
    if (Name == "lt")
      return Below;
    if (Name == "le")
      return B->CreateOr(Bit, Below);
    if (Name == "ge")
      return B->CreateNot(Below);
    if (Name == "gt")
      return B->CreateNot(B->CreateOr(Bit, Below));
    return nullptr;
  }
  if (Name == "warpid")
    return B->CreateLShr(Thread->linearThread(), 5);
  if (Name == "nwarpid") {
    Value *Threads =
        B->CreateMul(B->CreateMul(Thread->blockDim(0), Thread->blockDim(1)),
                     Thread->blockDim(2));
    return B->CreateLShr(B->CreateAdd(Threads, B->getInt32(31)), 5);
  }
  if (Name == "warpsize")
    return B->getInt32(32);
  if (Name == "smid")
    return B->getInt32(0);
  if (Name == "nsmid")
    return B->getInt32(1);
  // The address of what the blocks of a cooperative launch share.
  if (Name == "envreg1" || Name == "envreg2") {
    Value *Word = B->CreatePtrToInt(Thread->grid(), B->getInt64Ty());
    return B->CreateTrunc(Name == "envreg1" ? B->CreateLShr(Word, 32) : Word,
                          I32);
  }
  if (Name == "gridid" || Name.starts_with("envreg") || Name.starts_with("pm"))
    return ConstantInt::get(Call->getType(), 0);
  if (Name == "clock")
    return B->CreateTrunc(call(RuntimeFunction::dragon_cpu_clock, {}), I32);
  if (Name == "clock64")
    return call(RuntimeFunction::dragon_cpu_clock, {});
  if (Name == "globaltimer")
    return call(RuntimeFunction::dragon_cpu_globaltimer, {});
  if (Name == "globaltimer.lo")
    return B->CreateTrunc(call(RuntimeFunction::dragon_cpu_globaltimer, {}),
                          I32);
  if (Name == "dynamic.smem.size")
    return Thread->dynamicBytes();
  if (Name == "total.smem.size" || Name == "aggr.smem.size")
    return B->CreateAdd(Thread->staticBytes(), Thread->dynamicBytes());
  return nullptr;
}

/// barrier.cta.{sync,arrive,red.{popc,and,or}}[.aligned].{all,count}
Value *IntrinsicLowering::barrier(StringRef Name) {
  if (Name.consume_front("cluster."))
    return Name.starts_with("wait")
               ? call(RuntimeFunction::dragon_cpu_barrier,
                      {Thread->context(), B->getInt32(0), B->getInt32(0)})
               : nothing();
  if (!Name.consume_front("cta."))
    return nullptr;
  bool All = Name.ends_with(".all");
  Value *Id = arg(0);
  auto *KnownId = dyn_cast<ConstantInt>(Id);
  if (Name.consume_front("red.")) {
    if (!All || !KnownId || !KnownId->isZero())
      return nullptr;
    uint32_t Kind = Name.starts_with("popc")  ? 1
                    : Name.starts_with("and") ? 2
                                              : 3;
    Value *Result = call(RuntimeFunction::dragon_cpu_barrier,
                         {Thread->context(), B->getInt32(Kind),
                          B->CreateZExt(arg(1), B->getInt32Ty())});
    return fromI32(Result, Call->getType());
  }
  if (Name.starts_with("arrive"))
    return call(RuntimeFunction::dragon_cpu_named_arrive,
                {Thread->context(), Id, arg(1)});
  if (!Name.starts_with("sync"))
    return nullptr;
  if (!All)
    return call(RuntimeFunction::dragon_cpu_named_barrier,
                {Thread->context(), Id, arg(1)});
  auto Whole = [&] {
    return call(RuntimeFunction::dragon_cpu_barrier,
                {Thread->context(), B->getInt32(0), B->getInt32(0)});
  };
  auto Named = [&] {
    return call(RuntimeFunction::dragon_cpu_named_barrier,
                {Thread->context(), Id, B->getInt32(0)});
  };
  if (KnownId)
    return KnownId->isZero() ? Whole() : Named();
  Instruction *Then, *Else;
  SplitBlockAndInsertIfThenElse(B->CreateIsNull(Id), Call, &Then, &Else);
  B->SetInsertPoint(Then);
  Whole();
  B->SetInsertPoint(Else);
  Named();
  B->SetInsertPoint(Call);
  return nothing();
}

Value *IntrinsicLowering::atomic(StringRef Name) {
  constexpr AtomicOrdering Order = AtomicOrdering::SequentiallyConsistent;
  StringRef Operation = Name.split('.').first;
  if (Operation == "cas") {
    Value *Pair = B->CreateAtomicCmpXchg(arg(0), arg(1), arg(2), MaybeAlign(),
                                         Order, Order);
    return B->CreateExtractValue(Pair, 0);
  }
  bool Float = arg(1)->getType()->isFloatingPointTy();
  auto Which =
      StringSwitch<AtomicRMWInst::BinOp>(Operation)
          .Case("add", Float ? AtomicRMWInst::FAdd : AtomicRMWInst::Add)
          .Case("exch", AtomicRMWInst::Xchg)
          .Case("max", AtomicRMWInst::Max)
          .Case("min", AtomicRMWInst::Min)
          .Case("inc", AtomicRMWInst::UIncWrap)
          .Case("dec", AtomicRMWInst::UDecWrap)
          .Case("and", AtomicRMWInst::And)
          .Case("or", AtomicRMWInst::Or)
          .Case("xor", AtomicRMWInst::Xor)
          .Default(AtomicRMWInst::BAD_BINOP);
  if (Which == AtomicRMWInst::BAD_BINOP)
    return nullptr;
  return B->CreateAtomicRMW(Which, arg(0), arg(1), MaybeAlign(), Order);
}

/// cp.async.c[ag].shared.global.<bytes>[.s]: the copy is done at once, so that
/// there is nothing to wait for.
Value *IntrinsicLowering::copyAsync(StringRef Name) {
  if (Name.starts_with("commit.group") || Name.starts_with("wait."))
    return nothing();
  if (!Name.consume_front("ca.shared.global.") &&
      !Name.consume_front("cg.shared.global."))
    return nullptr;
  unsigned Bytes;
  if (Name.consumeInteger(10, Bytes))
    return nullptr;
  Value *To = generic(arg(0)), *From = generic(arg(1));
  if (Name == ".s") {
    // What is beyond the given size is filled with zeros.
    Value *Given = B->CreateZExt(arg(2), B->getInt64Ty());
    B->CreateMemSet(To, B->getInt8(0), Bytes, Align(Bytes));
    B->CreateMemCpy(To, Align(Bytes), From, Align(1), Given);
  } else {
    B->CreateMemCpy(To, Align(Bytes), From, Align(Bytes), Bytes);
  }
  return nothing();
}

/// isspacep.<space>: pointers to shared memory can be told from others.
Value *IntrinsicLowering::isInSpace(StringRef Name) {
  Type *I64 = B->getInt64Ty();
  Value *Offset = B->CreateSub(B->CreatePtrToInt(generic(arg(0)), I64),
                               B->CreatePtrToInt(Thread->shared(), I64));
  Value *Bytes = B->CreateAdd(Thread->staticBytes(), Thread->dynamicBytes());
  Value *InShared = B->CreateICmpULT(Offset, B->CreateZExt(Bytes, I64));
  if (Name.starts_with("shared"))
    return InShared;
  if (Name == "global")
    return B->CreateNot(InShared);
  return B->getFalse();
}

Value *IntrinsicLowering::intrinsic(StringRef Name) {
  if (Name.consume_front("read.ptx.sreg."))
    return specialRegister(Name);
  if (Name.consume_front("barrier."))
    return barrier(Name);
  if (Name.starts_with("membar.") || Name.starts_with("fence.")) {
    B->CreateFence(AtomicOrdering::SequentiallyConsistent);
    return nothing();
  }
  if (Name.consume_front("atomic."))
    return atomic(Name);
  if (Name.consume_front("cp.async."))
    return copyAsync(Name);
  if (Name.consume_front("isspacep."))
    return isInSpace(Name);
  if (Name.starts_with("ldu.global.") || Name.starts_with("ldg.global.")) {
    auto *Alignment = dyn_cast<ConstantInt>(arg(1));
    return B->CreateAlignedLoad(
        Call->getType(), arg(0),
        Alignment ? MaybeAlign(Alignment->getZExtValue()) : MaybeAlign());
  }
  if (Name.starts_with("prefetch") || Name.starts_with("applypriority.") ||
      Name.starts_with("discard.") || Name.starts_with("griddepcontrol.") ||
      Name.starts_with("setmaxnreg.") || Name == "pm.event.mask")
    return nothing();
  if (Name.starts_with("internal.addrspace.wrap") || Name.starts_with("mapa"))
    return B->CreateAddrSpaceCast(arg(0), Call->getType());
  if (Name.starts_with("getctarank"))
    return B->getInt32(0);
  if (Name == "is_explicit_cluster" || Name == "is.explicit.cluster")
    return B->getFalse();
  if (Name == "nanosleep")
    return call(RuntimeFunction::dragon_cpu_yield,
                {Thread->context(), B->getInt32(0)});
  if (Name == "exit")
    return call(RuntimeFunction::dragon_cpu_exit_thread, {Thread->context()});
  if (Name.consume_front("wmma."))
    return lowerMatrixIntrinsic(Name, *Call, *Thread);
  return warpOperation(Name);
}

/// Functions of CUDA's device library that are no intrinsics.
bool IntrinsicLowering::libraryCall(const Function &Callee) {
  StringRef Name = Callee.getName();
  Value *Result = nullptr;
  if (Name == "vprintf") {
    Result = call(RuntimeFunction::dragon_cpu_vprintf,
                  {Thread->context(), arg(0), arg(1)});
  } else if (Name == YieldPlaceholder) {
    call(RuntimeFunction::dragon_cpu_yield, {Thread->context(), arg(0)});
  } else if (Name == "malloc") {
    Result = call(RuntimeFunction::dragon_cpu_malloc, {arg(0)});
  } else if (Name == "free") {
    call(RuntimeFunction::dragon_cpu_free, {arg(0)});
  } else if (Name == "__assertfail") {
    call(RuntimeFunction::dragon_cpu_assert_fail,
         {Thread->context(), arg(0), arg(1), arg(2), arg(3)});
  } else if (Callee.getIntrinsicID() == Intrinsic::trap ||
             Callee.getIntrinsicID() == Intrinsic::ubsantrap) {
    call(RuntimeFunction::dragon_cpu_trap, {Thread->context()});
  } else if (Callee.getIntrinsicID() != Intrinsic::debugtrap) {
    return false;
  }
  replaceBy(Result);
  return true;
}

} // namespace

bool needsContext(const Instruction &I) {
  // Shared memory: its variables, and the numbers that stand for addresses.
  for (const Value *Operand : I.operands())
    if (isa<GlobalVariable>(Operand) && isSharedPointer(Operand->getType()))
      return true;
  if (isa<PtrToIntInst>(I))
    return isSharedPointer(I.getOperand(0)->getType());
  if (isa<IntToPtrInst>(I))
    return isSharedPointer(I.getType());

  auto *Call = dyn_cast<CallBase>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee || !Callee->isDeclaration())
    return false;
  StringRef Name = Callee->getName();
  if (Name.consume_front(NvvmPrefix)) {
    if (Name.consume_front("read.ptx.sreg."))
      return !Name.starts_with("clock") && !Name.starts_with("globaltimer") &&
             Name != "warpsize";
    return Name.starts_with("barrier.") || Name.starts_with("bar.warp.") ||
           Name.starts_with("shfl.") || Name.starts_with("vote.") ||
           Name.starts_with("match.") || Name.starts_with("redux.") ||
           Name.starts_with("elect.") || Name.starts_with("wmma.") ||
           Name == "activemask" || Name.starts_with("isspacep.") ||
           Name == "exit" || Name == "nanosleep";
  }
  if (Callee->isIntrinsic())
    return Callee->getIntrinsicID() == Intrinsic::trap ||
           Callee->getIntrinsicID() == Intrinsic::ubsantrap;
  return Name == "vprintf" || Name == "__assertfail" ||
         Name == YieldPlaceholder;
}

/// Loops that wait for other threads let them run. All loops that might are
/// found first: the calls would hide them.
void yieldInSpinLoops(Module &M) {
  SpinLoops Waiting(SpinLoops::AnyMemory), Contending(SpinLoops::Contends);
  SmallVector<std::pair<Instruction *, bool>, 8> Latches;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    DominatorTree DT(F);
    LoopInfo LI(DT);
    for (Loop *L : LI.getLoopsInPreorder()) {
      bool Waits = Waiting.find(*L, DT) != nullptr;
      if (!Waits && !Contending.find(*L, DT))
        continue;
      SmallVector<BasicBlock *, 4> Blocks;
      L->getLoopLatches(Blocks);
      for (BasicBlock *Latch : Blocks)
        Latches.push_back({Latch->getTerminator(), Waits});
    }
  }
  for (auto [End, Waits] : Latches) {
    IRBuilder<> B(End);
    B.CreateCall(
        M.getOrInsertFunction(YieldPlaceholder, B.getVoidTy(), B.getInt32Ty()),
        {B.getInt32(Waits)});
  }
}

void lowerDeviceIntrinsics(Module &M, ContextMap &Contexts,
                           Unsupported &Refused) {
  for (Function &F : M) {
    auto Context = Contexts.find(&F);
    IntrinsicLowering Lowering(
        M, Context == Contexts.end() ? nullptr : Context->second.get(),
        Refused);
    // Refusing a call removes what follows it: collect first.
    SmallVector<WeakVH, 32> Calls;
    for (Instruction &I : instructions(F))
      if (isa<CallInst>(I))
        Calls.push_back(&I);
    for (WeakVH &Handle : Calls)
      if (Handle)
        Lowering.lower(*cast<CallInst>(&*Handle));
  }
  Refused.lowerPlaceholders([&](Function &F) -> Value * {
    auto Context = Contexts.find(&F);
    return Context == Contexts.end() ? nullptr : Context->second->context();
  });
}

} // namespace dragon
