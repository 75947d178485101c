//===- Views.cpp - where a memref of a kernel points ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/access/Views.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dragon::ir {

View Views::ofArgument(BlockArgument Argument) {
  View Result;
  gpu::GPUFuncOp Kernel = Exprs.kernel();
  if (Argument.getOwner() != &Kernel.getBody().front())
    return Result;
  // Behind the arguments come the buffers of a block and of a thread.
  if (Argument.getArgNumber() >= Kernel.getFunctionType().getNumInputs()) {
    Result.Kind = View::Base::Local;
    return Result;
  }
  auto Type = dyn_cast<MemRefType>(Argument.getType());
  if (!Type)
    return Result;
  Result.Kind = View::Base::Argument;
  Result.Argument = Argument.getArgNumber();
  SmallVector<int64_t> Strides;
  int64_t Offset = 0;
  if (failed(Type.getStridesAndOffset(Strides, Offset)))
    return Result;
  const ArgumentLayout &Layout = Exprs.layout();
  const auto Rank = unsigned(Type.getRank());
  Result.Offset = ShapedType::isDynamic(Offset)
                      ? Exprs.argument(Layout.offset(Result.Argument))
                      : Exprs.number(Offset);
  for (unsigned D = 0; D < Rank; ++D)
    Result.Strides.push_back(
        ShapedType::isDynamic(Strides[D])
            ? Exprs.argument(Layout.stride(Result.Argument, D, Rank))
            : Exprs.number(Strides[D]));
  return Result;
}

View Views::laidOutAs(View From, MemRefType T) {
  SmallVector<int64_t> Strides;
  int64_t Offset = 0;
  From.Strides.clear();
  if (failed(T.getStridesAndOffset(Strides, Offset)) ||
      llvm::any_of(Strides, ShapedType::isDynamic)) {
    From.Offset.reset();
    return From;
  }
  for (int64_t Stride : Strides)
    From.Strides.push_back(Exprs.number(Stride));
  return From;
}

View Views::ofSubView(Operation *Op) {
  auto Sub = cast<memref::SubViewOp>(Op);
  View From = of(Sub.getSource());
  if (!From.Offset)
    return From;
  View Result = From;
  Result.Strides.clear();
  const llvm::SmallBitVector Dropped = Sub.getDroppedDims();
  SmallVector<OpFoldResult> Offsets = Sub.getMixedOffsets(),
                            Strides = Sub.getMixedStrides();
  for (unsigned D = 0; D < Offsets.size(); ++D) {
    Result.Offset = Exprs.add(
        *Result.Offset, Exprs.multiply(Exprs.of(Offsets[D]), From.Strides[D]));
    if (!Dropped.test(D))
      Result.Strides.push_back(
          Exprs.multiply(Exprs.of(Strides[D]), From.Strides[D]));
  }
  return Result;
}

View Views::of(Value Memref) {
  if (auto Argument = dyn_cast<BlockArgument>(Memref))
    return ofArgument(Argument);
  Operation *Op = Memref.getDefiningOp();
  auto kind = [](View::Base Kind) {
    View V;
    V.Kind = Kind;
    return V;
  };
  return llvm::TypeSwitch<Operation *, View>(Op)
      .Case<memref::CastOp, memref::MemorySpaceCastOp>([&](auto Cast) {
        return isa<MemRefType>(Cast.getSource().getType())
                   ? of(Cast.getSource())
                   : View();
      })
      .Case(
          [&](memref::AssumeAlignmentOp Same) { return of(Same.getMemref()); })
      .Case([&](memref::SubViewOp) { return ofSubView(Op); })
      .Case([&](memref::ReinterpretCastOp Cast) {
        View Result = isa<MemRefType>(Cast.getSource().getType())
                          ? of(Cast.getSource())
                          : View();
        // It says anew where in the argument it is.
        Result.Strides.clear();
        SmallVector<OpFoldResult> Offsets = Cast.getMixedOffsets();
        Result.Offset =
            Offsets.size() == 1 ? Exprs.of(Offsets[0]) : Exprs.number(0);
        for (OpFoldResult Stride : Cast.getMixedStrides())
          Result.Strides.push_back(Exprs.of(Stride));
        return Result;
      })
      .Case<memref::ExpandShapeOp, memref::CollapseShapeOp>([&](auto Shape) {
        return laidOutAs(of(Shape.getSrc()), Shape.getResultType());
      })
      .Case([&](memref::TransposeOp Transpose) {
        View From = of(Transpose.getIn());
        View Result = From;
        if (!From.Offset)
          return Result;
        for (unsigned D = 0; D < From.Strides.size(); ++D)
          Result.Strides[D] =
              From.Strides[Transpose.getPermutation().getDimPosition(D)];
        return Result;
      })
      .Case([&](memref::ExtractStridedMetadataOp Parts) {
        // The base buffer begins where the aligned pointer does.
        View From = of(Parts.getSource());
        if (From.Offset)
          From.Offset = Exprs.number(0);
        From.Strides.clear();
        return From;
      })
      .Case<memref::ViewOp>([&](memref::ViewOp Cut) {
        // Bytes of a buffer as another type: where in it is not followed.
        View From = of(Cut.getSource());
        From.Offset.reset();
        return From;
      })
      .Case<memref::AllocaOp, memref::AllocOp, gpu::DynamicSharedMemoryOp>(
          [&](auto) { return kind(View::Base::Local); })
      .Case([&](memref::GetGlobalOp Get) {
        auto Global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
            Get, Get.getNameAttr());
        return kind(Global && Global.getConstant() ? View::Base::Constant
                                                   : View::Base::Global);
      })
      .Default([](Operation *) { return View(); });
}

std::optional<Index> Views::element(const View &Of, ArrayRef<Index> Indices) {
  if (!Of.Offset || Of.Strides.size() != Indices.size())
    return std::nullopt;
  Index Result = *Of.Offset;
  for (auto [At, Stride] : llvm::zip(Indices, Of.Strides))
    Result = Exprs.add(Result, Exprs.multiply(At, Stride));
  return Result;
}

} // namespace dragon::ir
