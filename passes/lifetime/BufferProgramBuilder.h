//===- BufferProgramBuilder.h - host IR -> buffer program ----- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the buffer program (passes/placement) off a flattened function: its
// allocation sites become buffers, its calls events. Beside each event stands
// the instruction it was made from, so that directives can be lowered.
//
// Accesses of host code to staging buffers become events in front of the
// outermost loop in which the buffer has no other use: making the contents
// real there once is enough.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_BUFFERPROGRAMBUILDER_H
#define DRAGON_PASSES_LIFETIME_BUFFERPROGRAMBUILDER_H

#include "passes/lifetime/FlatFunction.h"
#include "passes/lifetime/HostParts.h"
#include "passes/lifetime/KernelSummaries.h"
#include "passes/placement/BufferProgram.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <set>
#include <tuple>

namespace llvm {
class AllocaInst;
class BasicBlock;
class CallBase;
class DILocation;
class GlobalVariable;
class Instruction;
class PHINode;
class Value;
} // namespace llvm

namespace dragon {

struct BuiltProgram {
  BufferProgram Program;
  /// [block][event]: the call, or the instruction in front of which the event
  /// stands.
  std::vector<std::vector<llvm::Instruction *>> Instructions;
  /// Null: an edge.
  std::vector<llvm::BasicBlock *> Blocks;
  struct BufferSite {
    llvm::CallBase *Call;
    /// The buffer's address, after the call.
    llvm::Value *Pointer;
  };
  std::vector<BufferSite> Sites;
  /// Of the program's pointers: phis and selects.
  std::vector<llvm::Instruction *> Pointers;
  /// Of arrays: where the addresses of the elements are, [N x ptr].
  llvm::DenseMap<unsigned, llvm::AllocaInst *> Arrays;
  /// Of the program's loops, and of number 1, 2, ...
  std::vector<const llvm::PHINode *> Counters;
  std::vector<const llvm::Value *> Numbers;
  std::map<std::tuple<std::string, unsigned, unsigned>,
           const llvm::DILocation *>
      Locations;
  /// What host accesses look at, by HostAccessEvent::Part: several references
  /// may be one event.
  std::vector<llvm::SmallVector<HostPart, 1>> Parts;
  /// Calls of functions that were not taken in, although a buffer is given to
  /// them.
  llvm::SmallVector<llvm::CallBase *, 4> Missed;
  /// Calls of functions elsewhere, without a summary, that are given device or
  /// managed buffers.
  llvm::SmallVector<llvm::CallBase *, 4> UnknownCalls;
  /// Their names, and the place of a call.
  std::map<std::string, Position> UnknownCallees;
  /// Library calls that work in a stream with a handle of its own.
  llvm::DenseMap<const llvm::Instruction *, llvm::Value *> LibraryStreams;
  /// Kernels without a summary: name, place of a launch.
  std::map<std::string, Position> UnknownKernels;
};

/// OwnGlobals: those that only this function uses.
BuiltProgram buildBufferProgram(
    llvm::Function &Flat, llvm::FunctionAnalysisManager &Analyses,
    const KernelSummaries &Kernels,
    llvm::ArrayRef<const llvm::GlobalVariable *> OwnGlobals, bool IsMain);

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_BUFFERPROGRAMBUILDER_H
