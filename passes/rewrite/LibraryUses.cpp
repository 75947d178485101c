//===- LibraryUses.cpp - what a library call uses, in IR ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/LibraryUses.h"

#include "dragon/CompilerABI.h"
#include "passes/lifetime/HostValues.h"
#include "passes/rewrite/EntryPoints.h"
#include "passes/rewrite/LibraryPieces.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"

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
               const LibraryFunction &Function,
               const CallInPieces *Pieces = nullptr)
      : Builder(Builder), Call(Call), Function(Function), Pieces(Pieces) {}

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
  /// Where it surely lies in host memory it is looked at here; else the runtime
  /// knows whether it may be on the device.
  Truth hostIsZero(unsigned Index) {
    // A piece that adds to others is given a one.
    if (Pieces)
      if (auto [Original, IsFirst] = Pieces->scaleOf(Index); Original)
        return Builder.CreateAnd(hostIsZeroAtPointer(Original, Index), IsFirst);
    return hostIsZeroAtPointer(Call.getArgOperand(Index), Index);
  }

  bool IsKnown = true;

private:
  Truth hostIsZeroAtPointer(Value *Pointer, unsigned Index) {
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
      return Builder.CreateIsNotNull(
          callEntry("__dragon_host_zero",
                    {Pointer, Builder.getInt64(Bytes->getZExtValue())},
                    *Builder.GetInsertPoint()));
    Value *Loaded = Builder.CreateAlignedLoad(
        Builder.getIntNTy(Bytes->getZExtValue() * 8), Pointer, Align(1));
    return Builder.CreateIsNull(Loaded);
  }

  IRBuilder<> &Builder;
  const CallBase &Call;
  const LibraryFunction &Function;
  const CallInPieces *Pieces;
};

} // namespace

Value *librarySize(const LibraryExpression &Size, const CallBase &Call,
                   const LibraryFunction &Function, IRBuilder<> &Builder) {
  RuntimeSizes With(Builder, Call, Function);
  Value *V = Size.number(With);
  return With.IsKnown ? V : nullptr;
}

Value *libraryTruth(const LibraryExpression &Condition, const CallBase &Call,
                    const LibraryFunction &Function, IRBuilder<> &Builder) {
  RuntimeSizes With(Builder, Call, Function);
  Value *V = Condition.truth(With);
  return With.IsKnown ? V : nullptr;
}

SmallVector<Value *, 16> libraryUses(CallBase &Call,
                                     const LibraryFunction &Function,
                                     const CallInPieces &Pieces,
                                     IRBuilder<> &Builder) {
  SmallVector<Value *, 16> Result;
  auto Mode = [&](uint32_t Which) { return Builder.getInt32(Which); };
  auto Bytes = [&](const std::optional<LibraryExpression> &Size) -> Value * {
    if (!Size)
      return Builder.getInt64(-1ull);
    RuntimeSizes With(Builder, Call, Function, &Pieces);
    Value *V = Size->number(With);
    return With.IsKnown ? V : Builder.getInt64(-1ull);
  };
  /// Unknown: what is to be assumed if the condition cannot be computed.
  auto Truth = [&](const LibraryExpression &Condition, bool Unknown) {
    RuntimeSizes With(Builder, Call, Function, &Pieces);
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

} // namespace dragon
