//===- FirstLaunch.h - what only the first launch of a loop does -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a loop runs in several launches, what stands in front of it runs in
// each of them. What writes memory there must not, nor what reads memory that
// the kernel changes: they run in the first launch alone, and what was read
// goes on like a variable of the loop.
//
//   float factor = scale[row];          // goes on
//   scale[row] = 0;                     // the first time
//   float sum = y[row];                 // the first time
//   for (int i = 0; i < n; ++i)
//     sum += factor * a[row * n + i];
//   y[row] = sum;                       // the last time
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_FIRSTLAUNCH_H
#define DRAGON_PASSES_SLICING_FIRSTLAUNCH_H

#include "dragon/SummaryBuilder.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace llvm {
class BasicBlock;
class CallBase;
class DominatorTree;
class Instruction;
class Loop;
class Value;
} // namespace llvm

namespace dragon {

class FirstLaunch {
public:
  FirstLaunch(const llvm::Loop &L, const llvm::DominatorTree &DT)
      : L(L), DT(DT) {}

  /// A load, or a write whose result nobody uses, that no iteration comes
  /// before.
  void add(llvm::Instruction &I) { Once.insert(&I); }
  /// Nobody needs anything of the call but what it does to buffers.
  static bool isForBuffersAlone(const llvm::CallBase &Call);
  /// Why a launch cannot go on for what the summary says of the loop with that
  /// number: that a pointer's bytes are written in front of the loop before
  /// they are read is true of the launch, and not of a range of iterations.
  static const char *obstacleIn(const KernelSummary &Summary, uint32_t Number);
  /// After add(): nothing else in front of the loop depends on what was read
  /// but what is kept. Else no launch can go on.
  bool canGoOn();

  /// In a copy of the function, in which `CopysLoop` is the loop and has a
  /// preheader and one latch: does so. `Begin`: the first iteration of the
  /// launch, a parameter.
  void rewrite(const llvm::ValueToValueMapTy &Map, llvm::Loop &CopysLoop,
               llvm::Value &Begin) const;

private:
  bool isInFront(const llvm::BasicBlock &Block) const;
  bool follow(llvm::Instruction &User);

  const llvm::Loop &L;
  const llvm::DominatorTree &DT;
  llvm::SetVector<llvm::Instruction *> Once;
  /// What depends on what was read.
  llvm::SetVector<llvm::Instruction *> Read;
  /// Those of them that the loop uses, or what is behind it.
  llvm::SetVector<llvm::Instruction *> Kept;
};

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_FIRSTLAUNCH_H
