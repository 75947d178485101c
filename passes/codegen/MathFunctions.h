//===- MathFunctions.h - libdevice is inlined late --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of NVIDIA's library (__nv_exp) are bodies of some dozen
// instructions, with branches for rare operands. Inlined at once, as they ask
// for, they hide what they are: x in exp(x) twice is one call, but two bodies
// share only their first blocks; and a call that does not change in a loop can
// leave it, its branches cannot. So they stay calls of functions without
// effects until the first half of the optimiser has done its work.
//
// Source: the places where NVIDIA's compiler has the bodies, read from its
// SASS.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_MATHFUNCTIONS_H
#define DRAGON_PASSES_CODEGEN_MATHFUNCTIONS_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-keep-math`: keeps the calls, in NVPTX modules.
class KeptMathPass : public llvm::PassInfoMixin<KeptMathPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &Analyses);
};

/// `dragon-inline-math`: puts the bodies in their place, and simplifies the
/// functions that had calls.
class InlinedMathPass : public llvm::PassInfoMixin<InlinedMathPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &Analyses);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_MATHFUNCTIONS_H
