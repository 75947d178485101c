//===- AccessesBehind.h - what is accessed behind a loop alone --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch that runs a range of a loop's iterations needs the memory of what
// stands behind the loop only if it is the last one. The access analysis says
// so where the loop is left at its head alone: it looks at simplified code, in
// which a store on a way out of the middle may have moved behind the loop. Here
// the code is looked at that is cut, and it is known what of it runs with
// iterations.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_ACCESSESBEHIND_H
#define DRAGON_PASSES_SLICING_ACCESSESBEHIND_H

#include "dragon/SummaryBuilder.h"
#include "passes/slicing/LoopExits.h"

namespace dragon {

/// Pointers through which the code accesses memory only behind the loop:
/// their accesses happen with the last iterations. `Blocks`: those that run
/// with iterations.
void placeAccessesBehind(const llvm::Function &Code, const llvm::Loop &L,
                         const BlockSet &Blocks, const llvm::DominatorTree &DT,
                         KernelSummary &Summary);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_ACCESSESBEHIND_H
