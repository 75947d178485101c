//===- Canonicalize.cpp - device code in a form to be analysed ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/Canonicalize.h"

#include "passes/access/ConditionalSteps.h"
#include "passes/access/KeptAccesses.h"
#include "passes/access/NestedChoices.h"
#include "passes/support/LoopTags.h"
#include "passes/support/SeparateLoops.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/FunctionAttrs.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace dragon {

bool isKernel(const Function &F) {
  return F.getCallingConv() == CallingConv::PTX_Kernel && !F.isDeclaration();
}

namespace {

/// How many instructions a function may have with all that it calls in it.
/// Chains of functions that call each other several times grow without bounds.
/// With less than that, the analysis takes about a second.
constexpr uint64_t MaxInlined = 50000;

/// Of what F calls, leaves the largest functions as they are until F is within
/// the limit. Callees come first.
void limitInlining(const CallGraphNode &Node,
                   SmallPtrSetImpl<Function *> &Apart,
                   DenseMap<const Function *, uint64_t> &Inlined) {
  const Function &F = *Node.getFunction();
  uint64_t Sum = F.getInstructionCount();
  MapVector<Function *, uint64_t> Callees;
  for (const auto &[Call, Callee] : Node)
    if (Function *G = Callee->getFunction())
      if (uint64_t Size = Inlined.lookup(G); Size && !Apart.contains(G)) {
        Callees[G] += Size;
        Sum += Size;
      }
  while (Sum > MaxInlined && !Callees.empty()) {
    auto *Largest = max_element(Callees, less_second());
    Sum -= Largest->second;
    Apart.insert(Largest->first);
    Callees.erase(Largest);
  }
  Inlined[&F] = Sum;
}

/// Marks functions for inlining: all but kernels, recursive ones and those that
/// make too much of what calls them. Returns whether there are such.
bool markForInlining(Module &M) {
  SmallPtrSet<Function *, 8> Apart;
  DenseMap<const Function *, uint64_t> Inlined;
  CallGraph Calls(M);
  for (scc_iterator<CallGraph *> It = scc_begin(&Calls); !It.isAtEnd(); ++It)
    for (CallGraphNode *Node : *It)
      if (Function *F = Node->getFunction(); F && !F->isDeclaration()) {
        if (It.hasCycle())
          Apart.insert(F);
        else
          limitInlining(*Node, Apart, Inlined);
      }
  for (Function &F : M) {
    // Nothing here is skipped for -O0, -Os or sanitizers.
    F.removeFnAttr(Attribute::OptimizeNone);
    F.removeFnAttr(Attribute::NoInline);
    F.removeFnAttr(Attribute::OptimizeForSize);
    F.removeFnAttr(Attribute::MinSize);
    if (F.isDeclaration() || isKernel(F))
      continue;
    if (Apart.contains(&F)) {
      F.removeFnAttr(Attribute::AlwaysInline);
      F.addFnAttr(Attribute::NoInline);
    } else {
      F.addFnAttr(Attribute::AlwaysInline);
      if (F.hasLocalLinkage() || F.hasComdat() || F.isDiscardableIfUnused())
        continue;
    }
  }
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Call->hasFnAttr(Attribute::NoInline) && Call->getCalledFunction() &&
            !Apart.contains(Call->getCalledFunction()))
          Call->removeFnAttr(Attribute::NoInline);
  return any_of(Apart, [](const Function *F) { return !isKernel(*F); });
}

/// Finds out which functions access memory through their arguments only.
void inferEffects(Module &M, ModuleAnalysisManager &Analyses) {
  DenseMap<Function *, AttributeList> OfKernels;
  for (Function &F : M)
    if (isKernel(F)) {
      OfKernels[&F] = F.getAttributes();
    } else if (!F.isDeclaration()) {
      // This is the definition that runs.
      F.setComdat(nullptr);
      F.setLinkage(GlobalValue::InternalLinkage);
    }
  ModulePassManager Passes;
  Passes.addPass(
      createModuleToPostOrderCGSCCPassAdaptor(PostOrderFunctionAttrsPass()));
  Passes.run(M, Analyses);
  for (auto &[F, Attributes] : OfKernels)
    F->setAttributes(Attributes);
}

