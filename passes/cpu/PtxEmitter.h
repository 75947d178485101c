//===- PtxEmitter.h - inline PTX as IR --------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes one `asm` statement as a function in IR. Registers are local variables
// of integer type (clang's mem2reg removes them), labels are blocks, a guarded
// instruction is a branch around it. What depends on the thread becomes calls
// of llvm.nvvm.*, which are lowered afterwards with all others.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXEMITTER_H
#define DRAGON_PASSES_CPU_PTXEMITTER_H

#include "passes/cpu/Arithmetic.h"
#include "passes/cpu/Ptx.h"

#include "llvm/IR/IRBuilder.h"

namespace dragon {

class PtxEmitter {
public:
  /// Writes into F, which has no body. `Statement` gives each operand of the
  /// statement: a variable in F (of integer type), or a constant.
  PtxEmitter(llvm::Function &F, const PtxProgram &Program);

  llvm::IRBuilder<> &builder() { return B; }
  /// A variable of `Bits` bits in F.
  llvm::AllocaInst *makeVariable(unsigned Bits);

  /// Fails with the text of the instruction that is not known. The insertion
  /// point is then at the end of the statement.
  llvm::Error emit(llvm::ArrayRef<llvm::Value *> StatementOperands);

private:
  using I = const PtxInstruction &;

  // Each says whether it knows the instruction.
  bool instruction(I In);
  bool integerArithmetic(I In);
  bool carryArithmetic(I In);
  bool floatArithmetic(I In);
  bool bitOperation(I In);
  bool comparison(I In);
  bool selection(I In);
  bool move(I In);
  bool conversion(I In);
  bool convertFloat(I In, PtxType To, PtxType From);
  bool convertFp8(I In);
  bool videoOperation(I In);
  bool scalarVideo(I In);
  bool memory(I In);
  bool load(I In);
  bool store(I In);
  bool atomic(I In);
  bool copyAsync(I In);
  bool addressConversion(I In);
  bool texture(I In);
  bool surface(I In);
  bool synchronisation(I In);
  bool blockBarrier(I In);
  bool barrierObject(I In);
  bool warpOperation(I In);
  bool shuffle(I In);
  bool vote(I In);
  bool control(I In);

  // -- Operands
  llvm::Type *typeOf(const PtxType &Type);
  llvm::IntegerType *intOf(const PtxType &Type) {
    return B.getIntNTy(Type.totalWidth());
  }
  llvm::Value *variable(const PtxOperand &Op);
  /// The operand's bits, cut or extended to `Bits`.
  llvm::Value *readBits(const PtxOperand &Op, unsigned Bits,
                        bool Signed = false);
  /// As a value of the type.
  llvm::Value *read(const PtxOperand &Op, const PtxType &Type);
  llvm::Value *readPredicate(const PtxOperand &Op);
  llvm::Value *readSpecial(llvm::StringRef Name);
  bool write(const PtxOperand &Op, llvm::Value *V, bool Signed = false);
  llvm::Value *address(const PtxOperand &Op, I In);
  /// Room for `Words` words in F.
  llvm::AllocaInst *makeWords(unsigned Words);
  void storeWords(llvm::ArrayRef<PtxOperand> From, llvm::Value *To,
                  unsigned At);
  llvm::Value *call(llvm::Intrinsic::ID ID, llvm::ArrayRef<llvm::Value *> Args,
                    llvm::ArrayRef<llvm::Type *> Types = {});

  llvm::Value *compare(llvm::StringRef Operation, const PtxType &Type,
                       llvm::Value *X, llvm::Value *Y);
  llvm::Value *readModifyWrite(llvm::StringRef Operation, const PtxType &Type,
                               llvm::Value *Pointer, I In, unsigned Operand);

  llvm::Function &F;
  const PtxProgram &Program;
  llvm::IRBuilder<> B;
  Arithmetic A;
  llvm::SmallVector<llvm::AllocaInst *, 8> Registers;
  llvm::ArrayRef<llvm::Value *> Statement;
  llvm::SmallVector<llvm::BasicBlock *, 4> Labels;
  llvm::AllocaInst *Carry = nullptr;
  bool BadOperand = false;
};

/// Rounding and modifiers of a floating-point instruction.
FloatFlags floatFlags(const PtxInstruction &In);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXEMITTER_H
