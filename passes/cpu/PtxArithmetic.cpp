//===- PtxArithmetic.cpp - inline PTX: numbers ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxEmitter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include <cmath>

using namespace llvm;

namespace dragon {

FloatFlags floatFlags(const PtxInstruction &In) {
  FloatFlags Flags;
  if (In.has("rz"))
    Flags.Round = Rounding::Zero;
  else if (In.has("rm"))
    Flags.Round = Rounding::Down;
  else if (In.has("rp"))
    Flags.Round = Rounding::Up;
  Flags.Saturate = In.has("sat");
  Flags.Relu = In.has("relu");
  Flags.PropagateNan = In.has("NaN");
  Flags.Absolute = In.has("abs");
  Flags.XorSign = In.has("xorsign");
  return Flags;
}

/// The type of an instruction that has one.
static bool onlyType(const PtxInstruction &In, PtxType &Type) {
  auto Types = In.types();
  if (Types.empty())
    return false;
  Type = Types.back();
  return true;
}

bool PtxEmitter::integerArithmetic(const PtxInstruction &In) {
  PtxType T;
  if (!onlyType(In, T) || T.isFloat() || In.has("cc") ||
      T.Kind == PtxType::Predicate)
    return false;
  StringRef Op = In.opcode();
  const auto &Ops = In.Operands;
  bool Signed = T.isSigned();
  auto X = [&](unsigned N) { return read(Ops[N], T); };
  auto Put = [&](Value *V) { return write(Ops[0], V, Signed); };
  PtxType Wide = T;
  Wide.Width *= 2;
  auto Extend = [&](unsigned N) {
    return Signed ? B.CreateSExt(X(N), typeOf(Wide))
                  : B.CreateZExt(X(N), typeOf(Wide));
  };
  auto Binary = [&](Intrinsic::ID ID) {
    return B.CreateBinaryIntrinsic(ID, X(1), X(2));
  };

  if (Ops.size() == 3) {
    if (Op == "add" || Op == "sub") {
      bool Add = Op == "add";
      if (In.has("sat"))
        return Put(Binary(Add ? Intrinsic::sadd_sat : Intrinsic::ssub_sat));
      return Put(Add ? B.CreateAdd(X(1), X(2)) : B.CreateSub(X(1), X(2)));
    }
    if (Op == "mul") {
      if (In.has("wide"))
        return write(Ops[0], B.CreateMul(Extend(1), Extend(2)), Signed);
      if (In.has("hi"))
        return Put(A.mulHigh(X(1), X(2), Signed));
      return Put(B.CreateMul(X(1), X(2)));
    }
    if (Op == "mul24")
      return Put(A.mul24(X(1), X(2), Signed, In.has("hi")));
    if (Op == "div")
      return Put(Signed ? B.CreateSDiv(X(1), X(2)) : B.CreateUDiv(X(1), X(2)));
    if (Op == "rem")
      return Put(Signed ? B.CreateSRem(X(1), X(2)) : B.CreateURem(X(1), X(2)));
    if (Op == "min" || Op == "max") {
      Value *V =
          Binary(Op == "min" ? (Signed ? Intrinsic::smin : Intrinsic::umin)
                             : (Signed ? Intrinsic::smax : Intrinsic::umax));
      if (In.has("relu"))
        V = B.CreateBinaryIntrinsic(Intrinsic::smax, V,
                                    Constant::getNullValue(V->getType()));
      return Put(V);
    }
  }
  if (Ops.size() == 2) {
    if (Op == "abs")
      return Put(call(Intrinsic::abs, {X(1), B.getFalse()}, {typeOf(T)}));
    if (Op == "neg")
      return Put(B.CreateNeg(X(1)));
  }
  if (Ops.size() == 4) {
    if (Op == "mad") {
      if (In.has("wide"))
        return write(
            Ops[0],
            B.CreateAdd(B.CreateMul(Extend(1), Extend(2)), read(Ops[3], Wide)),
            Signed);
      Value *Product = In.has("hi") ? A.mulHigh(X(1), X(2), Signed)
                                    : B.CreateMul(X(1), X(2));
      if (In.has("sat"))
        return Put(B.CreateBinaryIntrinsic(Intrinsic::sadd_sat, Product, X(3)));
      return Put(B.CreateAdd(Product, X(3)));
    }
    if (Op == "mad24")
      return Put(B.CreateAdd(A.mul24(X(1), X(2), Signed, In.has("hi")), X(3)));
    if (Op == "sad")
      return Put(A.sumOfAbsoluteDifference(X(1), X(2), X(3), Signed));
    if (Op == "dp4a" || Op == "dp2a") {
      auto Types = In.types();
      if (Types.size() != 2)
        return false;
      bool SignedX = Types[0].isSigned(), SignedY = Types[1].isSigned();
      return Put(Op == "dp4a"
                     ? A.dotProduct4(X(1), X(2), X(3), SignedX, SignedY)
                     : A.dotProduct2(X(1), X(2), X(3), SignedX, SignedY,
                                     In.has("hi")));
    }
  }
  return false;
}

/// add.cc, addc[.cc], sub.cc, subc[.cc], mad.{lo,hi}.cc, madc.{lo,hi}[.cc]
bool PtxEmitter::carryArithmetic(const PtxInstruction &In) {
  StringRef Op = In.opcode();
  bool TakesCarry = Op == "addc" || Op == "subc" || Op == "madc";
  bool SetsCarry = In.has("cc");
  PtxType T;
  if (!(TakesCarry || SetsCarry) || !onlyType(In, T))
    return false;
  if (!Carry)
    Carry = makeVariable(1);
  bool Subtract = Op.starts_with("sub");
  Value *X = read(In.Operands[1], T), *Y = read(In.Operands[2], T);
  if (Op.starts_with("mad")) {
    if (In.Operands.size() != 4)
      return false;
    X = In.has("hi") ? A.mulHigh(X, Y, T.isSigned()) : B.CreateMul(X, Y);
    Y = read(In.Operands[3], T);
  } else if (!Op.starts_with("add") && !Subtract) {
    return false;
  }
  Type *Wide = B.getIntNTy(T.Width + 1);
  Value *In1 = B.CreateZExt(X, Wide), *In2 = B.CreateZExt(Y, Wide);
  Value *Result = Subtract ? B.CreateSub(In1, In2) : B.CreateAdd(In1, In2);
  if (TakesCarry) {
    Value *Given = B.CreateZExt(B.CreateLoad(B.getInt1Ty(), Carry), Wide);
    Result = Subtract ? B.CreateSub(Result, Given) : B.CreateAdd(Result, Given);
  }
  if (SetsCarry)
    B.CreateStore(B.CreateTrunc(B.CreateLShr(Result, T.Width), B.getInt1Ty()),
                  Carry);
  return write(In.Operands[0], B.CreateTrunc(Result, typeOf(T)));
}

bool PtxEmitter::floatArithmetic(const PtxInstruction &In) {
  PtxType T;
  if (!onlyType(In, T) || !T.isFloat() || In.opcode() == "cvt")
    return false;
  StringRef Op = In.opcode();
  const auto &Ops = In.Operands;
  FloatFlags Flags = floatFlags(In);
  auto X = [&](unsigned N) { return read(Ops[N], T); };
  auto Put = [&](Value *V) { return write(Ops[0], V); };

  if (Ops.size() == 2) {
    if (Op == "abs")
      return Put(A.absolute(X(1)));
    if (Op == "neg")
      return Put(A.negate(X(1)));
    if (Op == "rcp")
      return Put(A.reciprocal(X(1), Flags));
    if (Op == "sqrt")
      return Put(A.sqrt(X(1), Flags));
    if (Op == "rsqrt")
      return Put(A.reciprocalSqrt(X(1)));
    auto ID = StringSwitch<Intrinsic::ID>(Op)
                  .Case("ex2", Intrinsic::exp2)
                  .Case("lg2", Intrinsic::log2)
                  .Case("sin", Intrinsic::sin)
                  .Case("cos", Intrinsic::cos)
                  .Case("tanh", Intrinsic::tanh)
                  .Default(Intrinsic::not_intrinsic);
    return ID && Put(A.unary(ID, X(1)));
  }
  if (Ops.size() == 3) {
    if (Op == "add")
      return Put(A.add(X(1), X(2), Flags));
    if (Op == "sub")
      return Put(A.sub(X(1), X(2), Flags));
    if (Op == "mul")
      return Put(A.mul(X(1), X(2), Flags));
    if (Op == "div")
      return Put(A.div(X(1), X(2), Flags));
    if (Op == "min" || Op == "max")
      return Put(A.minOrMax(Op == "max", X(1), X(2), Flags));
    if (Op == "copysign")
      return Put(B.CreateBinaryIntrinsic(Intrinsic::copysign, X(2), X(1)));
  }
  if (Ops.size() == 4) {
    if (Op == "fma" || Op == "mad")
      return Put(A.fma(X(1), X(2), X(3), Flags));
    if (Op == "min" || Op == "max")
      return Put(A.minOrMax(Op == "max",
                            A.minOrMax(Op == "max", X(1), X(2), Flags), X(3),
                            Flags));
  }
  return false;
}

bool PtxEmitter::bitOperation(const PtxInstruction &In) {
  PtxType T;
  if (!onlyType(In, T) || T.isFloat())
    return false;
  StringRef Op = In.opcode();
  const auto &Ops = In.Operands;
  bool IsPredicate = T.Kind == PtxType::Predicate;
  auto X = [&](unsigned N) {
    return IsPredicate ? readPredicate(Ops[N]) : read(Ops[N], T);
  };
  auto Word = [&](unsigned N) { return readBits(Ops[N], 32); };
  auto Put = [&](Value *V) { return write(Ops[0], V, T.isSigned()); };

  if (Ops.size() == 3) {
    if (Op == "and")
      return Put(B.CreateAnd(X(1), X(2)));
    if (Op == "or")
      return Put(B.CreateOr(X(1), X(2)));
    if (Op == "xor")
      return Put(B.CreateXor(X(1), X(2)));
    if (Op == "shl")
      return Put(A.shiftLeft(X(1), Word(2)));
    if (Op == "shr")
      return Put(A.shiftRight(X(1), Word(2), T.isSigned()));
    if (Op == "bmsk") {
      Value *Ones = B.getInt32(~0u);
      Value *Length = Word(2), *Low = Word(1);
      if (In.has("wrap")) {
        Length = B.CreateAnd(Length, 31);
        Low = B.CreateAnd(Low, 31);
      }
      return Put(A.shiftLeft(B.CreateNot(A.shiftLeft(Ones, Length)), Low));
    }
  }
  if (Ops.size() == 2) {
    if (Op == "not")
      return Put(B.CreateNot(X(1)));
    if (Op == "cnot")
      return Put(B.CreateZExt(B.CreateIsNull(X(1)), typeOf(T)));
    if (Op == "popc")
      return Put(B.CreateZExtOrTrunc(
          B.CreateUnaryIntrinsic(Intrinsic::ctpop, X(1)), B.getInt32Ty()));
    if (Op == "clz")
      return Put(B.CreateZExtOrTrunc(
          call(Intrinsic::ctlz, {X(1), B.getFalse()}, {typeOf(T)}),
          B.getInt32Ty()));
    if (Op == "brev")
      return Put(B.CreateUnaryIntrinsic(Intrinsic::bitreverse, X(1)));
    if (Op == "bfind")
      return Put(A.findLeadingBit(X(1), T.isSigned(), In.has("shiftamt")));
  }
  if (Ops.size() == 4) {
    if (Op == "bfe")
      return Put(A.extractBits(X(1), Word(2), Word(3), T.isSigned()));
    if (Op == "prmt") {
      Value *V = nullptr;
      for (StringRef Mode : drop_begin(In.Modifiers))
        if (!V && Mode != "b32")
          V = A.permuteBytes(Mode, X(1), X(2), Word(3));
      return Put(V ? V : A.permuteBytes(X(1), X(2), Word(3)));
    }
    if (Op == "shf")
      return Put(
          A.funnelShift(In.has("l"), In.has("clamp"), X(1), X(2), Word(3)));
    if (Op == "fns")
      return Put(A.findNthSet(X(1), Word(2), Word(3)));
  }
  if (Ops.size() == 5) {
    if (Op == "bfi")
      return Put(A.insertBits(X(1), X(2), Word(3), Word(4)));
    if (Op == "lop3") {
      auto *Table = dyn_cast<ConstantInt>(Word(4));
      return Table &&
             Put(A.lookup3(X(1), X(2), X(3), Table->getZExtValue() & 255));
    }
  }
  return false;
}

Value *PtxEmitter::compare(StringRef Operation, const PtxType &T, Value *X,
                           Value *Y) {
  if (T.isFloat()) {
    // bfloat compares as float.
    X = A.floatToFloat(X, T.Width == 64 ? B.getDoubleTy() : B.getFloatTy(),
                       Rounding::Nearest);
    Y = A.floatToFloat(Y, T.Width == 64 ? B.getDoubleTy() : B.getFloatTy(),
                       Rounding::Nearest);
    auto Predicate = StringSwitch<CmpInst::Predicate>(Operation)
                         .Case("eq", CmpInst::FCMP_OEQ)
                         .Case("ne", CmpInst::FCMP_ONE)
                         .Case("lt", CmpInst::FCMP_OLT)
                         .Case("le", CmpInst::FCMP_OLE)
                         .Case("gt", CmpInst::FCMP_OGT)
                         .Case("ge", CmpInst::FCMP_OGE)
                         .Case("equ", CmpInst::FCMP_UEQ)
                         .Case("neu", CmpInst::FCMP_UNE)
                         .Case("ltu", CmpInst::FCMP_ULT)
                         .Case("leu", CmpInst::FCMP_ULE)
                         .Case("gtu", CmpInst::FCMP_UGT)
                         .Case("geu", CmpInst::FCMP_UGE)
                         .Case("num", CmpInst::FCMP_ORD)
                         .Case("nan", CmpInst::FCMP_UNO)
                         .Default(CmpInst::BAD_FCMP_PREDICATE);
    return Predicate == CmpInst::BAD_FCMP_PREDICATE
               ? nullptr
               : B.CreateFCmp(Predicate, X, Y);
  }
  bool S = T.isSigned();
  auto Predicate = StringSwitch<CmpInst::Predicate>(Operation)
                       .Case("eq", CmpInst::ICMP_EQ)
                       .Case("ne", CmpInst::ICMP_NE)
                       .Case("lt", S ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
                       .Case("le", S ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
                       .Case("gt", S ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
                       .Case("ge", S ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
                       .Case("lo", CmpInst::ICMP_ULT)
                       .Case("ls", CmpInst::ICMP_ULE)
                       .Case("hi", CmpInst::ICMP_UGT)
                       .Case("hs", CmpInst::ICMP_UGE)
                       .Default(CmpInst::BAD_ICMP_PREDICATE);
  return Predicate == CmpInst::BAD_ICMP_PREDICATE
             ? nullptr
             : B.CreateICmp(Predicate, X, Y);
}

/// setp.cmp[.bool].type p[|q], a, b[, c]   set.cmp[.bool].dtype.stype d, a, b[,
/// c]
bool PtxEmitter::comparison(const PtxInstruction &In) {
  StringRef Op = In.opcode();
  auto Types = In.types();
  if ((Op != "setp" && Op != "set") || Types.empty() ||
      In.Modifiers.size() < 3 || In.Operands.size() < 3)
    return false;
  PtxType T = Types.back();
  Value *Holds = compare(In.Modifiers[1], T, read(In.Operands[1], T),
                         read(In.Operands[2], T));
  if (!Holds)
    return false;
  Value *Opposite = B.CreateNot(Holds);
  if (In.Operands.size() == 4) {
    Value *With = readPredicate(In.Operands[3]);
    auto Combine = [&](Value *V) -> Value * {
      if (In.has("and"))
        return B.CreateAnd(V, With);
      if (In.has("or"))
        return B.CreateOr(V, With);
      return B.CreateXor(V, With);
    };
    Holds = Combine(Holds);
    Opposite = Combine(Opposite);
  }
  const PtxOperand &To = In.Operands[0];
  if (Op == "setp") {
    if (To.Kind != PtxOperand::Vector)
      return T.Lanes == 1 && write(To, Holds);
    if (T.Lanes == 2) {
      write(To.Parts[0], B.CreateExtractElement(Holds, uint64_t(0)));
      return write(To.Parts[1], B.CreateExtractElement(Holds, 1));
    }
    write(To.Parts[0], Holds);
    return write(To.Parts[1], Opposite);
  }
  if (Types.size() != 2)
    return false;
  PtxType Result = Types[0];
  Type *ResultType = typeOf(Result);
  if (Result.isFloat()) {
    Value *One = ConstantFP::get(ResultType, 1);
    return write(
        To, B.CreateSelect(Holds, One, Constant::getNullValue(ResultType)));
  }
  // Integers: all ones; of a pair, each half.
  Type *Wide = Holds->getType()->getWithNewType(
      B.getIntNTy(Result.totalWidth() / T.Lanes));
  return write(To, B.CreateSExt(Holds, Wide));
}

bool PtxEmitter::selection(const PtxInstruction &In) {
  auto Types = In.types();
  if (Types.empty() || In.Operands.size() != 4)
    return false;
  PtxType T = Types[0];
  if (In.opcode() == "selp")
    return write(In.Operands[0], B.CreateSelect(readPredicate(In.Operands[3]),
                                                read(In.Operands[1], T),
                                                read(In.Operands[2], T)));
  if (In.opcode() == "slct" && Types.size() == 2) {
    Value *Condition = read(In.Operands[3], Types[1]);
    Value *Zero = Constant::getNullValue(Condition->getType());
    Value *Holds = Types[1].isFloat() ? B.CreateFCmpOGE(Condition, Zero)
                                      : B.CreateICmpSGE(Condition, Zero);
    return write(In.Operands[0], B.CreateSelect(Holds, read(In.Operands[1], T),
                                                read(In.Operands[2], T)));
  }
  return false;
}

// -- Conversions --------------------------------------------------------------

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

bool PtxEmitter::convertFloat(const PtxInstruction &In, PtxType To,
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
bool PtxEmitter::convertFp8(const PtxInstruction &In) {
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

bool PtxEmitter::conversion(const PtxInstruction &In) {
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

/// The instructions on 2 or 4 parts of a word:
/// v<op>{2,4}.dtype.atype.btype[.sat]
/// [.add] d, a, b, c. Without .add, c is what parts that are not written keep;
/// all are written.
/// vop.dtype.atype.btype[.sat][.mode][.op2] d, a, b[, c] of whole words.
bool PtxEmitter::scalarVideo(const PtxInstruction &In) {
  StringRef Op = In.opcode().drop_front();
  auto Types = In.types();
  const auto &Ops = In.Operands;
  if (Types.size() != 3 || (Ops.size() != 3 && Ops.size() != 4) ||
      any_of(Types, [](const PtxType &T) {
        return T.Width != 32 || T.Lanes != 1 || T.isFloat();
      }))
    return false;
  // All operations are exact in 64 bits.
  Type *Wide = B.getInt64Ty();
  Value *X = readBits(Ops[1], 32), *Y = readBits(Ops[2], 32);
  X = Types[1].isSigned() ? B.CreateSExt(X, Wide) : B.CreateZExt(X, Wide);
  Value *Count = B.CreateZExt(Y, Wide);
  Y = Types[2].isSigned() ? B.CreateSExt(Y, Wide) : Count;
  Count = In.has("wrap")
              ? B.CreateAnd(Count, 31)
              : B.CreateBinaryIntrinsic(Intrinsic::umin, Count, B.getInt64(32));
  Value *R;
  if (Op == "add")
    R = B.CreateAdd(X, Y);
  else if (Op == "sub")
    R = B.CreateSub(X, Y);
  else if (Op == "absdiff")
    R = call(Intrinsic::abs, {B.CreateSub(X, Y), B.getFalse()}, {Wide});
  else if (Op == "min" || Op == "max")
    R = B.CreateBinaryIntrinsic(Op == "min" ? Intrinsic::smin : Intrinsic::smax,
                                X, Y);
  else if (Op == "shl")
    R = B.CreateShl(X, Count);
  else if (Op == "shr")
    R = B.CreateAShr(X, Count);
  else
    return false;
  bool Signed = Types[0].isSigned();
  if (In.has("sat")) {
    R = B.CreateBinaryIntrinsic(
        Intrinsic::smax, R,
        ConstantInt::getSigned(Wide, Signed ? INT32_MIN : 0));
    R = B.CreateBinaryIntrinsic(
        Intrinsic::smin, R,
        ConstantInt::getSigned(Wide, Signed ? INT32_MAX : UINT32_MAX));
  }
  R = B.CreateTrunc(R, B.getInt32Ty());
  if (Ops.size() == 4) {
    Value *C = readBits(Ops[3], 32);
    StringRef Second = In.Modifiers.back();
    if (Second == "add")
      R = B.CreateAdd(R, C);
    else if (Second == "min")
      R = B.CreateBinaryIntrinsic(Signed ? Intrinsic::smin : Intrinsic::umin, R,
                                  C);
    else if (Second == "max")
      R = B.CreateBinaryIntrinsic(Signed ? Intrinsic::smax : Intrinsic::umax, R,
                                  C);
    else
      return false;
  }
  return write(Ops[0], R);
}

bool PtxEmitter::videoOperation(const PtxInstruction &In) {
  StringRef Op = In.opcode();
  auto Types = In.types();
  if (Op.starts_with("v") && !Op.ends_with("2") && !Op.ends_with("4"))
    return scalarVideo(In);
  if (!Op.consume_front("v") || In.Operands.size() != 4)
    return false;
  unsigned Lanes = Op.ends_with("4") ? 4 : 2;
  if (!Op.consume_back("4") && !Op.consume_back("2"))
    return false;
  unsigned Bits = 32 / Lanes;
  bool IsSet = Op == "set";
  if (Types.size() != (IsSet ? 2u : 3u))
    return false;
  PtxType TypeX = Types[Types.size() - 2], TypeY = Types.back();
  bool SignedResult = !IsSet && Types[0].isSigned();
  auto *Vector = FixedVectorType::get(B.getIntNTy(Bits), Lanes);
  auto *Wide = FixedVectorType::get(B.getInt32Ty(), Lanes);
  auto Part = [&](unsigned N, const PtxType &T) {
    Value *V = B.CreateBitCast(readBits(In.Operands[N], 32), Vector);
    return T.isSigned() ? B.CreateSExt(V, Wide) : B.CreateZExt(V, Wide);
  };
  Value *X = Part(1, TypeX), *Y = Part(2, TypeY), *R = nullptr;
  if (Op == "add")
    R = B.CreateAdd(X, Y);
  else if (Op == "sub")
    R = B.CreateSub(X, Y);
  else if (Op == "avrg")
    R = B.CreateAShr(B.CreateAdd(B.CreateAdd(X, Y), ConstantInt::get(Wide, 1)),
                     1);
  else if (Op == "absdiff")
    R = call(Intrinsic::abs, {B.CreateSub(X, Y), B.getFalse()}, {Wide});
  else if (Op == "min" || Op == "max")
    R = B.CreateBinaryIntrinsic(Op == "min" ? Intrinsic::smin : Intrinsic::smax,
                                X, Y);
  else if (IsSet && In.Modifiers.size() > 3) {
    PtxType AsSigned = TypeX;
    AsSigned.Kind = PtxType::Signed; // the wide values are never negative
    if (Value *Holds = compare(In.Modifiers.back(), AsSigned, X, Y))
      R = B.CreateZExt(Holds, Wide);
    else if (In.Modifiers.back() == "add" && In.Modifiers.size() > 4)
      if (Value *Inner =
              compare(In.Modifiers[In.Modifiers.size() - 2], AsSigned, X, Y))
        R = B.CreateZExt(Inner, Wide);
  }
  if (!R)
    return false;
  if (In.has("sat")) {
    int64_t Low = SignedResult ? -(1ll << (Bits - 1)) : 0;
    int64_t High = SignedResult ? (1ll << (Bits - 1)) - 1 : (1ll << Bits) - 1;
    R = B.CreateBinaryIntrinsic(Intrinsic::smax, R,
                                ConstantInt::getSigned(Wide, Low));
    R = B.CreateBinaryIntrinsic(Intrinsic::smin, R,
                                ConstantInt::getSigned(Wide, High));
  }
  if (In.has("add")) {
    Value *Sum = B.CreateAddReduce(R);
    return write(In.Operands[0],
                 B.CreateAdd(Sum, readBits(In.Operands[3], 32)));
  }
  return write(In.Operands[0],
               B.CreateBitCast(B.CreateTrunc(R, Vector), B.getInt32Ty()));
}

} // namespace dragon
