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

} // namespace dragon
