//===- RunModes.cpp - how the threads of a block run ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/RunModes.h"

#include "passes/cpu/LoopInterchange.h"
#include "passes/cpu/RuntimeFunctions.h"
#include "passes/cpu/ThreadContext.h"
#include "passes/cpu/ThreadTurns.h"
#include "passes/support/ExtraParameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

/// Facts about the functions that a kernel reaches.
class Reach {
public:
  explicit Reach(Module &M)
      : Waiting(functionsThatNeed(
            M, [](Instruction &I) { return letsOtherThreadsRun(I); })),
        Looking(functionsThatNeed(
            M, [](Instruction &I) { return mayLookAtContext(I); })) {
    for (Function &F : M)
      if (!F.isDeclaration() && addressIsTaken(F) && Waiting.contains(&F))
        PointersMayWait = true;
  }

  bool waits(Function &Kernel) const {
    return Waiting.contains(&Kernel) || waitsThroughPointer(Kernel);
  }
  bool waitsThroughPointer(Function &Kernel) const {
    bool Indirect = false;
    reachableFunctions(Kernel, &Indirect);
    return Indirect && PointersMayWait;
  }
  const SmallPtrSet<Function *, 16> &waiting() const { return Waiting; }
  bool looksAtContext(Function &Kernel) const {
    return Looking.contains(&Kernel);
  }

private:
  SmallPtrSet<Function *, 16> Waiting;
  SmallPtrSet<Function *, 16> Looking;
  bool PointersMayWait = false;
};

/// The kernel or a function that it calls has a loop.
bool hasLoop(Function &Kernel) {
  for (Function *F : reachableFunctions(Kernel)) {
    DominatorTree DT(*F);
    if (!LoopInfo(DT).empty())
      return true;
  }
  return false;
}

/// Code other than its barriers reads the thread's context.
bool looksElsewhere(Function &Thread) {
  return any_of(reachableFunctions(Thread), [](Function *F) {
    return any_of(instructions(*F), [](const Instruction &I) {
      return mayLookAtContext(I) && !letsOtherThreadsRun(I);
    });
  });
}

} // namespace

SmallVector<RunDecision, 16> decideRunModes(Module &M,
                                            ArrayRef<HostKernel> Kernels) {
  SmallVector<RunDecision, 16> Result;
  SmallVector<Function *, 16> Simplified;
  SmallPtrSet<Function *, 16> Barriers;
  {
    Reach Facts(M);
    for (const HostKernel &Kernel : Kernels) {
      Function &Thread = *Kernel.Thread;
      RunDecision D{RunMode::Loop, Facts.looksAtContext(Thread)};
      if (!Facts.waits(Thread)) {
        if (Kernel.Optimise && hasLoop(Thread))
          D.How = RunMode::Interchange;
      } else if (Kernel.Optimise && !Facts.waitsThroughPointer(Thread) &&
                 waitsAtBarriersOnly(Thread)) {
        D.How = RunMode::Turns;
        for (Function *F : reachableFunctions(Thread))
          if (F != &Thread && Facts.waiting().contains(F))
            Barriers.insert(F);
      } else {
        D.How = RunMode::Fibers;
      }
      if (D.How == RunMode::Interchange || D.How == RunMode::Turns)
        Simplified.push_back(&Thread);
      Result.push_back(D);
    }
  }
  if (Simplified.empty())
    return Result;
  // A thread can only stop in its own code.
  for (Function *F : Barriers) {
    F->removeFnAttr(Attribute::NoInline);
    F->addFnAttr(Attribute::AlwaysInline);
  }
  simplifyThreads(M, Simplified);
  if (none_of(Result, [](RunDecision D) { return D.How == RunMode::Turns; }))
    return Result;
  const Reach Facts(M);
  for (auto [Kernel, D] : zip(Kernels, Result)) {
    if (D.How != RunMode::Turns)
      continue;
    if (canTakeTurns(*Kernel.Thread, Facts.waiting()))
      D.StoreIndex = looksElsewhere(*Kernel.Thread);
    else
      D.How = RunMode::Fibers;
  }
  return Result;
}

} // namespace dragon