void promoteVariables(Function &F) {
  for (;;) {
    SmallVector<AllocaInst *, 16> Variables;
    for (Instruction &I : F.getEntryBlock())
      if (auto *Variable = dyn_cast<AllocaInst>(&I);
          Variable && isAllocaPromotable(Variable))
        Variables.push_back(Variable);
    if (Variables.empty())
      return;
    DominatorTree DT(F);
    PromoteMemToReg(Variables, DT);
  }
}

using FieldReads = SmallVector<std::pair<LoadInst *, int64_t>, 16>;

/// True if no instruction may change what Pointer points to: it is read, or
/// copied elsewhere. Collects the reads at constant offsets.
bool collectFieldReads(Value &Pointer, int64_t Offset, bool KnownOffset,
                       const DataLayout &Layout, FieldReads &Reads) {
  for (User *U : Pointer.users()) {
    if (auto *Load = dyn_cast<LoadInst>(U)) {
      if (KnownOffset && Load->isSimple())
        Reads.push_back({Load, Offset});
      continue;
    }
    if (auto *Gep = dyn_cast<GetElementPtrInst>(U)) {
      APInt Field(64, 0);
      bool Known = KnownOffset && Gep->accumulateConstantOffset(Layout, Field);
      if (!collectFieldReads(*Gep, Offset + Field.getSExtValue(), Known, Layout,
                             Reads))
        return false;
      continue;
    }
    if (isa<AddrSpaceCastInst, BitCastInst>(U)) {
      if (!collectFieldReads(*U, Offset, KnownOffset, Layout, Reads))
        return false;
      continue;
    }
    if (auto *Copy = dyn_cast<MemCpyInst>(U)) {
      if (Copy->getRawDest() != &Pointer)
        continue;
      return false;
    }
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(U))
      if (Intrinsic->isLifetimeStartOrEnd() ||
          Intrinsic->isAssumeLikeIntrinsic())
        continue;
    return false;
  }
  return true;
}

/// Whether what Pointer points to is read and written at constant offsets only,
/// and nobody else gets its address.
bool isSplittable(const Value &Pointer, bool &Written) {
  return all_of(Pointer.uses(), [&](const Use &U) {
    const User *By = U.getUser();
    if (auto *Load = dyn_cast<LoadInst>(By))
      return Load->isSimple();
    if (auto *Store = dyn_cast<StoreInst>(By)) {
      Written = true;
      return Store->isSimple() &&
             U.getOperandNo() == StoreInst::getPointerOperandIndex();
    }
    if (auto *Gep = dyn_cast<GetElementPtrInst>(By))
      return Gep->hasAllConstantIndices() && isSplittable(*Gep, Written);
    if (isa<AddrSpaceCastInst, BitCastInst>(By))
      return isSplittable(*By, Written);
    if (auto *Memory = dyn_cast<MemIntrinsic>(By)) {
      Written |= &U == &Memory->getRawDestUse();
      return !Memory->isVolatile() && isa<ConstantInt>(Memory->getLength());
    }
    auto *Intrinsic = dyn_cast<IntrinsicInst>(By);
    return Intrinsic && (Intrinsic->isLifetimeStartOrEnd() ||
                         Intrinsic->isAssumeLikeIntrinsic());
  });
}

/// A structure by value that the kernel writes becomes a variable that begins
/// with what was given: the fields that are not written are the launch's then,
/// and the others have one value each.
void copyWrittenStructures(Function &Kernel) {
  const DataLayout &Layout = Kernel.getDataLayout();
  for (Argument &Arg : Kernel.args()) {
    bool Written = false;
    if (!Arg.hasByValAttr() || !isSplittable(Arg, Written) || !Written)
      continue;
    Type *Struct = Arg.getParamByValType();
    IRBuilder<> Builder(&*Kernel.getEntryBlock().getFirstInsertionPt());
    AllocaInst *Variable = Builder.CreateAlloca(Struct);
    Variable->setAlignment(
        std::max(Variable->getAlign(), Arg.getParamAlign().valueOrOne()));
    Value *Address = Builder.CreateAddrSpaceCast(Variable, Arg.getType());
    Arg.replaceAllUsesWith(Address);
    Builder.CreateMemCpy(Variable, Variable->getAlign(), &Arg,
                         Arg.getParamAlign(), Layout.getTypeAllocSize(Struct));
  }
}

