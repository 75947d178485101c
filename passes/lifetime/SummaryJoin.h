//===- SummaryJoin.h - one summary for several architectures ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A translation unit compiled for several GPU architectures has one kernel
// summary for each, and which code runs is known at run time only. Kernels
// whose summaries agree keep it; kernels that differ (#if __CUDA_ARCH__) or
// that are missing in one of them become KernelUnknown.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_SUMMARYJOIN_H
#define DRAGON_PASSES_LIFETIME_SUMMARYJOIN_H

#include "dragon/FootprintEval.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// Whether two summaries say the same of a kernel.
bool sameKernel(const SummaryView &A, const KernelRecord &X,
                const SummaryView &B, const KernelRecord &Y);

/// The joined blob. Fails on a malformed blob. No blobs: an empty string.
llvm::Expected<std::string>
joinSummaries(llvm::ArrayRef<llvm::StringRef> Blobs);

/// Reads `<File>.<arch>` for each architecture and joins them.
llvm::Expected<std::string> readSummaries(llvm::StringRef File,
                                          llvm::ArrayRef<std::string> Archs);

/// What passes/Options.h says is to be read, if anything. What is wrong with it
/// becomes an error in M's context.
std::string givenSummaries(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_SUMMARYJOIN_H
