//===- HostPointers.h - values that are one of several buffers ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pointer of the program is a value that is one of several whole device
// buffers. A use through it is a use of the one buffer that it is at that time.
// Arguments of blocks and regions, results of operations with regions, and
// selects can be pointers:
//
//   %c = arith.select %first, %a, %b       pointer c of a, b
//
// HostPointers finds a pointer when an event uses it. What the pointer may be
// is known when the program has all its edges: then addAll() adds the pointers.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_HOSTPOINTERS_H
#define DRAGON_PASSES_MLIR_LIFETIME_HOSTPOINTERS_H

#include "passes/mlir/lifetime/HostBuffers.h"

#include "llvm/ADT/MapVector.h"

#include <utility>

namespace dragon::ir {

/// Fills in HostProgram::Pointers, HostProgram::Leaves and the pointers of
/// HostProgram::Program.
class HostPointers {
public:
  HostPointers(mlir::FunctionOpInterface F, const TargetAnalysis &Memrefs,
               HostBuffers &Buffers, HostProgram &Result)
      : F(F), Memrefs(Memrefs), Buffers(Buffers), Result(Result) {}

  /// The pointer that the value is, or none if it is another kind of value.
  std::optional<unsigned> of(mlir::Value V);

  /// Notes that the edge between the blocks gives the argument, or the result,
  /// a value.
  void give(mlir::Value Taken, unsigned To, unsigned From, mlir::Value V);
  /// Notes that the select stands in the block, in front of the event.
  void addSelect(mlir::Value Select, unsigned Block, unsigned Event);

  /// Adds the pointers to the program. All events and edges must be there.
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
