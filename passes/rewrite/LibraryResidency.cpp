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

/// The arithmetic of LibraryExpression as instructions.
class RuntimeSizes {
public:
  using Number = Value *;
  using Truth = Value *;
  using Op = LibraryExpression::Op;

  RuntimeSizes(IRBuilder<> &Builder, const CallBase &Call,
               const LibraryFunction &Function)
      : Builder(Builder), Call(Call), Function(Function) {}

  Number constant(int64_t Value) {
    return Builder.getInt64(static_cast<uint64_t>(Value));
  }
  Number parameter(unsigned Index) {
    Value *V = Call.getArgOperand(Index);
    if (V->getType()->isPointerTy())
      return Builder.CreatePtrToInt(V, Builder.getInt64Ty());
    if (V->getType()->isIntegerTy())
      return Builder.CreateSExtOrTrunc(V, Builder.getInt64Ty());
    IsKnown = false;
    return constant(0);
  }
  Number matrixBytes(unsigned Layout) {
    return callEntry("__dragon_matrix_bytes", {Call.getArgOperand(Layout)},
                     *Builder.GetInsertPoint());
  }
  Number number(Op Kind, Number A, Number B) {
    switch (Kind) {
    case Op::Add:
      return Builder.CreateAdd(A, B);
    case Op::Subtract:
      return Builder.CreateSub(A, B);
    case Op::Multiply:
      return Builder.CreateMul(A, B);
    case Op::Maximum:
      return Builder.CreateSelect(Builder.CreateICmpSGT(A, B), A, B);
    case Op::Minimum:
      return Builder.CreateSelect(Builder.CreateICmpSLT(A, B), A, B);
    default: // Divide
      return Builder.CreateSDiv(
          A, Builder.CreateSelect(Builder.CreateIsNull(B), constant(1), B));
    }
  }
  Number select(Truth If, Number Then, Number Else) {
    return Builder.CreateSelect(If, Then, Else);
  }
  Truth compare(Op Kind, Number A, Number B) {
    return Builder.CreateICmp(Kind == Op::Equal      ? CmpInst::ICMP_EQ
                              : Kind == Op::NotEqual ? CmpInst::ICMP_NE
                              : Kind == Op::Less     ? CmpInst::ICMP_SLT
                                                     : CmpInst::ICMP_SLE,
                              A, B);
  }
  Truth logic(Op Kind, Truth A, Truth B) {
    return Kind == Op::And ? Builder.CreateAnd(A, B) : Builder.CreateOr(A, B);
  }
  Truth negation(Truth A) { return Builder.CreateNot(A); }
  /// Looked at where it surely lies in host memory; it may be on the device.
  Truth hostIsZero(unsigned Index) {
    Value *Pointer = Call.getArgOperand(Index);
    const LibraryHostUse *Host = Function.hostUse(Index);
    auto *Bytes = Host && Host->Bytes
                      ? dyn_cast<ConstantInt>(Host->Bytes->number(*this))
                      : nullptr;
    if (!Bytes || Bytes->isZero() || Bytes->getValue().ugt(16))
      return Builder.getFalse();
    if (hostIsZeroAt(Pointer, Bytes->getZExtValue(), Call))
      return Builder.getTrue();
    const Value *Object = getUnderlyingObject(Pointer);
    if (!isa<AllocaInst, GlobalVariable>(Object))
      return Builder.getFalse();
    Value *Loaded = Builder.CreateAlignedLoad(
        Builder.getIntNTy(Bytes->getZExtValue() * 8), Pointer, Align(1));
    return Builder.CreateIsNull(Loaded);
  }

  bool IsKnown = true;

private:
  IRBuilder<> &Builder;
  const CallBase &Call;
  const LibraryFunction &Function;
};

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

