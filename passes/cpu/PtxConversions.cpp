//===- PtxConversions.cpp - inline PTX: conversions -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxConversions.h"

#include "llvm/IR/Intrinsics.h"
#include <cmath>

using namespace llvm;

namespace dragon {

/// rn, rni -> Nearest, ...; false if there is none.
static bool roundingOf(const PtxInstruction &In, StringRef Suffix,
                       Rounding &Out) {
  struct {
    StringRef Name;
    Rounding Round;
  } const Table[] = {{"rn", Rounding::Nearest},
                     {"rz", Rounding::Zero},
                     {"rm", Rounding::Down},
                     {"rp", Rounding::Up}};
  for (const auto &Row : Table)
    if (In.has((Row.Name + Suffix).str())) {
      Out = Row.Round;
      return true;
    }
  return false;
}

bool PtxConversions::convertFloat(const PtxInstruction &In, PtxType To,
                                  PtxType From) {
  const auto &Ops = In.Operands;
  Rounding Round = Rounding::Nearest;
  roundingOf(In, "", Round);
  auto Finish = [&](Value *V) {
    if (In.has("sat"))
      V = A.saturate(V);
    if (In.has("relu")) {
      FloatFlags None;
      V = A.minOrMax(true, V, Constant::getNullValue(V->getType()), None);
    }
    return V;
  };
  if (To.Lanes == 2 && From.Lanes == 1 && Ops.size() == 3) {
    // The first source is the upper half.
    PtxType Half = To;
    Half.Lanes = 1;
    Value *Pair = PoisonValue::get(typeOf(To));
    for (unsigned Lane = 0; Lane < 2; ++Lane)
      Pair =
          B.CreateInsertElement(Pair,
                                Finish(A.floatToFloat(read(Ops[2 - Lane], From),
                                                      typeOf(Half), Round)),
                                Lane);
    return write(Ops[0], Pair);
  }
  if (To.Lanes != From.Lanes || Ops.size() != 2)
    return false;
  Value *V = read(Ops[1], From);
  Rounding Integral;
  if (roundingOf(In, "i", Integral))
    V = A.roundToIntegral(V, Integral);
  return write(Ops[0], Finish(A.floatToFloat(V, typeOf(To), Round)));
}

/// The eight bits nearest to a float, ties to even; what is too large becomes
/// the largest finite number.
static Value *toFp8(IRBuilder<> &B, Value *V, bool IsE4M3) {
  unsigned Mantissa = IsE4M3 ? 3 : 2, Dropped = 23 - Mantissa;
  int Bias = IsE4M3 ? 7 : 15;
  Value *Bits = B.CreateBitCast(V, B.getInt32Ty());
  Value *Sign = B.CreateAnd(B.CreateLShr(Bits, 24), 0x80);
  Value *Magnitude = B.CreateAnd(Bits, 0x7fffffff);
  Value *Odd = B.CreateAnd(B.CreateLShr(Magnitude, Dropped), 1);
  Value *Rounded = B.CreateLShr(
      B.CreateAdd(Magnitude,
                  B.CreateAdd(Odd, B.getInt32((1u << (Dropped - 1)) - 1))),
      Dropped);
  Value *Normal = B.CreateSub(
      Rounded, B.getInt32(static_cast<uint32_t>(127 - Bias) << Mantissa));
  // Below the least normal number 2^(1 - Bias), units of 2^(1 - Bias) / 2^M.
  Type *F32 = B.getFloatTy();
  Value *Units = B.CreateUnaryIntrinsic(
      Intrinsic::roundeven,
      B.CreateFMul(
          B.CreateBitCast(Magnitude, F32),
          ConstantFP::get(F32, std::ldexp(1.0, Bias - 1 + int(Mantissa)))));
  Value *IsSmall = B.CreateICmpULT(
      Magnitude, B.getInt32(static_cast<uint32_t>(127 + 1 - Bias) << 23));
  // Where it is not small, the number of units may have no integer.
  Value *Subnormal = B.CreateFPToUI(
      B.CreateSelect(IsSmall, Units, ConstantFP::get(F32, 0)), B.getInt32Ty());
  Value *Result = B.CreateSelect(IsSmall, Subnormal, Normal);
  Result = B.CreateBinaryIntrinsic(Intrinsic::umin, Result,
                                   B.getInt32(IsE4M3 ? 0x7e : 0x7b));
  Value *IsNan = B.CreateICmpUGT(Magnitude, B.getInt32(0x7f800000));
  Result = B.CreateSelect(IsNan, B.getInt32(0x7f), Result);
  return B.CreateOr(Result, Sign);
}

/// Eight bits, in the lower ones of an i16, as a half; all have one.
static Value *fromFp8(IRBuilder<> &B, Value *Bits, bool IsE4M3) {
  Type *Half = B.getHalfTy();
  if (!IsE4M3)
    return B.CreateBitCast(B.CreateShl(Bits, 8), Half);
  // The exponent's bias is 8 less.
  Value *Magnitude = B.CreateAnd(Bits, 0x7f);
  Value *Scaled = B.CreateFMul(B.CreateBitCast(B.CreateShl(Magnitude, 7), Half),
                               ConstantFP::get(Half, 256));
  Value *Number = B.CreateSelect(B.CreateICmpEQ(Magnitude, B.getInt16(0x7f)),
                                 B.getInt16(0x7fff),
                                 B.CreateBitCast(Scaled, B.getInt16Ty()));
  return B.CreateBitCast(
      B.CreateOr(Number, B.CreateShl(B.CreateAnd(Bits, 0x80), 8)), Half);
}

/// cvt.rn.satfinite[.relu].{e4m3x2,e5m2x2}.f32 d, upper, lower;
/// cvt.rn.satfinite[.relu].{e4m3x2,e5m2x2}.f16x2 d, a;
/// cvt.rn[.relu].f16x2.{e4m3x2,e5m2x2} d, a
bool PtxConversions::convertFp8(const PtxInstruction &In) {
  auto Types = In.types();
  const auto &Ops = In.Operands;
  bool IsE4M3 = In.has("e4m3x2"), Relu = In.has("relu");
  if (Types.size() != 1 || !In.has("rn") || Ops.size() < 2 ||
      !Types[0].isFloat())
    return false;
  auto Finish = [&](Value *V) {
    FloatFlags None;
    return Relu
               ? A.minOrMax(true, V, Constant::getNullValue(V->getType()), None)
               : V;
  };
  if (In.Modifiers.back() == "e4m3x2" || In.Modifiers.back() == "e5m2x2") {
    if (Types[0].Lanes != 2 || Types[0].Width != 16)
      return false;
    Value *Both = readBits(Ops[1], 16);
    Value *Pair = PoisonValue::get(typeOf(Types[0]));
    for (unsigned Lane = 0; Lane < 2; ++Lane) {
      Value *Bits = B.CreateAnd(B.CreateLShr(Both, 8 * Lane), 0xff);
      Pair =
          B.CreateInsertElement(Pair, Finish(fromFp8(B, Bits, IsE4M3)), Lane);
    }
    return write(Ops[0], Pair);
  }
  Value *Lower, *Upper;
  if (Types[0].Lanes == 2 && Types[0].Width == 16 &&
      Types[0].Kind == PtxType::Float) {
    Value *Pair = read(Ops[1], Types[0]);
    auto Lane = [&](unsigned I) {
      return B.CreateFPExt(B.CreateExtractElement(Pair, I), B.getFloatTy());
    };
    Lower = Lane(0), Upper = Lane(1);
  } else if (Types[0].Width == 32 && Ops.size() == 3) {
    Lower = read(Ops[2], Types[0]), Upper = read(Ops[1], Types[0]);
  } else {
    return false;
  }
  Value *Bits = B.CreateOr(toFp8(B, Finish(Lower), IsE4M3),
                           B.CreateShl(toFp8(B, Finish(Upper), IsE4M3), 8));
  return In.has("satfinite") &&
         write(Ops[0], B.CreateTrunc(Bits, B.getInt16Ty()));
}

bool PtxConversions::emit(const PtxInstruction &In) {
  auto Types = In.types();
  if (In.opcode() != "cvt")
    return false;
  if (Types.size() == 1 && In.has("tf32") && Types[0].Width == 32) {
    // tf32 keeps 10 bits of the mantissa; ties away from zero.
    Value *Bits = readBits(In.Operands[1], 32);
    Value *Rounded = B.CreateAnd(B.CreateAdd(Bits, B.getInt32(0x1000)),
                                 B.getInt32(~0x1fffu));
    return In.has("rna") && write(In.Operands[0], Rounded);
  }
  if (In.has("e4m3x2") || In.has("e5m2x2"))
    return convertFp8(In);
  if (Types.size() != 2 || In.has("satfinite") || In.Operands.size() < 2)
    return false;
  for (StringRef Modifier : In.Modifiers)
    if (Modifier.starts_with("e4m3") || Modifier.starts_with("e5m2") ||
        Modifier.starts_with("e2m") || Modifier.starts_with("e3m2") ||
        Modifier.starts_with("ue8m0") || Modifier == "rs")
      return false;
  PtxType To = Types[0], From = Types[1];
  if (To.isFloat() && From.isFloat())
    return convertFloat(In, To, From);
  Value *V = read(In.Operands[1], From);
  Rounding Round = Rounding::Nearest;
  if (From.isFloat()) {
    Round = Rounding::Zero;
    roundingOf(In, "i", Round);
    return write(In.Operands[0],
                 A.floatToInt(V, To.Width, To.isSigned(), Round),
                 To.isSigned());
  }
  if (To.isFloat()) {
    roundingOf(In, "", Round);
    Value *Result = A.intToFloat(V, From.isSigned(), typeOf(To), Round);
    if (In.has("sat"))
      Result = A.saturate(Result);
    return write(In.Operands[0], Result);
  }
  // Between integers.
  unsigned Wide = std::max(To.Width, From.Width) + 1;
  if (In.has("sat")) {
    Type *WideType = B.getIntNTy(Wide);
    V = From.isSigned() ? B.CreateSExt(V, WideType) : B.CreateZExt(V, WideType);
    APInt Low = To.isSigned() ? APInt::getSignedMinValue(To.Width).sext(Wide)
                              : APInt(Wide, 0);
    APInt High = To.isSigned() ? APInt::getSignedMaxValue(To.Width).sext(Wide)
                               : APInt::getMaxValue(To.Width).zext(Wide);
    V = B.CreateBinaryIntrinsic(Intrinsic::smax, V,
                                ConstantInt::get(WideType, Low));
    V = B.CreateBinaryIntrinsic(Intrinsic::smin, V,
                                ConstantInt::get(WideType, High));
    return write(In.Operands[0], B.CreateTrunc(V, typeOf(To)), To.isSigned());
  }
  V = From.isSigned() ? B.CreateSExtOrTrunc(V, typeOf(To))
                      : B.CreateZExtOrTrunc(V, typeOf(To));
  return write(In.Operands[0], V, To.isSigned());
}

} // namespace dragon
