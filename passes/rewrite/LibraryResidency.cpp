//===- LibraryResidency.cpp - buffers under library calls -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/LibraryResidency.h"

#include "dragon/CompilerABI.h"
#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/HostValues.h"
#include "passes/rewrite/EntryPoints.h"
#include "passes/rewrite/LibraryPieces.h"
#include "passes/rewrite/LibraryUses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace dragon {

namespace {

/// A dragon_library_call.
Constant *describeCall(const CallBase &Call, StringRef Shown) {
  Module &M = *const_cast<Module *>(Call.getModule());
  Type *I32 = Type::getInt32Ty(M.getContext());
  const DILocation *Where = Call.getDebugLoc();
  while (Where && Where->getInlinedAt() && Where->getLine() == 0)
    Where = Where->getInlinedAt();
  Constant *Row = ConstantStruct::getAnon(
      {stringConstant(M, Shown),
       stringConstant(M, Call.getCalledFunction()->getName()),
       stringConstant(M, Where ? Where->getFilename() : ""),
       ConstantInt::get(I32, Where ? Where->getLine() : 0),
       ConstantInt::get(I32, Where ? Where->getColumn() : 0)});
  return new GlobalVariable(M, Row->getType(), true,
                            GlobalValue::PrivateLinkage, Row, "dragon.call");
}

/// What a call returns that is not made.
Value *failureOf(const LibraryFunction &Function, Type *T) {
  if (auto *Integer = dyn_cast<IntegerType>(T))
    return ConstantInt::get(
        Integer, static_cast<uint64_t>(Function.Failure.value_or(-1)),
        /*IsSigned=*/true, /*ImplicitTrunc=*/true);
  return Constant::getNullValue(T);
}

/// Where the call has returned, and only then. A C++ function may throw: it has
/// returned there, too.
void endBehind(CallBase &Call, Value *Token, BasicBlock *&Behind) {
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call)) {
    BasicBlock *Pad = Invoke->getUnwindDest();
    if (!Pad->getSinglePredecessor()) {
      SmallVector<BasicBlock *, 2> New;
      SplitLandingPadPredecessors(Pad, {Invoke->getParent()}, ".dragon",
                                  ".others", New);
      Pad = Invoke->getUnwindDest();
    }
    callEntry("__dragon_library_end", {Token}, *Pad->getFirstInsertionPt());
    BasicBlock *Normal =
        SplitEdge(Invoke->getParent(), Invoke->getNormalDest());
    Instruction *First = &*Normal->getFirstInsertionPt();
    callEntry("__dragon_library_end", {Token}, *First);
    Behind = SplitBlock(Normal, First);
    return;
  }
  Instruction *Next = Call.getNextNode();
  callEntry("__dragon_library_end", {Token}, *Next);
  Behind = SplitBlock(Call.getParent(), Next);
}

/// C functions do not throw, but clang does not know it.
CallBase &withoutUnwinding(CallBase &Call) {
  auto *Invoke = dyn_cast<InvokeInst>(&Call);
  bool IsC = !Call.getCalledFunction()->getName().starts_with("_Z");
  return Invoke && IsC ? *changeToCall(Invoke) : Call;
}

/// The stream in which the call works, if that can be told; else null.
Value *streamOf(CallBase &Call, const LibraryFunction &Function,
                IRBuilder<> &Builder) {
  PointerType *Pointer = Builder.getPtrTy();
  Value *Null = ConstantPointerNull::get(Pointer);
  if (Function.InDefaultStream)
    return Null;
  if (Function.Stream >= 0) {
    Value *Stream = Call.getArgOperand(Function.Stream);
    return Stream->getType()->isPointerTy() ? Stream : nullptr;
  }
  if (Function.GetsStream.empty() || Function.StreamOf < 0)
    return nullptr;
  Value *Handle = Call.getArgOperand(Function.StreamOf);
  if (!Handle->getType()->isPointerTy())
    return nullptr;
  AllocaInst *Place = entryVariable(Call, Pointer, "dragon.stream");
  Builder.CreateStore(Null, Place);
  const FunctionCallee Getter = Call.getModule()->getOrInsertFunction(
      Function.GetsStream, Builder.getInt32Ty(), Pointer, Pointer);
  Builder.CreateCall(Getter, {Handle, Place});
  return Builder.CreateLoad(Pointer, Place);
}

/// The runtime makes the call; false: it is declared with other types.
bool makeThrough(CallBase &Call, const LibraryFunction &Function) {
  if (Function.Through.empty())
    return false;
  SmallVector<Value *, 20> Args = {describeCall(Call, Function.shownName()),
                                   Call.getCalledOperand()};
  Args.append(Call.arg_begin(), Call.arg_end());
  FunctionCallee Entry = entryPoint(*Call.getModule(), Function.Through);
  const FunctionType *Type = Entry.getFunctionType();
  if (Type->getReturnType() != Call.getType() ||
      !equal(Type->params(), Args, [](const llvm::Type *T, const Value *V) {
        return V->getType() == T;
      }))
    return false;
  replaceCall(Call, Entry, Args);
  return true;
}

