//===- HostBuffers.h - buffers of a host function ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HostBuffers is the first step of readHostProgram. It makes each allocation
// and each mapped file of the function a buffer of the program, with its name
// in the source, and knows which operation allocates which buffer.
//
// It also decides which buffers escape. A buffer escapes if the program has no
// event for something that may use it: memory keeps its address, a function is
// not known, a kernel follows pointers.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_HOSTBUFFERS_H
#define DRAGON_PASSES_MLIR_LIFETIME_HOSTBUFFERS_H

#include "dragon/mlir/Dragon.h"
#include "passes/mlir/lifetime/HostProgram.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>

namespace dragon::ir {

/// The place in the source that the location names, if it names one.
Position positionOf(mlir::Location Where);

/// The memref that the value is, below its casts.
mlir::Value withoutCasts(mlir::Value V);

/// Whether the kernel may touch any memory: nothing is known of it, or it
/// follows pointers in memory.
bool touchesAnything(SummaryAttr Summary);

/// Fills in HostProgram::Buffers and the buffers of HostProgram::Program.
class HostBuffers {
public:
  HostBuffers(mlir::FunctionOpInterface F, const TargetAnalysis &Memrefs,
              HostProgram &Result)
      : F(F), Memrefs(Memrefs), Result(Result), Names(F) {}

  /// Adds a buffer for each allocation and each mapped file.
  void addAll();
  /// Decides which buffers escape, by what the function does and what the
  /// functions do that it calls.
  void findEscapes();
  /// Notes that the buffers among the targets escape to the operation.
  void escape(const Targets &T, mlir::Operation *To, const llvm::Twine &What);

  /// The buffer that the operation allocates, if it allocates one.
  std::optional<unsigned> of(mlir::Operation *Site) const;
  Buffer &operator[](unsigned Number) { return Result.Program.Buffers[Number]; }
  /// The name of the value in the source, else in the IR.
  std::string nameOf(mlir::Value V);
  /// Whether the operation's regions do something with buffers, so that their
  /// operations must become events of their own.
  bool areUsedInside(mlir::Operation *Op);

private:
  bool isSummary(mlir::Operation *Site);
  void findEscapes(mlir::Operation *Op);
  bool handsToCallee(mlir::OpOperand &Of);

  mlir::FunctionOpInterface F;
  const TargetAnalysis &Memrefs;
  HostProgram &Result;
  mlir::AsmState Names;
  llvm::DenseMap<mlir::Operation *, unsigned> Numbers;
  llvm::DenseMap<mlir::Operation *, bool> UsedInside;
  llvm::SmallSetVector<unsigned, 4> GivenAway; ///< operands of calls
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_HOSTBUFFERS_H
