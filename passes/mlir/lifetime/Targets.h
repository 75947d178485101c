//===- Targets.h - which buffer a memref is ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The analysis finds for each memref of host code the allocations that it may
// be of. It is a sparse data-flow analysis of MLIR, and follows memrefs through
// branches, arguments of regions, loops and calls within the module.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_TARGETS_H
#define DRAGON_PASSES_MLIR_LIFETIME_TARGETS_H

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "llvm/ADT/SmallVector.h"

namespace dragon::ir {

/// What a memref may be.
struct Targets {
  /// The gpu.alloc, dragon.alloc and dragon.map whose result it may be, in
  /// order and each once.
  llvm::SmallVector<mlir::Operation *, 2> Sites;
  /// Whether it may be other memory, too.
  bool Elsewhere = false;
  /// Whether it is all of the buffer.
  bool Whole = true;

  bool known() const { return !Elsewhere && !Sites.empty(); }
  bool operator==(const Targets &Other) const {
    return Sites == Other.Sites && Elsewhere == Other.Elsewhere &&
           Whole == Other.Whole;
  }
  static Targets join(const Targets &A, const Targets &B);
  static Targets elsewhere();
  void print(llvm::raw_ostream &To) const;
};

/// Whether the operation makes a buffer that the runtime may move.
bool isBufferSite(mlir::Operation *Op);

/// Whether the operation makes a memref of all the elements of its operand,
/// wherever they are in it.
bool isWholeView(mlir::Operation *Op);

/// Whether the operation's regions run one after another, as its interface
/// says, and hand on memrefs as they are.
bool isFollowed(mlir::Operation *Op);

class TargetAnalysis {
public:
  explicit TargetAnalysis(mlir::Operation *Module);

  Targets of(mlir::Value Memref) const;

  /// Whether the operation does nothing with the memref itself, and all that it
  /// makes or hands on of it has the same targets: views, choices, branches,
  /// and calls of functions all of whose callers are known.
  bool handsOn(mlir::OpOperand &Memref) const;

private:
  mlir::DataFlowSolver Solver;
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_TARGETS_H