/// (pointer, bytes, mode) of each pointer that may be a buffer's, and in front
/// of it (pointer, number, ARRAY) of one to an array.
SmallVector<Value *, 16> usesOf(CallBase &Call, const LibraryFunction &Function,
                                IRBuilder<> &Builder) {
  SmallVector<Value *, 16> Result;
  auto Mode = [&](uint32_t Which) { return Builder.getInt32(Which); };
  auto Bytes = [&](const std::optional<LibraryExpression> &Size) -> Value * {
    if (!Size)
      return Builder.getInt64(-1ull);
    RuntimeSizes With(Builder, Call, Function);
    Value *V = Size->number(With);
    return With.IsKnown ? V : Builder.getInt64(-1ull);
  };
  /// Unknown: what is to be assumed if the condition cannot be computed.
  auto Truth = [&](const LibraryExpression &Condition, bool Unknown) {
    RuntimeSizes With(Builder, Call, Function);
    Value *V = Condition.truth(With);
    return With.IsKnown ? V : Builder.getInt1(Unknown);
  };
  for (const Use &Operand : Call.args()) {
    if (!Operand->getType()->isPointerTy() || isa<ConstantPointerNull>(Operand))
      continue;
    unsigned Parameter = Call.getArgOperandNo(&Operand);
    if (const LibraryHostUse *Host = Function.hostUse(Parameter)) {
      if (isa<AllocaInst, GlobalVariable>(getUnderlyingObject(Operand)))
        continue;
      Result.append(
          {Operand, Bytes(Host->Bytes),
           Mode(Host->Writes ? DRAGON_LIBRARY_WRITE : DRAGON_LIBRARY_READ)});
      continue;
    }
    const LibraryUse *Known = Function.use(Parameter);
    int Number = static_cast<int>(Parameter);
    if (!Known && (Number == Function.StreamOf || Number == Function.Stream ||
                   Number == Function.Creates))
      continue;
    // What the summary does not know may be anything, if it is a buffer.
    if (!Known) {
      Result.append(
          {Operand, Builder.getInt64(-1ull), Mode(DRAGON_LIBRARY_WRITE)});
      continue;
    }
    Value *Which = nullptr;
    switch (Known->Mode) {
    case LibraryMode::Read:
      Which = Mode(DRAGON_LIBRARY_READ);
      break;
    case LibraryMode::Write:
    case LibraryMode::ReadWrite:
      Which = Mode(DRAGON_LIBRARY_WRITE);
      break;
    case LibraryMode::Overwrite:
      Which = Mode(DRAGON_LIBRARY_OVERWRITE);
      break;
    case LibraryMode::Keep:
      Which = Mode(DRAGON_LIBRARY_KEEP);
      break;
    }
    if (Known->OverwriteIf)
      Which = Builder.CreateSelect(Truth(*Known->OverwriteIf, false),
                                   Mode(DRAGON_LIBRARY_OVERWRITE), Which);
    if (Known->If)
      Which = Builder.CreateSelect(Truth(*Known->If, true), Which,
                                   Mode(DRAGON_LIBRARY_NOTHING));
    if (Known->Array)
      Result.append({Operand, Bytes(Known->Array), Mode(DRAGON_LIBRARY_ARRAY)});
    Result.append({Operand, Bytes(Known->Bytes), Which});
  }
  return Result;
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
  BasicBlock &Entry = Call.getFunction()->getEntryBlock();
  IRBuilder<> AtEntry(&Entry, Entry.begin());
  AllocaInst *Place = AtEntry.CreateAlloca(Pointer, nullptr, "dragon.stream");
  Builder.CreateStore(Null, Place);
  const FunctionCallee Getter = Call.getModule()->getOrInsertFunction(
      Function.GetsStream, Builder.getInt32Ty(), Pointer, Pointer);
  Builder.CreateCall(Getter, {Handle, Place});
  return Builder.CreateLoad(Pointer, Place);
}

void surround(CallBase &Original, const LibraryFunction &Function) {
  CallBase &Call = withoutUnwinding(Original);
  IRBuilder<> Builder(&Call);
  SmallVector<Value *, 16> Uses = usesOf(Call, Function, Builder);
  if (Uses.empty())
    return;
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
  BasicBlock *Behind = nullptr;
  endBehind(Call, Token, Behind);
  BasicBlock *Skipped = BasicBlock::Create(Call.getContext(), "dragon.skipped",
                                           Head->getParent(), Behind);
  IRBuilder<> Skip(Skipped);
  Skip.CreateBr(Behind)->setDebugLoc(Call.getDebugLoc());
  Instruction *Old = Head->getTerminator();
  IRBuilder<> Branch(Old);
  Branch.SetCurrentDebugLocation(Call.getDebugLoc());
  Branch.CreateCondBr(Branch.CreateIsNotNull(Token), Made, Skipped);
  Old->eraseFromParent();

  if (Call.getType()->isVoidTy() || Call.use_empty())
    return;
  PHINode *Result = PHINode::Create(Call.getType(), 2, "", Behind->begin());
  Call.replaceAllUsesWith(Result);
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
