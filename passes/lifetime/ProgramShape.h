//===- ProgramShape.h - buffers, blocks, edges ---------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shape of a buffer program: its buffers, which are the allocations of the
// function, its blocks and their edges, and the ways on which the program
// fails.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_PROGRAMSHAPE_H
#define DRAGON_PASSES_LIFETIME_PROGRAMSHAPE_H

#include "passes/lifetime/BuilderFacts.h"
#include "passes/lifetime/SymbolicValues.h"

namespace dragon {

class ProgramShape {
public:
  ProgramShape(BuilderFacts &Facts, SymbolicValues &Values, bool IsMain)
      : Facts(Facts), Values(Values), IsMain(IsMain) {}

  void addBuffers();
  void addBlocks();
  /// After all events and pointers are there: it may add blocks for edges.
  void markFailures();

private:
  bool isGivenToCalls(unsigned Object) const;
  bool isFreedEachTime(const llvm::Value &Given) const;
  bool mayBeSummary(unsigned Object, const llvm::Value &Given) const;
  void markFailingEdge(llvm::BasicBlock *From, llvm::BasicBlock *To);

  BuilderFacts &Facts;
  SymbolicValues &Values;
  bool IsMain;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_PROGRAMSHAPE_H
