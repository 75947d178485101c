//===- LoopChoice.h - along which loops a kernel is cut ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a kernel's loops those are cut along which a cut helps (LoopWorth.h) and
// that may be cut (LoopLegality.h): all of them, one after the other, if they
// can be made one (LoopChain.h), else the one that is worth most. What becomes
// of each is a remark.
//
// Of several loops, the summary says of each access with which of them it
// happens. What is read may be read again behind the place that the analysis
// knows, since of equal loads it sees the first one alone; what is written is
// written where it stands.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_LOOPCHOICE_H
#define DRAGON_PASSES_SLICING_LOOPCHOICE_H

#include "dragon/SummaryBuilder.h"
#include "passes/support/LoopTags.h"

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Function;
} // namespace llvm

namespace dragon {

/// Adds the copy (LoopSlicing.h) for the best among `Loops`, the kernel's, and
/// says so in the summary. `Reports`: with remarks. Returns true if the module
/// changed.
bool addLoopSlices(llvm::Function &Kernel, KernelSummary &Summary,
                   const ExprPool &Exprs, llvm::ArrayRef<TaggedLoop> Loops,
                   bool Reports);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOOPCHOICE_H
