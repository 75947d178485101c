//===- ProgramBuilder.h - the builder of buffer programs -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What BufferProgramBuilder.h promises, at work. Private to this folder: one
// class over several files, by what they see to: BufferProgramBuilder.cpp the
// events, BuilderShape.cpp buffers and control flow, BuilderUses.cpp what calls
// mean by their arguments, BuilderLibraries.cpp calls of library functions,
// BuilderHostCode.cpp loads and stores, BuilderCursors.cpp pointers that move,
// BuilderPointers.cpp those that are one buffer's or another's.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_PROGRAMBUILDER_H
#define DRAGON_PASSES_LIFETIME_PROGRAMBUILDER_H

#include "passes/SourceNames.h"
#include "passes/libraries/LibraryFunction.h"
#include "passes/lifetime/Aliases.h"
#include "passes/lifetime/BufferProgramBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace llvm {
class SCEVAddRecExpr;
} // namespace llvm

namespace dragon {

class ProgramBuilder {
public:
  ProgramBuilder(llvm::Function &F, llvm::FunctionAnalysisManager &Analyses,
                 const KernelSummaries &Kernels,
                 llvm::ArrayRef<const llvm::GlobalVariable *> OwnGlobals,
                 bool IsMain)
      : F(F), Kernels(Kernels), Locations(F), Pointers(F, Kernels, OwnGlobals),
        Evolution(Analyses.getResult<llvm::ScalarEvolutionAnalysis>(F)),
        Loops(Analyses.getResult<llvm::LoopAnalysis>(F)),
        Dominators(Analyses.getResult<llvm::DominatorTreeAnalysis>(F)),
        Library(Analyses.getResult<llvm::TargetLibraryAnalysis>(F)),
        IsMain(IsMain) {}

  BuiltProgram build();

private:
  friend class SymbolicSizes;

  // What there is.
  bool isGivenToCalls(unsigned Object) const;
  bool isFreedEachTime(const llvm::Value &Given) const;
  bool mayBeSummary(unsigned Object, const llvm::Value &Given) const;
  void addBuffers();
  void addBlocks();
  void markFailures();
  void markFailingEdge(llvm::BasicBlock *From, llvm::BasicBlock *To);
  void findCycles();
  bool inCycle(const llvm::Instruction &I) const {
    return Cyclic.contains(I.getParent());
  }

  // Arrays of buffers.
  std::optional<Bound> boundOf(const llvm::Value *V);
  void addLoop(const llvm::Loop &L);
  std::optional<ElementIndex> indexOf(const llvm::Value *Index, int64_t Plus,
                                      const llvm::Instruction &User);
  void addArrays();
  std::optional<ElementIndex> elementOf(const llvm::Value *Pointer,
                                        unsigned Object, unsigned B,
                                        const llvm::Instruction &User,
                                        bool &Surely, unsigned Depth = 0);

  void noteElement(BufferUse &Use, const llvm::CallBase &Call,
                   const llvm::Value *Pointer, const Target &To, bool Only);

  // Values.
  Position position(const llvm::Instruction &I);
  SizeId sizeOf(const llvm::SCEV *Bytes);
  const llvm::SCEV *wideNumber(const llvm::Value *V, unsigned Depth = 0);
  const llvm::SCEV *bytesOf(const llvm::CallBase &Call, int Bytes, int Count);
  StreamId streamOf(const llvm::Value *Stream);
  StreamId launchStream(const llvm::CallBase &Launch);
  int fileOf(llvm::Value *File);
  bool descriptorEscapes(const llvm::Value *Descriptor) const;

  // Uses.
  enum class Side { Device, Host, Any };
  bool onSide(const MemoryObject &O, Side Which) const;
  void addUses(Event &E, const llvm::Value *Pointer, Side Which, bool Reads,
               bool Writes, const llvm::SCEV *Bytes);
  void addUses(Event &E, const TargetSet &Targets, const llvm::Value *Pointer,
               Side Which, bool Reads, bool Writes, const llvm::SCEV *Bytes);
  void addEscapedUses(Event &E, Side Which, bool Reads, bool Writes);
  // Pointers to one of several buffers.
  std::optional<unsigned> pointerOf(const llvm::Value *V);
  void notePointer(Event &E, unsigned Pointer, const llvm::Value *V, bool Reads,
                   bool Writes, SizeId Size);
  llvm::SmallVector<NameId, 1> namesOf(const llvm::Value *V);
  void addPointers();
  /// Of the uses from First on, which the operand has just added.
  void noteCursor(Event &E, size_t First, llvm::CallBase &Call,
                  unsigned Operand);
  void addCursors();

  // Events.
  void visit(llvm::Instruction &I);
  void visitCall(llvm::CallBase &Call);
  void noteSize(Event &E, int BytesOperand) const;
  void visitAllocation(llvm::CallBase &Call);
  void visitFree(llvm::CallBase &Call, const CallEffect &Effect);
  void visitFreeAll(llvm::CallBase &Call);
  void visitCopy(llvm::CallBase &Call, const CallEffect &Effect);
  void visitFill(llvm::CallBase &Call, const CallEffect &Effect);
  void visitFileTransfer(llvm::CallBase &Call, const CallEffect &Effect);
  void visitLaunch(llvm::CallBase &Call);
  bool isMath(const llvm::CallBase &Call) const;
  void visitOpaque(llvm::CallBase &Call);
  void visitLibrary(llvm::CallBase &Call, const LibraryFunction &Function);
  StreamId libraryStream(llvm::CallBase &Call, const LibraryFunction &Function);
  std::optional<StreamId> handleStream(llvm::CallBase &Call,
                                       const llvm::Value *Handle);
  Event event(EventAction What, const llvm::Instruction &I);
  void push(Event E, llvm::Instruction &I);
  void pushBarrier(llvm::CallBase &Call);
  void addLoopBarriers(const llvm::Loop &L);

  // Host code that looks at buffers.
  void noteAccess(llvm::Instruction &I, const llvm::Value *Pointer);
  void addHostAccesses();
  void addHostAccess(llvm::Instruction &I, unsigned Buffer);
  void insertBefore(Event E, llvm::Instruction &I);

  llvm::Function &F;
  const KernelSummaries &Kernels;
  UserLocations Locations;
  Aliases Pointers;
  llvm::ScalarEvolution &Evolution;
  llvm::LoopInfo &Loops;
  llvm::DominatorTree &Dominators;
  const llvm::TargetLibraryInfo &Library;
  bool IsMain;
  llvm::SmallPtrSet<const llvm::BasicBlock *, 16> Cyclic;
  BuiltProgram Result;
  llvm::DenseMap<unsigned, unsigned> BufferOf; ///< object -> buffer
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> BlockOf;
  llvm::DenseMap<const llvm::SCEV *, SizeId> Sizes;
  llvm::DenseMap<const llvm::Value *, NumberId> Numbers;
  llvm::DenseMap<const llvm::Value *, StreamId> Streams;
  llvm::DenseMap<const llvm::Value *, int> Files;
  llvm::MapVector<llvm::Instruction *, unsigned> PointerOf;
  llvm::DenseMap<const llvm::Value *, unsigned> Conditions;
  /// What the cursors of uses stand for until addCursors().
  std::vector<const llvm::SCEVAddRecExpr *> Places;
  llvm::SmallVector<std::pair<llvm::Instruction *, unsigned>, 16> Accesses;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_PROGRAMBUILDER_H
