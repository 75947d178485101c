//===- PtxComparisons.cpp - inline PTX: comparisons -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxComparisons.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace dragon {

bool PtxComparisons::emit(const PtxInstruction &In) {
  return comparison(In) || selection(In);
}

Value *PtxComparisons::compare(StringRef Operation, const PtxType &T, Value *X,
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
bool PtxComparisons::comparison(const PtxInstruction &In) {
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

bool PtxComparisons::selection(const PtxInstruction &In) {
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

} // namespace dragon
