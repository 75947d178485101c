//===- InvariantLoads.h - loads that no store of a kernel reaches *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   __global__ void split(const float *in, float *__restrict__ a,
//                         float *__restrict__ b)
//
// All that the kernel writes, it writes through a and b, which lead to nothing
// that `in` leads to. LLVM knows that, and the assembler does not: its loads
// wait for the stores in front of them. Marked as invariant they are
// ld.global.nc, as nvcc has them.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_INVARIANTLOADS_H
#define DRAGON_PASSES_CODEGEN_INVARIANTLOADS_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-invariant-loads`: marks loads of kernels of NVPTX modules; does
/// nothing to other functions.
class InvariantLoadsPass : public llvm::PassInfoMixin<InvariantLoadsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_INVARIANTLOADS_H
