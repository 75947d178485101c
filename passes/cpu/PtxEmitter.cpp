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
    : PtxStatement(F, Program), Program(Program) {}

Error PtxEmitter::emit(ArrayRef<Value *> StatementOperands) {
  begin(StatementOperands);
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
      Value *Holds = B.CreateLoad(B.getInt1Ty(), registerAt(In.Guard));
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
  return move(In) || Numbers.emit(In) || Comparisons.emit(In) ||
         Conversions.emit(In) || Video.emit(In) || Memory.emit(In) ||
         Threads.emit(In) || control(In);
}

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
