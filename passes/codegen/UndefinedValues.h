//===- UndefinedValues.h - values that a thread has not set -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device code hands on values that some threads have not set:
//
//   int item;
//   if (lane == 0)
//     item = atomicAdd(&next, 1);
//   item = __shfl_sync(0xffffffff, item, 0);
//
// nvcc takes such a value as any value. clang says of each argument, result and
// boolean that it is defined (noundef), from which the optimiser concludes that
// every thread is lane 0: each of them then takes an item of its own. The pass
// takes back what clang says.
//
// Source: CUDA C++ Programming Guide, "Warp Shuffle Functions", which
// broadcasts a value so.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_UNDEFINEDVALUES_H
#define DRAGON_PASSES_CODEGEN_UNDEFINEDVALUES_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-allow-undefined`: comes before all that could conclude from it, for
/// NVPTX modules; does nothing to other modules.
class UndefinedValuesPass : public llvm::PassInfoMixin<UndefinedValuesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &Analyses);
  /// Programs rely on it, optimised or not.
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_UNDEFINEDVALUES_H
