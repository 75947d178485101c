//===- HostReader.h - host functions to buffer programs ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What readHostProgram (HostProgram.h) is made of; a file for each part:
//
//   HostBuffers.cpp    the buffers of a function, and which of them escape
//   HostEvents.cpp     operations that use buffers become events
//   HostProgram.cpp    blocks and regions, and the edges between them
//   HostPointers.cpp   values that are one of several buffers
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_HOSTREADER_H
#define DRAGON_PASSES_MLIR_LIFETIME_HOSTREADER_H

#include "dragon/mlir/Dragon.h"
#include "passes/mlir/lifetime/HostProgram.h"
#include "passes/mlir/lifetime/TokenStreams.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace dragon::ir {

Position positionOf(mlir::Location Where);

/// The memref that casts were made of.
mlir::Value withoutCasts(mlir::Value V);

/// Nothing is known of the kernel, or it follows pointers in memory.
bool touchesAnything(SummaryAttr Summary);

/// Reads one function, once.
class HostReader {
public:
  HostReader(mlir::FunctionOpInterface F, const TargetAnalysis &Memrefs)
      : F(F), Memrefs(Memrefs), Names(F) {}

  HostProgram run();

private:
  // Buffers.
  void addBuffers();
  void findEscapes();
  void findEscapes(mlir::Operation *Op);
  bool handsToCallee(mlir::OpOperand &Of);
  static bool endsOrDefers(mlir::Operation *Op);
  void escape(const Targets &T, mlir::Operation *To, const llvm::Twine &What);
  bool isSummary(mlir::Operation *Site);
  std::string nameOf(mlir::Value V);

  // Control flow.
  unsigned newBlock(mlir::Block *In, mlir::Operation *After,
                    const llvm::Twine &Name);
  void addRegion(mlir::Region &R);
  unsigned addOperations(mlir::Block &B);
  unsigned addRegionOp(mlir::RegionBranchOpInterface Op, unsigned Now);
  void addEdge(unsigned From, unsigned To, mlir::ValueRange Given,
               mlir::ValueRange Taken);
  bool isRelevant(mlir::Operation *Op);

  // Events.
  void visit(mlir::Operation *Op, unsigned Now);
  void visitLaunch(mlir::gpu::LaunchFuncOp Launch, unsigned Now);
  void visitCopy(mlir::gpu::MemcpyOp Copy, unsigned Now);
  void visitOther(mlir::Operation *Op, unsigned Now);
  Event event(EventAction What, mlir::Operation *Op,
              const llvm::Twine &Name = "");
  void push(Event E, mlir::Operation *Op, unsigned Now);
  /// Of all that the memref may be.
  void addUses(Event &E, mlir::Value Memref, bool Reads, bool Writes,
               int Operand = -1, bool Testable = false);
  void addEscapedUses(Event &E, bool Reads, bool Writes);
  StreamId streamOf(mlir::Operation *Op);

  // Pointers.
  std::optional<unsigned> pointerOf(mlir::Value V);
  llvm::SmallVector<NameId, 1> namesOf(mlir::Value V);
  void addPointers();

  mlir::FunctionOpInterface F;
  const TargetAnalysis &Memrefs;
  mlir::AsmState Names;
  TokenStreams Tokens;
  HostProgram Result;
  llvm::DenseMap<mlir::Operation *, unsigned> BufferOf;
  /// The program's blocks that begin and end with a block.
  llvm::DenseMap<mlir::Block *, unsigned> EntryOf, EndOf;
  /// Region arguments, results and selects that are pointers: by their
  /// order.
  llvm::MapVector<mlir::Value, unsigned> PointerOf;
  /// What a block's arguments, or a region operation's results, get: block,
  /// predecessor and value.
  struct Incoming {
    unsigned To, From;
    mlir::Value V;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Incoming, 2>> Given;
  llvm::DenseMap<mlir::Value, std::pair<unsigned, unsigned>> SelectAt;
  llvm::DenseMap<mlir::Value, unsigned> SelectConditions;
  llvm::DenseMap<mlir::Operation *, bool> Relevant;
  llvm::SmallSetVector<unsigned, 4> GivenAway; ///< buffers, to functions
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_HOSTREADER_H
