//===- RestrictCopies.cpp - kernels for buffers that do not overlap -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/restrict/RestrictCopies.h"

#include "passes/Remarks.h"
#include "passes/SourceNames.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/GlobalAccesses.h"
#include "passes/support/SpinLoops.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

using namespace llvm;

namespace dragon {

namespace {

/// Intrinsics by which the threads of a block wait for each other.
bool isOfBlock(StringRef Intrinsic) {
  return any_of(ArrayRef<StringRef>{"llvm.nvvm.barrier", "llvm.nvvm.bar.",
                                    "llvm.nvvm.membar.cta", "llvm.nvvm.shfl.",
                                    "llvm.nvvm.vote.", "llvm.nvvm.match.",
                                    "llvm.nvvm.redux.", "llvm.nvvm.cp.async."},
                [&](StringRef Known) { return Intrinsic.starts_with(Known); });
}

/// The kernel can find out that memory was changed by somebody else while it
/// runs.
bool synchronizes(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return !Load->isSimple();
  if (isa<FenceInst>(I))
    return true;
  auto acquires = [](AtomicOrdering Ordering) {
    // CUDA's own atomics are relaxed, but clang has them as seq_cst.
    return Ordering == AtomicOrdering::Acquire ||
           Ordering == AtomicOrdering::AcquireRelease;
  };
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    return Update->isVolatile() || acquires(Update->getOrdering());
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    return Exchange->isVolatile() || acquires(Exchange->getSuccessOrdering()) ||
           acquires(Exchange->getFailureOrdering());
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (!Call->mayReadOrWriteMemory() || Call->onlyAccessesArgMemory() ||
      (isa<IntrinsicInst>(Call) && Call->onlyAccessesInaccessibleMemory()))
    return false;
  const Function *Callee = Call->getCalledFunction();
  return !Callee || !Callee->isIntrinsic() || !isOfBlock(Callee->getName());
}

/// A pointer parameter that is not noalias yet.
bool isPlainPointer(const Argument &A) {
  return A.getType()->isPointerTy() && !A.hasByValAttr() && !A.hasNoAliasAttr();
}

/// Nothing is written through the parameter, and it is kept nowhere.
bool isOnlyRead(const Argument &A) {
  SmallVector<const Value *, 16> Pending{&A};
  SmallPtrSet<const Value *, 16> Seen{&A};
  while (!Pending.empty())
    for (const Use &U : Pending.pop_back_val()->uses()) {
      const auto *I = cast<Instruction>(U.getUser());
      if (isa<LoadInst, ICmpInst>(I))
        continue;
      if (isa<GetElementPtrInst, AddrSpaceCastInst, PHINode, SelectInst>(I)) {
        if (Seen.insert(I).second)
          Pending.push_back(I);
        continue;
      }
      const auto *Call = dyn_cast<CallBase>(I);
      if (!Call || !Call->isArgOperand(&U))
        return false;
      const unsigned Number = Call->getArgOperandNo(&U);
      if (!Call->onlyReadsMemory(Number) || !Call->doesNotCapture(Number))
        return false;
    }
  return true;
}

/// The parameter that a pointer is based on; null: several, or something else.
const Argument *parameterOf(const Value *Pointer) {
  return dyn_cast<Argument>(getUnderlyingObject(Pointer, /*MaxLookup=*/0));
}

bool writesGlobalMemory(Instruction &I) {
  bool Writes = false;
  findGlobalAccesses(
      I, [&](const GlobalAccess &Access) { Writes |= Access.Writes; });
  return Writes;
}

/// The blocks before which a write to global memory may have been executed.
SmallPtrSet<const BasicBlock *, 16> blocksBehindWrites(Function &F) {
  SmallPtrSet<const BasicBlock *, 16> Behind;
  SmallVector<BasicBlock *, 16> Pending;
  for (BasicBlock &Block : F)
    if (any_of(Block, writesGlobalMemory))
      append_range(Pending, successors(&Block));
  while (!Pending.empty()) {
    BasicBlock *Block = Pending.pop_back_val();
    if (Behind.insert(Block).second)
      append_range(Pending, successors(Block));
  }
  return Behind;
}

/// Loads through parameters that are only read, which a write may precede that
/// is not known to be elsewhere.
unsigned loadsBehindWrites(Function &F) {
  SmallPtrSet<const Argument *, 8> OnlyRead;
  for (const Argument &A : F.args())
    if (isPlainPointer(A) && isOnlyRead(A))
      OnlyRead.insert(&A);
  if (OnlyRead.empty())
    return 0;
  const auto Behind = blocksBehindWrites(F);
  unsigned Loads = 0;
  for (BasicBlock &Block : F) {
    bool Written = Behind.contains(&Block);
    for (Instruction &I : Block)
      if (auto *Load = dyn_cast<LoadInst>(&I))
        Loads += Written &&
                 OnlyRead.contains(parameterOf(Load->getPointerOperand()));
      else
        Written |= writesGlobalMemory(I);
  }
  return Loads;
}

FunctionPassManager cleanup() {
  FunctionPassManager Passes;
  Passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                 /*UseMemorySSA=*/true));
  Passes.addPass(GVNPass());
  Passes.addPass(DSEPass());
  Passes.addPass(InstCombinePass());
  return Passes;
}

