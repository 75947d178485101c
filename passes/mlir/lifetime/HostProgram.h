//===- HostProgram.h - buffer programs of host functions --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// readHostProgram reads the buffer program (placement/BufferProgram.h) of a
// function in the func, scf, cf, memref, gpu and dragon dialects:
//
//   %a = gpu.alloc (%n) : memref<?xf32>            alloc a
//   gpu.memcpy %a, %h                               copy-in a
//   scf.for %i = ... {                              -> body, after
//     gpu.launch_func @m::@k args(%a : ...)         launch k read-write(a)
//   }                                               -> body, after
//
// A block of the program is a block of the function, or a piece of one between
// two operations with regions. Calls that were not inlined are opaque events.
//
// Four classes do the work, each on the result of those before it: HostBuffers,
// HostPointers, HostEvents, and HostBlocks (HostProgram.cpp), which walks the
// function.
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

/// A buffer program, and what of the IR its parts stand for.
struct HostProgram {
  BufferProgram Program;
  /// The operation of each event: [block][event].
  std::vector<std::vector<mlir::Operation *>> Operations;
  /// Where a block of the program begins and ends.
  struct Extent {
    mlir::Block *In = nullptr;
    mlir::Operation *After = nullptr; ///< begins behind this; null: begins In
    mlir::Operation *End = nullptr;   ///< ends in front of this
  };
  std::vector<Extent> Extents; ///< of each block
  /// The values that buffers and pointers (NameId) are.
  std::vector<mlir::Value> Buffers, Pointers;
  /// For values inside an operation with regions: the result by which the value
  /// leaves the operation, if the result is this value on all ways.
  llvm::DenseMap<mlir::Value, mlir::Value> Leaves;
};

HostProgram readHostProgram(mlir::FunctionOpInterface F,
                            const TargetAnalysis &Memrefs);

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_HOSTPROGRAM_H
