//===- DeviceUnrolling.h - loops of device code are unrolled ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU hides the latency of memory by accesses that are under way at once, and
// a thread has several under way only if its loop is unrolled. LLVM's
// thresholds are those of processors with caches and speculation. It leaves
// alone what device code has most:
//
//   for (i = first; i < n; i += stride)     the number of iterations takes a
//     sum += a[i];                          division, which LLVM finds too
//                                           expensive
//   for (i = 0; i < 64; ++i)                the loop is small, but 64 times its
//     count += (x >> i) & 1;                size is over the threshold
//
//   for (i = 0; i < 8; ++i)                 registers cannot be indexed: the
//     local[i] = f(local[i]);               array is in memory with the loop
//
// The pass unrolls such loops as nvcc does, before LLVM's own pass looks at
// what is left: by 4 if the number of iterations is not known, from where the
// assembler goes on; entirely if it is known and the result is not too large.
// Loops that the threads of a block share, each with few iterations, stay.
// Loops with a pragma are the user's business.
//
// Source: the forms are those of NVIDIA's compiler, read from its SASS.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_DEVICEUNROLLING_H
#define DRAGON_PASSES_CODEGEN_DEVICEUNROLLING_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-unroll`: unrolls loops of the functions of NVPTX modules, and does
/// nothing to other modules.
class DeviceUnrollingPass : public llvm::PassInfoMixin<DeviceUnrollingPass> {
public:
  /// Quotients of floats take two instructions (-use_fast_math).
  explicit DeviceUnrollingPass(bool ApproximateDivision)
      : ApproximateDivision(ApproximateDivision) {}
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);

private:
  bool ApproximateDivision;
};

/// `dragon-release-loops`: behind all that unrolls. NVIDIA's assembler unrolls
/// loops as well, as far as registers go; those that were unrolled in part are
/// open to it, and what remains of them is not.
class ReleasedLoopsPass : public llvm::PassInfoMixin<ReleasedLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_DEVICEUNROLLING_H
