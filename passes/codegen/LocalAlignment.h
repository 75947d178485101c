//===- LocalAlignment.h - local arrays as nvcc aligns them ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc aligns a local array to its size, up to 16 bytes: four half2, whose type
// asks for 4, are at a multiple of 16. Programs read such arrays in one piece
// (as an int4), which is a fault where they are not so aligned. The pass gives
// local variables that alignment.
//
// Source: PTX that nvcc 13.0 makes of such arrays.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_LOCALALIGNMENT_H
#define DRAGON_PASSES_CODEGEN_LOCALALIGNMENT_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-align-locals`: for the functions of NVPTX modules; does nothing to
/// other modules.
class LocalAlignmentPass : public llvm::PassInfoMixin<LocalAlignmentPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
  /// Programs rely on it, optimised or not.
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_LOCALALIGNMENT_H
