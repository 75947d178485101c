//===- IntegerArithmetic.h - PTX integer arithmetic in IR -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX's instructions on integers and bits as IR for the host. All functions
// take scalars or vectors.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_INTEGERARITHMETIC_H
#define DRAGON_PASSES_CPU_INTEGERARITHMETIC_H

#include "llvm/IR/IRBuilder.h"

namespace dragon {

class IntegerArithmetic {
public:
  explicit IntegerArithmetic(llvm::IRBuilder<> &B) : B(B) {}

  llvm::Value *mulHigh(llvm::Value *X, llvm::Value *Y, bool Signed);
  llvm::Value *mul24(llvm::Value *X, llvm::Value *Y, bool Signed, bool High);
  /// |X - Y| + Z
  llvm::Value *sumOfAbsoluteDifference(llvm::Value *X, llvm::Value *Y,
                                       llvm::Value *Z, bool Signed);
  llvm::Value *permuteBytes(llvm::Value *X, llvm::Value *Y,
                            llvm::Value *Selector);
  /// prmt.{f4e,b4e,rc8,ecl,ecr,rc16}
  llvm::Value *permuteBytes(llvm::StringRef Mode, llvm::Value *X,
                            llvm::Value *Y, llvm::Value *Selector);
  llvm::Value *shiftLeft(llvm::Value *X, llvm::Value *Amount);
  llvm::Value *shiftRight(llvm::Value *X, llvm::Value *Amount, bool Signed);
  llvm::Value *funnelShift(bool Left, bool Clamp, llvm::Value *Low,
                           llvm::Value *High, llvm::Value *Amount);
  llvm::Value *extractBits(llvm::Value *X, llvm::Value *Position,
                           llvm::Value *Length, bool Signed);
  llvm::Value *insertBits(llvm::Value *X, llvm::Value *Into,
                          llvm::Value *Position, llvm::Value *Length);
  llvm::Value *findLeadingBit(llvm::Value *X, bool Signed, bool ShiftAmount);
  llvm::Value *lookup3(llvm::Value *X, llvm::Value *Y, llvm::Value *Z,
                       unsigned Table);
  llvm::Value *findNthSet(llvm::Value *Mask, llvm::Value *Base,
                          llvm::Value *Offset);
  /// The dot product of 4 bytes, or of 2 halves with 2 bytes, plus Z.
  llvm::Value *dotProduct4(llvm::Value *X, llvm::Value *Y, llvm::Value *Z,
                           bool SignedX, bool SignedY);
  llvm::Value *dotProduct2(llvm::Value *X, llvm::Value *Y, llvm::Value *Z,
                           bool SignedX, bool SignedY, bool High);

protected:
  /// `Scalar`, or a vector of as many as X has.
  llvm::Type *like(llvm::Value *X, llvm::Type *Scalar);

  llvm::IRBuilder<> &B;
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_INTEGERARITHMETIC_H
