//===- SummaryWriter.h - kernel summaries in files --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel summary as bytes (the blob of dragon/KernelSummary.h) and back, with
// LLVM's errors. The device compilation writes the file, the host compilation
// reads it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_SUMMARYWRITER_H
#define DRAGON_PASSES_ACCESS_SUMMARYWRITER_H

#include "dragon/SummaryBuilder.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace dragon {

llvm::Error writeSummary(const ModuleSummary &Summary, llvm::StringRef Path);

/// Where the summary of a device compilation for `Arch` goes: `<Base>.<Arch>`.
/// A module without functions has no architecture: its summary, which is empty,
/// goes to the files of `Archs`, all of the program's, that no other
/// compilation has written yet.
llvm::SmallVector<std::string, 2>
summaryPaths(llvm::StringRef Base, llvm::StringRef Arch,
             llvm::ArrayRef<std::string> Archs);

llvm::Expected<ModuleSummary> readSummary(llvm::StringRef Blob);
llvm::Expected<ModuleSummary> readSummaryFile(llvm::StringRef Path);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_SUMMARYWRITER_H
