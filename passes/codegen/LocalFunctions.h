//===- LocalFunctions.h - inline functions are of their unit ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Templates and inline functions of device code are in each unit that calls
// them, and nobody outside refers to this unit's. LLVM does not know that, and
// weighs a large function that one kernel calls as if it had to remain. A call
// that stays hides from the kernel where pointers come from: its loads are not
// known to be of global memory, and the access analysis stops at it. And what a
// lambda captures is then in local memory, and the kernel's registers are saved
// around each call. So functions of the unit may be larger and still be
// inlined.
//
// Source: NVIDIA's compiler inlines such functions whatever their size.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_LOCALFUNCTIONS_H
#define DRAGON_PASSES_CODEGEN_LOCALFUNCTIONS_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-local-functions`: makes the linkonce functions of NVPTX modules
/// internal, but for those whose address somebody takes, which may be compared.
/// Internal functions have a higher threshold for inlining.
class LocalFunctionsPass : public llvm::PassInfoMixin<LocalFunctionsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_LOCALFUNCTIONS_H
