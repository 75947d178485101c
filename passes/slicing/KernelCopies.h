//===- KernelCopies.h - copies of kernels, when they are made ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may get two copies: one that runs slices (GridSlicing.h) and one
// that counts accesses (HeatCounting.h). Which, is decided of its code as it is
// written. They are made of its code as it is optimised, so that it is
// optimised once:
//
//   define ptx_kernel void @k(..) "dragon-slices" "dragon-heat"    at the start
//   define ptx_kernel void @k(..)                                  at the end,
//   define ptx_kernel void @__dragon_slice_k(.., i32, i32, ..)     with these
//   define ptx_kernel void @__dragon_heat_k(.., ptr, i64, ..)
//
// What the optimiser found out of blockIdx and gridDim holds in all slices:
// they have the values in them that they have in the whole grid.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_KERNELCOPIES_H
#define DRAGON_PASSES_SLICING_KERNELCOPIES_H

#include "passes/slicing/SliceLegality.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/PassManager.h"

namespace dragon {

/// Marks the kernels of M that need a clone to be sliced. Returns true if M
/// changed.
bool markForSlices(llvm::Module &M, const SliceDecisions &Decisions);

/// Marks those of these names, which M has.
void markForHeat(llvm::Module &M, const llvm::StringSet<> &Kernels);

/// `dragon-copy-kernels`: makes the copies of kernels that are marked.
class KernelCopiesPass : public llvm::PassInfoMixin<KernelCopiesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_KERNELCOPIES_H
