//===- LoopWorth.h - does a cut along a loop need less ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices by blocks are the first choice: they need no state. They do not help
// where an access walks through a buffer with the loop's iterations
//
//   for (i = tid; i < n; i += gridDim.x * blockDim.x) .. x[i]   // far steps
//   for (row = 0; row < n; ++row) .. m[row * n + column]
//   for (j = 0; j < n; ++j) .. bodies[j]                        // in all
//   blocks
//
// that is, where an iteration goes further than a number that the code has, or
// where the place does not depend on the block; or where the place is anywhere,
// in each iteration another one. Loops of a few iterations, as
// over the planes of an image, cut nothing in small pieces, nor do those that
// stay within a table of a known size.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_LOOPWORTH_H
#define DRAGON_PASSES_SLICING_LOOPWORTH_H

#include "dragon/SummaryBuilder.h"

namespace dragon {

/// Of an access of threads of a block next to each other, as they fill a table
/// of the block.
constexpr unsigned WorthOfBlockSteps = 1;

/// How much the accesses of the kernel that a cut along the loop of that number
/// divides, and one by blocks does not, speak for it; 0: nothing does.
unsigned loopWorth(const KernelSummary &Kernel, const ExprPool &Exprs,
                   uint32_t Number);

/// Some access goes through a buffer in such steps in a loop that is not cut,
/// and goes as far in any range of iterations of those that are.
bool goesFar(const KernelSummary &Kernel, const ExprPool &Exprs);

/// The same of a loop inside of the loop `Around`, where that is cut anyway: an
/// access goes through the same bytes in each round, or each round goes further
/// with the inner loop than rounds are apart, as down the columns of rows that
/// a grid strides over. Tiles that the outer loop walks along are not worth it.
bool isWorthInRounds(const KernelSummary &Kernel, const ExprPool &Exprs,
                     uint32_t Number, uint32_t Around);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOOPWORTH_H
