//===- SpinLoops.h - loops that wait for other threads ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop waits for another thread if one of its exit conditions depends on a
// volatile or atomic load, or on an atomic that changes nothing:
//
//   while (*(volatile int *)flag == 0) ;
//   while (atomicAdd(&count, 0) < blocks) ;
//
// Slicing must know (the other thread may be in another slice), and so must the
// lowering to the host (the other thread may be one that runs after this one).
// A loop around a compare-and-swap or exchange that does change memory is a
// retry or a lock; it `contends`, but makes progress when other threads do.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_SPINLOOPS_H
#define DRAGON_PASSES_SUPPORT_SPINLOOPS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"

namespace llvm {
class CallBase;
class DominatorTree;
class Function;
class Instruction;
} // namespace llvm

namespace dragon {

class SpinLoops {
public:
  enum Kind {
    GlobalMemory, ///< waits for what other blocks may write
    AnyMemory,    ///< shared memory as well
    Contends      ///< retries and locks as well
  };
  explicit SpinLoops(Kind Which) : Which(Which) {}

  /// The instruction that the loop waits for, or null. Values are followed
  /// through local variables and, by name of the callee, through calls.
  const llvm::Instruction *find(const llvm::Loop &L,
                                const llvm::DominatorTree &DT);
  /// In some loop of F (or in a loop within one piece of inline assembly).
  const llvm::Instruction *find(llvm::Function &F);
  /// F, or a function that it calls, has something that a loop could wait for.
  bool couldFind(llvm::Function &F) { return observes(F); }

private:
  bool observes(const llvm::Instruction &I);
  bool observes(llvm::Function &F);
  static bool mayChangeNothing(const llvm::CallBase &Call);
  bool updates(const llvm::Function &F);
  bool concerns(const llvm::Value *Pointer) const;

  Kind Which;
  llvm::DenseMap<const llvm::Function *, bool> Known, Updating;
};

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_SPINLOOPS_H
