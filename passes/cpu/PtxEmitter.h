//===- PtxEmitter.h - inline PTX as IR --------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes one `asm` statement as a function in IR: labels are blocks, a guarded
// instruction is a branch around it. Instructions that depend on the thread
// become calls of llvm.nvvm.*, which are lowered afterwards with all others.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXEMITTER_H
#define DRAGON_PASSES_CPU_PTXEMITTER_H

#include "passes/cpu/PtxArithmetic.h"
#include "passes/cpu/PtxConversions.h"
#include "passes/cpu/PtxMemory.h"
#include "passes/cpu/PtxThreads.h"
#include "passes/cpu/PtxVideo.h"

namespace dragon {

class PtxEmitter : private PtxStatement {
public:
  /// Writes into F, which has no body.
  PtxEmitter(llvm::Function &F, const PtxProgram &Program);

  llvm::IRBuilder<> &builder() { return B; }
  using PtxStatement::makeVariable;

  /// Fails with the text of the instruction that is not known. The insertion
  /// point is then at the end of the statement. The operands of the statement
  /// are variables in F (of integer type), or constants.
  llvm::Error emit(llvm::ArrayRef<llvm::Value *> StatementOperands);

private:
  /// False if the instruction is not known.
  bool instruction(const PtxInstruction &In);
  bool move(const PtxInstruction &In);
  bool control(const PtxInstruction &In);

  const PtxProgram &Program;
  llvm::SmallVector<llvm::BasicBlock *, 4> Labels;
  PtxArithmetic Numbers{*this};
  PtxComparisons Comparisons{*this};
  PtxConversions Conversions{*this};
  PtxVideo Video{*this};
  PtxMemory Memory{*this};
  PtxThreads Threads{*this};
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXEMITTER_H