void surround(CallBase &Original, const LibraryFunction &Function) {
  CallBase &Call = withoutUnwinding(Original);
  if (makeThrough(Call, Function))
    return;
  CallInPieces Pieces(Call, Function);
  IRBuilder<> Builder(&Call);
  SmallVector<Value *, 16> Uses = libraryUses(Call, Function, Pieces, Builder);
  if (Uses.empty())
    return;
  if (Pieces)
    Uses.append(
        {Pieces.memory(), Builder.getInt64(0),
         Builder.getInt32(static_cast<uint32_t>(DRAGON_LIBRARY_PIECES))});
  Value *Stream = streamOf(Call, Function, Builder);
  const bool InStream = Stream != nullptr;
  if (!Stream)
    Stream = ConstantPointerNull::get(Builder.getPtrTy());
  SmallVector<Value *, 20> Args = {
      describeCall(Call, Function.shownName()), Builder.getInt32(InStream),
      Stream, Builder.getInt32(static_cast<uint32_t>(Uses.size() / 3))};
  Args.append(Uses.begin(), Uses.end());
  auto *Token = cast<Instruction>(
      callEntry("__dragon_library_begin", Args, *Builder.GetInsertPoint()));

  BasicBlock *Head = Call.getParent();
  BasicBlock *Made = SplitBlock(Head, &Call);
  BasicBlock *Behind = Pieces ? Pieces.next(*Token) : nullptr;
  if (!Behind)
    endBehind(Call, Token, Behind);
  BasicBlock *Skipped = BasicBlock::Create(Call.getContext(), "dragon.skipped",
                                           Head->getParent(), Behind);
  IRBuilder<> Skip(Skipped);
  Skip.CreateBr(Behind)->setDebugLoc(Call.getDebugLoc());
  Instruction *Old = Head->getTerminator();
  IRBuilder<> Branch(Old);
  Branch.SetCurrentDebugLocation(Call.getDebugLoc());
  if (Pieces)
    Pieces.branch(*Token, *Made, *Skipped, Branch);
  else
    Branch.CreateCondBr(Branch.CreateIsNotNull(Token), Made, Skipped);
  Old->eraseFromParent();

  if (Call.getType()->isVoidTy() || Call.use_empty())
    return;
  PHINode *Result = PHINode::Create(Call.getType(), 2, "", Behind->begin());
  Call.replaceUsesOutsideBlock(Result, Call.getParent());
  BasicBlock *From = nullptr;
  for (BasicBlock *Before : predecessors(Behind))
    if (Before != Skipped)
      From = Before;
  Result->addIncoming(&Call, From);
  Result->addIncoming(failureOf(Function, Call.getType()), Skipped);
}

bool isOpaqueLibraryCall(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->isDeclaration() && !Callee->isIntrinsic() &&
         !callEffect(Call) && !describedFunction(Call) &&
         !libraries().describes(Callee->getName()) &&
         !libraries().libraryOf(Callee->getName()).empty();
}

} // namespace

void announceUnknownCall(CallBase &Call, bool Sure) {
  Type *I32 = Type::getInt32Ty(Call.getContext());
  Type *I64 = Type::getInt64Ty(Call.getContext());
  SmallVector<Value *, 8> Pointers;
  for (const Use &Operand : Call.args()) {
    if (!Operand->getType()->isPointerTy() ||
        isa<ConstantPointerNull, Function>(Operand))
      continue;
    // A variable of the caller, with pointers in it perhaps.
    uint64_t Bytes = 0;
    if (auto *Local = dyn_cast<AllocaInst>(Operand->stripPointerCasts()))
      if (std::optional<TypeSize> Size =
              Local->getAllocationSize(Local->getDataLayout());
          Size && !Size->isScalable() && Size->getFixedValue() <= 4096)
        Bytes = Size->getFixedValue();
    Pointers.append({Operand, ConstantInt::get(I64, Bytes)});
  }
  if (Pointers.empty())
    return;
  SmallVector<Value *, 12> Args = {describeCall(Call, calleeName(Call)),
                                   ConstantInt::get(I32, Sure),
                                   ConstantInt::get(I32, Pointers.size() / 2)};
  Args.append(Pointers.begin(), Pointers.end());
  callEntry("__dragon_library_unknown", Args, Call);
}

bool insertResidency(Module &M) {
  if (libraries().empty())
    return false;
  SmallVector<std::pair<CallBase *, const LibraryFunction *>, 16> Known;
  SmallVector<CallBase *, 4> Unknown;
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || isa<CallBrInst>(Call) || Call->isMustTailCall())
        continue;
      const LibraryFunction *Function = describedFunction(*Call);
      if (Function && !Function->Compiled &&
          !(Function->Uses.empty() && Function->Host.empty()))
        Known.emplace_back(Call, Function);
      else if (isOpaqueLibraryCall(*Call))
        Unknown.push_back(Call);
    }
  for (auto [Call, Function] : Known)
    surround(*Call, *Function);
  for (CallBase *Call : Unknown)
    announceUnknownCall(*Call, /*Sure=*/true);
  return !Known.empty() || !Unknown.empty();
}

} // namespace dragon
