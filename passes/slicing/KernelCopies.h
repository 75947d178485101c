//===- KernelCopies.h - copies of kernels, when they are made ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may get two copies: one that runs slices (GridSlicing.h) and one
// that counts accesses (CountingCopies.h). Which, is decided of its code as it
// is written. They are made of its code as it is optimised, so that it is
// optimised once:
//
//   define ptx_kernel void @k(..) "dragon-slices" "dragon-counts"    at the
//   start define ptx_kernel void @k(..)                                  at the
//   end, define ptx_kernel void @__dragon_slice_k(.., i32, i32, ..)     with
//   these define ptx_kernel void @__dragon_count_k(.., ptr, i64, ..)
//
// Kernels that are large by then have no copy that counts: the runtime does
// without where it finds none.
//
// What the optimiser found out of blockIdx and gridDim holds in all slices:
// they have the values in them that they have in the whole grid.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_KERNELCOPIES_H
#define DRAGON_PASSES_SLICING_KERNELCOPIES_H

#include "passes/slicing/SliceLegality.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/PassManager.h"

#include <string>

namespace dragon {

/// Marks the kernels of M that need a clone to be sliced. Returns true if M
/// changed.
bool markForSlices(llvm::Module &M, const SliceDecisions &Decisions);

/// Marks those of these names, which M has, with what is told of the copy once
/// it is made: the cause that it has; empty: nothing.
void markForCounting(llvm::Module &M,
                     const llvm::StringMap<std::string> &Causes);

/// Those of the kernel and of the functions that it calls.
unsigned instructionsOf(llvm::Function &Kernel);

/// No copies are made of what is not marked any more.
void removeMarks(llvm::Module &M);

/// `dragon-copy-kernels`: makes the copies of kernels that are marked.
class KernelCopiesPass : public llvm::PassInfoMixin<KernelCopiesPass> {
public:
  /// Kernels of more instructions have no copy that counts: it is half as large
  /// again, which takes the assembler long.
  /// `Tell` is told of the copy's cause, and of how many instructions the
  /// kernel has.
  KernelCopiesPass(unsigned AccessCountLimit,
                   void (*Tell)(llvm::Function &Kernel, llvm::StringRef Cause,
                                unsigned Instructions))
      : AccessCountLimit(AccessCountLimit), Tell(Tell) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  unsigned AccessCountLimit;
  void (*Tell)(llvm::Function &, llvm::StringRef, unsigned);
};

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_KERNELCOPIES_H
