//===- LoopSlicing.h - copies of kernels that run part of a loop -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where each block walks through a whole buffer, cutting the grid does not
// help. For each kernel with a loop along which a cut does (LoopWorth.h) and
// that may be cut (LoopLegality.h), adds
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
#include "passes/slicing/SliceLegality.h"
#include "passes/support/LoopTags.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace dragon {

/// Adds the copy for the loop among `Loops`, the kernel's, that is worth most,
/// and says so in the summary. `Reports`: with remarks. Returns true if the
/// module changed.
bool addLoopSlices(llvm::Function &Kernel, KernelSummary &Summary,
                   const ExprPool &Exprs, llvm::ArrayRef<TaggedLoop> Loops,
                   bool Reports);

/// The symbol of the copy: `__dragon_loop_<kernel>`.
std::string loopCopyName(llvm::StringRef Kernel);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOOPSLICING_H
