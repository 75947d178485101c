//===- ReadTest.cpp - does that launch read below its pointer? ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/ReadTest.h"

#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/KernelSummaries.h"
#include "passes/rewrite/EntryPoints.h"
#include "passes/rewrite/LoopBounds.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace dragon {

std::optional<ReadTest> ReadTest::plan(CallBase &Launch, unsigned Operand,
                                       const KernelSummaries &Kernels,
                                       ScalarEvolution &Evolution,
                                       LoopBounds &Bounds) {
  ReadTest Result;
  Result.Stub = Launch.getCalledFunction();
  CallBase *Push = launchConfiguration(Launch);
  ArrayRef<uint32_t> Sizes = Kernels.argumentSizes(*Result.Stub);
  if (!Push || Push->arg_size() < 4 || Sizes.empty())
    return std::nullopt;
  const FootprintInputs Inputs = Kernels.footprintInputs(*Result.Stub, Operand);
  const unsigned Widths[] = {64, 32, 64, 32};
  for (unsigned I = 0; I < 4; ++I) {
    Value *Size = Push->getArgOperand(I);
    if (!Size->getType()->isIntegerTy(Widths[I]))
      return std::nullopt;
    const SCEV **To = I < 2 ? Result.Grid : Result.Block;
    if (Widths[I] == 64) {
      To[0] = Bounds.half(Size, /*Upper=*/false);
      To[1] = Bounds.half(Size, /*Upper=*/true);
    } else {
      To[2] = Evolution.getSCEV(Size);
    }
  }
  for (unsigned D = 0; D < 3; ++D) {
    const SCEV *Grid = Result.Grid[D], *Block = Result.Block[D];
    if (!Grid || !Block || !Bounds.isFixed(Block) ||
        !(Inputs.GridSize ? Bounds.isFixed(Grid) : Bounds.isBounded(Grid)))
      return std::nullopt;
  }

  const KernelInfoOnHost &Kernel = Kernels.kernel(*Result.Stub);
  Result.Argument = static_cast<unsigned>(Kernel.Parameters[Operand].Argument);
  Result.PointerField = Kernel.Parameters[Operand].Offset;
  Result.Sizes.assign(Sizes.begin(), Sizes.end());
  Result.Known.assign(Sizes.size(), false);
  for (unsigned A : Inputs.Arguments)
    if (A < Sizes.size())
      Result.Known[A] = A != Result.Argument;
  // An argument with a part that changes may have any value.
  for (unsigned P = 0; P < Launch.arg_size(); ++P) {
    const StubParameter &To = Kernel.Parameters[P];
    if (To.Argument < 0)
      return std::nullopt;
    const unsigned A = static_cast<unsigned>(To.Argument);
    if (!Result.Known[A])
      continue;
    Value *V = Launch.getArgOperand(P);
    const SCEV *Number =
        Evolution.isSCEVable(V->getType()) ? Evolution.getSCEV(V) : nullptr;
    if (Launch.isByValArgument(P) || !(isa<Constant, llvm::Argument>(V) ||
                                       (Number && Bounds.isFixed(Number))))
      Result.Known[A] = false;
    else
      Result.Fields.push_back({A, To.Offset, Number, V});
  }
  erase_if(Result.Fields,
           [&](const Field &F) { return !Result.Known[F.Argument]; });
  return Result;
}

Value *ReadTest::emit(LoopBounds &Bounds, Instruction &Point) const {
  // The arguments one after the other, each at a multiple of 16.
  SmallVector<uint64_t, 8> Offsets;
  uint64_t Bytes = 0;
  for (uint32_t Size : Sizes) {
    Offsets.push_back(Bytes);
    Bytes = alignTo(Bytes + Size, 16);
  }
  Function &F = *Point.getFunction();
  IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Values = Entry.CreateAlloca(
      ArrayType::get(Entry.getInt8Ty(), Bytes), nullptr, "dragon.values");
  Values->setAlignment(Align(16));
  AllocaInst *Args = Entry.CreateAlloca(
      ArrayType::get(Entry.getPtrTy(), Sizes.size()), nullptr, "dragon.args");
  IRBuilder<> Builder(&Point);
  auto At = [&](uint64_t Offset) {
    return Builder.CreateConstInBoundsGEP1_64(Builder.getInt8Ty(), Values,
                                              Offset);
  };
  Builder.CreateMemSet(Values, Builder.getInt8(0), Bytes, Align(16));
  for (size_t I = 0; I < Sizes.size(); ++I)
    Builder.CreateStore(
        Known[I] ? At(Offsets[I])
                 : ConstantPointerNull::get(Builder.getPtrTy()),
        Builder.CreateConstInBoundsGEP1_64(Builder.getPtrTy(), Args, I));
  for (const Field &Each : Fields) {
    Value *V = Each.Number ? Bounds.fixed(Each.Number) : Each.Plain;
    Builder.CreateAlignedStore(V, At(Offsets[Each.Argument] + Each.Offset),
                               Align(1));
  }
  // A grid that is too large for 32 bits is launched by nobody.
  auto Size = [&](const SCEV *S) -> Value * {
    Value *Largest = Bounds.largest(S);
    return isa<Constant>(Largest)
               ? Largest
               : Builder.CreateBinaryIntrinsic(Intrinsic::umin, Largest,
                                               Builder.getInt64(UINT32_MAX));
  };
  auto Pair = [&](const SCEV *const *Sizes) {
    Value *X = Size(Sizes[0]), *Y = Size(Sizes[1]);
    return Builder.CreateOr(X, Builder.CreateShl(Y, 32));
  };
  auto Third = [&](const SCEV *const *Sizes) {
    return Builder.CreateTrunc(Size(Sizes[2]), Builder.getInt32Ty());
  };
  Value *GridXY = Pair(Grid), *GridZ = Third(Grid);
  Value *BlockXY = Pair(Block), *BlockZ = Third(Block);
  return callEntry("__dragon_reads_upwards",
                   {Stub, GridXY, GridZ, BlockXY, BlockZ, Args,
                    Builder.getInt32(Argument), Builder.getInt32(PointerField)},
                   Point);
}

} // namespace dragon
