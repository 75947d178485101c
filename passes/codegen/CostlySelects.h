//===- CostlySelects.h - divisions that need not be made --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   if (n > 1) x /= n;     becomes a division and a choice: LLVM's costs call
//                          a division of a GPU cheap. It is some dozen
//                          instructions, with a call for rare operands.
//   if (n > 0 && x / n > y)  likewise.
//
// The pass puts the division back behind a branch.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_COSTLYSELECTS_H
#define DRAGON_PASSES_CODEGEN_COSTLYSELECTS_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-costly-selects`: for the functions of NVPTX modules; does nothing to
/// other modules. Behind all that would make selects of branches again.
class CostlySelectsPass : public llvm::PassInfoMixin<CostlySelectsPass> {
public:
  /// Quotients of floats are not costly (-use_fast_math).
  explicit CostlySelectsPass(bool ApproximateDivision)
      : ApproximateDivision(ApproximateDivision) {}
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);

private:
  bool ApproximateDivision;
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_COSTLYSELECTS_H
