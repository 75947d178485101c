//===- LoopSlicing.h - copies of kernels that run part of a loop -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where each block walks through a whole buffer, cutting the grid does not
// help. For a kernel that is to be cut along a loop (LoopChoice.h), adds
//
//   __dragon_loop_<kernel>(<its parameters>, ptr state, i64 begin, i64 end,
//                          i64 first, i64 blocks, i32 dynamic)
//
// (KernelRecord::LoopName), made of the kernel in this way:
//
//   front; for (phis; condition;) body; behind
// becomes
//   front;
//   if (begin > 0) { phis and shared memory = state; }
//   for (; k != end && condition; ++k) body;       // k from begin
//   if (end < all) { state = phis and shared memory; return; }
//   behind
//
// A thread that finds its condition false keeps its phis until the last launch,
// where it finds it false again. The kernel itself stays as it is.
// Several loops have become one before (LoopChain.h): the copy then has a
// parameter `i64 ends` for each of them, and a thread stops where its iteration
// is that of the loop that it is in.
//
// The idea of running loops in pieces that fit is that of tiling for memory
// hierarchies (Wolf and Lam, A Data Locality Optimizing Algorithm, PLDI 1991);
// of keeping threads' registers between launches, that of checkpointing
// compilers for preemption (Chen et al., EffiSha, PPoPP 2017).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_LOOPSLICING_H
#define DRAGON_PASSES_SLICING_LOOPSLICING_H

#include "dragon/SummaryBuilder.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class Function;
class Loop;
} // namespace llvm

namespace dragon {

class LoopLegality;
struct LoopChain;

/// A loop that may be cut.
struct LoopToCut {
  llvm::Function &Code; ///< the kernel, or a copy of it in which the loop is
  const llvm::Loop &L;
  const LoopLegality &Legality;
  const LoopChain *Chain; ///< what L is; null: a loop as it was written
};

/// Adds the copy, and says so in the summary.
void addLoopCopy(llvm::Function &Kernel, const LoopToCut &Cut,
                 KernelSummary &Summary);

/// The symbol of the copy: `__dragon_loop_<kernel>`.
std::string loopCopyName(llvm::StringRef Kernel);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOOPSLICING_H
