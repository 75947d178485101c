//===- HostEvents.h - operations as events -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation that uses buffers becomes an event at the end of a block. What
// is not known, a call that was not inlined or an operation without effects
// that are told, is an opaque event: it may use all buffers that escape.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_HOSTEVENTS_H
#define DRAGON_PASSES_MLIR_LIFETIME_HOSTEVENTS_H

#include "passes/mlir/lifetime/HostBuffers.h"
#include "passes/mlir/lifetime/HostPointers.h"
#include "passes/mlir/lifetime/TokenStreams.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace dragon::ir {

/// Fills in the events of the Program's blocks, and HostProgram::Operations.
class HostEvents {
public:
  HostEvents(const TargetAnalysis &Memrefs, HostBuffers &Buffers,
             HostPointers &Pointers, HostProgram &Result)
      : Memrefs(Memrefs), Buffers(Buffers), Pointers(Pointers), Result(Result) {
  }

  /// The operation stands at the end of the block, as it is now.
  void add(mlir::Operation *Op, unsigned Block);
  /// The same for one with regions that are no blocks of the program: host
  /// code, or something of which nothing is known.
  void addWhole(mlir::Operation *Op, unsigned Block);

private:
  void addLaunch(mlir::gpu::LaunchFuncOp Launch, unsigned Block);
  void addCopy(mlir::gpu::MemcpyOp Copy, unsigned Block);
  Event event(EventAction What, mlir::Operation *Op,
              const llvm::Twine &Name = "");
  void push(Event E, mlir::Operation *Op, unsigned Block);
  /// Of all that the memref may be.
  void addUses(Event &E, mlir::Value Memref, bool Reads, bool Writes,
               int Operand = -1, bool Testable = false);
  void addEscapedUses(Event &E, bool Reads, bool Writes);
  StreamId streamOf(mlir::Operation *Op);

  const TargetAnalysis &Memrefs;
  HostBuffers &Buffers;
  HostPointers &Pointers;
  HostProgram &Result;
  TokenStreams Tokens;
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_HOSTEVENTS_H
