//===- HostPointers.h - values that are one of several buffers ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Region and block arguments, results of region operations and selects that can
// be nothing but whole device buffers are pointers of the program: uses through
// them are of the one buffer that they are at that time. They are found as
// events use them; what they may be is known when all edges are.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_HOSTPOINTERS_H
#define DRAGON_PASSES_MLIR_LIFETIME_HOSTPOINTERS_H

#include "passes/mlir/lifetime/HostBuffers.h"

#include "llvm/ADT/MapVector.h"

#include <utility>

namespace dragon::ir {

/// Fills in HostProgram::Pointers, its Leaves and the pointers of its Program.
class HostPointers {
public:
  HostPointers(mlir::FunctionOpInterface F, const TargetAnalysis &Memrefs,
               HostBuffers &Buffers, HostProgram &Result)
      : F(F), Memrefs(Memrefs), Buffers(Buffers), Result(Result) {}

  /// The pointer that the value is; none: it is another kind of value.
  std::optional<unsigned> of(mlir::Value V);

  /// The edge between the blocks gives the argument, or result, a value.
  void give(mlir::Value Taken, unsigned To, unsigned From, mlir::Value V);
  /// The select stands in the block, in front of the event.
  void addSelect(mlir::Value Select, unsigned Block, unsigned Event);

  /// When all events and edges are there.
  void addAll();

private:
  struct Incoming {
    unsigned To, From;
    mlir::Value V;
  };
  Pointer read(mlir::Value V);
  llvm::SmallVector<NameId, 1> namesOf(mlir::Value V);
  void addLeaves();

  mlir::FunctionOpInterface F;
  const TargetAnalysis &Memrefs;
  HostBuffers &Buffers;
  HostProgram &Result;
  llvm::MapVector<mlir::Value, unsigned> Numbers; ///< in the order found
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Incoming, 2>> Given;
  llvm::DenseMap<mlir::Value, std::pair<unsigned, unsigned>> SelectAt;
  llvm::DenseMap<mlir::Value, unsigned> SelectConditions;
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_HOSTPOINTERS_H
