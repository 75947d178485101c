//===- PtxVideo.cpp - inline PTX: video instructions ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxVideo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace dragon {

/// v<op>.dtype.atype.btype[.sat][.mode][.op2] d, a, b[, c] of whole words.
bool PtxVideo::scalarVideo(const PtxInstruction &In) {
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

/// The instructions on 2 or 4 parts of a word:
/// v<op>{2,4}.dtype.atype.btype[.sat][.add] d, a, b, c. Without .add, c is what
/// parts that are not written keep; all are written.
bool PtxVideo::emit(const PtxInstruction &In) {
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
    if (Value *Holds = Comparisons.compare(In.Modifiers.back(), AsSigned, X, Y))
      R = B.CreateZExt(Holds, Wide);
    else if (In.Modifiers.back() == "add" && In.Modifiers.size() > 4)
      if (Value *Inner = Comparisons.compare(
              In.Modifiers[In.Modifiers.size() - 2], AsSigned, X, Y))
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
