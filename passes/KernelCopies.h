//===- KernelCopies.h - copies of kernels, when they are made --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may get four copies: one that runs slices (GridSlicing.h), one that
// counts accesses (CountingCopies.h), one that fetches pages (PagedCopies.h)
// and one for buffers that do not overlap (RestrictCopies.h). Whether it may
// get them is decided from its code as it is written. They are made from its
// code as it is optimised, so that it is optimised once. At the start of the
// pipeline it is marked,
//
//   define ptx_kernel void @k(..) "dragon-slices" "dragon-counts"
//                                 "dragon-pages" "dragon-restrict"
//
// and at the end there are
//
//   define ptx_kernel void @k(..)
//   define ptx_kernel void @__dragon_slice_k(.., i32, i32, ..)
//   define ptx_kernel void @__dragon_count_k(.., ptr, i64, ..)
//   define ptx_kernel void @__dragon_paged_k(.., ptr, i64, ..)
//   define ptx_kernel void @__dragon_restrict_k(..)
//
// A copy that runs part of a loop is made at the start (LoopSlicing.h), and
// sliced at the end. That of a kernel that fetches pages gets a copy that does
// so, too, for launches that must find room for all pages of an iteration:
//
//   define ptx_kernel void @__dragon_slice___dragon_loop_k(..)
//   define ptx_kernel void @__dragon_slice___dragon_paged___dragon_loop_k(..)
//
// Kernels that are large by then have no copy that counts or fetches pages, and
// those that gain nothing by it none for buffers that do not overlap: the
// runtime does without where it finds none.
//
// The optimiser's conclusions about blockIdx and gridDim hold in all slices: a
// slice sees the values of the whole grid.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_KERNELCOPIES_H
#define DRAGON_PASSES_KERNELCOPIES_H

#include "passes/counting/CountingChoice.h"
#include "passes/slicing/SliceLegality.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/PassManager.h"

namespace dragon {

/// Marks the kernels of M that need a clone to be sliced. Returns true if M
/// changed.
bool markForSlices(llvm::Module &M, const SliceDecisions &Decisions);

/// Marks copies that run part of a loop (LoopSlicing.h): they are sliced, and
/// the slice clone takes their place. Returns true if M changed.
bool markLoopCopies(llvm::Module &M, const SliceDecisions &Decisions);

/// Marks the kernels of these names, which M has, each with its cause. Returns
/// true if M changed.
bool markForCounting(llvm::Module &M, const CountingCauses &Causes);

/// Marks the kernels of these names, each with its cause; empty: not reported
/// here. Returns true if M changed.
bool markForPaging(llvm::Module &M, const llvm::StringMap<std::string> &Causes);

/// Marks the kernels of these names. Returns true if M changed.
bool markForRestrict(llvm::Module &M, const llvm::StringSet<> &Kernels);

/// Removes all marks: no copies are made then.
void removeMarks(llvm::Module &M);

/// `dragon-copy-kernels`: makes the copies of kernels that are marked.
class KernelCopiesPass : public llvm::PassInfoMixin<KernelCopiesPass> {
public:
  /// Kernels of more instructions than the limit have no copy that counts: it
  /// is larger than the kernel by half, and the assembler takes long for it.
  /// One that fetches pages is three times as large: half of the limit.
  explicit KernelCopiesPass(unsigned AccessCountLimit)
      : AccessCountLimit(AccessCountLimit) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  unsigned AccessCountLimit;
};

} // namespace dragon

#endif // DRAGON_PASSES_KERNELCOPIES_H
