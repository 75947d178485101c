//===- LoopsOfCallees.cpp - loops in functions that kernels call ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LoopsOfCallees.h"

#include "passes/support/ExtraParameters.h"
#include "passes/support/SeparateLoops.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace dragon {

namespace {

class Callees {
public:
  explicit Callees(ArrayRef<TaggedLoop> Loops) : Wanted(Loops) {}

  /// It has one of the loops, or what it calls has one. Of functions that call
  /// themselves, none.
  bool hasLoop(Function &F) {
    if (F.isDeclaration())
      return false;
    const auto [Known, IsNew] = Have.try_emplace(&F, false);
    if (!IsNew)
      return Known->second;
    const bool Has = hasOwnLoop(F) || any_of(instructions(F), [&](auto &I) {
                       Function *Callee = calleeOf(I);
                       return Callee && hasLoop(*Callee);
                     });
    return Have[&F] = Has;
  }
  CallBase *nextCall(Function &F) {
    for (Instruction &I : instructions(F))
      if (Function *Callee = calleeOf(I); Callee && hasLoop(*Callee))
        return cast<CallBase>(&I);
    return nullptr;
  }

private:
  static Function *calleeOf(Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return Call ? Call->getCalledFunction() : nullptr;
  }
  bool hasOwnLoop(Function &F) {
    DominatorTree DT(F);
    LoopInfo LI(DT);
    return any_of(Wanted, [&](const TaggedLoop &L) {
      return loopOfTag(LI, L.Tag) != nullptr;
    });
  }

  ArrayRef<TaggedLoop> Wanted;
  DenseMap<Function *, bool> Have;
};

bool callsItself(Function &F) {
  return any_of(instructions(F), [&](Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Callee && !Callee->isDeclaration() &&
           reachableFunctions(*Callee).contains(&F);
  });
}

/// Calls that get the address of a variable, as those of lambdas do.
CallBase *nextCallWithVariable(Function &F) {
  constexpr unsigned MostInstructions = 256;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Callee && !Callee->isDeclaration() &&
        any_of(Call->args(),
               [](const Value *Arg) {
                 return Arg->getType()->isPointerTy() &&
                        isa<AllocaInst>(getUnderlyingObject(Arg));
               }) &&
        Callee->getInstructionCount() <= MostInstructions &&
        !callsItself(*Callee))
      return Call;
  }
  return nullptr;
}

/// What was a parameter is a value again, and no variable: also what lambdas
/// have captured.
void promoteParameters(Function &F) {
  constexpr unsigned MostInstructions = 16384;
  while (F.getInstructionCount() < MostInstructions)
    if (CallBase *Call = nextCallWithVariable(F)) {
      InlineFunctionInfo Info;
      if (!InlineFunction(*Call, Info).isSuccess())
        break;
    } else {
      break;
    }
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Sccs;
  ModuleAnalysisManager Modules;
  PassBuilder Builder;
  Builder.registerModuleAnalyses(Modules);
  Builder.registerCGSCCAnalyses(Sccs);
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerLoopAnalyses(Loops);
  Builder.crossRegisterProxies(Loops, Functions, Sccs, Modules);
  SROAPass(SROAOptions::PreserveCFG).run(F, Functions);
}

} // namespace

Function *withLoopsOfCallees(Function &Kernel, ArrayRef<TaggedLoop> Loops) {
  Callees Known(Loops);
  if (Loops.empty() || !(hasLoopsToSeparate(Kernel) || Known.nextCall(Kernel)))
    return nullptr;
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&Kernel, Map);
  Copy->setName(Kernel.getName() + ".dragon.loops");
  separateLoops(*Copy, Kernel);
  while (CallBase *Call = Known.nextCall(*Copy)) {
    InlineFunctionInfo Info;
    if (InlineFunction(*Call, Info).isSuccess())
      continue;
    Copy->eraseFromParent();
    return nullptr;
  }
  promoteParameters(*Copy);
  return Copy;
}

const DILocation *loopOfRecursion(Function &Kernel) {
  for (Function *F : reachableFunctions(Kernel)) {
    if (!callsItself(*F))
      continue;
    DominatorTree DT(*F);
    LoopInfo LI(DT);
    for (const Loop *L : LI)
      if (const DebugLoc At = L->getStartLoc())
        return At.get();
  }
  return nullptr;
}

} // namespace dragon