void readFieldsOnce(Function &Kernel) {
  const DataLayout &Layout = Kernel.getDataLayout();
  for (Argument &Arg : Kernel.args()) {
    if (!Arg.hasByValAttr())
      continue;
    FieldReads Reads;
    if (!collectFieldReads(Arg, 0, true, Layout, Reads))
      continue;
    MapVector<std::pair<int64_t, Type *>, Value *> Fields;
    IRBuilder<> Builder(&*Kernel.getEntryBlock().getFirstInsertionPt());
    for (auto [Load, Offset] : Reads) {
      Value *&Field = Fields[{Offset, Load->getType()}];
      if (!Field)
        Field = Builder.CreateAlignedLoad(
            Load->getType(),
            Offset ? Builder.CreateConstInBoundsGEP1_64(Builder.getInt8Ty(),
                                                        &Arg, Offset)
                   : &Arg,
            Align(1));
      Load->replaceAllUsesWith(Field);
      Load->eraseFromParent();
    }
  }
}

/// Reads of blockIdx and the like, and arithmetic that does not change in a
/// loop, move out of it: ScalarEvolution takes instructions that it does not
/// model for variant where they stand.
void hoistInvariants(Function &F, LoopInfo &LI) {
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder()) {
    if (!L->getLoopPreheader())
      continue;
    ReversePostOrderTraversal<Function *> Order(&F);
    for (BasicBlock *Block : Order) {
      if (!L->contains(Block))
        continue;
      for (Instruction &I : make_early_inc_range(*Block))
        if (!I.getType()->isVoidTy() && !isa<PHINode>(I))
          L->makeLoopInvariant(&I, Changed);
    }
  }
}

/// What an inner loop counts up (a position, a pointer) becomes an expression
/// of its count where the loop ends, so that an outer loop is a recurrence,
/// too:
///   for (i..) for (j..) *p++ = 0;
void rewriteExitValues(Function &F, FunctionAnalysisManager &Analyses) {
  auto &LI = Analyses.getResult<LoopAnalysis>(F);
  auto &SE = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  auto &DT = Analyses.getResult<DominatorTreeAnalysis>(F);
  SmallVector<Loop *, 8> Loops = LI.getLoopsInPreorder();
  for (Loop *L : reverse(Loops)) {
    if (!L->getParentLoop())
      continue;
    SCEVExpander Expander(SE, "exit");
    SmallVector<WeakTrackingVH, 16> Dead;
    rewriteLoopExitValues(L, &LI, &Analyses.getResult<TargetLibraryAnalysis>(F),
                          &SE, &Analyses.getResult<TargetIRAnalysis>(F),
                          Expander, &DT, AlwaysRepl, Dead);
    SE.forgetAllLoops();
  }
}

} // namespace

bool isUnchangedByValue(Argument &Arg) {
  FieldReads Reads;
  return Arg.hasByValAttr() &&
         collectFieldReads(Arg, 0, true, Arg.getParent()->getDataLayout(),
                           Reads);
}

std::optional<FieldPlace> fieldReadBy(LoadInst &Load) {
  const DataLayout &Layout = Load.getDataLayout();
  Value *Pointer = Load.getPointerOperand();
  APInt Offset(Layout.getIndexTypeSizeInBits(Pointer->getType()), 0);
  auto *Arg = dyn_cast<Argument>(Pointer->stripAndAccumulateConstantOffsets(
      Layout, Offset, /*AllowNonInbounds=*/true));
  if (!Arg || !Load.isSimple() || Offset.isNegative() ||
      !isUnchangedByValue(*Arg))
    return std::nullopt;
  return FieldPlace{Arg, Offset.getZExtValue()};
}

