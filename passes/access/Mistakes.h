//===- Mistakes.h - wrong summaries, made on purpose ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests of what finds wrong summaries (DRAGON_CHECK): what an analysis that
// went wrong would have said of a kernel.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_MISTAKES_H
#define DRAGON_PASSES_ACCESS_MISTAKES_H

#include "dragon/SummaryBuilder.h"
#include "llvm/ADT/StringRef.h"

namespace dragon {

/// `kind:symbol,...`, of the kernels whose symbols have it in them:
///   narrow     each access touches one byte
///   certain    each write happens, whatever stands in front of it, and no read
///              comes before it
///   read-only  nothing is written
/// What is no such mistake changes nothing.
void makeMistakes(ModuleSummary &Summary, llvm::StringRef Mistakes);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_MISTAKES_H
