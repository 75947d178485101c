//===- PtxStatement.cpp - a statement of inline PTX -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxStatement.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

PtxStatement::PtxStatement(Function &F, const PtxProgram &Program)
    : F(F), B(BasicBlock::Create(F.getContext(), "entry", &F)), A(B),
      Program(Program) {}

void PtxStatement::begin(ArrayRef<Value *> StatementOperands) {
  Statement = StatementOperands;
  for (const PtxType &Type : Program.Registers)
    Registers.push_back(makeVariable(Type.totalWidth()));
}

AllocaInst *PtxStatement::makeVariable(unsigned Bits) {
  IRBuilder<> AtEntry(&F.getEntryBlock(), F.getEntryBlock().begin());
  return AtEntry.CreateAlloca(AtEntry.getIntNTy(Bits));
}

Type *PtxStatement::typeOf(const PtxType &T) {
  Type *Scalar;
  if (T.Kind == PtxType::BFloat)
    Scalar = B.getBFloatTy();
  else if (T.Kind == PtxType::Float)
    Scalar = T.Width == 16   ? B.getHalfTy()
             : T.Width == 32 ? B.getFloatTy()
                             : B.getDoubleTy();
  else
    Scalar = B.getIntNTy(T.Width);
  return T.Lanes == 1 ? Scalar : FixedVectorType::get(Scalar, T.Lanes);
}

/// The variable that holds the operand, or null.
Value *PtxStatement::variable(const PtxOperand &Op) {
  if (Op.Kind == PtxOperand::Register)
    return Registers[Op.Number];
  if (Op.Kind == PtxOperand::Statement && Op.Number < Statement.size() &&
      isa<AllocaInst>(Statement[Op.Number]))
    return Statement[Op.Number];
  return nullptr;
}

/// Shared memory that CUDA keeps for itself; cooperative groups have their
/// barriers and exchanges there. It begins with zeros on the GPU.
static GlobalVariable *reservedShared(Module &M) {
  constexpr StringRef Name = "dragon.reserved_shared";
  constexpr unsigned Bytes = 1024;
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  auto *Type = ArrayType::get(Type::getInt8Ty(M.getContext()), Bytes);
  auto *New = new GlobalVariable(M, Type, false, GlobalValue::InternalLinkage,
                                 PoisonValue::get(Type), Name, nullptr,
                                 GlobalValue::NotThreadLocal, 3);
  New->setAlignment(Align(16));
  return New;
}

Value *PtxStatement::readSpecial(StringRef Name) {
  if (Name == "reserved_smem_offset_1" || Name == "reserved_smem_offset_begin")
    return B.CreatePtrToInt(reservedShared(*F.getParent()), B.getInt32Ty());
  std::string Dotted = Name.str();
  std::replace(Dotted.begin(), Dotted.end(), '_', '.');
  Intrinsic::ID ID =
      Intrinsic::lookupIntrinsicID("llvm.nvvm.read.ptx.sreg." + Dotted);
  if (!ID) {
    BadOperand = true;
    return B.getInt32(0);
  }
  return call(ID, {});
}

Value *PtxStatement::readBits(const PtxOperand &Op, unsigned Bits,
                              bool Signed) {
  Type *To = B.getIntNTy(Bits);
  Value *V = nullptr;
  switch (Op.Kind) {
  case PtxOperand::Register:
  case PtxOperand::Statement:
    if (Value *Variable = variable(Op)) {
      V = B.CreateLoad(cast<AllocaInst>(Variable)->getAllocatedType(),
                       Variable);
      break;
    }
    if (Op.Kind == PtxOperand::Statement && Op.Number < Statement.size()) {
      V = Statement[Op.Number]; // an immediate
      break;
    }
    BadOperand = true;
    return PoisonValue::get(To);
  case PtxOperand::Integer:
    return ConstantInt::get(To,
                            APInt(64, Op.Bits).zextOrTrunc(Bits) |
                                (static_cast<int64_t>(Op.Bits) < 0 && Bits > 64
                                     ? APInt::getHighBitsSet(Bits, Bits - 64)
                                     : APInt(Bits, 0)));
  case PtxOperand::Float32:
  case PtxOperand::Float64:
    return ConstantInt::get(To, APInt(64, Op.Bits).zextOrTrunc(Bits));
  case PtxOperand::Special:
    V = readSpecial(Op.Name);
    break;
  default:
    BadOperand = true;
    return PoisonValue::get(To);
  }
  if (Op.Negated)
    V = B.CreateNot(V);
  return Signed ? B.CreateSExtOrTrunc(V, To) : B.CreateZExtOrTrunc(V, To);
}

