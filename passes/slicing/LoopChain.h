//===- LoopChain.h - loops one after the other as one -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that walks through its data several times, as for a mean and then
// for what is above it, must be cut along all of these loops. They become one,
// whose head knows where a thread is:
//
//   head:  switch (where) {
//          case 0: one iteration of the first loop
//          case 1: what stands between them
//          case 2: one iteration of the second loop
//          case 3: leave
//          }
//
// It is left at its head, by a number that the thread has, and what goes on
// from loop to loop are phis at its head: it can be cut as other loops are
// (LoopSlicing.h). Each thread does the same in the same order as before.
//
// The loops may be inside of another one, each round of which goes through the
// data. That becomes part of the one loop, whose head then also knows in which
// round a thread is:
//
//   head:  switch (where) {
//          case 0: the next round, up to the inner loop
//          case 1: one iteration of the inner loop
//          case 2: what stands behind it in a round; ++round
//          case 3: leave
//          }
//
// What is done is that of structuring code with several entries by one head and
// a number (Erosa and Hendren, Taming Control Flow, ICCL 1994).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_LOOPCHAIN_H
#define DRAGON_PASSES_SLICING_LOOPCHAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace llvm {
class Function;
class Loop;
class PHINode;
} // namespace llvm

namespace dragon {

/// The loop that several have become.
struct LoopChain {
  /// In its head, 32 bits: where the thread is.
  llvm::PHINode *Where = nullptr;
  /// In its head, 64 bits: the iteration of that loop of the chain that the
  /// thread is in, or in front of.
  llvm::PHINode *Iteration = nullptr;
  /// The same: the round of the loop around that one; null: it has none.
  llvm::PHINode *Round = nullptr;
  /// What a thread does from place to place, in its order.
  struct Phase {
    uint32_t Bound; ///< `Where` is below it, and not below that of the phase
                    ///< before
    /// The loop of the chain that it is in, or in front of; none: behind those
    /// of a round.
    std::optional<unsigned> Loop;
    std::optional<unsigned> Nest; ///< the loop around it, in their order
  };
  llvm::SmallVector<Phase, 4> Phases;
  unsigned NumLoops = 0, NumNests = 0;
};

/// A loop that becomes part of another one.
struct ChainedLoop {
  llvm::Loop *L;
  llvm::Loop *Around; ///< an outermost one, L's parent; null: L is outermost
};

/// Makes one loop of these, in their order. Why not, in words for the user:
/// then F is not to be used; null: done.
const char *chainLoops(llvm::Function &F, llvm::ArrayRef<ChainedLoop> Loops,
                       LoopChain &Chain);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOOPCHAIN_H
