//===- BuilderFacts.h - what the builder knows ---------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the builder of buffer programs share this: the function, its
// analyses, and the program as far as it is built. Private to this folder, like
// the headers of these parts.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_BUILDERFACTS_H
#define DRAGON_PASSES_LIFETIME_BUILDERFACTS_H

#include "passes/SourceNames.h"
#include "passes/lifetime/Aliases.h"
#include "passes/lifetime/BufferProgramBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace dragon {

struct BuilderFacts {
  BuilderFacts(llvm::Function &F, llvm::FunctionAnalysisManager &Analyses,
               const KernelSummaries &Kernels,
               llvm::ArrayRef<const llvm::GlobalVariable *> OwnGlobals);

  /// The place of the instruction in the user's source, which Result keeps too.
  Position position(const llvm::Instruction &I);
  bool inCycle(const llvm::Instruction &I) const {
    return Cyclic.contains(I.getParent());
  }

  llvm::Function &F;
  const KernelSummaries &Kernels;
  UserLocations Locations;
  Aliases Pointers;
  llvm::ScalarEvolution &Evolution;
  llvm::LoopInfo &Loops;
  llvm::DominatorTree &Dominators;
  const llvm::TargetLibraryInfo &Library;
  /// The blocks that lie in cycles.
  llvm::SmallPtrSet<const llvm::BasicBlock *, 16> Cyclic;

  BuiltProgram Result;
  llvm::DenseMap<unsigned, unsigned> BufferOf; ///< object -> buffer
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> BlockOf;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_BUILDERFACTS_H
