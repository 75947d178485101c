//===- HostProgram.h - buffer programs of host functions --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the buffer program (placement/BufferProgram.h) of a function in the
// func, scf, cf, memref, gpu and dragon dialects:
//
//   %a = gpu.alloc (%n) : memref<?xf32>            alloc a
//   gpu.memcpy %a, %h                               copy-in a
//   scf.for %i = ... {                              -> body, after
//     gpu.launch_func @m::@k args(%a : ...)         launch k read-write(a)
//   }                                               -> body, after
//
// Blocks of the program are blocks of the function, and pieces of them between
// operations with regions: each has a place where it begins, and one where it
// ends. Calls that were not inlined are opaque.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_HOSTPROGRAM_H
#define DRAGON_PASSES_MLIR_LIFETIME_HOSTPROGRAM_H

#include "passes/mlir/lifetime/Targets.h"
#include "passes/placement/BufferProgram.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace dragon::ir {

struct HostProgram {
  BufferProgram Program;
  /// [block][event].
  std::vector<std::vector<mlir::Operation *>> Operations;
  /// Of each block: where its operations begin, and the one in front of which
  /// it ends.
  struct Extent {
    mlir::Block *In = nullptr;
    mlir::Operation *After = nullptr; ///< begins behind this; null: In's begin
    mlir::Operation *End = nullptr;
  };
  std::vector<Extent> Extents;
  /// Of buffers and pointers (NameId): the value, where it is defined.
  std::vector<mlir::Value> Buffers, Pointers;
  /// What is outside of an operation with regions the same as a value inside:
  /// the values that leave it by that result, on all ways.
  llvm::DenseMap<mlir::Value, mlir::Value> Leaves;
};

HostProgram readHostProgram(mlir::FunctionOpInterface F,
                            const TargetAnalysis &Memrefs);

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_HOSTPROGRAM_H
