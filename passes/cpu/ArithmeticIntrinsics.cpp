//===- ArithmeticIntrinsics.cpp - llvm.nvvm arithmetic --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of these intrinsics are built by a grammar, which is read here:
//   operation[.rounding][.modifiers].type       add.rn.ftz.f fma.rn.relu.bf16x2
//   <type>2<type>.rounding[.ftz]                f2i.rz.ftz  ull2d.rp
//   operation.type                              mulhi.ull  sad.us  saturate.d
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Arithmetic.h"
#include "passes/cpu/DeviceIntrinsics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace dragon {

namespace {

using Tokens = ArrayRef<StringRef>;

FloatFlags flagsOf(Tokens Modifiers) {
  FloatFlags Flags;
  for (StringRef Modifier : Modifiers) {
    if (Modifier == "rz")
      Flags.Round = Rounding::Zero;
    else if (Modifier == "rm")
      Flags.Round = Rounding::Down;
    else if (Modifier == "rp")
      Flags.Round = Rounding::Up;
    else if (Modifier == "sat")
      Flags.Saturate = true;
    else if (Modifier == "relu")
      Flags.Relu = true;
    else if (Modifier == "nan")
      Flags.PropagateNan = true;
    else if (Modifier == "abs")
      Flags.Absolute = true;
    else if (Modifier == "xorsign")
      Flags.XorSign = true;
  }
  return Flags;
}

/// f, d, i, ui, ll, ull, h, ... of a conversion's name.
struct ConversionType {
  unsigned Bits = 0; ///< of an integer
  bool Signed = false;
  Type *Float = nullptr;
};

bool parseConversionType(StringRef Name, LLVMContext &C, ConversionType &Out) {
  if (Name == "f")
    Out.Float = Type::getFloatTy(C);
  else if (Name == "d")
    Out.Float = Type::getDoubleTy(C);
  else if (Name == "i" || Name == "ui")
    Out.Bits = 32;
  else if (Name == "ll" || Name == "ull")
    Out.Bits = 64;
  else
    return false;
  Out.Signed = !Name.starts_with("u");
  return true;
}

Value *convert(StringRef From, StringRef To, const FloatFlags &Flags,
               CallInst &Call, IRBuilder<> &B) {
  Arithmetic A(B);
  Value *X = Call.getArgOperand(0);
  Type *Result = Call.getType();
  if (To == "h" || To == "f16") {
    Value *Half = A.floatToFloat(X, B.getHalfTy(), Flags.Round);
    if (Flags.Relu)
      Half = B.CreateMaxNum(Half, ConstantFP::get(Half->getType(), 0));
    return B.CreateBitCast(Half, Result);
  }
  if (To == "bf16") {
    if (Flags.Relu)
      X = B.CreateMaxNum(X, ConstantFP::get(X->getType(), 0));
    return B.CreateBitCast(A.floatToFloat(X, B.getBFloatTy(), Flags.Round),
                           Result);
  }
  if (From == "ff" && (To == "f16x2" || To == "bf16x2")) {
    // The first operand is the upper half.
    Type *Element = To == "f16x2" ? B.getHalfTy() : B.getBFloatTy();
    Value *Pair = PoisonValue::get(FixedVectorType::get(Element, 2));
    for (unsigned I = 0; I < 2; ++I) {
      Value *Part = Call.getArgOperand(1 - I);
      if (Flags.Relu)
        Part = B.CreateMaxNum(Part, ConstantFP::get(Part->getType(), 0));
      Pair = B.CreateInsertElement(
          Pair, A.floatToFloat(Part, Element, Flags.Round), I);
    }
    return B.CreateBitCast(Pair, Result);
  }
  ConversionType Source, Target;
  if (!parseConversionType(From, B.getContext(), Source) ||
      !parseConversionType(To, B.getContext(), Target))
    return nullptr;
  if (Source.Float && Target.Float)
    return A.floatToFloat(X, Target.Float, Flags.Round);
  if (Source.Float)
    return A.floatToInt(X, Target.Bits, Target.Signed, Flags.Round);
  if (Target.Float)
    return A.intToFloat(X, Source.Signed, Target.Float, Flags.Round);
  return nullptr;
}

Value *floatOperation(StringRef Operation, const FloatFlags &Flags,
                      CallInst &Call, IRBuilder<> &B) {
  Arithmetic A(B);
  auto X = [&](unsigned I) { return Call.getArgOperand(I); };
  if (Operation == "add")
    return A.add(X(0), X(1), Flags);
  if (Operation == "mul")
    return A.mul(X(0), X(1), Flags);
  if (Operation == "div")
    return A.div(X(0), X(1), Flags);
  if (Operation == "fma")
    return A.fma(X(0), X(1), X(2), Flags);
  if (Operation == "sqrt")
    return A.sqrt(X(0), Flags);
  if (Operation == "rcp")
    return A.reciprocal(X(0), Flags);
  if (Operation == "rsqrt")
    return A.reciprocalSqrt(X(0));
  if (Operation == "fmin" || Operation == "fmax")
    return A.minOrMax(Operation == "fmax", X(0), X(1), Flags);
  if (Operation == "fabs")
    return A.absolute(X(0));
  if (Operation == "neg")
    return A.negate(X(0));
  if (Operation == "saturate")
    return A.saturate(X(0));
  if (Operation == "floor")
    return A.roundToIntegral(X(0), Rounding::Down);
  if (Operation == "ceil")
    return A.roundToIntegral(X(0), Rounding::Up);
  if (Operation == "trunc")
    return A.roundToIntegral(X(0), Rounding::Zero);
  if (Operation == "round")
    return A.roundToIntegral(X(0), Rounding::Nearest);
  auto ID = StringSwitch<Intrinsic::ID>(Operation)
                .Case("ex2", Intrinsic::exp2)
                .Case("lg2", Intrinsic::log2)
                .Case("sin", Intrinsic::sin)
                .Case("cos", Intrinsic::cos)
                .Case("tanh", Intrinsic::tanh)
                .Default(Intrinsic::not_intrinsic);
  return ID ? A.unary(ID, X(0)) : nullptr;
}

Value *integerOperation(StringRef Operation, Tokens Rest, CallInst &Call,
                        IRBuilder<> &B) {
  Arithmetic A(B);
  auto X = [&](unsigned I) { return Call.getArgOperand(I); };
  StringRef First = Rest.empty() ? "" : Rest[0];
  bool Signed = !First.starts_with("u");
  if (Operation == "mulhi")
    return A.mulHigh(X(0), X(1), Signed);
  if (Operation == "mul24")
    return A.mul24(X(0), X(1), Signed, /*High=*/false);
  if (Operation == "sad")
    return A.sumOfAbsoluteDifference(X(0), X(1), X(2), Signed);
  if (Operation == "prmt") {
    if (First.empty())
      return A.permuteBytes(X(0), X(1), X(2));
    bool HasSecond = Call.arg_size() == 3;
    return A.permuteBytes(First, X(0), HasSecond ? X(1) : B.getInt32(0),
                          X(HasSecond ? 2 : 1));
  }
  if (Operation == "flo") {
    auto *ShiftAmount = dyn_cast<ConstantInt>(X(1));
    return ShiftAmount ? A.findLeadingBit(X(0), Signed, ShiftAmount->isOne())
                       : nullptr;
  }
  if (Operation == "fns")
    return A.findNthSet(X(0), X(1), X(2));
  if (Operation == "fshl" || Operation == "fshr")
    return A.funnelShift(Operation == "fshl", First == "clamp", X(1), X(0),
                         X(2));
  if ((Operation == "idp4a" || Operation == "idp2a") && Rest.size() == 2) {
    bool SignedX = Rest[0] == "s", SignedY = Rest[1] == "s";
    if (Operation == "idp4a")
      return A.dotProduct4(X(0), X(1), X(2), SignedX, SignedY);
    auto *High = dyn_cast<ConstantInt>(X(2));
    return High ? A.dotProduct2(X(0), X(1), X(3), SignedX, SignedY,
                                High->isOne())
                : nullptr;
  }
  if (Operation == "move")
    return X(0);
  return nullptr;
}

} // namespace

