//===- LoopLegality.h - may a loop run in separate launches -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is cut along a loop where launches run its iterations [0, a),
// [a, b), .. of all threads, one launch after the other:
//
//   float sum = 0;                                     // each time
//   for (int i = tid; i < n; i += stride) sum += x[i]; // a part each time
//   out[tid] = sum;                                    // the last time
//
// CUDA gives no order between the iterations of different blocks, or of threads
// between barriers, so this is one that the kernel allows. It is possible where
//   - the loop is left at its head alone, whose condition depends on what the
//     thread has for itself, so that a thread that is done finds it false again
//     in each later launch;
//   - what stands outside of the loop and not behind it only computes, or sets
//     up the block's shared memory: it runs in each launch;
//   - what goes on in the loop lives in registers, in small variables of the
//     thread, in the block's shared memory or in buffers, and no address of the
//     thread's or the block's memory goes on.
// The first two are structure; nothing here is about speed.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_LOOPLEGALITY_H
#define DRAGON_PASSES_SLICING_LOOPLEGALITY_H

#include "dragon/SummaryBuilder.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace llvm {
class AllocaInst;
class BasicBlock;
class CallBase;
class DominatorTree;
class Function;
class GlobalVariable;
class Instruction;
class Loop;
class PHINode;
class Value;
} // namespace llvm

namespace dragon {

class LoopLegality {
public:
  /// Of the kernel's loop L; `Summary`: the kernel's.
  LoopLegality(llvm::Function &Kernel, llvm::Loop &L, llvm::DominatorTree &DT,
               const KernelSummary &Summary)
      : Kernel(Kernel), L(L), DT(DT), Summary(Summary) {}

  /// Why the loop cannot be cut, in words for the user; empty: it can.
  std::string whyNot();

  /// After whyNot(): the variables in shared memory whose contents go on from
  /// one iteration to the next.
  llvm::SetVector<llvm::GlobalVariable *> Shared;
  /// The variables in local memory, which a thread keeps.
  llvm::SmallVector<llvm::AllocaInst *, 4> Locals;
  /// What stands in front of the loop loads from buffers that the kernel does
  /// not write through the same pointer.
  bool NeedsDistinct = false;

private:
  const char *structureObstacle();
  const char *stateObstacle();
  const char *obstacleInFront(llvm::Instruction &I);
  const char *obstacleInCall(llvm::CallBase &Call);
  const char *obstacleInLoad(const llvm::Value &Address);
  void findShared();
  void addShared(llvm::BasicBlock &Block);

  llvm::Function &Kernel;
  llvm::Loop &L;
  llvm::DominatorTree &DT;
  const KernelSummary &Summary;
};

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOOPLEGALITY_H
