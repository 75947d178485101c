//===- HostEvents.h - operations as events -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HostEvents turns an operation that uses buffers into an event, which it puts
// at the end of a block. It decides which buffers and pointers the event uses,
// and on which stream it runs.
//
// An operation about which nothing is known becomes an opaque event: a call
// that was not inlined, or an operation that does not tell its effects. Such an
// event may use all buffers that escape.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_HOSTEVENTS_H
#define DRAGON_PASSES_MLIR_LIFETIME_HOSTEVENTS_H

#include "passes/mlir/lifetime/HostBuffers.h"
#include "passes/mlir/lifetime/HostPointers.h"
#include "passes/mlir/lifetime/TokenStreams.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace dragon::ir {

/// Fills in the events of the program's blocks, and HostProgram::Operations.
class HostEvents {
public:
  HostEvents(const TargetAnalysis &Memrefs, HostBuffers &Buffers,
             HostPointers &Pointers, HostProgram &Result)
      : Memrefs(Memrefs), Buffers(Buffers), Pointers(Pointers), Result(Result) {
  }

  /// Adds the operation at the end that the block has now.
  void add(mlir::Operation *Op, unsigned Block);
  /// Adds an operation as one event, with all that its regions do. The regions
  /// are no blocks of the program: they are host code, or nothing is known of
  /// them.
  void addWhole(mlir::Operation *Op, unsigned Block);

private:
  void addLaunch(mlir::gpu::LaunchFuncOp Launch, unsigned Block);
  void addCopy(mlir::gpu::MemcpyOp Copy, unsigned Block);
  Event event(EventAction What, mlir::Operation *Op,
              const llvm::Twine &Name = "");
  void push(Event E, mlir::Operation *Op, unsigned Block);
  /// Adds uses of all that the memref may be.
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
