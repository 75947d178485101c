//===- RestrictCopies.h - kernels for buffers that do not overlap *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiler does not know whether the buffers of a kernel overlap, unless the
// programmer writes __restrict__. So a load behind a store has to wait for it:
//
//   for (int j = 0; j < n; ++j)
//     out[j * m + i] = in[j * m + i] * scale[i];  // scale[i] is read n times
//
// At a launch the runtime does know: each pointer leads to an allocation, and
// different allocations do not overlap. A kernel that gains by that gets a copy
// of the same parameters, which are noalias,
//
//   __dragon_restrict_<kernel>(<its parameters>)
//
// and which the runtime runs if no two pointers, one of which the kernel writes
// through, lead to the same allocation. What the copy reads only is loaded by
// ld.global.nc, which the assembler moves across stores.
//
// The idea is loop versioning with run-time checks (LLVM's LoopVersioning),
// with a kernel in place of a loop and allocations in place of ranges.
//
// noalias is also a promise that nobody else changes the memory while the
// kernel runs: another kernel, the host. Programs may let them if the kernel
// waits for it or looks whether it has happened. A kernel that can, by a
// volatile or atomic load, a fence beyond its block, an acquire, a loop that
// waits, or inline assembly that accesses memory, gets no copy.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_RESTRICT_RESTRICTCOPIES_H
#define DRAGON_PASSES_RESTRICT_RESTRICTCOPIES_H

#include "dragon/SummaryBuilder.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/PassManager.h"
#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace dragon {

/// The symbol of the copy.
std::string restrictCopyName(llvm::StringRef Kernel);

/// The kernels that may have a copy, by their summaries: all memory that they
/// access is known, they write some, and have another pointer. Sets
/// KernelHasRestrictCopy, which tells the runtime to look for it.
llvm::StringSet<> chooseRestricted(ModuleSummary &Summary);

/// The number of loads of the kernel, in the form in which it is given, that
/// need not wait for stores in the copy. 0: it is to have none.
unsigned loadsSetFree(llvm::Function &Kernel);

/// Adds a copy of each kernel to its module, and optimises it.
void addRestrictCopies(llvm::ArrayRef<llvm::Function *> Kernels,
                       llvm::ModuleAnalysisManager &Analyses);

/// The remark on a kernel's copy.
void reportRestrictCopy(llvm::Function &Kernel, unsigned Loads);

/// `dragon-restrict-kernels`: for all kernels that gain by it, whatever their
/// summaries.
class RestrictCopiesPass : public llvm::PassInfoMixin<RestrictCopiesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &Analyses);
};

} // namespace dragon

#endif // DRAGON_PASSES_RESTRICT_RESTRICTCOPIES_H
