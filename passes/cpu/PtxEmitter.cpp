//===- PtxEmitter.cpp - inline PTX as IR ----------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxEmitter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

PtxEmitter::PtxEmitter(Function &F, const PtxProgram &Program)
    : F(F), Program(Program),
      B(BasicBlock::Create(F.getContext(), "entry", &F)), A(B) {}

AllocaInst *PtxEmitter::makeVariable(unsigned Bits) {
  IRBuilder<> AtEntry(&F.getEntryBlock(), F.getEntryBlock().begin());
  return AtEntry.CreateAlloca(AtEntry.getIntNTy(Bits));
}

Error PtxEmitter::emit(ArrayRef<Value *> StatementOperands) {
  Statement = StatementOperands;
  for (const PtxType &Type : Program.Registers)
    Registers.push_back(makeVariable(Type.totalWidth()));
  for (unsigned L = 0; L < Program.NumLabels; ++L)
    Labels.push_back(BasicBlock::Create(F.getContext(), "label", &F));
  SmallVector<bool, 4> Defined(Program.NumLabels, false);

  for (const PtxInstruction &In : Program.Instructions) {
    if (In.Label >= 0) {
      Defined[In.Label] = true;
      B.CreateBr(Labels[In.Label]);
      B.SetInsertPoint(Labels[In.Label]);
      continue;
    }
    BasicBlock *After = nullptr;
    if (In.Guard >= 0) {
      Value *Holds = B.CreateLoad(B.getInt1Ty(), Registers[In.Guard]);
      if (In.GuardNegated)
        Holds = B.CreateNot(Holds);
      BasicBlock *Then = BasicBlock::Create(F.getContext(), "guarded", &F);
      After = BasicBlock::Create(F.getContext(), "next", &F);
      B.CreateCondBr(Holds, Then, After);
      B.SetInsertPoint(Then);
    }
    BadOperand = false;
    bool Known = instruction(In);
    if (!Known || BadOperand)
      return createStringError("'" + In.Text + "'");
    if (After) {
      B.CreateBr(After);
      B.SetInsertPoint(After);
    }
  }
  for (unsigned L = 0; L < Program.NumLabels; ++L)
    if (!Defined[L])
      return createStringError("a symbol of another statement");
  return Error::success();
}

bool PtxEmitter::instruction(const PtxInstruction &In) {
  return move(In) || integerArithmetic(In) || carryArithmetic(In) ||
         floatArithmetic(In) || bitOperation(In) || comparison(In) ||
         selection(In) || conversion(In) || videoOperation(In) || memory(In) ||
         synchronisation(In) || control(In);
}

// -- Operands -----------------------------------------------------------------

Type *PtxEmitter::typeOf(const PtxType &T) {
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
Value *PtxEmitter::variable(const PtxOperand &Op) {
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

Value *PtxEmitter::readSpecial(StringRef Name) {
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

Value *PtxEmitter::readBits(const PtxOperand &Op, unsigned Bits, bool Signed) {
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

Value *PtxEmitter::read(const PtxOperand &Op, const PtxType &T) {
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

Value *PtxEmitter::readPredicate(const PtxOperand &Op) {
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
bool PtxEmitter::write(const PtxOperand &Op, Value *V, bool Signed) {
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

Value *PtxEmitter::call(Intrinsic::ID ID, ArrayRef<Value *> Args,
                        ArrayRef<Type *> Types) {
  return B.CreateIntrinsic(ID, Types, Args);
}

// -- Moves and control --------------------------------------------------------

bool PtxEmitter::move(const PtxInstruction &In) {
  if (In.opcode() != "mov" || In.Operands.size() != 2 || In.types().empty())
    return false;
  PtxType Type = In.types().back();
  const PtxOperand &To = In.Operands[0], &From = In.Operands[1];
  unsigned Bits = Type.totalWidth();
  if (From.Kind == PtxOperand::Vector) {
    unsigned Part = Bits / From.Parts.size();
    Value *All = ConstantInt::get(B.getIntNTy(Bits), 0);
    for (unsigned P = 0; P < From.Parts.size(); ++P)
      All = B.CreateOr(All,
                       B.CreateShl(B.CreateZExt(readBits(From.Parts[P], Part),
                                                All->getType()),
                                   P * Part));
    return write(To, All);
  }
  if (To.Kind == PtxOperand::Vector) {
    unsigned Part = Bits / To.Parts.size();
    Value *All = readBits(From, Bits);
    for (unsigned P = 0; P < To.Parts.size(); ++P)
      write(To.Parts[P],
            B.CreateTrunc(B.CreateLShr(All, P * Part), B.getIntNTy(Part)));
    return true;
  }
  if (Type.Kind == PtxType::Predicate)
    return write(To, readPredicate(From));
  if (Type.isFloat() && Type.Lanes == 1)
    return write(To, read(From, Type));
  return write(To, readBits(From, Bits));
}

bool PtxEmitter::control(const PtxInstruction &In) {
  StringRef Op = In.opcode();
  BasicBlock *After = nullptr;
  if (Op == "bra" && In.Operands.size() == 1 &&
      In.Operands[0].Kind == PtxOperand::Label) {
    B.CreateBr(Labels[In.Operands[0].Number]);
  } else if (Op == "exit") {
    call(Intrinsic::nvvm_exit, {});
    B.CreateUnreachable();
  } else if (Op == "trap") {
    call(Intrinsic::trap, {});
    B.CreateUnreachable();
  } else {
    if (Op == "nanosleep" && In.Operands.size() == 1)
      call(Intrinsic::nvvm_nanosleep, {readBits(In.Operands[0], 32)});
    return Op == "brkpt" || Op == "pmevent" || Op == "nanosleep" ||
           Op == "griddepcontrol" || Op == "setmaxnreg";
  }
  // What follows is reached by a label, or not at all.
  After = BasicBlock::Create(F.getContext(), "", &F);
  B.SetInsertPoint(After);
  return true;
}

} // namespace dragon
