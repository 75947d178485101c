//===- MathFunctions.cpp - libdevice is inlined late ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/MathFunctions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace dragon {

namespace {

/// Of functions that KeptMathPass keeps.
constexpr char Kept[] = "dragon-math";

/// Its result depends on its operands alone: it has no pointer, through which
/// some of the library's functions give a second result.
bool isFunctionOfNumbers(const Function &F) {
  const auto IsNumber = [](const Type *T) {
    return T->isIntOrIntVectorTy() || T->isFPOrFPVectorTy();
  };
  return F.getName().starts_with("__nv_") && !F.isDeclaration() &&
         F.hasFnAttribute(Attribute::AlwaysInline) &&
         IsNumber(F.getReturnType()) &&
         all_of(F.args(), [&](const auto &A) { return IsNumber(A.getType()); });
}

void simplify(Function &F, FunctionAnalysisManager &Analyses) {
  FunctionPassManager Simplify;
  Simplify.addPass(SROAPass(SROAOptions::ModifyCFG));
  Simplify.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Simplify.addPass(SimplifyCFGPass());
  Simplify.addPass(InstCombinePass());
  Simplify.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                   /*UseMemorySSA=*/true));
  Simplify.addPass(GVNPass());
  Simplify.addPass(InstCombinePass());
  Simplify.addPass(SimplifyCFGPass());
  Simplify.run(F, Analyses);
}

} // namespace

PreservedAnalyses KeptMathPass::run(Module &M, ModuleAnalysisManager &) {
  if (!M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  bool Changed = false;
  for (Function &F : M) {
    if (!isFunctionOfNumbers(F))
      continue;
    Changed = true;
    F.setMemoryEffects(MemoryEffects::none());
    F.addFnAttr(Attribute::NoUnwind);
    F.addFnAttr(Attribute::WillReturn);
    F.removeFnAttr(Attribute::Convergent);
    F.removeFnAttr(Attribute::AlwaysInline);
    F.addFnAttr(Attribute::NoInline);
    F.addFnAttr(Kept);
    for (User *U : F.users())
      if (auto *Call = dyn_cast<CallBase>(U))
        Call->removeFnAttr(Attribute::Convergent);
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

PreservedAnalyses InlinedMathPass::run(Module &M,
                                       ModuleAnalysisManager &Analyses) {
  SetVector<Function *> Callers;
  for (Function &F : M) {
    if (!F.hasFnAttribute(Kept))
      continue;
    F.removeFnAttr(Kept);
    F.removeFnAttr(Attribute::NoInline);
    F.addFnAttr(Attribute::AlwaysInline);
    for (User *U : F.users())
      if (auto *Call = dyn_cast<CallBase>(U))
        Callers.insert(Call->getFunction());
  }
  if (Callers.empty())
    return PreservedAnalyses::all();
  ModulePassManager Inline;
  Inline.addPass(AlwaysInlinerPass());
  // It erases the library's functions, some of which call others: their handles
  // are null then.
  SmallVector<WeakTrackingVH, 16> Changed(Callers.begin(), Callers.end());
  Inline.run(M, Analyses);
  auto &Functions =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (const WeakTrackingVH &Value : Changed)
    if (auto *F = dyn_cast_or_null<Function>(Value))
      simplify(*F, Functions);
  return PreservedAnalyses::none();
}

} // namespace dragon
