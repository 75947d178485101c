//===- PtxArithmetic.cpp - inline PTX: numbers and bits -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxArithmetic.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace dragon {

bool PtxArithmetic::emit(const PtxInstruction &In) {
  return integerArithmetic(In) || carryArithmetic(In) || floatArithmetic(In) ||
         bitOperation(In);
}

bool PtxArithmetic::integerArithmetic(const PtxInstruction &In) {
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
  return Ops.size() == 4 && ternaryArithmetic(In, T);
}

/// mad, mad24, sad, dp4a, dp2a
bool PtxArithmetic::ternaryArithmetic(const PtxInstruction &In,
                                      const PtxType &T) {
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

  if (Op == "mad") {
    if (In.has("wide"))
      return write(
          Ops[0],
          B.CreateAdd(B.CreateMul(Extend(1), Extend(2)), read(Ops[3], Wide)),
          Signed);
    Value *Product =
        In.has("hi") ? A.mulHigh(X(1), X(2), Signed) : B.CreateMul(X(1), X(2));
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
    return Put(Op == "dp4a" ? A.dotProduct4(X(1), X(2), X(3), SignedX, SignedY)
                            : A.dotProduct2(X(1), X(2), X(3), SignedX, SignedY,
                                            In.has("hi")));
  }
  return false;
}

/// add.cc, addc[.cc], sub.cc, subc[.cc], mad.{lo,hi}.cc, madc.{lo,hi}[.cc]
bool PtxArithmetic::carryArithmetic(const PtxInstruction &In) {
  StringRef Op = In.opcode();
  bool TakesCarry = Op == "addc" || Op == "subc" || Op == "madc";
  bool SetsCarry = In.has("cc");
  PtxType T;
  if (!(TakesCarry || SetsCarry) || !onlyType(In, T))
    return false;
  if (!Carry)
    Carry = P.makeVariable(1);
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

bool PtxArithmetic::floatArithmetic(const PtxInstruction &In) {
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

bool PtxArithmetic::bitOperation(const PtxInstruction &In) {
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

} // namespace dragon
