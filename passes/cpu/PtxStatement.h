//===- PtxStatement.h - a statement of inline PTX ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The registers, operands and addresses of one `asm` statement that is written
// as a function in IR. Registers are local variables of integer type (clang's
// mem2reg removes them).
//
// Each kind of instruction is written by a class of its own, a PtxHandler.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXSTATEMENT_H
#define DRAGON_PASSES_CPU_PTXSTATEMENT_H

#include "passes/cpu/Arithmetic.h"
#include "passes/cpu/Ptx.h"

#include "llvm/IR/IRBuilder.h"

namespace dragon {

class PtxStatement {
public:
  PtxStatement(llvm::Function &F, const PtxProgram &Program);

  /// Makes the registers. The operands of the statement are variables in F (of
  /// integer type), or constants.
  void begin(llvm::ArrayRef<llvm::Value *> StatementOperands);

  /// A variable of `Bits` bits in F.
  llvm::AllocaInst *makeVariable(unsigned Bits);
  llvm::Value *registerAt(unsigned Number) const { return Registers[Number]; }

  llvm::Type *typeOf(const PtxType &Type);
  llvm::IntegerType *intOf(const PtxType &Type) {
    return B.getIntNTy(Type.totalWidth());
  }
  /// The operand's bits, cut or extended to `Bits`.
  llvm::Value *readBits(const PtxOperand &Op, unsigned Bits,
                        bool Signed = false);
  /// As a value of the type.
  llvm::Value *read(const PtxOperand &Op, const PtxType &Type);
  llvm::Value *readPredicate(const PtxOperand &Op);
  bool write(const PtxOperand &Op, llvm::Value *V, bool Signed = false);
  llvm::Value *address(const PtxOperand &Op, const PtxInstruction &In);
  llvm::Value *call(llvm::Intrinsic::ID ID, llvm::ArrayRef<llvm::Value *> Args,
                    llvm::ArrayRef<llvm::Type *> Types = {});

  llvm::Function &F;
  llvm::IRBuilder<> B;
  Arithmetic A;
  /// An operand could not be read or written: the instruction is not known.
  bool BadOperand = false;

private:
  llvm::Value *variable(const PtxOperand &Op);
  llvm::Value *readSpecial(llvm::StringRef Name);

  const PtxProgram &Program;
  llvm::SmallVector<llvm::AllocaInst *, 8> Registers;
  llvm::ArrayRef<llvm::Value *> Statement;
};

/// Base of the classes that write instructions. Their functions say whether
/// they know the instruction.
class PtxHandler {
protected:
  using I = const PtxInstruction &;

  explicit PtxHandler(PtxStatement &P) : P(P), F(P.F), B(P.B), A(P.A) {}

  llvm::Type *typeOf(const PtxType &Type) { return P.typeOf(Type); }
  llvm::IntegerType *intOf(const PtxType &Type) { return P.intOf(Type); }
  llvm::Value *readBits(const PtxOperand &Op, unsigned Bits,
                        bool Signed = false) {
    return P.readBits(Op, Bits, Signed);
  }
  llvm::Value *read(const PtxOperand &Op, const PtxType &Type) {
    return P.read(Op, Type);
  }
  llvm::Value *readPredicate(const PtxOperand &Op) {
    return P.readPredicate(Op);
  }
  bool write(const PtxOperand &Op, llvm::Value *V, bool Signed = false) {
    return P.write(Op, V, Signed);
  }
  llvm::Value *address(const PtxOperand &Op, I In) { return P.address(Op, In); }
  llvm::Value *call(llvm::Intrinsic::ID ID, llvm::ArrayRef<llvm::Value *> Args,
                    llvm::ArrayRef<llvm::Type *> Types = {}) {
    return P.call(ID, Args, Types);
  }

  PtxStatement &P;
  llvm::Function &F;
  llvm::IRBuilder<> &B;
  Arithmetic &A;
};

/// Rounding and modifiers of a floating-point instruction.
FloatFlags floatFlags(const PtxInstruction &In);

/// The type of an instruction that has one; else false.
bool onlyType(const PtxInstruction &In, PtxType &Type);

/// The instruction names the shared window.
bool isShared(const PtxInstruction &In);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXSTATEMENT_H
