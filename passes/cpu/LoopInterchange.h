//===- LoopInterchange.h - threads inside a kernel's loop -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel with a loop around its memory accesses, such as the usual
//
//   for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
//     c[i] = a[i] + b[i];
//
// is slow when one thread after the other runs to its end: each jumps through
// memory by `stride`, and what lies in between comes again for the next thread.
// Threads may be interleaved in any way, so each iteration of the loop is run
// for all threads of the block before the next one:
//
//   for (threads) before();                    // up to the loop
//   for (k = 0; some thread goes on; k++)
//     for (threads) if (state == InLoop) iteration(k);
//   for (threads) if (state == Left) after();  // what follows the loop
//
// so that neighbouring threads touch neighbouring memory, and the innermost
// loop can be vectorised. Values that live across are recomputed from the
// arguments and the thread's index, derived from k (induction variables), or
// kept in an array with an element per thread. This is the loop fission of
// OpenCL compilers for processors (Karrenberg and Hack, "Improving performance
// of OpenCL on CPUs", 2012; pocl), with a loop in the barrier's place.
//
// Done only where all threads make about equally many iterations (the exit
// depends on induction variables and arguments alone), where the accesses are
// far apart for one thread, and where no thread can wait for another.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_LOOPINTERCHANGE_H
#define DRAGON_PASSES_CPU_LOOPINTERCHANGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace llvm {
class Function;
class Module;
class Type;
} // namespace llvm

namespace dragon {

/// A thread's state between the parts.
enum class LoopState : unsigned char { Done = 0, InLoop = 1, Left = 2 };

/// The parts of a kernel's thread. Parameters: those of the thread, then
/// (Iteration) the number of the iteration, i64, then a pointer to the thread's
/// element of each array, then (HasState) a pointer to its LoopState.
struct InterchangedThread {
  llvm::Function *Before;
  /// Returns i1: the thread goes on.
  llvm::Function *Iteration;
  llvm::Function *After; ///< null: nothing follows
  llvm::SmallVector<llvm::Type *, 8> Saved;
  /// False: all threads of a block reach the loop and leave it together.
  bool HasState;
};

/// Prepares the kernels' threads: inlines what they call, values in registers.
void simplifyThreads(llvm::Module &M, llvm::ArrayRef<llvm::Function *> Threads);

/// Takes `Thread` apart if it pays; it is then no longer needed.
std::optional<InterchangedThread> interchangeLoop(llvm::Function &Thread);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_LOOPINTERCHANGE_H
