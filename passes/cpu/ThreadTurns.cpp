//===- ThreadTurns.cpp - threads that take turns at barriers --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/ThreadTurns.h"

#include "passes/cpu/RuntimeFunctions.h"
#include "passes/support/ExtraParameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace dragon {

namespace {

/// Of what dragon_cpu_frame returns.
constexpr unsigned FrameAlignment = 64;

/// A barrier's kind, as dragon_cpu_barrier has it.
enum class BarrierKind : uint64_t { Plain, Count, And, Or };

bool isBarrier(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *F = Call ? Call->getCalledFunction() : nullptr;
  return F && F->isDeclaration() &&
         runtimeFunctionByName(F->getName()) ==
             RuntimeFunction::dragon_cpu_barrier;
}

/// votes[Row * Kinds + Which]
Value *voteAt(IRBuilder<> &B, Value *Votes, unsigned Row, unsigned Which) {
  return B.CreateConstInBoundsGEP1_32(B.getInt32Ty(), Votes,
                                      Row * TurnVotes::Kinds + Which);
}

class TurnsBuilder {
public:
  explicit TurnsBuilder(Function &Thread)
      : Old(Thread), M(*Thread.getParent()) {}
  Function *run();

private:
  void moveBody();
  void begin();
  void stopAt(CallInst &Barrier);
  void vote(CallInst &Barrier, BarrierKind Kind);
  void endTurn(IRBuilder<> &B, bool IsLast, BasicBlock *Next);
  void end();
  CallInst *intrinsic(IRBuilder<> &B, Intrinsic::ID Which,
                      ArrayRef<Value *> Args, ArrayRef<Type *> Types = {}) {
    return B.CreateCall(Intrinsic::getOrInsertDeclaration(&M, Which, Types),
                        Args);
  }
  Value *none() { return ConstantTokenNone::get(M.getContext()); }

  Function &Old;
  Module &M;
  Function *F = nullptr;
  Value *Number = nullptr, *Votes = nullptr, *Handle = nullptr;
  BasicBlock *Stopped = nullptr; ///< where all turns end
};

/// Into a function with more parameters that returns a handle.
void TurnsBuilder::moveBody() {
  LLVMContext &C = M.getContext();
  SmallVector<Type *, 16> Types(Old.getFunctionType()->params());
  Types.push_back(Type::getInt32Ty(C));
  Types.push_back(PointerType::get(C, 0));
  F = dragon::moveBody(Old,
                       FunctionType::get(PointerType::get(C, 0), Types, false));
  F->removeFnAttr(Attribute::AlwaysInline);
  // It touches its frame, and ends many times.
  for (Attribute::AttrKind Kind :
       {Attribute::Memory, Attribute::NoReturn, Attribute::WillReturn,
        Attribute::NoSync, Attribute::NoFree, Attribute::NoRecurse})
    F->removeFnAttr(Kind);
  F->setPresplitCoroutine();
  Number = F->getArg(F->arg_size() - 2);
  Number->setName("dragon.number");
  Votes = F->getArg(F->arg_size() - 1);
  Votes->setName("dragon.votes");
  // What is given now may be gone at a later turn.
  for (Argument &A : F->args())
    for (Attribute::AttrKind Kind :
         {Attribute::Captures, Attribute::Returned, Attribute::ReadNone,
          Attribute::ReadOnly, Attribute::WriteOnly})
      A.removeAttr(Kind);
}

/// The frame, and copies of structures that the thread may change.
void TurnsBuilder::begin() {
  LLVMContext &C = M.getContext();
  const DataLayout &Layout = M.getDataLayout();
  BasicBlock *Body = &F->getEntryBlock();
  BasicBlock *Entry = BasicBlock::Create(C, "begin", F, Body);
  // Variables stay where their size is known.
  for (Instruction &I : make_early_inc_range(*Body))
    if (isa<AllocaInst>(I))
      I.moveBefore(*Entry, Entry->end());
  IRBuilder<> B(Entry);
  Value *Null = ConstantPointerNull::get(B.getPtrTy());
  Value *Id = intrinsic(B, Intrinsic::coro_id,
                        {B.getInt32(FrameAlignment), Null, Null, Null});
  Value *Bytes = intrinsic(B, Intrinsic::coro_size, {}, {B.getInt64Ty()});
  Value *Frame = B.CreateCall(
      runtimeFunction(M, RuntimeFunction::dragon_cpu_frame), {Number, Bytes});
  Handle = intrinsic(B, Intrinsic::coro_begin, {Id, Frame});
  for (Argument &A : F->args()) {
    if (!A.hasByValAttr())
      continue;
    Type *Struct = A.getParamByValType();
    const Align Alignment = A.getParamAlign().valueOrOne();
    auto *Copy = new AllocaInst(Struct, 0, nullptr, Alignment, A.getName(),
                                Entry->begin());
    A.replaceAllUsesWith(Copy);
    B.CreateMemCpy(Copy, Alignment, &A, Alignment,
                   Layout.getTypeAllocSize(Struct));
    A.removeAttr(Attribute::ByVal);
  }
  B.CreateBr(Body);
}

/// Adds to the votes before the turn ends; the result is there afterwards.
void TurnsBuilder::vote(CallInst &Barrier, BarrierKind Kind) {
  IRBuilder<> B(&Barrier);
  Value *Yes = B.CreateICmpNE(Barrier.getArgOperand(2), B.getInt32(0));
  auto Update = [&](unsigned Which, function_ref<Value *(Value *)> With) {
    Value *At = voteAt(B, Votes, 0, Which);
    B.CreateStore(With(B.CreateLoad(B.getInt32Ty(), At)), At);
  };
  Value *One = B.CreateZExt(Yes, B.getInt32Ty());
  Update(TurnVotes::Count, [&](Value *V) { return B.CreateAdd(V, One); });
  Update(TurnVotes::All, [&](Value *V) { return B.CreateAnd(V, One); });
  Update(TurnVotes::Any, [&](Value *V) { return B.CreateOr(V, One); });
  if (Barrier.use_empty())
    return;
  IRBuilder<> After(Barrier.getNextNode());
  const unsigned Which = Kind == BarrierKind::Count ? TurnVotes::Count
                         : Kind == BarrierKind::And ? TurnVotes::All
                                                    : TurnVotes::Any;
  Barrier.replaceAllUsesWith(
      After.CreateLoad(After.getInt32Ty(), voteAt(After, Votes, 1, Which)));
}

void TurnsBuilder::stopAt(CallInst &Barrier) {
  const auto Kind = static_cast<BarrierKind>(
      cast<ConstantInt>(Barrier.getArgOperand(1))->getZExtValue());
  if (Kind != BarrierKind::Plain)
    vote(Barrier, Kind);
  else
    Barrier.replaceAllUsesWith(ConstantInt::get(Barrier.getType(), 0));
  BasicBlock *Before = Barrier.getParent();
  BasicBlock *Next = SplitBlock(Before, &Barrier);
  Next->setName("resumed");
  Before->getTerminator()->eraseFromParent();
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(Barrier.getDebugLoc());
  endTurn(B, /*IsLast=*/false, Next);
  Barrier.eraseFromParent();
}

/// The next turn begins at `Next`.
void TurnsBuilder::endTurn(IRBuilder<> &B, bool IsLast, BasicBlock *Next) {
  Value *Turn =
      intrinsic(B, Intrinsic::coro_suspend, {none(), B.getInt1(IsLast)});
  auto *Switch = B.CreateSwitch(Turn, Stopped, 2);
  Switch->addCase(B.getInt8(0), Next);
  Switch->addCase(B.getInt8(1), Stopped); // nobody destroys it
}

/// Every return is a last stop.
void TurnsBuilder::end() {
  LLVMContext &C = M.getContext();
  BasicBlock *Last = BasicBlock::Create(C, "end", F);
  BasicBlock *Never = BasicBlock::Create(C, "never", F);
  for (BasicBlock &Block : *F)
    if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
      IRBuilder<>(Return).CreateBr(Last);
      Return->eraseFromParent();
    }
  IRBuilder<> B(Last);
  endTurn(B, /*IsLast=*/true, Never);
  B.SetInsertPoint(Never);
  B.CreateUnreachable();
  B.SetInsertPoint(Stopped);
  intrinsic(B, Intrinsic::coro_end, {Handle, B.getFalse(), none()});
  B.CreateRet(Handle);
}

