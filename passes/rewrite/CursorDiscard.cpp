//===- CursorDiscard.cpp - how much lies behind a cursor ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/CursorDiscard.h"

#include "passes/rewrite/LoopBounds.h"
#include "passes/rewrite/ReadTest.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace dragon {

std::optional<CursorDiscard>
emitCursorDiscard(const Directive &D, ArrayRef<EventRef> Launches,
                  const BuiltProgram &Built, const KernelSummaries &Kernels,
                  ScalarEvolution &Evolution, Instruction &Point) {
  auto CallOf = [&](EventRef At) {
    return cast<CallBase>(Built.Instructions[At.Block][At.Index]);
  };
  const BufferUse &U = *Built.Program.event(D.At).find(D.Buffer);
  Value *Pointer =
      CallOf(D.At)->getArgOperand(static_cast<unsigned>(U.Operand));
  auto *Place = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(Pointer));
  if (!Place)
    return std::nullopt;
  SCEVExpander Expander(Evolution, "dragon");
  LoopBounds Bounds(Evolution, Expander, *Place->getLoop(), Point);
  const SCEV *Step = Place->getStepRecurrence(Evolution);
  IRBuilder<> Builder(&Point);
  Type *I64 = Builder.getInt64Ty();
  if (Step->getType() != I64 || !Bounds.isFixed(Step))
    return std::nullopt;
  SmallVector<ReadTest, 2> Tests;
  for (EventRef At : Launches) {
    const BufferUse &Tested = *Built.Program.event(At).find(D.Buffer);
    std::optional<ReadTest> Test =
        ReadTest::plan(*CallOf(At), static_cast<unsigned>(Tested.Operand),
                       Kernels, Evolution, Bounds);
    if (!Test)
      return std::nullopt;
    Tests.push_back(std::move(*Test));
  }

  Value *Bytes = Bounds.fixed(Step);
  Value *Condition = Evolution.isKnownNonNegative(Step)
                         ? Builder.getInt32(1)
                         : Builder.CreateZExt(Builder.CreateICmpSGE(
                                                  Bytes, Builder.getInt64(0)),
                                              Builder.getInt32Ty());
  for (const ReadTest &Test : Tests)
    Condition = Builder.CreateAnd(Condition, Test.emit(Bounds, Point));
  Value *Base = Built.Sites[D.Buffer].Pointer;
  Value *Offset = Builder.CreateSub(Builder.CreatePtrToInt(Pointer, I64),
                                    Builder.CreatePtrToInt(Base, I64));
  if (U.Above)
    Offset = Builder.CreateSub(Offset, Builder.getInt64(U.Above));
  return CursorDiscard{Condition, Builder.CreateAdd(Offset, Bytes)};
}

} // namespace dragon
