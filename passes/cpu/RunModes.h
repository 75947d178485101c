//===- RunModes.h - how the threads of a block run --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel runs in the simplest mode that it allows. A thread that waits for
// others cannot be run to its end before they start: it stops at barriers, or
// has a fiber of its own.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_RUNMODES_H
#define DRAGON_PASSES_CPU_RUNMODES_H

#include "passes/cpu/HostKernels.h"

#include "llvm/ADT/SmallVector.h"

namespace dragon {

/// How the threads of a block run.
enum class RunMode {
  Loop,        ///< one thread after the other
  Interchange, ///< one after the other in each iteration (LoopInterchange.h)
  Turns,       ///< from barrier to barrier (ThreadTurns.h)
  Fibers       ///< one fiber a thread, as they wait for each other
};

struct RunDecision {
  RunMode How;
  bool StoreIndex; ///< something looks for the thread's index in the context
};

/// One decision for each kernel. Simplifies the code of kernels that are not
/// just looped over.
llvm::SmallVector<RunDecision, 16>
decideRunModes(llvm::Module &M, llvm::ArrayRef<HostKernel> Kernels);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_RUNMODES_H
