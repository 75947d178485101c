//===- MustWrite.h - which instruction writes what another reads -*- C++-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What summaries of pointers (PointerAccesses.h) ask about instructions, by
// ScalarEvolution and dominance.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_MUSTWRITE_H
#define DRAGON_PASSES_ACCESS_MUSTWRITE_H

#include "passes/access/AccessRecorder.h"

namespace dragon {

/// The adapter of PointerAccesses.h for LLVM IR.
class InstructionAccesses {
public:
  InstructionAccesses(llvm::ScalarEvolution &SE, llvm::DominatorTree &DT,
                      llvm::LoopInfo &LI)
      : SE(SE), DT(DT), LI(LI) {}

  std::optional<int64_t> distance(const FoundAccess &A,
                                  const FoundAccess &B) const;
  bool comesFirst(const FoundAccess &Write, const FoundAccess &Read) const;
  bool alike(const FoundAccess &A, const FoundAccess &B) const;

private:
  llvm::ScalarEvolution &SE;
  llvm::DominatorTree &DT;
  llvm::LoopInfo &LI;
};

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_MUSTWRITE_H
