//===- IndexValues.cpp - what the values of a kernel say ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One operation at a time: integers of arith and affine, positions in the grid,
// sizes of memrefs, and what regions give. Expressions are put together in
// IndexExprs.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/access/IndexExprs.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dragon::ir {

namespace {

/// Of an integer or index; 0: neither.
unsigned widthOf(Type T) {
  if (T.isIndex())
    return IndexBits;
  auto Integer = dyn_cast<IntegerType>(T);
  return Integer && Integer.getWidth() <= 64 ? Integer.getWidth() : 0;
}

} // namespace

Index IndexExprs::launchValue(ExprOp Op, gpu::Dimension D) {
  const auto Axis = unsigned(D);
  std::optional<ArrayRef<int32_t>> Given;
  if (Op == ExprOp::BlockDim)
    Given = Kernel.getKnownBlockSize();
  else if (Op == ExprOp::GridDim)
    Given = Kernel.getKnownGridSize();
  if (Given && Axis < Given->size())
    return number((*Given)[Axis]);
  return {Pool.cast(ExprOp::ZExt, Pool.launchValue(Op, Axis), IndexBits)};
}

Index IndexExprs::dimension(Value Memref, Value Dimension) {
  auto Type = dyn_cast<MemRefType>(Memref.getType());
  std::optional<int64_t> At = getConstantIntValue(Dimension);
  if (!Type || !At || *At < 0 || *At >= Type.getRank())
    return unknown(IndexBits, false);
  if (!Type.isDynamicDim(unsigned(*At)))
    return number(Type.getDimSize(unsigned(*At)));
  auto Argument = dyn_cast<BlockArgument>(Memref);
  if (Argument && Argument.getOwner() == &Kernel.getBody().front() &&
      Argument.getArgNumber() < Kernel.getFunctionType().getNumInputs())
    return argument(Layout.size(Argument.getArgNumber(), unsigned(*At)));
  return unknown(IndexBits, false);
}

Index IndexExprs::computeArgument(BlockArgument Argument) {
  const unsigned Bits = widthOf(Argument.getType());
  Operation *Parent = Argument.getOwner()->getParentOp();
  if (Parent == Kernel) {
    if (Argument.getOwner() == &Kernel.getBody().front() &&
        Argument.getArgNumber() < Kernel.getFunctionType().getNumInputs())
      return {Pool.argument(Layout.index(Argument.getArgNumber()), Bits)};
    return unknown(Bits, false);
  }
  ArrayRef<LoopCounter> Of = counters(Parent);
  auto Loop = dyn_cast<LoopLikeOpInterface>(Parent);
  if (!Loop || Of.empty())
    return unknown(Bits, false);
  if (std::optional<SmallVector<Value>> Ivs = Loop.getLoopInductionVars())
    for (unsigned I = 0; I < Ivs->size() && I < Of.size(); ++I)
      if ((*Ivs)[I] == Argument) {
        const LoopCounter C = Of[I];
        if (C.Lower.Unknown || C.Step.Unknown)
          return unknown(Bits, C.Counter.Loaded);
        // A counter stays below its upper bound.
        Index V = combine(ExprOp::Add, C.Lower,
                          combine(ExprOp::Mul, C.Step, C.Counter, NoSignedWrap),
                          NoSignedWrap);
        V.Unknown = false;
        return Bits == IndexBits ? V : cast(ExprOp::Trunc, V, Bits);
      }
  // A number that grows by the same in each iteration.
  if (OpOperand *Init = Loop.getTiedLoopInit(Argument)) {
    OpOperand *Yielded = Loop.getTiedLoopYieldedValue(Argument);
    auto Next = Yielded ? Yielded->get().getDefiningOp<arith::AddIOp>()
                        : arith::AddIOp();
    if (Next && (Next.getLhs() == Argument) != (Next.getRhs() == Argument) &&
        Bits == IndexBits && Of.size() == 1) {
      Value By = Next.getLhs() == Argument ? Next.getRhs() : Next.getLhs();
      if (Loop.isDefinedOutsideOfLoop(By))
        return add(of(Init->get()), multiply(of(By), Of[0].Counter));
    }
  }
  return unknown(Bits, false);
}

Index IndexExprs::compute(Value V) {
  const unsigned Bits = widthOf(V.getType());
  if (!Bits)
    return unknown(IndexBits, false);
  APInt Constant;
  if (matchPattern(V, m_ConstantInt(&Constant)))
    return {Pool.constant(Constant.getSExtValue(), Bits)};
  if (auto Argument = dyn_cast<BlockArgument>(V))
    return computeArgument(Argument);
  return computeResult(llvm::cast<OpResult>(V));
}

