//===- BufferArrays.h - arrays of buffers, one by one --------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs keep a few buffers in an array and walk through it:
//
//   float *d[3];
//   for (int i = 0; i < 3; ++i)
//     cudaMalloc(&d[i], bytes);
//
// One call that makes three buffers says little of each. Such loops, of a known
// and small number of iterations, are unrolled, so that each buffer has a call
// and the array becomes registers.
//
// Others go back and forth between two buffers:
//
//   for (int i = 0; i < steps; ++i) {
//     step<<<grid, block>>>(d_new, d_old);
//     std::swap(d_old, d_new);
//   }
//
// Which of the two a launch writes depends on the iteration. Two iterations
// together, one after the other, have a launch for each.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_BUFFERARRAYS_H
#define DRAGON_PASSES_LIFETIME_BUFFERARRAYS_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// Unrolls the loops of F that walk through arrays of pointers in local memory
/// and use buffers or files, as long as F has no more than Limit instructions.
/// Returns whether there were any.
bool unrollBufferArrays(llvm::Function &F,
                        llvm::FunctionAnalysisManager &Analyses,
                        unsigned Limit);

/// Unrolls the loops of F that use buffers and exchange pointers, so often that
/// each iteration finds them as the one before has. The rest as above.
bool unrollBufferSwaps(llvm::Function &F,
                       llvm::FunctionAnalysisManager &Analyses, unsigned Limit);

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_BUFFERARRAYS_H
