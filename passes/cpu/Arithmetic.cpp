//===- Arithmetic.cpp - PTX arithmetic in IR ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Arithmetic.h"

#include "passes/cpu/RuntimeFunctions.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

Type *Arithmetic::like(Value *X, Type *Scalar) {
  return X->getType()->getWithNewType(Scalar);
}

Value *Arithmetic::constant(Type *Type, double V) {
  return ConstantFP::get(Type, V);
}

// -- Narrow types -------------------------------------------------------------

bool Arithmetic::isNarrow(Value *X) {
  return X->getType()->getScalarType()->isHalfTy() ||
         X->getType()->getScalarType()->isBFloatTy();
}

Value *Arithmetic::widen(Value *X) {
  if (X->getType()->getScalarType()->isHalfTy())
    return B.CreateFPExt(X, like(X, B.getFloatTy()));
  Value *Bits = B.CreateBitCast(X, like(X, B.getInt16Ty()));
  Value *Wide = B.CreateShl(B.CreateZExt(Bits, like(X, B.getInt32Ty())), 16);
  return B.CreateBitCast(Wide, like(X, B.getFloatTy()));
}

Value *Arithmetic::narrow(Value *X, Type *To) {
  if (To->getScalarType()->isHalfTy())
    return B.CreateFPTrunc(X, To);
  return toBfloat(X, To, Rounding::Nearest);
}

/// bfloat is the upper half of float. Written in integers, because the host's
/// library may lack the conversion.
Value *Arithmetic::toBfloat(Value *X, Type *To, Rounding Round) {
  Type *I32 = like(X, B.getInt32Ty());
  Value *Bits = B.CreateBitCast(X, I32);
  Value *Rounded = Bits;
  switch (Round) {
  case Rounding::Nearest: {
    Value *Odd = B.CreateAnd(B.CreateLShr(Bits, 16), 1);
    Rounded =
        B.CreateAdd(Bits, B.CreateAdd(Odd, ConstantInt::get(I32, 0x7fff)));
    break;
  }
  case Rounding::Zero:
    break;
  case Rounding::Down:
  case Rounding::Up: {
    // Away from zero where the sign is that of the direction.
    Value *Negative = B.CreateICmpSLT(Bits, ConstantInt::get(I32, 0));
    if (Round == Rounding::Up)
      Negative = B.CreateNot(Negative);
    Rounded = B.CreateSelect(
        Negative, B.CreateAdd(Bits, ConstantInt::get(I32, 0xffff)), Bits);
    break;
  }
  }
  Value *IsNan = B.CreateFCmpUNO(X, X);
  Rounded = B.CreateSelect(IsNan, ConstantInt::get(I32, 0x7fff0000), Rounded);
  Value *Upper =
      B.CreateTrunc(B.CreateLShr(Rounded, 16), like(X, B.getInt16Ty()));
  return B.CreateBitCast(Upper, To);
}

/// Sum (a float) rounded to odd, given what rounding it to nearest lost:
/// rounding the result to a narrower type is then as good as rounding the exact
/// sum.
Value *Arithmetic::roundToOdd(Value *Sum, Value *Error) {
  Type *I32 = like(Sum, B.getInt32Ty());
  Value *Zero = constant(Sum->getType(), 0);
  Value *Bits = B.CreateBitCast(Sum, I32);
  Value *Inexact = B.CreateFCmpONE(Error, Zero);
  Value *Even = B.CreateIsNull(B.CreateAnd(Bits, 1));
  // One step towards the exact sum: away from zero if both have one sign.
  Value *Outwards =
      B.CreateICmpEQ(B.CreateFCmpOLT(Error, Zero), B.CreateFCmpOLT(Sum, Zero));
  Value *Step = B.CreateSelect(Outwards, ConstantInt::get(I32, 1),
                               ConstantInt::getSigned(I32, -1));
  Value *Odd = B.CreateAdd(Bits, Step);
  return B.CreateBitCast(B.CreateSelect(B.CreateAnd(Inexact, Even), Odd, Bits),
                         Sum->getType());
}

// -- Floating point -----------------------------------------------------------

