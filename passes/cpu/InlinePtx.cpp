//===- InlinePtx.cpp - inline PTX becomes functions -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/InlinePtx.h"

#include "passes/cpu/PtxEmitter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

namespace {

/// The function for a statement, or why there is none.
struct Translated {
  Function *Body = nullptr;
  std::string Problem;
};

class Translator {
public:
  explicit Translator(Module &M) : M(M) {}
  const Translated &translate(CallInst &Call);

private:
  Error build(CallInst &Call, Function &F);

  Module &M;
  StringMap<Translated> Known;
};

/// Statements with the same key are the same function. Immediates are part of
/// it: their values may be part of an instruction.
std::string keyOf(CallInst &Call) {
  auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
  std::string Key;
  raw_string_ostream Stream(Key);
  Stream << Asm->getAsmString() << '\0' << Asm->getConstraintString() << '\0'
         << *Call.getFunctionType();
  for (Value *Arg : Call.args())
    if (isa<ConstantInt, ConstantFP>(Arg))
      Stream << '\0' << *Arg;
  return Key;
}

Error Translator::build(CallInst &Call, Function &F) {
  auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
  PtxProgram Program;
  if (Error E = parsePtx(Asm->getAsmString(), Program))
    return E;
  PtxEmitter Emitter(F, Program);
  IRBuilder<> &B = Emitter.builder();

  SmallVector<Type *, 4> Results;
  if (auto *Struct = dyn_cast<StructType>(F.getReturnType()))
    Results.append(Struct->element_begin(), Struct->element_end());
  else if (!F.getReturnType()->isVoidTy())
    Results.push_back(F.getReturnType());

  // Operands in the order of the text's numbers: outputs, then inputs.
  SmallVector<Value *, 8> Operands;
  unsigned NextArg = 0;
  auto Bits = [](Type *T) {
    return T->isPointerTy() ? 64u
                            : static_cast<unsigned>(
                                  T->getPrimitiveSizeInBits().getFixedValue());
  };
  for (const InlineAsm::ConstraintInfo &Constraint : Asm->ParseConstraints()) {
    if (Constraint.Type == InlineAsm::isClobber)
      continue;
    if (Constraint.isIndirect || Constraint.Type == InlineAsm::isLabel)
      return createStringError("a memory operand");
    if (Constraint.Type == InlineAsm::isOutput) {
      unsigned Number = Operands.size();
      if (Number >= Results.size() || Bits(Results[Number]) == 0)
        return createStringError("an output of unknown type");
      Operands.push_back(Emitter.makeVariable(Bits(Results[Number])));
      continue;
    }
    Value *Given = Call.getArgOperand(NextArg);
    Value *Arg = F.getArg(NextArg++);
    if (Bits(Arg->getType()) == 0)
      return createStringError("an input of unknown type");
    bool Immediate = is_contained(Constraint.Codes, "n") ||
                     is_contained(Constraint.Codes, "i");
    if (Immediate && isa<ConstantInt>(Given)) {
      Operands.push_back(Given);
      continue;
    }
    // "0": starts in the same register as output 0.
    unsigned Output;
    bool Tied = !Constraint.Codes.empty() &&
                !StringRef(Constraint.Codes[0]).getAsInteger(10, Output);
    AllocaInst *Variable = Tied ? cast<AllocaInst>(Operands[Output])
                                : Emitter.makeVariable(Bits(Arg->getType()));
    Type *Int = B.getIntNTy(Bits(Arg->getType()));
    Value *AsInt = Arg->getType()->isPointerTy() ? B.CreatePtrToInt(Arg, Int)
                                                 : B.CreateBitCast(Arg, Int);
    B.CreateStore(B.CreateZExtOrTrunc(AsInt, Variable->getAllocatedType()),
                  Variable);
    Operands.push_back(Variable);
  }
  if (Error E = Emitter.emit(Operands))
    return E;

  auto Result = [&](unsigned N) -> Value * {
    auto *Variable = cast<AllocaInst>(Operands[N]);
    Value *V = B.CreateLoad(Variable->getAllocatedType(), Variable);
    return Results[N]->isPointerTy() ? B.CreateIntToPtr(V, Results[N])
                                     : B.CreateBitCast(V, Results[N]);
  };
  if (F.getReturnType()->isVoidTy()) {
    B.CreateRetVoid();
  } else if (isa<StructType>(F.getReturnType())) {
    Value *All = PoisonValue::get(F.getReturnType());
    for (unsigned N = 0; N < Results.size(); ++N)
      All = B.CreateInsertValue(All, Result(N), N);
    B.CreateRet(All);
  } else {
    B.CreateRet(Result(0));
  }
  return Error::success();
}

const Translated &Translator::translate(CallInst &Call) {
  auto [Entry, New] = Known.try_emplace(keyOf(Call));
  Translated &Result = Entry->second;
  if (!New)
    return Result;
  Function *F = Function::Create(Call.getFunctionType(),
                                 GlobalValue::InternalLinkage, "dragon.asm", M);
  F->addFnAttr(Attribute::AlwaysInline);
  F->setDoesNotThrow();
  Error Failed = build(Call, *F);
  // Types that do not go together, which ptxas would have refused.
  if (!Failed && verifyFunction(*F))
    Failed = createStringError(
        "'" + cast<InlineAsm>(Call.getCalledOperand())->getAsmString() + "'");
  if (Failed) {
    Result.Problem = toString(std::move(Failed));
    std::replace(Result.Problem.begin(), Result.Problem.end(), '\n', ' ');
    F->eraseFromParent();
  } else {
    Result.Body = F;
  }
  return Result;
}

} // namespace

void lowerInlinePtx(Module &M, Unsupported &Refused) {
  SmallVector<WeakVH, 16> Statements;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isInlineAsm())
        Statements.push_back(Call);
  Translator Translation(M);
  for (WeakVH &Handle : Statements) {
    if (!Handle)
      continue; // behind a statement that was refused
    auto &Call = *cast<CallInst>(&*Handle);
    StringRef Text = cast<InlineAsm>(Call.getCalledOperand())->getAsmString();
    if (Text.trim().empty()) {
      // A barrier to the compiler, or a way to hide a value from it.
      if (Call.getType()->isVoidTy()) {
        Call.eraseFromParent();
        continue;
      }
    }
    const Translated &Result = Translation.translate(Call);
    if (!Result.Body) {
      Refused.replace(Call, "inline assembly " + Result.Problem);
      continue;
    }
    Call.setCalledFunction(Result.Body);
    Call.setAttributes(AttributeList());
  }
}

} // namespace dragon
