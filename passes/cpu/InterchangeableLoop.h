//===- InterchangeableLoop.h - a loop to be interchanged --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a thread's code is one loop whose iterations may each be run for all
// threads (LoopInterchange.h), and which values must be kept for each thread
// from iteration to iteration.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_INTERCHANGEABLELOOP_H
#define DRAGON_PASSES_CPU_INTERCHANGEABLELOOP_H

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class DominatorTree;
class Loop;
class LoopInfo;
class ScalarEvolution;
} // namespace llvm

namespace dragon {

/// An induction variable: Phi = Initial + (or -) number of the iteration *
/// Step.
struct Induction {
  llvm::Value *Initial;
  llvm::Value *Step;
  bool Down;
};

class InterchangeableLoop {
public:
  InterchangeableLoop(llvm::Function &Thread,
                      llvm::FunctionAnalysisManager &Analyses);

protected:
  /// Finds the loop and the values to be kept. False if there is no such loop.
  bool analyze();

  llvm::Function &Thread;
  llvm::DominatorTree &DT;
  llvm::LoopInfo &LI;
  llvm::ScalarEvolution &SE;
  llvm::Loop *L = nullptr;
  llvm::BasicBlock *Exit = nullptr;
  llvm::MapVector<llvm::PHINode *, Induction> Inductions;
  llvm::SmallVector<llvm::PHINode *, 4> OtherPhis; // of the header
  llvm::SmallVector<llvm::PHINode *, 4>
      ExitPhis; // of the exit, used afterwards
  llvm::SetVector<llvm::Value *> LiveInLoop, LiveAfter;
  llvm::SmallPtrSet<llvm::BasicBlock *, 16> AfterBlocks;
  llvm::SetVector<llvm::Value *> Saved; // in the order of the slots
  bool HasState = true;

private:
  bool findLoop();
  bool isWorthwhile();
  void findInductions();
  bool exitsArePredictable();
  bool controlIsUniform();
  bool readsConstantMemory(const llvm::LoadInst &Load);
  bool recomputable(llvm::Value *V, unsigned &Budget);
  bool recomputable(llvm::Value *V);
  bool dependsOnInductionsOnly(llvm::Value *V, unsigned Depth = 0);
  bool isUniform(llvm::Value *V, unsigned Depth = 0);
  void findLiveValues();
  void save(llvm::Value *V) {
    if (!llvm::isa<llvm::Constant, llvm::Argument>(V))
      Saved.insert(V);
  }
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_INTERCHANGEABLELOOP_H