/// Of one operation on two integers; none if it is no such operation.
static std::optional<ExprOp> binaryKind(Operation *Op) {
  return llvm::TypeSwitch<Operation *, std::optional<ExprOp>>(Op)
      .Case([](arith::AddIOp) { return ExprOp::Add; })
      .Case([](arith::SubIOp) { return ExprOp::Sub; })
      .Case([](arith::MulIOp) { return ExprOp::Mul; })
      .Case([](arith::ShLIOp) { return ExprOp::Shl; })
      .Case([](arith::DivSIOp) { return ExprOp::SDiv; })
      .Case([](arith::DivUIOp) { return ExprOp::UDiv; })
      .Case([](arith::RemSIOp) { return ExprOp::SRem; })
      .Case([](arith::RemUIOp) { return ExprOp::URem; })
      .Case([](arith::MinSIOp) { return ExprOp::SMin; })
      .Case([](arith::MaxSIOp) { return ExprOp::SMax; })
      .Case([](arith::MinUIOp) { return ExprOp::UMin; })
      .Case([](arith::MaxUIOp) { return ExprOp::UMax; })
      .Case([](arith::ShRUIOp) { return ExprOp::LShr; })
      .Case([](arith::ShRSIOp) { return ExprOp::AShr; })
      .Case([](arith::AndIOp) { return ExprOp::And; })
      .Case([](arith::OrIOp) { return ExprOp::Or; })
      .Case([](arith::XOrIOp) { return ExprOp::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Of a thread's position in the grid, or the grid's sizes.
std::optional<Index> IndexExprs::computePosition(Operation *Op) {
  return llvm::TypeSwitch<Operation *, std::optional<Index>>(Op)
      .Case([&](gpu::ThreadIdOp Id) {
        return launchValue(ExprOp::ThreadIdx, Id.getDimension());
      })
      .Case([&](gpu::BlockIdOp Id) {
        return launchValue(ExprOp::BlockIdx, Id.getDimension());
      })
      .Case([&](gpu::BlockDimOp Dim) {
        return launchValue(ExprOp::BlockDim, Dim.getDimension());
      })
      .Case([&](gpu::GridDimOp Dim) {
        return launchValue(ExprOp::GridDim, Dim.getDimension());
      })
      .Case([&](gpu::GlobalIdOp Id) {
        const gpu::Dimension D = Id.getDimension();
        return add(multiply(launchValue(ExprOp::BlockIdx, D),
                            launchValue(ExprOp::BlockDim, D)),
                   launchValue(ExprOp::ThreadIdx, D));
      })
      .Default([](Operation *) { return std::nullopt; });
}

Index IndexExprs::widened(ExprOp Kind, Operation *Op, unsigned Bits) {
  Index From = of(Op->getOperand(0));
  const unsigned Before = Pool.Nodes[From.Node].Bits;
  return Before == Bits
             ? From
             : cast(Before > Bits ? ExprOp::Trunc : Kind, From, Bits);
}

/// A load, or what is made of one, or of an operation that is not followed.
Index IndexExprs::computeUnknown(Operation *Op, unsigned Bits) {
  bool Loaded = !isMemoryEffectFree(Op);
  for (Value Operand : Op->getOperands())
    if (widthOf(Operand.getType()))
      Loaded |= of(Operand).Loaded;
  return unknown(Bits, Loaded);
}

Index IndexExprs::computeResult(OpResult Result) {
  const unsigned Bits = widthOf(Result.getType());
  Operation *Op = Result.getOwner();
  if (std::optional<ExprOp> Kind = binaryKind(Op)) {
    uint8_t Flags = 0;
    if (auto Sum = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(Op)) {
      Flags |= Sum.hasNoSignedWrap() ? NoSignedWrap : 0;
      Flags |= Sum.hasNoUnsignedWrap() ? NoUnsignedWrap : 0;
    }
    return combine(*Kind, of(Op->getOperand(0)), of(Op->getOperand(1)), Flags);
  }
  if (std::optional<Index> Position = computePosition(Op))
    return *Position;
  return llvm::TypeSwitch<Operation *, Index>(Op)
      .Case([&](arith::FloorDivSIOp) {
        Index A = of(Op->getOperand(0)), B = of(Op->getOperand(1));
        const ExprNode &By = Pool.Nodes[B.Node];
        return By.Op == ExprOp::Const && By.Imm > 0
                   ? floorDivide(A, B)
                   : unknown(Bits, A.Loaded || B.Loaded);
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](Operation *) { return widened(ExprOp::SExt, Op, Bits); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp>(
          [&](Operation *) { return widened(ExprOp::ZExt, Op, Bits); })
      .Case([&](arith::SelectOp Select) {
        Index If = of(Select.getCondition());
        Index Either =
            between(of(Select.getTrueValue()), of(Select.getFalseValue()));
        Either.Loaded |= If.Loaded;
        return Either;
      })
      .Case([&](affine::AffineApplyOp Apply) {
        return least(Apply.getAffineMap(), Apply.getMapOperands());
      })
      .Case([&](affine::AffineMinOp Min) {
        return least(Min.getAffineMap(), Min.getOperands());
      })
      .Case([&](affine::AffineMaxOp Max) {
        return greatest(Max.getAffineMap(), Max.getOperands());
      })
      .Case([&](memref::DimOp Dim) {
        return dimension(Dim.getSource(), Dim.getIndex());
      })
      .Case([&](scf::IfOp If) {
        const unsigned Number = Result.getResultNumber();
        return between(of(If.thenYield().getOperand(Number)),
                       of(If.elseYield().getOperand(Number)));
      })
      .Default([&](Operation *) { return computeUnknown(Op, Bits); });
}

} // namespace dragon::ir
