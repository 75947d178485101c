//===- ThreadTurns.h - threads that take turns at barriers ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a kernel whose only way to wait is the block's barrier need no
// scheduler: each runs up to the barrier that it comes to first, then each runs
// on to its next one, until all have ended. An exited thread is not waited for,
// and where in the code the others are does not matter: that is what CUDA says
// of barriers.
//
//   for (threads) turn[i] = begin(arguments, i);
//   while (some have not ended)
//     for (threads that have not ended) resume(turn[i]);
//
// A thread is a coroutine of LLVM's (https://llvm.org/docs/Coroutines.html):
// its frame holds what lives across barriers and nothing else, the frames of a
// block lie side by side, and a turn costs a call instead of a switch of
// stacks.
//
// Reductions over a barrier (__syncthreads_count, _and, _or) need what all
// threads gave before one goes on: threads add to the votes of this turn and
// read those of the last one, which move on between the turns.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_THREADTURNS_H
#define DRAGON_PASSES_CPU_THREADTURNS_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class Function;
class Value;
} // namespace llvm

namespace dragon {

/// Of one turn: how many threads gave something else than 0, whether all did,
/// whether any did. What a thread adds to comes first, then what it reads.
struct TurnVotes {
  enum { Count, All, Any, Kinds };
  static llvm::Type *type(llvm::LLVMContext &C);
  /// Between two turns, and before the first one.
  static void move(llvm::IRBuilder<> &B, llvm::Value *Votes);
};

/// Nothing that the thread reaches waits but for the block's barrier.
bool waitsAtBarriersOnly(llvm::Function &Thread);
/// All its barriers are its own, and nothing on its stack stands in the way of
/// a coroutine. `Waiting`: functions that let other threads run.
bool canTakeTurns(const llvm::Function &Thread,
                  const llvm::SmallPtrSetImpl<llvm::Function *> &Waiting);

/// `Thread` as a coroutine that stops at each barrier and at its end, in its
/// place. Parameters: those of the thread, its number in the block (i32), and a
/// pointer to TurnVotes. Returns its handle, for llvm.coro.resume and
/// llvm.coro.done.
llvm::Function *makeTurns(llvm::Function &Thread);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_THREADTURNS_H
