//===- SliceWorth.h - do slices of a kernel need less than all --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is cut into slices because each needs less memory than the whole.
// Where the summary has the same footprint for every block,
//
//   out[data[threadIdx.x]] = 1;      // anywhere in `out`, whatever the block
//
// or says of the kernel that it may touch any buffer, no slice does, and the
// runtime cuts none: a clone would only take time to compile.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_SLICEWORTH_H
#define DRAGON_PASSES_SLICING_SLICEWORTH_H

#include "dragon/SummaryBuilder.h"

#include <string>
#include <vector>

namespace dragon {

class SliceWorth {
public:
  /// Of the kernels whose summaries have these expressions.
  explicit SliceWorth(const ExprPool &Exprs);

  /// Why all slices of the kernel need what the whole launch needs, in words
  /// for the user; empty: some may need less.
  std::string whyNot(const KernelSummary &Kernel) const;

private:
  bool ofBlock(uint32_t Node) const { return Node != NoIndex && OfBlock[Node]; }

  /// Nodes whose value depends on the block's index.
  std::vector<bool> OfBlock;
};

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_SLICEWORTH_H
