//===- OverwriteTest.cpp - will that launch overwrite it? -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/OverwriteTest.h"

#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/KernelSummaries.h"
#include "passes/rewrite/EntryPoints.h"
#include "passes/rewrite/LaterValues.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <optional>

using namespace llvm;

namespace dragon {

std::optional<OverwriteTest>
OverwriteTest::plan(CallBase &Launch, unsigned Operand, Instruction &Point,
                    std::shared_ptr<LaterValues> Values,
                    const KernelSummaries &Kernels) {
  OverwriteTest Result;
  Result.Call = &Launch;
  Result.Operand = Operand;
  Result.Point = &Point;
  Result.Kernels = &Kernels;
  if (!isLaunch(Launch)) {
    if (!Values->has(Launch.getArgOperand(Operand)))
      return std::nullopt;
    Result.Values = std::move(Values);
    return Result;
  }
  Result.Push = launchConfiguration(Launch);
  const Function &Stub = *Launch.getCalledFunction();
  if (!Result.Push || Result.Push->arg_size() < 4 ||
      Kernels.argumentSizes(Stub).empty())
    return std::nullopt;
  Result.Values = std::move(Values);
  LaterValues &At = *Result.Values;
  const unsigned Widths[] = {64, 32, 64, 32};
  for (unsigned I = 0; I < 4; ++I) {
    const Value *Size = Result.Push->getArgOperand(I);
    if (!Size->getType()->isIntegerTy(Widths[I]) || !At.has(Size))
      return std::nullopt;
  }
  const KernelInfoOnHost &Kernel = Kernels.kernel(Stub);
  const SmallSet<unsigned, 8> Needed =
      Kernels.footprintInputs(Stub, Operand).Arguments;
  const int Overwritten = Kernel.Parameters[Operand].Argument;
  for (unsigned P = 0; P < Launch.arg_size(); ++P) {
    const int Argument = Kernel.Parameters[P].Argument;
    if (Argument < 0)
      return std::nullopt;
    if (P == Operand || !Needed.contains(static_cast<unsigned>(Argument)))
      continue;
    if (Launch.isByValArgument(P) || Argument == Overwritten ||
        !At.has(Launch.getArgOperand(P)))
      return std::nullopt;
    Result.Copied.push_back(P);
  }
  return Result;
}

Value *OverwriteTest::emit(Value &Address) const {
  LaterValues &At = *Values;
  Value *Overwritten = Push ? overwrittenByLaunch(Address)
                            : IRBuilder<>(Point).CreateFreeze(
                                  At.get(Call->getArgOperand(Operand)));
  if (Value *Reached = At.reached())
    Overwritten = IRBuilder<>(Point).CreateSelect(
        Reached, Overwritten,
        ConstantInt::getAllOnesValue(Overwritten->getType()));
  if (Value *Mispredicted = At.mispredicted())
    Overwritten = IRBuilder<>(Point).CreateSelect(
        Mispredicted, ConstantInt::getNullValue(Overwritten->getType()),
        Overwritten);
  return Overwritten;
}

Value *OverwriteTest::overwrittenByLaunch(Value &Address) const {
  Function &Stub = *Call->getCalledFunction();
  const KernelInfoOnHost &Kernel = Kernels->kernel(Stub);
  ArrayRef<uint32_t> Sizes = Kernels->argumentSizes(Stub);
  // The arguments one after the other, each at a multiple of 16.
  SmallVector<uint64_t, 8> Offsets;
  uint64_t Bytes = 0;
  for (uint32_t Size : Sizes) {
    Offsets.push_back(Bytes);
    Bytes = alignTo(Bytes + Size, 16);
  }
  Function &F = *Point->getFunction();
  IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Storage = Entry.CreateAlloca(
      ArrayType::get(Entry.getInt8Ty(), Bytes), nullptr, "dragon.values");
  Storage->setAlignment(Align(16));
  AllocaInst *Args = Entry.CreateAlloca(
      ArrayType::get(Entry.getPtrTy(), Sizes.size()), nullptr, "dragon.args");
  IRBuilder<> Builder(Point);
  Builder.CreateMemSet(Storage, Builder.getInt8(0), Bytes, Align(16));
  for (size_t I = 0; I < Sizes.size(); ++I)
    Builder.CreateStore(
        Builder.CreateConstInBoundsGEP1_64(Builder.getInt8Ty(), Storage,
                                           Offsets[I]),
        Builder.CreateConstInBoundsGEP1_64(Builder.getPtrTy(), Args, I));
  auto Store = [&](unsigned Parameter, Value *V) {
    const StubParameter &P = Kernel.Parameters[Parameter];
    Builder.CreateAlignedStore(
        V,
        Builder.CreateConstInBoundsGEP1_64(
            Builder.getInt8Ty(), Storage,
            Offsets[static_cast<unsigned>(P.Argument)] + P.Offset),
        Align(1));
  };
  LaterValues &At = *Values;
  Store(Operand, &Address);
  for (unsigned P : Copied)
    Store(P, At.get(Call->getArgOperand(P)));
  Value *Grid[4];
  for (unsigned I = 0; I < 4; ++I)
    Grid[I] = At.get(Push->getArgOperand(I));
  return callEntry("__dragon_overwritten",
                   {&Stub, Grid[0], Grid[1], Grid[2], Grid[3], Args, &Address},
                   *Point);
}

} // namespace dragon
