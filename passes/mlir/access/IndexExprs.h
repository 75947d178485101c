//===- IndexExprs.h - integers of a kernel as expressions -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates indices of arith, affine and gpu operations into the expression
// nodes of the kernel summary, as access/Footprint.h does for LLVM IR:
//
//   %i = affine.apply affine_map<(b, d, t) -> (b * d + t)>(...)
//     -> Add(Mul(BlockIdx, BlockDim), ThreadIdx)
//
// Counters of loops (scf.for, scf.parallel, scf.forall, affine.for,
// affine.parallel) are Loop nodes. What comes from memory is Unknown.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_ACCESS_INDEXEXPRS_H
#define DRAGON_PASSES_MLIR_ACCESS_INDEXEXPRS_H

#include "dragon/SummaryBuilder.h"
#include "passes/mlir/access/ArgumentLayout.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace dragon::ir {

/// What a node says of the value it was made for.
struct Index {
  uint32_t Node = NoIndex;
  /// Nothing in it is only known by bounds, or not at all.
  bool Exact = true;
  /// It depends on loaded data.
  bool Loaded = false;
  /// Nothing is known of it, not even bounds.
  bool Unknown = false;
};

/// One counter of a loop: Lower, Lower + Step, ... in front of Upper.
struct LoopCounter {
  Index Lower, Upper, Step;
  Index Counter; ///< the Loop node, 0 to the number of iterations less one
};

constexpr unsigned IndexBits = 64;

class IndexExprs {
public:
  IndexExprs(ExprPool &Pool, const ArgumentLayout &Layout,
             mlir::gpu::GPUFuncOp Kernel)
      : Pool(Pool), Layout(Layout), Kernel(Kernel) {}

  /// Of an integer or index.
  Index of(mlir::Value V);
  Index of(mlir::OpFoldResult V);
  /// A result of an affine map, 64 bits.
  Index of(mlir::AffineExpr E, mlir::ValueRange Dims, mlir::ValueRange Symbols);
  Index number(int64_t Value) { return {Pool.constant(Value)}; }

  Index add(Index A, Index B) { return combine(ExprOp::Add, A, B); }
  Index multiply(Index A, Index B) { return combine(ExprOp::Mul, A, B); }
  Index combine(ExprOp Op, Index A, Index B, uint8_t Flags = 0);
  /// A lowered argument of 64 bits.
  Index argument(uint32_t Number) { return {Pool.argument(Number, 64)}; }
  /// A counter of its own: 0 to Count (a node).
  Index freshCounter(uint32_t Count) { return {Pool.loop(NextLoop++, Count)}; }

  /// The counters of a loop operation, one for each dimension; empty if it is
  /// none that this knows.
  llvm::ArrayRef<LoopCounter> counters(mlir::Operation *Loop);

  ExprPool &pool() { return Pool; }
  const ArgumentLayout &layout() const { return Layout; }
  mlir::gpu::GPUFuncOp kernel() const { return Kernel; }

private:
  Index compute(mlir::Value V);
  Index computeArgument(mlir::BlockArgument Argument);
  Index computeResult(mlir::OpResult Result);
  std::optional<Index> computePosition(mlir::Operation *Op);
  Index computeUnknown(mlir::Operation *Op, unsigned Bits);
  /// The first operand, made wider or narrower.
  Index widened(ExprOp Kind, mlir::Operation *Op, unsigned Bits);
  Index launchValue(ExprOp Op, mlir::gpu::Dimension D);
  Index cast(ExprOp Op, Index A, unsigned Bits);
  Index between(Index A, Index B);
  Index unknown(unsigned Bits, bool Loaded);
  Index dimension(mlir::Value Memref, mlir::Value Dimension);
  Index floorDivide(Index A, Index B);
  Index modulo(Index A, Index B);
  Index extreme(ExprOp Op, mlir::AffineMap Map, mlir::ValueRange Operands);
  Index least(mlir::AffineMap Map, mlir::ValueRange Operands);
  Index greatest(mlir::AffineMap Map, mlir::ValueRange Operands);
  void addCounter(llvm::SmallVectorImpl<LoopCounter> &To, Index Lower,
                  Index Upper, Index Step);
  unsigned bits(uint32_t Node);
  bool notNegative(uint32_t Node);

  ExprPool &Pool;
  const ArgumentLayout &Layout;
  mlir::gpu::GPUFuncOp Kernel;
  llvm::DenseMap<mlir::Value, Index> Known;
  std::map<mlir::Operation *, llvm::SmallVector<LoopCounter, 1>> Loops;
  llvm::DenseMap<uint32_t, unsigned> Magnitudes;
  unsigned NextLoop = 0;
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_ACCESS_INDEXEXPRS_H