Value *Arithmetic::directed(StringRef Operation, ArrayRef<Value *> Operands,
                            Type *To, Rounding Round) {
  if (auto *Vector = dyn_cast<FixedVectorType>(To)) {
    Value *Result = PoisonValue::get(To);
    for (unsigned I = 0; I < Vector->getNumElements(); ++I) {
      SmallVector<Value *, 3> Elements;
      for (Value *Operand : Operands)
        Elements.push_back(B.CreateExtractElement(Operand, I));
      Result = B.CreateInsertElement(
          Result, directed(Operation, Elements, To->getScalarType(), Round), I);
    }
    return Result;
  }
  std::optional<RuntimeFunction> Which = runtimeFunctionByName(Operation);
  if (!Which)
    llvm_unreachable("not a function of the runtime");
  SmallVector<Value *, 4> Args(Operands);
  Args.push_back(B.getInt32(static_cast<uint32_t>(Round)));
  return B.CreateCall(runtimeFunction(*B.GetInsertBlock()->getModule(), *Which),
                      Args);
}

/// The float next to the exact value Sum + Error in the asked direction; Sum is
/// a double, and Error much smaller than its last bit (or 0).
Value *Arithmetic::directedFloat(Value *Sum, Value *Error, Rounding Round) {
  Type *Float = like(Sum, B.getFloatTy()), *I32 = like(Sum, B.getInt32Ty());
  Value *Zero = constant(Sum->getType(), 0);
  Value *Rounded = B.CreateFPTrunc(Sum, Float);
  Value *Back = B.CreateFPExt(Rounded, Sum->getType());
  Value *Same = B.CreateFCmpOEQ(Back, Sum);
  auto Beyond = [&](CmpInst::Predicate Direction, CmpInst::Predicate Opposite) {
    return B.CreateOr(B.CreateFCmp(Direction, Back, Sum),
                      B.CreateAnd(Same, B.CreateFCmp(Opposite, Error, Zero)));
  };
  Value *TooHigh = Beyond(CmpInst::FCMP_OGT, CmpInst::FCMP_OLT);
  Value *TooLow = Beyond(CmpInst::FCMP_OLT, CmpInst::FCMP_OGT);
  Value *Bits = B.CreateBitCast(Rounded, I32);
  Value *Negative = B.CreateICmpSLT(Bits, ConstantInt::get(I32, 0));
  Value *One = ConstantInt::get(I32, 1);
  Value *Inwards = B.CreateSub(Bits, One), *Outwards = B.CreateAdd(Bits, One);
  Value *Magnitude = B.CreateAnd(Bits, ConstantInt::get(I32, 0x7fffffff));
  Value *IsZero = B.CreateIsNull(Magnitude);
  Value *Result = nullptr;
  switch (Round) {
  case Rounding::Nearest:
    return Rounded;
  case Rounding::Zero:
    Result = B.CreateSelect(B.CreateSelect(Negative, TooLow, TooHigh), Inwards,
                            Bits);
    break;
  case Rounding::Down: {
    Value *Lower = B.CreateSelect(Negative, Outwards, Inwards);
    Lower = B.CreateSelect(IsZero, ConstantInt::get(I32, 0x80000001), Lower);
    Result = B.CreateSelect(TooHigh, Lower, Bits);
    break;
  }
  case Rounding::Up: {
    Value *Higher = B.CreateSelect(Negative, Inwards, Outwards);
    Higher = B.CreateSelect(IsZero, One, Higher);
    Result = B.CreateSelect(TooLow, Higher, Bits);
    break;
  }
  }
  return B.CreateBitCast(Result, Float);
}

/// X + Y in double, and what that loses (Knuth's two-sum).
std::pair<Value *, Value *> Arithmetic::twoSum(Value *X, Value *Y) {
  Value *Sum = B.CreateFAdd(X, Y);
  Value *Part = B.CreateFSub(Sum, X);
  Value *Error = B.CreateFAdd(B.CreateFSub(X, B.CreateFSub(Sum, Part)),
                              B.CreateFSub(Y, Part));
  return {Sum, Error};
}

