//===- CursorBuilder.h - pointers that move in loops ---------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the cursors of a buffer program: reads at a place that rises from each
// iteration of a loop to the next.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_CURSORBUILDER_H
#define DRAGON_PASSES_LIFETIME_CURSORBUILDER_H

#include "passes/lifetime/BuilderFacts.h"

namespace llvm {
class SCEVAddRecExpr;
} // namespace llvm

namespace dragon {

class CursorBuilder {
public:
  explicit CursorBuilder(BuilderFacts &Facts) : Facts(Facts) {}

  /// Of the uses from First on, which the operand has just added.
  void noteCursor(Event &E, size_t First, llvm::CallBase &Call,
                  unsigned Operand);
  /// After all events are there.
  void addCursors();

private:
  BuilderFacts &Facts;
  /// What the cursors of uses stand for until addCursors().
  std::vector<const llvm::SCEVAddRecExpr *> Places;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_CURSORBUILDER_H