Function *TurnsBuilder::run() {
  moveBody();
  begin();
  SmallVector<CallInst *, 8> Barriers;
  for (Instruction &I : instructions(*F))
    if (isBarrier(I))
      Barriers.push_back(cast<CallInst>(&I));
  Stopped = BasicBlock::Create(M.getContext(), "stopped");
  for (CallInst *Barrier : Barriers)
    stopAt(*Barrier);
  end();
  Stopped->insertInto(F);
  Old.eraseFromParent();
  return F;
}

} // namespace

Type *TurnVotes::type(LLVMContext &C) {
  return ArrayType::get(Type::getInt32Ty(C), 2 * Kinds);
}

void TurnVotes::move(IRBuilder<> &B, Value *Votes) {
  for (unsigned Which = 0; Which < Kinds; ++Which) {
    Value *Sum = voteAt(B, Votes, 0, Which);
    B.CreateStore(B.CreateLoad(B.getInt32Ty(), Sum),
                  voteAt(B, Votes, 1, Which));
    B.CreateStore(B.getInt32(Which == All), Sum);
  }
}

bool waitsAtBarriersOnly(Function &Thread) {
  return all_of(reachableFunctions(Thread), [](const Function *F) {
    return all_of(instructions(*F), [](const Instruction &I) {
      return !letsOtherThreadsRun(I) ||
             (isBarrier(I) && isa<ConstantInt>(I.getOperand(1)));
    });
  });
}

bool canTakeTurns(const Function &Thread,
                  const SmallPtrSetImpl<Function *> &Waiting) {
  return all_of(instructions(Thread), [&](const Instruction &I) {
    if (auto *Variable = dyn_cast<AllocaInst>(&I))
      return Variable->isStaticAlloca();
    auto *Call = dyn_cast<CallBase>(&I);
    return !Call || !Call->getCalledFunction() ||
           !Waiting.contains(Call->getCalledFunction());
  });
}

Function *makeTurns(Function &Thread) { return TurnsBuilder(Thread).run(); }

} // namespace dragon
