//===- GridSlicing.cpp - sub-grid clones of kernels -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/GridSlicing.h"

#include "passes/support/ExtraParameters.h"
#include "passes/support/LaunchValues.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned NumExtra = 6;
constexpr StringRef ExtraNames[NumExtra] = {
    "dragon.offset.x", "dragon.offset.y", "dragon.offset.z",
    "dragon.grid.x",   "dragon.grid.y",   "dragon.grid.z"};

class Slicer {
public:
  explicit Slicer(Module &M)
      : M(M), Readers(functionsThatNeed(
                  M, [](Instruction &I) { return readsGridPosition(I); })) {}

  void addClone(Function &Kernel);

private:
  Function *clone(Function &F, const Twine &Name);
  void rewrite(Function &Clone);

  Module &M;
  SmallPtrSet<Function *, 16> Readers;
  /// Original -> clone of called functions; shared by all kernels.
  DenseMap<Function *, Function *> Clones;
  SmallVector<Function *, 16> Pending;
};

void Slicer::addClone(Function &Kernel) {
  Function *Clone = clone(Kernel, sliceCloneName(Kernel.getName()));
  Pending.push_back(Clone);
  while (!Pending.empty())
    rewrite(*Pending.pop_back_val());
  keepCopyOfKernel(Kernel, *Clone);
}

Function *Slicer::clone(Function &F, const Twine &Name) {
  SmallVector<Type *, NumExtra> Types(NumExtra,
                                      Type::getInt32Ty(M.getContext()));
  Function *Clone = cloneWithExtraParameters(F, Types, ExtraNames, Name);
  unsigned First = F.arg_size();
  for (unsigned I = 0; I < NumExtra; ++I)
    Clone->addParamAttr(First + I, Attribute::NoUndef);
  return Clone;
}

/// The offset (0..2) or grid (3..5) parameter that replaces the intrinsic, or
/// -1.
int parameterFor(Intrinsic::ID ID) {
  const std::optional<LaunchValue> Value = launchValueOf(ID);
  if (!Value || !Value->isOfGrid())
    return -1;
  return int(Value->Dimension) + (Value->Op == ExprOp::GridDim ? 3 : 0);
}

void Slicer::rewrite(Function &Clone) {
  SmallVector<Value *, NumExtra> Extra;
  for (unsigned I = 0; I < NumExtra; ++I)
    Extra.push_back(Clone.getArg(Clone.arg_size() - NumExtra + I));
  for (Instruction &I : make_early_inc_range(instructions(Clone))) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee)
      continue;
    if (int Parameter = parameterFor(Callee->getIntrinsicID());
        Parameter >= 3) {
      Call->replaceAllUsesWith(Extra[Parameter]);
      Call->eraseFromParent();
    } else if (Parameter >= 0) {
      // Block indices are below 2^31, so the sum wraps in no sense.
      IRBuilder<> B(Call->getNextNode());
      B.SetCurrentDebugLocation(Call->getDebugLoc());
      Value *Sum = B.CreateAdd(Call, Extra[Parameter], "", /*HasNUW=*/true,
                               /*HasNSW=*/true);
      Call->replaceUsesWithIf(Sum, [&](Use &U) { return U.getUser() != Sum; });
    } else if (!Callee->isDeclaration() && Readers.contains(Callee)) {
      Function *&CalleeClone = Clones[Callee];
      if (!CalleeClone) {
        CalleeClone = clone(*Callee, Callee->getName() + ".dragon.slice");
        CalleeClone->setLinkage(GlobalValue::InternalLinkage);
        CalleeClone->setComdat(nullptr);
        CalleeClone->setVisibility(GlobalValue::DefaultVisibility);
        Pending.push_back(CalleeClone);
      }
      appendArguments(*Call, CalleeClone, Extra);
    }
  }
}

} // namespace

SmallVector<Function *, 16> kernelsToClone(Module &M,
                                           const SliceDecisions &Decisions) {
  SmallVector<Function *, 16> Kernels;
  for (Function &F : M) {
    auto Decision = Decisions.find(F.getName());
    if (Decision != Decisions.end() && Decision->second.Sliceable &&
        Decision->second.NeedsClone && !F.isDeclaration() &&
        !M.getFunction(sliceCloneName(F.getName())))
      Kernels.push_back(&F);
  }
  return Kernels;
}

bool addSliceClones(Module &M, const SliceDecisions &Decisions) {
  const SmallVector<Function *, 16> Kernels = kernelsToClone(M, Decisions);
  if (Kernels.empty())
    return false;
  Slicer Slicing(M);
  for (Function *Kernel : Kernels)
    Slicing.addClone(*Kernel);
  return true;
}

PreservedAnalyses GridSlicingPass::run(Module &M, ModuleAnalysisManager &) {
  bool Changed =
      addSliceClones(M, Decisions ? *Decisions : checkSliceLegality(M));
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

PreservedAnalyses SliceLegalityPrinterPass::run(Module &M,
                                                ModuleAnalysisManager &) {
  for (Function &F : M) {
    if (F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    SliceLegality Legality = checkSliceLegality(F);
    To << "kernel '" << F.getName() << "': ";
    if (!Legality.Sliceable)
      To << "not sliceable: " << Legality.Reason << '\n';
    else
      To << (Legality.NeedsClone ? "sliceable by a clone"
                                 : "sliceable as it is")
         << (Legality.ActsOnBuffersOnly ? ", acts on buffers only" : "")
         << (Legality.FollowsArguments ? ", follows its arguments" : "")
         << (Legality.NeverWaits ? "" : ", may wait") << '\n';
  }
  return PreservedAnalyses::all();
}

} // namespace dragon