void canonicalizeForAnalysis(Module &M) {
  const bool HasCalls = markForInlining(M);

  LoopAnalysisManager LoopAnalyses;
  FunctionAnalysisManager FunctionAnalyses;
  CGSCCAnalysisManager SccAnalyses;
  ModuleAnalysisManager ModuleAnalyses;
  PassBuilder Builder;
  Builder.registerModuleAnalyses(ModuleAnalyses);
  Builder.registerCGSCCAnalyses(SccAnalyses);
  Builder.registerFunctionAnalyses(FunctionAnalyses);
  Builder.registerLoopAnalyses(LoopAnalyses);
  Builder.crossRegisterProxies(LoopAnalyses, FunctionAnalyses, SccAnalyses,
                               ModuleAnalyses);

  // Small functions shrink before they are copied into many callers.
  for (Function &F : M)
    if (!F.isDeclaration()) {
      keepLoads(F);
      promoteVariables(F);
    }
  ModulePassManager Inline;
  Inline.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  Inline.run(M, ModuleAnalyses);
  for (Function &F : M)
    if (!F.isDeclaration())
      promoteVariables(F);
  if (HasCalls)
    inferEffects(M, ModuleAnalyses);
  for (Function &F : M)
    if (!F.isDeclaration()) {
      if (copiesToVariables(F))
        FunctionAnalyses.invalidate(
            F, SROAPass(SROAOptions::PreserveCFG).run(F, FunctionAnalyses));
      keepLoadsAnew(F);
      keepStores(F);
    }

  auto Simplify = [] {
    SimplifyCFGOptions Cfg;
    Cfg.sinkCommonInsts(false).hoistCommonInsts(false);
    FunctionPassManager Passes;
    Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    Passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
    Passes.addPass(SimplifyCFGPass(Cfg));
    Passes.addPass(InstCombinePass());
    return Passes;
  };
  // Copies of structures become reads of their fields in the first round, the
  // fields one value each in the second.
  FunctionPassManager First = Simplify();
  for (Function &F : M)
    if (isKernel(F)) {
      copyWrittenStructures(F);
      First.run(F, FunctionAnalyses);
      readFieldsOnce(F);
      keepLoadsAnew(F);
      FunctionAnalyses.invalidate(F, PreservedAnalyses::none());
    }
  FunctionPassManager Second = Simplify();
  SimplifyCFGOptions Cfg;
  Cfg.sinkCommonInsts(false).hoistCommonInsts(false);
  Second.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Second.addPass(SimplifyCFGPass(Cfg));
  Second.addPass(DCEPass());
  Second.addPass(LoopSimplifyPass());
  Second.addPass(LCSSAPass());
  for (Function &F : M)
    if (!F.isDeclaration()) {
      Second.run(F, FunctionAnalyses);
      DominatorTree DT(F);
      LoopInfo LI(DT);
      makeStepsUnconditional(LI, DT);
      nestChoices(F, LI, DT);
      FunctionAnalyses.invalidate(F, PreservedAnalyses::none());
      rewriteExitValues(F, FunctionAnalyses);
      hoistInvariants(F, LI);
      FunctionAnalyses.invalidate(F, PreservedAnalyses::none());
    }
}

bool promoteVariables(Module &M, ModuleAnalysisManager &Analyses) {
  bool Changed = false;
  SROAPass Promote(SROAOptions::PreserveCFG);
  auto &Functions =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasOptNone()) {
      const PreservedAnalyses Left = Promote.run(F, Functions);
      Functions.invalidate(F, Left);
      Changed |= !Left.areAllPreserved();
    }
  return Changed;
}

std::unique_ptr<Module> canonicalizedCopy(const Module &M) {
  std::unique_ptr<Module> Copy = CloneModule(M);
  tagLoops(*Copy);
  for (Function &F : *Copy)
    if (isKernel(F) && !F.isDeclaration())
      separateLoops(F, F);
  canonicalizeForAnalysis(*Copy);
  return Copy;
}

} // namespace dragon