Function *addRestrictCopy(Function &Kernel) {
  Function *Copy = cloneWithExtraParameters(Kernel, {}, {},
                                            restrictCopyName(Kernel.getName()));
  for (Argument &A : Copy->args())
    if (isPlainPointer(A)) {
      if (isOnlyRead(A))
        A.addAttr(Attribute::ReadOnly);
      A.addAttr(Attribute::NoAlias);
    }
  keepCopyOfKernel(Kernel, *Copy);
  return Copy;
}

} // namespace

std::string restrictCopyName(StringRef Kernel) {
  return (RestrictPrefix + Kernel).str();
}

static bool mayBeRestricted(const KernelSummary &Kernel) {
  if (Kernel.touchesAnything())
    return false;
  unsigned Pointers = 0, Written = 0;
  for (const PointerSummary &Pointer : Kernel.Pointers) {
    if (Pointer.Flags & (PointerEscapes | PointerKept))
      return false;
    if (Pointer.Mode == AccessMode::None)
      continue;
    ++Pointers;
    Written += Pointer.Mode != AccessMode::Read;
  }
  return Written && Pointers > 1;
}

StringSet<> chooseRestricted(ModuleSummary &Summary) {
  StringSet<> Kernels;
  for (KernelSummary &Kernel : Summary.Kernels)
    if (mayBeRestricted(Kernel)) {
      Kernel.Flags |= KernelHasRestrictCopy;
      Kernels.insert(Kernel.Name);
    }
  return Kernels;
}

unsigned loadsSetFree(Function &Kernel) {
  if (Kernel.isDeclaration() || Kernel.hasOptNone())
    return 0;
  const unsigned Loads = loadsBehindWrites(Kernel);
  if (!Loads || any_of(instructions(Kernel), synchronizes) ||
      SpinLoops(SpinLoops::GlobalMemory).find(Kernel))
    return 0;
  return Loads;
}

void addRestrictCopies(ArrayRef<Function *> Kernels,
                       ModuleAnalysisManager &Analyses) {
  if (Kernels.empty())
    return;
  FunctionAnalysisManager &OfFunctions =
      Analyses
          .getResult<FunctionAnalysisManagerModuleProxy>(
              *Kernels.front()->getParent())
          .getManager();
  FunctionPassManager Passes = cleanup();
  for (Function *Kernel : Kernels) {
    Function &Copy = *addRestrictCopy(*Kernel);
    OfFunctions.invalidate(Copy, Passes.run(Copy, OfFunctions));
  }
}

void reportRestrictCopy(Function &Kernel, unsigned Loads) {
  OptimizationRemarkEmitter Emitter(&Kernel);
  emitRemark(Emitter,
             Reason(RemarkId::RestrictCopy)
                 .with("Kernel", displayName(Kernel.getName()))
                 .with("Loads", std::to_string(Loads)),
             lineOf(Kernel), &Kernel.getEntryBlock());
}

PreservedAnalyses RestrictCopiesPass::run(Module &M,
                                          ModuleAnalysisManager &Analyses) {
  SmallVector<Function *, 8> Kernels;
  for (Function &F : M)
    if (F.getCallingConv() == CallingConv::PTX_Kernel && loadsSetFree(F))
      Kernels.push_back(&F);
  addRestrictCopies(Kernels, Analyses);
  return Kernels.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace dragon
