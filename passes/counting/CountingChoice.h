//===- CountingChoice.h - which kernels count accesses ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel gets a copy that counts its accesses (CountingCopies.h) if its
// summary does not say which parts of a buffer it accesses most: where an
// address is data, or is not known. The summary then names the copy:
//
//   out[i] = in[index[i]]       // "where in 'in' it does is data"
//
// Large kernels have none, because of the time that the copy takes to compile.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_COUNTING_COUNTINGCHOICE_H
#define DRAGON_PASSES_COUNTING_COUNTINGCHOICE_H

#include "dragon/SummaryBuilder.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace dragon {

/// The kernels that are to have a copy that counts, by name, each with the
/// cause to be reported; empty: not reported here.
using CountingCauses = llvm::StringMap<std::string>;

/// Chooses kernels of M, and puts the names of their copies into the summaries.
/// Reported: whether the causes are reported in this compilation.
CountingCauses chooseCounting(llvm::Module &M, ModuleSummary &Summary,
                              bool Reported);

/// The kernels of at most `Limit` instructions in Simple, the form to be
/// analysed. The code for the host processor has copies of these: without a
/// GPU, a copy is worth less of the compiler's time.
llvm::StringSet<> smallKernels(const CountingCauses &Kernels,
                               const llvm::Module &Simple, unsigned Limit);

/// The remark on a kernel's copy, with its cause; or, if the kernel has more
/// instructions than the limit, the remark that it has none.
void reportCountingCopy(llvm::Function &Kernel, llvm::StringRef Cause,
                        unsigned Instructions, unsigned Limit);

} // namespace dragon

#endif // DRAGON_PASSES_COUNTING_COUNTINGCHOICE_H