/// float operations rounded in a direction go through double, where products
/// are exact and errors of the others are known; double ones are the runtime's.
Value *Arithmetic::directedOperation(StringRef Operation,
                                     ArrayRef<Value *> Operands,
                                     Rounding Round) {
  Type *Type = Operands[0]->getType();
  if (Type->getScalarType()->isDoubleTy())
    return directed(("dragon_cpu_math_" + Operation + "_f64").str(), Operands,
                    Type, Round);
  SmallVector<Value *, 3> X;
  for (Value *Operand : Operands)
    X.push_back(B.CreateFPExt(Operand, like(Operand, B.getDoubleTy())));
  Value *Zero = constant(X[0]->getType(), 0);
  if (Operation == "mul")
    return directedFloat(B.CreateFMul(X[0], X[1]), Zero, Round);
  if (Operation == "add" || Operation == "fma") {
    bool Fused = Operation == "fma";
    auto [Sum, Error] =
        twoSum(Fused ? B.CreateFMul(X[0], X[1]) : X[0], X[Fused ? 2 : 1]);
    return directedFloat(Sum, Error, Round);
  }
  // The remainder has the sign of the error (after division by the divisor).
  Value *Result, *Remainder;
  if (Operation == "div") {
    Result = B.CreateFDiv(X[0], X[1]);
    Value *Nearest =
        B.CreateFPExt(B.CreateFPTrunc(Result, Type), Result->getType());
    Remainder = B.CreateFSub(X[0], B.CreateFMul(Nearest, X[1]));
    Value *Flip = B.CreateFCmpOLT(X[1], Zero);
    Remainder = B.CreateSelect(Flip, B.CreateFNeg(Remainder), Remainder);
  } else {
    Result = B.CreateUnaryIntrinsic(Intrinsic::sqrt, X[0]);
    Value *Nearest =
        B.CreateFPExt(B.CreateFPTrunc(Result, Type), Result->getType());
    Remainder = B.CreateFSub(X[0], B.CreateFMul(Nearest, Nearest));
  }
  return directedFloat(Result, Remainder, Round);
}

Value *Arithmetic::finish(Value *X, const FloatFlags &Flags) {
  if (Flags.Saturate)
    X = saturate(X);
  if (Flags.Relu)
    X = B.CreateMaxNum(X, constant(X->getType(), 0));
  return X;
}

Value *Arithmetic::add(Value *X, Value *Y, FloatFlags Flags) {
  if (isNarrow(X))
    return narrow(finish(B.CreateFAdd(widen(X), widen(Y)), Flags),
                  X->getType());
  Value *Sum = Flags.Round == Rounding::Nearest
                   ? B.CreateFAdd(X, Y)
                   : directedOperation("add", {X, Y}, Flags.Round);
  return finish(Sum, Flags);
}

Value *Arithmetic::sub(Value *X, Value *Y, FloatFlags Flags) {
  if (isNarrow(X))
    return narrow(finish(B.CreateFSub(widen(X), widen(Y)), Flags),
                  X->getType());
  if (Flags.Round == Rounding::Nearest)
    return finish(B.CreateFSub(X, Y), Flags);
  return add(X, negate(Y), Flags);
}

Value *Arithmetic::mul(Value *X, Value *Y, FloatFlags Flags) {
  if (isNarrow(X))
    return narrow(finish(B.CreateFMul(widen(X), widen(Y)), Flags),
                  X->getType());
  Value *Product = Flags.Round == Rounding::Nearest
                       ? B.CreateFMul(X, Y)
                       : directedOperation("mul", {X, Y}, Flags.Round);
  return finish(Product, Flags);
}

Value *Arithmetic::div(Value *X, Value *Y, FloatFlags Flags) {
  if (isNarrow(X))
    return narrow(B.CreateFDiv(widen(X), widen(Y)), X->getType());
  if (Flags.Round == Rounding::Nearest)
    return B.CreateFDiv(X, Y);
  return directedOperation("div", {X, Y}, Flags.Round);
}