Value *lowerArithmeticIntrinsic(StringRef Name, CallInst &Call) {
  IRBuilder<> B(&Call);
  SmallVector<StringRef, 8> Parts;
  Name.split(Parts, '.');
  StringRef Operation = Parts[0];
  Tokens Rest = ArrayRef<StringRef>(Parts).drop_front();
  FloatFlags Flags = flagsOf(Rest);

  // The halves of a double.
  if (Name == "d2i.lo" || Name == "d2i.hi") {
    Value *Bits = B.CreateBitCast(Call.getArgOperand(0), B.getInt64Ty());
    if (Name == "d2i.hi")
      Bits = B.CreateLShr(Bits, 32);
    return B.CreateTrunc(Bits, B.getInt32Ty());
  }
  if (Name == "lohi.i2d") {
    Value *Low = B.CreateZExt(Call.getArgOperand(0), B.getInt64Ty());
    Value *High = B.CreateZExt(Call.getArgOperand(1), B.getInt64Ty());
    return B.CreateBitCast(B.CreateOr(Low, B.CreateShl(High, 32)),
                           B.getDoubleTy());
  }
  if (Operation == "bitcast")
    return B.CreateBitCast(Call.getArgOperand(0), Call.getType());

  auto [From, To] = Operation.split('2');
  if (!To.empty() && Operation != "ex2" && Operation != "lg2" &&
      !From.starts_with("mul") && !From.starts_with("idp"))
    return convert(From, To, Flags, Call, B);
  if (Value *Result = integerOperation(Operation, Rest, Call, B))
    return Result;
  return floatOperation(Operation, Flags, Call, B);
}

} // namespace dragon
