//===- IntegerArithmetic.cpp - PTX integer arithmetic in IR ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/IntegerArithmetic.h"

#include "passes/cpu/RuntimeFunctions.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

Type *IntegerArithmetic::like(Value *X, Type *Scalar) {
  return X->getType()->getWithNewType(Scalar);
}

Value *IntegerArithmetic::mulHigh(Value *X, Value *Y, bool Signed) {
  unsigned Bits = X->getType()->getScalarSizeInBits();
  Type *Wide = like(X, B.getIntNTy(2 * Bits));
  auto Extend = [&](Value *V) {
    return Signed ? B.CreateSExt(V, Wide) : B.CreateZExt(V, Wide);
  };
  Value *Product = B.CreateMul(Extend(X), Extend(Y));
  return B.CreateTrunc(B.CreateLShr(Product, Bits), X->getType());
}

Value *IntegerArithmetic::mul24(Value *X, Value *Y, bool Signed, bool High) {
  Type *I32 = X->getType();
  Type *I64 = like(X, B.getInt64Ty());
  auto Low24 = [&](Value *V) -> Value * {
    V = B.CreateShl(V, 8);
    return Signed ? B.CreateSExt(B.CreateAShr(V, 8), I64)
                  : B.CreateZExt(B.CreateLShr(V, 8), I64);
  };
  Value *Product = B.CreateMul(Low24(X), Low24(Y));
  return B.CreateTrunc(High ? B.CreateLShr(Product, 16) : Product, I32);
}

Value *IntegerArithmetic::sumOfAbsoluteDifference(Value *X, Value *Y, Value *Z,
                                                  bool Signed) {
  Value *Less = Signed ? B.CreateICmpSLT(X, Y) : B.CreateICmpULT(X, Y);
  Value *Difference =
      B.CreateSelect(Less, B.CreateSub(Y, X), B.CreateSub(X, Y));
  return B.CreateAdd(Difference, Z);
}

Value *IntegerArithmetic::permuteBytes(Value *X, Value *Y, Value *Selector) {
  Type *I64 = B.getInt64Ty();
  Value *All =
      B.CreateOr(B.CreateZExt(X, I64), B.CreateShl(B.CreateZExt(Y, I64), 32));
  Value *Result = B.getInt32(0);
  for (unsigned I = 0; I < 4; ++I) {
    Value *Nibble = B.CreateLShr(Selector, 4 * I);
    Value *Shift = B.CreateZExt(B.CreateShl(B.CreateAnd(Nibble, 7), 3), I64);
    Value *Byte = B.CreateTrunc(B.CreateLShr(All, Shift), B.getInt8Ty());
    Value *Sign = B.CreateAShr(Byte, 7);
    Value *Replicate = B.CreateIsNotNull(B.CreateAnd(Nibble, 8));
    Byte = B.CreateZExt(B.CreateSelect(Replicate, Sign, Byte), B.getInt32Ty());
    Result = B.CreateOr(Result, B.CreateShl(Byte, 8 * I));
  }
  return Result;
}