Value *Arithmetic::fma(Value *X, Value *Y, Value *Z, FloatFlags Flags) {
  Type *Type = X->getType();
  if (isNarrow(X)) {
    // The product is exact in the wider type; the error of the sum is exact.
    bool Half = Type->getScalarType()->isHalfTy();
    Value *A = widen(X), *M = widen(Y), *C = widen(Z);
    if (!Half) {
      auto *Double = like(X, B.getDoubleTy());
      A = B.CreateFPExt(A, Double);
      M = B.CreateFPExt(M, Double);
      C = B.CreateFPExt(C, Double);
    }
    Value *Product = B.CreateFMul(A, M);
    auto [Sum, Lost] = twoSum(Product, C);
    Value *Float;
    if (Half) {
      Float = roundToOdd(Sum, Lost);
    } else {
      Float = B.CreateFPTrunc(Sum, like(X, B.getFloatTy()));
      Value *Error = B.CreateFAdd(
          B.CreateFSub(Sum, B.CreateFPExt(Float, Sum->getType())), Lost);
      Float = roundToOdd(Float, B.CreateFPTrunc(Error, Float->getType()));
    }
    return narrow(finish(Float, Flags), Type);
  }
  Value *Result = Flags.Round == Rounding::Nearest
                      ? B.CreateIntrinsic(Intrinsic::fma, {Type}, {X, Y, Z})
                      : directedOperation("fma", {X, Y, Z}, Flags.Round);
  return finish(Result, Flags);
}

Value *Arithmetic::unary(Intrinsic::ID ID, Value *X) {
  if (isNarrow(X))
    return narrow(B.CreateUnaryIntrinsic(ID, widen(X)), X->getType());
  return B.CreateUnaryIntrinsic(ID, X);
}

Value *Arithmetic::sqrt(Value *X, FloatFlags Flags) {
  if (Flags.Round == Rounding::Nearest || isNarrow(X))
    return unary(Intrinsic::sqrt, X);
  return directedOperation("sqrt", {X}, Flags.Round);
}

Value *Arithmetic::reciprocal(Value *X, FloatFlags Flags) {
  if (isNarrow(X)) {
    Value *Wide = widen(X);
    return narrow(B.CreateFDiv(constant(Wide->getType(), 1), Wide),
                  X->getType());
  }
  return div(constant(X->getType(), 1), X, Flags);
}

Value *Arithmetic::reciprocalSqrt(Value *X) {
  Value *Wide = isNarrow(X) ? widen(X) : X;
  Value *Result = B.CreateFDiv(constant(Wide->getType(), 1),
                               B.CreateUnaryIntrinsic(Intrinsic::sqrt, Wide));
  return isNarrow(X) ? narrow(Result, X->getType()) : Result;
}

Value *Arithmetic::negate(Value *X) {
  if (X->getType()->getScalarType()->isBFloatTy()) {
    Type *I16 = like(X, B.getInt16Ty());
    Value *Bits =
        B.CreateXor(B.CreateBitCast(X, I16), ConstantInt::get(I16, 0x8000));
    return B.CreateBitCast(Bits, X->getType());
  }
  return B.CreateFNeg(X);
}

Value *Arithmetic::absolute(Value *X) {
  if (X->getType()->getScalarType()->isBFloatTy()) {
    Type *I16 = like(X, B.getInt16Ty());
    Value *Bits =
        B.CreateAnd(B.CreateBitCast(X, I16), ConstantInt::get(I16, 0x7fff));
    return B.CreateBitCast(Bits, X->getType());
  }
  return B.CreateUnaryIntrinsic(Intrinsic::fabs, X);
}

Value *Arithmetic::saturate(Value *X) {
  if (isNarrow(X))
    return narrow(saturate(widen(X)), X->getType());
  return B.CreateMinNum(B.CreateMaxNum(X, constant(X->getType(), 0)),
                        constant(X->getType(), 1));
}

Value *Arithmetic::minOrMax(bool Max, Value *X, Value *Y, FloatFlags Flags) {
  Type *Type = X->getType();
  bool Narrow = isNarrow(X);
  if (Narrow) {
    X = widen(X);
    Y = widen(Y);
  }
  Value *Sign = nullptr;
  auto *Bits = like(X, B.getIntNTy(X->getType()->getScalarSizeInBits()));
  if (Flags.XorSign) {
    APInt Mask = APInt::getSignMask(Bits->getScalarSizeInBits());
    Sign = B.CreateAnd(
        B.CreateXor(B.CreateBitCast(X, Bits), B.CreateBitCast(Y, Bits)),
        ConstantInt::get(Bits, Mask));
  }
  if (Flags.Absolute || Flags.XorSign) {
    X = B.CreateUnaryIntrinsic(Intrinsic::fabs, X);
    Y = B.CreateUnaryIntrinsic(Intrinsic::fabs, Y);
  }
  Value *Result = Flags.PropagateNan
                      ? (Max ? B.CreateMaximum(X, Y) : B.CreateMinimum(X, Y))
                      : (Max ? B.CreateMaxNum(X, Y) : B.CreateMinNum(X, Y));
  if (Sign)
    Result = B.CreateBitCast(B.CreateOr(B.CreateBitCast(Result, Bits), Sign),
                             Result->getType());
  Result = finish(Result, Flags);
  return Narrow ? narrow(Result, Type) : Result;
}

