//===- Rematerialization.h - loops that compute again -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   row0 = tile + y * stride;                  for (k = 0; k < n; ++k) {
//   row1 = tile + (y + 8) * stride;              load tile + y * stride + k
//   for (k = 0; k < n; ++k) {              ->    load tile + (y + 8) * stride +
//   k
//     load row0 + k                              ...
//     load row1 + k
//     ...
//
// What does not change in a loop is computed in front of it, and stays in a
// register as long as the loop runs. In large loops (the unrolled ones of
// matrix products) that takes the registers that the assembler needs to make
// loads ahead of their uses, and then some that are spilled. Where registers
// are short, the pass computes such values in the loop, from others that are
// there in any case: which, is the cut through what computes them that costs
// the least, a register and an instruction each having their price.
//
// The optimiser and the code generator would put the values in front again: in
// the loop they are computed from what an empty `asm` gives back.
//
// Source: P. Briggs, K. D. Cooper, L. Torczon, "Rematerialization", PLDI 1992;
// the choice as the minimum cut of a graph: D. S. Hochbaum, "The pseudoflow
// algorithm", 2008 (selection). NVIDIA's compiler does it, too, as its PTX
// shows.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_REMATERIALIZATION_H
#define DRAGON_PASSES_CODEGEN_REMATERIALIZATION_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-rematerialize`: for the innermost loops of functions of NVPTX
/// modules; does nothing to other modules. Behind all that looks at addresses,
/// since `asm` hides what they are computed from.
class RematerializationPass
    : public llvm::PassInfoMixin<RematerializationPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_REMATERIALIZATION_H
