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

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dragon {

llvm::Error writeSummary(const ModuleSummary &Summary, llvm::StringRef Path);

llvm::Expected<ModuleSummary> readSummary(llvm::StringRef Blob);
llvm::Expected<ModuleSummary> readSummaryFile(llvm::StringRef Path);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_SUMMARYWRITER_H
