//===- LoopExits.h - loops that are left in their middle --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch that goes on with a loop begins at its head, also for threads that
// have left it in a launch before. Where a loop is left by break, return or a
// condition at its end, or where its condition asks memory or other threads,
// it cannot be asked again. So such a loop is made to remember how it was left:
// each way out leads through the head, with its number and with the values that
// are used behind it.
//
//   head:  if (left) switch (left) { case 1: goto out1; case 2: goto out2; }
//          if (!(i < n)) { left = 1; goto next; }
//          ...
//          if (x[i] == wanted) { found = i; left = 2; goto next; }
//   next:  goto head;
//
// What is done on the way out of the middle is part of the iteration: it may
// use its data (the assignment to `found` above). Behind the loop, in the last
// launch, buffers are accessed only at places that depend on nothing in it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_LOOPEXITS_H
#define DRAGON_PASSES_SLICING_LOOPEXITS_H

#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class BasicBlock;
class DominatorTree;
class Loop;
class LoopInfo;
class Value;
} // namespace llvm

namespace dragon {

/// A thread can keep the value from one launch to the next: a number of up to
/// 16 bytes, or an address in a buffer.
bool canBeKept(const llvm::Value &V);

using BlockSet = llvm::SmallPtrSet<llvm::BasicBlock *, 16>;

/// The loop's blocks, and those that run on one way out of it alone.
BlockSet withWaysOut(const llvm::Loop &L);

/// Why ways out of these blocks cannot lead through the loop's head; null: they
/// can.
const char *obstacleToLeaveAtHead(const llvm::Loop &L, const BlockSet &Blocks,
                                  const llvm::DominatorTree &DT);

/// What is behind the loop accesses a buffer at a place that depends on an
/// iteration. `Blocks`: those that run with iterations.
bool isFollowedBehind(const llvm::Loop &L, const BlockSet &Blocks,
                      const llvm::DominatorTree &DT);

/// The loop has a preheader and one latch; its ways out become part of it. Its
/// head is phis and a branch then. The tree is not kept up to date.
void leaveAtHead(llvm::Loop &L, llvm::DominatorTree &DT, llvm::LoopInfo &LI);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOOPEXITS_H
