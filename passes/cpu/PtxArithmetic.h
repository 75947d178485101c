//===- PtxArithmetic.h - inline PTX: numbers and bits -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXARITHMETIC_H
#define DRAGON_PASSES_CPU_PTXARITHMETIC_H

#include "passes/cpu/PtxStatement.h"

namespace dragon {

class PtxArithmetic : private PtxHandler {
public:
  explicit PtxArithmetic(PtxStatement &P) : PtxHandler(P) {}

  bool emit(I In);

private:
  bool integerArithmetic(I In);
  bool ternaryArithmetic(I In, const PtxType &T);
  bool carryArithmetic(I In);
  bool floatArithmetic(I In);
  bool bitOperation(I In);

  llvm::AllocaInst *Carry = nullptr; ///< the flag of add.cc and the like
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXARITHMETIC_H