/// The selectors of PTX's table for the special modes, by Selector & 3.
Value *IntegerArithmetic::permuteBytes(StringRef Mode, Value *X, Value *Y,
                                       Value *Selector) {
  struct {
    StringRef Mode;
    uint32_t Selectors[4];
  } const Table[] = {{"f4e", {0x3210, 0x4321, 0x5432, 0x6543}},
                     {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
                     {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}},
                     {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
                     {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}},
                     {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (const auto &Row : Table) {
    if (Row.Mode != Mode)
      continue;
    Value *Low = B.CreateAnd(Selector, 3);
    Value *Chosen = B.getInt32(Row.Selectors[3]);
    for (unsigned I = 3; I-- > 0;)
      Chosen = B.CreateSelect(B.CreateICmpEQ(Low, B.getInt32(I)),
                              B.getInt32(Row.Selectors[I]), Chosen);
    return permuteBytes(X, Y, Chosen);
  }
  return nullptr;
}

Value *IntegerArithmetic::shiftLeft(Value *X, Value *Amount) {
  unsigned Bits = X->getType()->getIntegerBitWidth();
  Value *Inside =
      B.CreateICmpULT(Amount, ConstantInt::get(Amount->getType(), Bits));
  Value *Shifted = B.CreateShl(X, B.CreateZExtOrTrunc(Amount, X->getType()));
  return B.CreateSelect(Inside, Shifted, ConstantInt::get(X->getType(), 0));
}

Value *IntegerArithmetic::shiftRight(Value *X, Value *Amount, bool Signed) {
  unsigned Bits = X->getType()->getIntegerBitWidth();
  Value *Last = ConstantInt::get(Amount->getType(), Bits - 1);
  if (Signed) {
    Amount = B.CreateBinaryIntrinsic(Intrinsic::umin, Amount, Last);
    return B.CreateAShr(X, B.CreateZExtOrTrunc(Amount, X->getType()));
  }
  Value *Inside = B.CreateICmpULE(Amount, Last);
  Value *Shifted = B.CreateLShr(X, B.CreateZExtOrTrunc(Amount, X->getType()));
  return B.CreateSelect(Inside, Shifted, ConstantInt::get(X->getType(), 0));
}

Value *IntegerArithmetic::funnelShift(bool Left, bool Clamp, Value *Low,
                                      Value *High, Value *Amount) {
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  Amount =
      Clamp ? B.CreateBinaryIntrinsic(Intrinsic::umin, Amount, B.getInt32(32))
            : B.CreateAnd(Amount, 31);
  Value *Both = B.CreateOr(B.CreateZExt(Low, I64),
                           B.CreateShl(B.CreateZExt(High, I64), 32));
  Value *Wide = B.CreateZExt(Amount, I64);
  if (Left)
    return B.CreateTrunc(B.CreateLShr(B.CreateShl(Both, Wide), 32), I32);
  return B.CreateTrunc(B.CreateLShr(Both, Wide), I32);
}

/// Position and length are their low 8 bits; bits above the value are its sign
/// (or 0).
Value *IntegerArithmetic::extractBits(Value *X, Value *Position, Value *Length,
                                      bool Signed) {
  Type *Type = X->getType();
  unsigned Bits = Type->getIntegerBitWidth();
  Value *Low = B.CreateAnd(Position, 255);
  Value *Count = B.CreateAnd(Length, 255);
  Value *Zero = ConstantInt::get(Type, 0);
  Value *Shifted = shiftRight(X, Low, Signed);
  Value *Last = ConstantInt::get(Count->getType(), Bits);
  Value *Rest =
      B.CreateSub(Last, B.CreateBinaryIntrinsic(Intrinsic::umin, Count, Last));
  // Rest is Bits for an empty field, which is 0 whatever the sign.
  Value *Amount = B.CreateZExtOrTrunc(
      B.CreateBinaryIntrinsic(Intrinsic::umin, Rest,
                              ConstantInt::get(Rest->getType(), Bits - 1)),
      Type);
  Value *Up = B.CreateShl(Shifted, Amount);
  Value *Field = Signed ? B.CreateAShr(Up, Amount) : B.CreateLShr(Up, Amount);
  return B.CreateSelect(B.CreateIsNull(Count), Zero, Field);
}

Value *IntegerArithmetic::insertBits(Value *X, Value *Into, Value *Position,
                                     Value *Length) {
  Type *Type = X->getType();
  Value *Low = B.CreateAnd(Position, 255);
  Value *Count = B.CreateAnd(Length, 255);
  Value *Ones = Constant::getAllOnesValue(Type);
  Value *Mask = shiftLeft(B.CreateNot(shiftLeft(Ones, Count)), Low);
  return B.CreateOr(B.CreateAnd(shiftLeft(X, Low), Mask),
                    B.CreateAnd(Into, B.CreateNot(Mask)));
}

/// bfind: the highest bit that differs from the sign (or is set); -1 = none.
Value *IntegerArithmetic::findLeadingBit(Value *X, bool Signed,
                                         bool ShiftAmount) {
  Type *Type = X->getType();
  unsigned Bits = Type->getIntegerBitWidth();
  if (Signed)
    X = B.CreateXor(X, B.CreateAShr(X, Bits - 1));
  Value *Zeros = B.CreateIntrinsic(Intrinsic::ctlz, {Type}, {X, B.getFalse()});
  Zeros = B.CreateTrunc(B.CreateZExt(Zeros, B.getInt64Ty()), B.getInt32Ty());
  Value *Result =
      ShiftAmount ? Zeros : B.CreateSub(B.getInt32(Bits - 1), Zeros);
  return B.CreateSelect(B.CreateIsNull(X), B.getInt32(~0u), Result);
}

Value *IntegerArithmetic::lookup3(Value *X, Value *Y, Value *Z,
                                  unsigned Table) {
  Value *Result = ConstantInt::get(X->getType(), 0);
  for (unsigned Row = 0; Row < 8; ++Row) {
    if (!(Table >> Row & 1))
      continue;
    Value *A = Row & 4 ? X : B.CreateNot(X);
    Value *M = Row & 2 ? Y : B.CreateNot(Y);
    Value *C = Row & 1 ? Z : B.CreateNot(Z);
    Result = B.CreateOr(Result, B.CreateAnd(B.CreateAnd(A, M), C));
  }
  return Result;
}

Value *IntegerArithmetic::findNthSet(Value *Mask, Value *Base, Value *Offset) {
  return B.CreateCall(runtimeFunction(*B.GetInsertBlock()->getModule(),
                                      RuntimeFunction::dragon_cpu_math_fns),
                      {Mask, Base, Offset});
}

/// Element I of X, which holds elements of `Bits` bits.
static Value *element(IRBuilder<> &B, Value *X, unsigned I, unsigned Bits,
                      bool Signed) {
  Value *Part = B.CreateTrunc(B.CreateLShr(X, I * Bits), B.getIntNTy(Bits));
  return Signed ? B.CreateSExt(Part, B.getInt32Ty())
                : B.CreateZExt(Part, B.getInt32Ty());
}

Value *IntegerArithmetic::dotProduct4(Value *X, Value *Y, Value *Z,
                                      bool SignedX, bool SignedY) {
  for (unsigned I = 0; I < 4; ++I)
    Z = B.CreateAdd(Z, B.CreateMul(element(B, X, I, 8, SignedX),
                                   element(B, Y, I, 8, SignedY)));
  return Z;
}

Value *IntegerArithmetic::dotProduct2(Value *X, Value *Y, Value *Z,
                                      bool SignedX, bool SignedY, bool High) {
  for (unsigned I = 0; I < 2; ++I)
    Z = B.CreateAdd(Z, B.CreateMul(element(B, X, I, 16, SignedX),
                                   element(B, Y, I + 2 * High, 8, SignedY)));
  return Z;
}

} // namespace dragon