Value *Arithmetic::roundToIntegral(Value *X, Rounding Round) {
  switch (Round) {
  case Rounding::Nearest:
    return unary(Intrinsic::roundeven, X);
  case Rounding::Zero:
    return unary(Intrinsic::trunc, X);
  case Rounding::Down:
    return unary(Intrinsic::floor, X);
  case Rounding::Up:
    return unary(Intrinsic::ceil, X);
  }
  llvm_unreachable("unknown rounding");
}

// -- Conversions --------------------------------------------------------------

/// PTX: saturates; NaN becomes 0, or only the highest bit set where a 64-bit
/// type is involved.
Value *Arithmetic::floatToInt(Value *X, unsigned Bits, bool Signed,
                              Rounding Round) {
  if (isNarrow(X))
    X = widen(X);
  bool IsDouble = X->getType()->getScalarType()->isDoubleTy();
  if (Round != Rounding::Zero)
    X = roundToIntegral(X, Round);
  Type *To = like(X, B.getIntNTy(Bits));
  Value *Result =
      B.CreateIntrinsic(Signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                        {To, X->getType()}, {X});
  if (!IsDouble && Bits < 64)
    return Result;
  Value *IsNan = B.CreateFCmpUNO(X, X);
  return B.CreateSelect(IsNan, ConstantInt::get(To, APInt::getSignMask(Bits)),
                        Result);
}

Value *Arithmetic::intToFloat(Value *X, bool Signed, Type *To, Rounding Round) {
  To = like(X, To);
  Type *Scalar = To->getScalarType();
  unsigned Bits = X->getType()->getScalarSizeInBits();
  auto Plain = [&](Type *Type) {
    return Signed ? B.CreateSIToFP(X, Type) : B.CreateUIToFP(X, Type);
  };
  if (Scalar->isHalfTy() || Scalar->isBFloatTy()) {
    // Up to 32 bits are exact in double; beyond, half overflows anyway, and
    // bfloat is rounded to odd on the way.
    Value *Double = Plain(like(X, B.getDoubleTy()));
    Value *Float = B.CreateFPTrunc(Double, like(X, B.getFloatTy()));
    Value *Error = B.CreateFPTrunc(
        B.CreateFSub(Double, B.CreateFPExt(Float, Double->getType())),
        Float->getType());
    return floatToFloat(roundToOdd(Float, Error), To, Round);
  }
  bool Exact = Bits <= (Scalar->isDoubleTy() ? 53u : 24u);
  if (Round == Rounding::Nearest || Exact)
    return Plain(To);
  Type *I64 = like(X, B.getInt64Ty());
  Value *Wide = Signed ? B.CreateSExt(X, I64) : B.CreateZExt(X, I64);
  StringRef Name = Scalar->isDoubleTy()
                       ? (Signed ? "dragon_cpu_math_i64_to_f64"
                                 : "dragon_cpu_math_u64_to_f64")
                       : (Signed ? "dragon_cpu_math_i64_to_f32"
                                 : "dragon_cpu_math_u64_to_f32");
  return directed(Name, {Wide}, To, Round);
}

