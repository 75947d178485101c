//===- CursorBuilder.cpp - pointers that move through a loop --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the cursors of passes/placement: reads through a pointer that is an
// affine recurrence of a loop, buffer + start + step * iteration.
//
// That its places only rise takes more than step >= 0, for additions wrap. But
// the pointer is made from the buffer's address by `getelementptr inbounds`, so
// the offset lies within the buffer wherever the pointer is used; and it is
// used in each iteration that has a next one. From an offset within the buffer,
// a step of 0 to 2^63 - 1 leads to where no 64-bit number has wrapped. So the
// offset rises from each iteration to the next, and only the step's sign is
// left to be tested.
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/CursorBuilder.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace dragon {

/// Made from Base by steps within the object alone.
static bool staysInside(const Value *Pointer, const Value *Base) {
  while (Pointer != Base) {
    auto *Step = dyn_cast<GEPOperator>(Pointer);
    if (!Step || !Step->isInBounds())
      return false;
    Pointer = Step->getPointerOperand();
  }
  return true;
}

void CursorBuilder::noteCursor(Event &E, size_t First, CallBase &Call,
                               unsigned Operand) {
  if (E.Uses.size() != First + 1)
    return;
  BufferUse &U = E.Uses[First];
  const Value *Pointer = Call.getArgOperand(Operand);
  const Value *Base = Facts.Result.Sites[U.Buffer].Pointer;
  if (!U.Reads || !Base || !staysInside(Pointer, Base))
    return;
  auto *Place = dyn_cast<SCEVAddRecExpr>(
      Facts.Evolution.getSCEV(const_cast<Value *>(Pointer)));
  if (!Place || !Place->isAffine() ||
      Facts.Evolution.isKnownNegative(
          Place->getStepRecurrence(Facts.Evolution)))
    return;
  // Every iteration that is followed by another comes here.
  const Loop *L = Place->getLoop();
  const BasicBlock *Latch = L->getLoopLatch();
  // Of a launch that is its configuration: pushing that does not fail.
  const CallBase *Sure = isLaunch(Call) ? launchConfiguration(Call) : &Call;
  if (!Sure || !Latch || !L->contains(Sure->getParent()) ||
      !Facts.Dominators.dominates(Sure->getParent(), Latch))
    return;
  U.Operand = static_cast<int>(Operand);
  U.Cursor = static_cast<int>(Places.size());
  Places.push_back(Place);
}

void CursorBuilder::addCursors() {
  std::vector<Cursor> &Cursors = Facts.Result.Program.Cursors;
  // The lowest of those that keep their distance.
  SmallVector<const SCEVAddRecExpr *, 4> Lowest;
  auto Distance = [&](const SCEVAddRecExpr *From, const SCEVAddRecExpr *To) {
    auto *Bytes = From->getLoop() == To->getLoop() &&
                          From->getStepRecurrence(Facts.Evolution) ==
                              To->getStepRecurrence(Facts.Evolution)
                      ? dyn_cast<SCEVConstant>(Facts.Evolution.getMinusSCEV(
                            To->getStart(), From->getStart()))
                      : nullptr;
    return Bytes ? std::optional(Bytes->getAPInt().getSExtValue())
                 : std::nullopt;
  };
  auto ForEachUse = [&](auto &&Fn) {
    for (Block &B : Facts.Result.Program.Blocks)
      for (Event &E : B.Events)
        for (BufferUse &U : E.Uses)
          if (U.Cursor >= 0)
            Fn(U);
  };
  ForEachUse([&](BufferUse &U) {
    const SCEVAddRecExpr *Place = Places[static_cast<size_t>(U.Cursor)];
    for (size_t C = 0; C < Cursors.size(); ++C) {
      if (Cursors[C].Buffer != U.Buffer)
        continue;
      if (std::optional<int64_t> Above = Distance(Lowest[C], Place)) {
        if (*Above < 0)
          Lowest[C] = Place;
        return;
      }
    }
    Cursors.push_back({Facts.Result.Program.Buffers[U.Buffer].Name + "." +
                           std::to_string(Cursors.size()),
                       U.Buffer, Facts.BlockOf[Place->getLoop()->getHeader()]});
    Lowest.push_back(Place);
  });
  ForEachUse([&](BufferUse &U) {
    const SCEVAddRecExpr *Place = Places[static_cast<size_t>(U.Cursor)];
    for (size_t C = 0; C < Cursors.size(); ++C) {
      std::optional<int64_t> Above = Distance(Lowest[C], Place);
      if (Cursors[C].Buffer != U.Buffer || !Above)
        continue;
      U.Cursor = static_cast<int>(C);
      U.Above = static_cast<uint64_t>(*Above);
      return;
    }
  });
}

} // namespace dragon
