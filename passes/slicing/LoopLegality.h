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
//   - a thread that has left the loop is behind it in each later launch: it
//     finds the condition at the head false again, where that depends on what
//     the thread has for itself, or remembers how it left (LoopExits.h);
//   - what stands outside of the loop and not behind it only computes, or sets
//     up the block's shared memory, and runs in each launch; or can be done in
//     the first launch alone (FirstLaunch.h);
//   - what goes on in the loop lives in registers, in small variables of the
//     thread, in the block's shared memory or in buffers, and no address of the
//     thread's or the block's memory goes on.
// The first two are structure; nothing here is about speed.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_LOOPLEGALITY_H
#define DRAGON_PASSES_SLICING_LOOPLEGALITY_H

#include "dragon/SummaryBuilder.h"

#include "passes/slicing/FirstLaunch.h"
#include "passes/slicing/LoopExits.h"

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
      : Once(L, DT), Kernel(Kernel), L(L), DT(DT), Summary(Summary),
        Blocks(L.block_begin(), L.block_end()) {}

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
  /// A thread that has left the loop must not ask its condition again
  /// (LoopExits.h).
  bool RemembersExit = false;
  /// What stands in front of the loop, and happens once.
  FirstLaunch Once;
  /// Those that run with iterations.
  const BlockSet &blocks() const { return Blocks; }

private:
  bool canAskAgain();
  const char *structureObstacle();
  const char *stateObstacle();
  const char *obstacleInFront(llvm::Instruction &I, bool MayBeBehind);
  const char *obstacleInCall(llvm::CallBase &Call);
  bool staysTheSame(const llvm::Value &Object);
  const char *obstacleInLoad(const llvm::Value &Address);
  void findShared();
  void addShared(llvm::BasicBlock &Block);

  llvm::Function &Kernel;
  llvm::Loop &L;
  llvm::DominatorTree &DT;
  const KernelSummary &Summary;
  BlockSet Blocks;
};

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOOPLEGALITY_H