Value *Arithmetic::floatToFloat(Value *X, Type *To, Rounding Round) {
  Type *From = X->getType()->getScalarType();
  To = like(X, To->getScalarType());
  Type *Scalar = To->getScalarType();
  if (From == Scalar)
    return X;
  if (isNarrow(X)) {
    X = widen(X);
    if (Scalar->isFloatTy())
      return X;
    return floatToFloat(X, To, Round);
  }
  if (Scalar->isDoubleTy())
    return B.CreateFPExt(X, To);
  if (Scalar->isFloatTy())
    return Round == Rounding::Nearest
               ? B.CreateFPTrunc(X, To)
               : directedFloat(X, constant(X->getType(), 0), Round);
  if (From->isDoubleTy()) {
    Value *Float = B.CreateFPTrunc(X, like(X, B.getFloatTy()));
    Value *Error = B.CreateFPTrunc(
        B.CreateFSub(X, B.CreateFPExt(Float, X->getType())), Float->getType());
    X = roundToOdd(Float, Error);
  }
  if (Scalar->isBFloatTy())
    return toBfloat(X, To, Round);
  if (Round == Rounding::Nearest)
    return B.CreateFPTrunc(X, To);
  Value *Bits = directed("dragon_cpu_math_f32_to_f16", {X},
                         like(X, B.getInt16Ty()), Round);
  return B.CreateBitCast(Bits, To);
}

// -- Integers -----------------------------------------------------------------

Value *Arithmetic::mulHigh(Value *X, Value *Y, bool Signed) {
  unsigned Bits = X->getType()->getScalarSizeInBits();
  Type *Wide = like(X, B.getIntNTy(2 * Bits));
  auto Extend = [&](Value *V) {
    return Signed ? B.CreateSExt(V, Wide) : B.CreateZExt(V, Wide);
  };
  Value *Product = B.CreateMul(Extend(X), Extend(Y));
  return B.CreateTrunc(B.CreateLShr(Product, Bits), X->getType());
}

Value *Arithmetic::mul24(Value *X, Value *Y, bool Signed, bool High) {
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

Value *Arithmetic::sumOfAbsoluteDifference(Value *X, Value *Y, Value *Z,
                                           bool Signed) {
  Value *Less = Signed ? B.CreateICmpSLT(X, Y) : B.CreateICmpULT(X, Y);
  Value *Difference =
      B.CreateSelect(Less, B.CreateSub(Y, X), B.CreateSub(X, Y));
  return B.CreateAdd(Difference, Z);
}

Value *Arithmetic::permuteBytes(Value *X, Value *Y, Value *Selector) {
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
Value *Arithmetic::permuteBytes(StringRef Mode, Value *X, Value *Y,
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

Value *Arithmetic::shiftLeft(Value *X, Value *Amount) {
  unsigned Bits = X->getType()->getIntegerBitWidth();
  Value *Inside =
      B.CreateICmpULT(Amount, ConstantInt::get(Amount->getType(), Bits));
  Value *Shifted = B.CreateShl(X, B.CreateZExtOrTrunc(Amount, X->getType()));
  return B.CreateSelect(Inside, Shifted, ConstantInt::get(X->getType(), 0));
}

Value *Arithmetic::shiftRight(Value *X, Value *Amount, bool Signed) {
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

Value *Arithmetic::funnelShift(bool Left, bool Clamp, Value *Low, Value *High,
                               Value *Amount) {
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
Value *Arithmetic::extractBits(Value *X, Value *Position, Value *Length,
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

Value *Arithmetic::insertBits(Value *X, Value *Into, Value *Position,
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
Value *Arithmetic::findLeadingBit(Value *X, bool Signed, bool ShiftAmount) {
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

Value *Arithmetic::lookup3(Value *X, Value *Y, Value *Z, unsigned Table) {
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

Value *Arithmetic::findNthSet(Value *Mask, Value *Base, Value *Offset) {
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

Value *Arithmetic::dotProduct4(Value *X, Value *Y, Value *Z, bool SignedX,
                               bool SignedY) {
  for (unsigned I = 0; I < 4; ++I)
    Z = B.CreateAdd(Z, B.CreateMul(element(B, X, I, 8, SignedX),
                                   element(B, Y, I, 8, SignedY)));
  return Z;
}

Value *Arithmetic::dotProduct2(Value *X, Value *Y, Value *Z, bool SignedX,
                               bool SignedY, bool High) {
  for (unsigned I = 0; I < 2; ++I)
    Z = B.CreateAdd(Z, B.CreateMul(element(B, X, I, 16, SignedX),
                                   element(B, Y, I + 2 * High, 8, SignedY)));
  return Z;
}

} // namespace dragon
