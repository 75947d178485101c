//===- CountingCopies.h - kernels that count their accesses -------*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an address is data, no summary says which parts of a buffer a kernel
// accesses often. So such a kernel gets a copy that counts while it computes
// the same:
//
//   __dragon_count_<kernel>(<its parameters>, i32 *counters, i64 base,
//                          i64 count, i32 shift, i32 blocks, i32 lanes)
//
// in which some of the threads, a sample, add one to
// counters[(address - base) >> shift] in front of each access to memory that
// may be global, if that is below `count`. A block is in the sample if its hash
// has no bit of `blocks`, and in it a thread whose number, shifted by the hash,
// has no bit of `lanes` (0: all). The functions that it calls have copies that
// count as well, except those that are called through pointers.
//
// The runtime runs it now and then in place of the kernel, where data exceeds
// device memory and some of it stays in host memory.
//
// Code for a GPU gets its copies when it is optimised: there is less to count,
// and nothing to optimise twice. They count in PTX, without branches, which is
// what makes a kernel of a thousand accesses quick to compile.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_COUNTING_COUNTINGCOPIES_H
#define DRAGON_PASSES_COUNTING_COUNTINGCOPIES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/PassManager.h"
#include <string>

namespace dragon {

/// The symbol of the copy.
std::string countingCopyName(llvm::StringRef Kernel);

/// The kernels of M among these names that have something to count and room for
/// the parameters.
llvm::StringSet<> countableKernels(llvm::Module &M,
                                   const llvm::StringSet<> &Kernels);

enum class CounterCode {
  Function, ///< in IR, for whatever processor
  Ptx       ///< inline assembly
};

/// Adds the copies of the kernels of these names, which M has.
void addCountingCopies(llvm::Module &M, const llvm::StringSet<> &Kernels,
                       CounterCode How);

/// `dragon-count-accesses`: for all kernels, by functions.
class CountingCopiesPass : public llvm::PassInfoMixin<CountingCopiesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_COUNTING_COUNTINGCOPIES_H
