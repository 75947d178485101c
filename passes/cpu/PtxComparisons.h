//===- PtxComparisons.h - inline PTX: comparisons ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXCOMPARISONS_H
#define DRAGON_PASSES_CPU_PTXCOMPARISONS_H

#include "passes/cpu/PtxStatement.h"

namespace dragon {

class PtxComparisons : private PtxHandler {
public:
  explicit PtxComparisons(PtxStatement &P) : PtxHandler(P) {}

  bool emit(I In);

  /// The result of `Operation` ("eq", "lt", ...), or null if there is none.
  llvm::Value *compare(llvm::StringRef Operation, const PtxType &Type,
                       llvm::Value *X, llvm::Value *Y);

private:
  bool comparison(I In);
  bool selection(I In);
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXCOMPARISONS_H
