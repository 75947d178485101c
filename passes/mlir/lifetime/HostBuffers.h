//===- HostBuffers.h - buffers of a host function ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first step of readHostProgram: what the function allocates and maps is a
// buffer of the program, under its name in the source. A buffer escapes if
// something may use it that the program has no event for: memory that keeps its
// address, a function that is not known, a kernel that follows pointers.
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

Position positionOf(mlir::Location Where);

/// The memref that casts were made of.
mlir::Value withoutCasts(mlir::Value V);

/// Nothing is known of the kernel, or it follows pointers in memory.
bool touchesAnything(SummaryAttr Summary);

/// Fills in HostProgram::Buffers and the buffers of its Program.
class HostBuffers {
public:
  HostBuffers(mlir::FunctionOpInterface F, const TargetAnalysis &Memrefs,
              HostProgram &Result)
      : F(F), Memrefs(Memrefs), Result(Result), Names(F) {}

  void addAll();
  /// By what the function does, and the functions that it calls.
  void findEscapes();
  /// The buffers among the targets escape to the operation.
  void escape(const Targets &T, mlir::Operation *To, const llvm::Twine &What);

  /// The buffer that the operation allocates.
  std::optional<unsigned> of(mlir::Operation *Site) const;
  Buffer &operator[](unsigned Number) { return Result.Program.Buffers[Number]; }
  /// In the source, or in the IR.
  std::string nameOf(mlir::Value V);
  /// Whether what happens to buffers in the operation's regions must be looked
  /// at piece by piece.
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
  llvm::SmallSetVector<unsigned, 4> GivenAway; ///< to functions
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_HOSTBUFFERS_H
