//===- SymbolicValues.cpp - values as numbers of the program --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/SymbolicValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

using namespace llvm;

namespace dragon {

/// The value as a number of 64 bits, signed: sext(m * n) is sext(m) * sext(n)
/// where the product has no signed overflow.
const SCEV *SymbolicValues::wideNumber(const Value *V, unsigned Depth) {
  Type *I64 = Type::getInt64Ty(Facts.F.getContext());
  bool Narrow = V->getType() != I64;
  auto Plain = [&] {
    return Facts.Evolution.getTruncateOrSignExtend(
        Facts.Evolution.getSCEV(const_cast<Value *>(V)), I64);
  };
  if (Depth > 16)
    return Plain();
  if (auto *Extend = dyn_cast<SExtInst>(V); Extend && !Narrow)
    return wideNumber(Extend->getOperand(0), Depth + 1);
  auto *Operation = dyn_cast<BinaryOperator>(V);
  if (!Operation)
    return Plain();
  unsigned Opcode = Operation->getOpcode();
  if (Opcode != Instruction::Add && Opcode != Instruction::Sub &&
      Opcode != Instruction::Mul)
    return Plain();
  if (Narrow && !Operation->hasNoSignedWrap())
    return Plain();
  const SCEV *A = wideNumber(Operation->getOperand(0), Depth + 1);
  const SCEV *B = wideNumber(Operation->getOperand(1), Depth + 1);
  return Opcode == Instruction::Add   ? Facts.Evolution.getAddExpr(A, B)
         : Opcode == Instruction::Sub ? Facts.Evolution.getMinusSCEV(A, B)
                                      : Facts.Evolution.getMulExpr(A, B);
}

SizeId SymbolicValues::sizeOf(const SCEV *Bytes) {
  if (!Bytes || isa<SCEVCouldNotCompute>(Bytes))
    return 0;
  return Sizes.try_emplace(Bytes, Sizes.size() + 1).first->second;
}

const SCEV *SymbolicValues::bytesOf(const CallBase &Call, int Bytes,
                                    int Count) {
  auto Value = [&](int Position) -> const SCEV * {
    Type *I64 = Type::getInt64Ty(Facts.F.getContext());
    llvm::Value *V = Call.getArgOperand(Position);
    if (!V->getType()->isIntegerTy())
      return nullptr;
    if (V->getType() == I64)
      return wideNumber(V);
    return Facts.Evolution.getTruncateOrZeroExtend(Facts.Evolution.getSCEV(V),
                                                   I64);
  };
  if (Bytes < 0)
    return nullptr;
  const SCEV *Result = Value(Bytes);
  if (Count >= 0 && Result) {
    const SCEV *Times = Value(Count);
    Result = Times ? Facts.Evolution.getMulExpr(Result, Times) : nullptr;
  }
  return Result;
}

StreamId SymbolicValues::streamOf(const Value *Stream) {
  if (isa<ConstantPointerNull>(Stream))
    return DefaultStream;
  // Loads of one variable at two places may give two streams.
  return Streams.try_emplace(Stream, static_cast<StreamId>(Streams.size() + 1))
      .first->second;
}

StreamId SymbolicValues::launchStream(const CallBase &Launch) {
  const CallBase *Push = launchConfiguration(Launch);
  return Push ? streamOf(Push->getArgOperand(Push->arg_size() - 1))
              : static_cast<StreamId>(UnknownStream);
}

/// A descriptor is one file as long as its value goes nowhere but to calls that
/// use it.
bool SymbolicValues::descriptorEscapes(const Value *Descriptor) const {
  if (!isa<CallBase>(Descriptor))
    return true;
  return any_of(Descriptor->users(), [&](const User *U) {
    if (isa<ICmpInst>(U))
      return false;
    auto *Call = dyn_cast<CallBase>(U);
    const CallEffect *Effect = Call ? callEffect(*Call) : nullptr;
    if (!Effect)
      return true;
    return Effect->Kind != CallKind::Query &&
           (Effect->File < 0 ||
            Call->getArgOperand(Effect->File) != Descriptor);
  });
}

int SymbolicValues::fileOf(Value *File) {
  auto Index = [&](const Value *Key, bool Escapes) {
    auto [It, New] = Files.try_emplace(
        Key, static_cast<int>(Facts.Result.Program.Files.size()));
    if (New) {
      FileHandle Handle;
      auto *Open = dyn_cast<CallBase>(Key);
      Handle.Name = Open ? bufferName(*Open) : userName(Key->getName()).str();
      Handle.Escapes = Escapes;
      Facts.Result.Program.Files.push_back(std::move(Handle));
    }
    return It->second;
  };
  if (File->getType()->isIntegerTy())
    return Index(File, descriptorEscapes(File));
  TargetSet Targets = Facts.Pointers.pointsTo(File);
  if (Targets.empty())
    return -1;
  const MemoryObject &O = Facts.Pointers.objects()[Targets.begin()->Object];
  if (Targets.size() == 1 && O.Kind == ObjectKind::File) {
    auto *Open = cast<Instruction>(O.Site);
    // The descriptor below it may be used as well.
    bool Shared = any_of(File->users(), [](const User *U) {
      auto *Call = dyn_cast<CallBase>(U);
      return Call && Call->getCalledFunction() &&
             Call->getCalledFunction()->getName() == "fileno";
    });
    if (!Facts.inCycle(*Open) || File->stripPointerCasts() == Open)
      return Index(Open, O.Escapes || Shared);
  }
  for (const Target &T : Targets)
    if (!Facts.Pointers.objects()[T.Object].Escapes)
      return -1;
  // stderr and the like.
  if (auto *Load = dyn_cast<LoadInst>(File))
    if (isa<GlobalVariable>(Load->getPointerOperand()))
      return Index(Load->getPointerOperand(), true);
  return Index(File, true);
}

} // namespace dragon