Value *PtxStatement::read(const PtxOperand &Op, const PtxType &T) {
  Type *To = typeOf(T);
  if (T.isFloat() && T.Lanes == 1 &&
      (Op.Kind == PtxOperand::Float32 || Op.Kind == PtxOperand::Float64)) {
    double Value = Op.Kind == PtxOperand::Float32
                       ? bit_cast<float>(static_cast<uint32_t>(Op.Bits))
                       : bit_cast<double>(Op.Bits);
    if (T.Width >= 32)
      return ConstantFP::get(To, Value);
  }
  return B.CreateBitCast(readBits(Op, T.totalWidth()), To);
}

Value *PtxStatement::readPredicate(const PtxOperand &Op) {
  PtxOperand Plain = Op;
  Plain.Negated = false;
  Value *V = Op.Kind == PtxOperand::Integer
                 ? B.getInt1(Op.Bits != 0)
                 : B.CreateIsNotNull(readBits(
                       Plain, Op.Kind == PtxOperand::Register
                                  ? Program.Registers[Op.Number].totalWidth()
                                  : 32));
  return Op.Negated ? B.CreateNot(V) : V;
}

/// Writes V, of any type, into a register that is as wide or wider.
bool PtxStatement::write(const PtxOperand &Op, Value *V, bool Signed) {
  if (Op.Kind == PtxOperand::Sink)
    return true;
  auto *Variable = cast_or_null<AllocaInst>(variable(Op));
  if (!Variable) {
    BadOperand = true;
    return true;
  }
  unsigned Bits = V->getType()->getPrimitiveSizeInBits().getFixedValue();
  V = B.CreateBitCast(V, B.getIntNTy(Bits));
  Type *To = Variable->getAllocatedType();
  V = Signed ? B.CreateSExtOrTrunc(V, To) : B.CreateZExtOrTrunc(V, To);
  B.CreateStore(V, Variable);
  return true;
}

Value *PtxStatement::call(Intrinsic::ID ID, ArrayRef<Value *> Args,
                          ArrayRef<Type *> Types) {
  return B.CreateIntrinsic(ID, Types, Args);
}

/// The instruction names the shared window.
bool isShared(const PtxInstruction &In) {
  for (StringRef Modifier : In.Modifiers)
    if (Modifier.starts_with("shared"))
      return true;
  return false;
}

/// [base + offset] as a pointer of address space 0. In the shared window the
/// base is an offset (inttoptr in that address space says so).
Value *PtxStatement::address(const PtxOperand &Op, const PtxInstruction &In) {
  if (Op.Kind != PtxOperand::Address || Op.Parts.empty() || In.has("param")) {
    BadOperand = true;
    return PoisonValue::get(B.getPtrTy());
  }
  Value *Base = readBits(Op.Parts[0], 64);
  Value *Pointer;
  if (isShared(In))
    Pointer = B.CreateAddrSpaceCast(
        B.CreateIntToPtr(Base, B.getPtrTy(NVPTXAS::ADDRESS_SPACE_SHARED)),
        B.getPtrTy());
  else
    Pointer = B.CreateIntToPtr(Base, B.getPtrTy());
  return Op.Bits ? B.CreateGEP(B.getInt8Ty(), Pointer, B.getInt64(Op.Bits))
                 : Pointer;
}

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

bool onlyType(const PtxInstruction &In, PtxType &Type) {
  auto Types = In.types();
  if (Types.empty())
    return false;
  Type = Types.back();
  return true;
}

} // namespace dragon
