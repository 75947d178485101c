//===- SliceChoice.h - which kernels run in slices --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a kernel may run in slices is a question to its code
// (SliceLegality.h), whether that is of use a question to its summary
// (SliceWorth.h). The decision becomes part of the summary.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_SLICECHOICE_H
#define DRAGON_PASSES_SLICING_SLICECHOICE_H

#include "dragon/SummaryBuilder.h"
#include "passes/slicing/SliceLegality.h"

namespace dragon {

/// A remark for each kernel of M that cannot run in slices.
void reportSlicing(llvm::Module &M, const SliceDecisions &Decisions);

/// Refuses slices that would each need as much memory as the whole launch.
void refuseUselessSlices(SliceDecisions &Decisions,
                         const ModuleSummary &Summary);

/// Adds the decisions to the summaries of their kernels.
void addSlicing(ModuleSummary &Summary, const SliceDecisions &Decisions);
/// The summaries of a compilation without slices say so.
void addNoSlicing(ModuleSummary &Summary);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_SLICECHOICE_H
