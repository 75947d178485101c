//===- Conditions.h - when an operation of a kernel runs --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The guards of the operations in a region, from the operations around it:
// scf.if and affine.if, and loops, which run while their counters are in front
// of their upper bounds.
//
//   scf.if %c {            %c = arith.cmpi slt, %i, %n
//     memref.store         -> i < n
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_ACCESS_CONDITIONS_H
#define DRAGON_PASSES_MLIR_ACCESS_CONDITIONS_H

#include "passes/mlir/access/IndexExprs.h"

#include <vector>

namespace dragon::ir {

struct When {
  std::vector<GuardRecord> Guards;
  /// Exactly where all guards hold.
  bool Exact = true;
  /// Whether it happens depends on loaded data.
  bool Loaded = false;
};

class Conditions {
public:
  explicit Conditions(IndexExprs &Exprs) : Exprs(Exprs) {}

  When of(mlir::Operation *Op);

private:
  When compute(mlir::Block *B);
  void addLoop(When &To, mlir::Operation *Loop);
  void addIf(When &To, mlir::Value Condition, bool Holds);
  void addSet(When &To, mlir::Operation *If, bool Holds);
  void addGuard(When &To, Index Lhs, Index Rhs, GuardPred Pred,
                uint32_t Loop = NoIndex);

  IndexExprs &Exprs;
  llvm::DenseMap<mlir::Block *, When> Known;
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_ACCESS_CONDITIONS_H
