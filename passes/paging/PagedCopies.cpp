//===- PagedCopies.cpp - kernels that fetch pages themselves --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paging/PagedCopies.h"

#include "dragon/Paging.h"
#include "passes/Remarks.h"
#include "passes/SourceNames.h"
#include "passes/paging/PageCode.h"
#include "passes/paging/PageLegality.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/GlobalAccesses.h"
#include "passes/support/UnknownAddresses.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace dragon {

namespace {

/// The extra parameters. A look-up is given all but the last.
constexpr unsigned NumParameters = 9;
constexpr unsigned ShiftNumber = 3, ResidentNumber = 8;
constexpr StringRef Names[NumParameters] = {
    "dragon.entries", "dragon.base",       "dragon.count",
    "dragon.shift",   "dragon.frames",     "dragon.control",
    "dragon.cells",   "dragon.cell.shift", "dragon.resident"};

constexpr StringRef ReadName = "__dragon_page_read";
constexpr StringRef WriteName = "__dragon_page_write";
constexpr StringRef FetchName = "__dragon_page_fetch";
constexpr StringRef BeginName = "__dragon_page_begin";

/// GPUs that copy by themselves (cp.async.bulk).
constexpr unsigned OldestArchWithBulk = 90;

class PagedCopier {
public:
  PagedCopier(Module &M, PageCode How, FunctionAnalysisManager *Analyses)
      : M(M), How(How), Analyses(Analyses),
        Accessing(functionsThatNeed(M, accessesGlobalMemory)),
        Global(PointerType::get(M.getContext(), NVPTXAS::ADDRESS_SPACE_GLOBAL)),
        I32(Type::getInt32Ty(M.getContext())),
        I64(Type::getInt64Ty(M.getContext())) {}

  void addCopy(Function &Kernel);
  /// Behind all of them: their look-ups become code.
  void finish();

private:
  Function *copy(Function &F, const Twine &Name);
  void rewrite(Function &Copy);
  void lookUp(Instruction &I, const MovableAccess &Access, Function &Copy);
  FunctionCallee lookUpFunction(StringRef Name);
  void removeLookUps();
  void keepPages(Function &Copy);
  void keepPage(CallInst &LookUp, SmallVectorImpl<AllocaInst *> &Kept);
  void linkCode();
  void inlineLookUps();

  Module &M;
  const PageCode How;
  FunctionAnalysisManager *const Analyses;
  const SmallPtrSet<Function *, 16> Accessing;
  PointerType *const Global;
  IntegerType *const I32;
  IntegerType *const I64;
  /// Original -> copy of called functions; shared by all kernels.
  DenseMap<Function *, Function *> Copies;
  SmallVector<Function *, 16> Pending, Made;
};

Function *PagedCopier::copy(Function &F, const Twine &Name) {
  Type *const Types[NumParameters] = {Global, I64,    I64, I32, I64,
                                      Global, Global, I32, I64};
  Function *Copy = cloneWithExtraParameters(F, Types, Names, Name);
  for (unsigned I = 0; I < NumParameters; ++I)
    Copy->addParamAttr(F.arg_size() + I, Attribute::NoUndef);
  // It writes the table, and reads elsewhere.
  Copy->removeFnAttr(Attribute::Memory);
  Copy->removeFnAttr(Attribute::Speculatable);
  for (Argument &A : Copy->args())
    for (Attribute::AttrKind Kind :
         {Attribute::Dereferenceable, Attribute::DereferenceableOrNull,
          Attribute::ReadOnly, Attribute::WriteOnly, Attribute::ReadNone})
      A.removeAttr(Kind);
  Made.push_back(Copy);
  return Copy;
}

void PagedCopier::addCopy(Function &Kernel) {
  Function *Copy = copy(Kernel, pagedCopyName(Kernel.getName()));
  IRBuilder<>(&*Copy->getEntryBlock().getFirstNonPHIOrDbgOrAlloca())
      .CreateCall(M.getOrInsertFunction(
          BeginName, FunctionType::get(Type::getVoidTy(M.getContext()),
                                       /*isVarArg=*/false)));
  rewrite(*Copy);
  while (!Pending.empty())
    rewrite(*Pending.pop_back_val());
  keepCopyOfKernel(Kernel, *Copy);
}

FunctionCallee PagedCopier::lookUpFunction(StringRef Name) {
  return M.getOrInsertFunction(
      Name,
      FunctionType::get(
          I64, {I64, Global, I64, I64, I32, I64, Global, Global, I32, I64},
          /*isVarArg=*/false));
}

void PagedCopier::lookUp(Instruction &I, const MovableAccess &Access,
                         Function &Copy) {
  IRBuilder<> B(&I);
  B.SetCurrentDebugLocation(I.getDebugLoc());
  Value *Pointer = Access.Pointer->get();
  const size_t First = Copy.arg_size() - NumParameters;
  SmallVector<Value *, NumParameters + 1> Args{B.CreatePtrToInt(Pointer, I64)};
  for (unsigned P = 0; P < ResidentNumber; ++P)
    Args.push_back(Copy.getArg(First + P));
  // A kernel's parameters lead to global memory, each to one allocation.
  const auto *Argument =
      dyn_cast<llvm::Argument>(getUnderlyingObject(Pointer, /*MaxLookup=*/0));
  if (Argument && (Argument->hasByValAttr() ||
                   Copy.getCallingConv() != CallingConv::PTX_Kernel))
    Argument = nullptr;
  const unsigned Number =
      Argument ? Argument->getArgNo() : MostResidentArguments;
  Args.push_back(Number < MostResidentArguments
                     ? B.CreateAnd(Copy.getArg(First + ResidentNumber),
                                   uint64_t(1) << Number)
                     : ConstantInt::get(I64, 0));
  CallInst *Call =
      B.CreateCall(lookUpFunction(Access.Writes ? WriteName : ReadName), Args);
  // Its answer for an address does not change while the launch runs.
  Call->setMemoryEffects(MemoryEffects::none());
  Call->setDoesNotThrow();
  Call->addFnAttr(Attribute::WillReturn);
  const bool ToGlobal = Argument && !isa<IntrinsicInst>(I);
  Access.Pointer->set(
      B.CreateIntToPtr(Call, ToGlobal ? Global : Pointer->getType()));
}

void PagedCopier::rewrite(Function &Copy) {
  SmallVector<AnyMemIntrinsic *, 8> Transfers;
  for (Instruction &I : instructions(Copy))
    if (auto *Memory = dyn_cast<AnyMemIntrinsic>(&I);
        Memory && accessesGlobalMemory(I))
      Transfers.push_back(Memory);
  const TargetTransformInfo Target(M.getDataLayout());
  for (AnyMemIntrinsic *Memory : Transfers) {
    if (auto *Set = dyn_cast<MemSetInst>(Memory))
      expandMemSetAsLoop(Set);
    else if (auto *Move = dyn_cast<MemMoveInst>(Memory))
      expandMemMoveAsLoop(Move, Target);
    else if (auto *Transfer = dyn_cast<MemCpyInst>(Memory))
      expandMemCpyAsLoop(Transfer, Target);
    else
      continue;
    Memory->eraseFromParent();
  }
  SmallVector<Instruction *, 64> Work;
  for (Instruction &I : instructions(Copy))
    Work.push_back(&I);
  const size_t First = Copy.arg_size() - NumParameters;
  SmallVector<Value *, NumParameters> Extra;
  for (unsigned P = 0; P < NumParameters; ++P)
    Extra.push_back(Copy.getArg(First + P));
  for (Instruction *I : Work) {
    if (const MovableAccess Access = movable(*I);
        Access.Pointer && accessesGlobalMemory(*I)) {
      lookUp(*I, Access, Copy);
      continue;
    }
    auto *Call = dyn_cast<CallBase>(I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || Callee->isDeclaration() || !Accessing.contains(Callee))
      continue;
    Function *&CalleeCopy = Copies[Callee];
    if (!CalleeCopy) {
      CalleeCopy = copy(*Callee, Callee->getName() + ".dragon.paged");
      CalleeCopy->setLinkage(GlobalValue::InternalLinkage);
      CalleeCopy->setComdat(nullptr);
      CalleeCopy->setVisibility(GlobalValue::DefaultVisibility);
      Pending.push_back(CalleeCopy);
    }
    appendArguments(*Call, CalleeCopy, Extra)->removeFnAttr(Attribute::Memory);
  }
}

/// The look-up of an access that goes through memory step by step is made once
/// for each page:
///
///   if (page of address != last page)
///     last page, offset = page of address, look-up(address) - address
///   address + offset
void PagedCopier::keepPages(Function &Copy) {
  auto &Loops = Analyses->getResult<LoopAnalysis>(Copy);
  auto &Evolution = Analyses->getResult<ScalarEvolutionAnalysis>(Copy);
  SmallVector<CallInst *, 16> Stepping;
  for (Instruction &I : instructions(Copy)) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee ||
        (Callee->getName() != ReadName && Callee->getName() != WriteName))
      continue;
    const Loop *In = Loops.getLoopFor(Call->getParent());
    const auto *Address =
        In ? dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(Call->getArgOperand(0)))
           : nullptr;
    const auto *Step =
        Address && Address->getLoop() == In
            ? dyn_cast<SCEVConstant>(Address->getStepRecurrence(Evolution))
            : nullptr;
    if (Step && Step->getAPInt().abs().ult(SmallestPage / 2))
      Stepping.push_back(Call);
  }
  SmallVector<AllocaInst *, 16> Kept;
  for (CallInst *Call : Stepping)
    keepPage(*Call, Kept);
  if (Kept.empty())
    return;
  Analyses->clear(Copy, Copy.getName());
  DominatorTree Dominators(Copy);
  PromoteMemToReg(Kept, Dominators);
}

void PagedCopier::keepPage(CallInst &LookUp,
                           SmallVectorImpl<AllocaInst *> &Kept) {
  Function &Copy = *LookUp.getFunction();
  IRBuilder<> B(&*Copy.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  AllocaInst *Page = B.CreateAlloca(I64), *Offset = B.CreateAlloca(I64);
  B.CreateStore(ConstantInt::getAllOnesValue(I64), Page);
  B.CreateStore(ConstantInt::get(I64, 0), Offset);
  Kept.append({Page, Offset});
  B.SetInsertPoint(&LookUp);
  Value *Address = LookUp.getArgOperand(0);
  Value *Its = B.CreateLShr(
      Address,
      B.CreateZExt(Copy.getArg(Copy.arg_size() - NumParameters + ShiftNumber),
                   I64));
  Value *IsOther = B.CreateICmpNE(Its, B.CreateLoad(I64, Page));
  Instruction *Then =
      SplitBlockAndInsertIfThen(IsOther, LookUp.getIterator(), false);
  BasicBlock *Behind = LookUp.getParent();
  LookUp.moveBefore(Then->getIterator());
  B.SetInsertPoint(Then);
  B.CreateStore(Its, Page);
  B.CreateStore(B.CreateSub(&LookUp, Address), Offset);
  B.SetInsertPoint(&*Behind->getFirstInsertionPt());
  Value *Found = B.CreateAdd(Address, B.CreateLoad(I64, Offset));
  LookUp.replaceUsesWithIf(Found, [&](const Use &U) {
    return cast<Instruction>(U.getUser())->getParent() != LookUp.getParent();
  });
}

void PagedCopier::linkCode() {
  if (const Function *Known = M.getFunction(FetchName);
      Known && !Known->isDeclaration())
    return;
  SMDiagnostic Wrong;
  const char *Text = How == PageCode::Cpu ? CpuPageCode
                     : archOf(*Made.front()) < OldestArchWithBulk
                         ? GpuPageCode
                         : BulkPageCode;
  std::unique_ptr<Module> Code =
      parseAssemblyString(Text, Wrong, M.getContext());
  if (!Code)
    report_fatal_error("the code that fetches pages: " + Wrong.getMessage());
  Code->setDataLayout(M.getDataLayout());
  Code->setTargetTriple(M.getTargetTriple());
  // What it says of the compilation it was made in.
  while (!Code->named_metadata_empty())
    Code->eraseNamedMetadata(&*Code->named_metadata_begin());
  SmallVector<std::string, 4> Defined;
  const Function &Model = *Made.front();
  for (Function &F : *Code) {
    for (StringRef Key : {"target-cpu", "target-features", "frame-pointer"}) {
      F.removeFnAttr(Key);
      if (Model.hasFnAttribute(Key))
        F.addFnAttr(Model.getFnAttribute(Key));
    }
    if (F.isDeclaration())
      continue;
    F.setDSOLocal(false);
    Defined.push_back(F.getName().str());
  }
  if (Linker::linkModules(M, std::move(Code)))
    report_fatal_error("the code that fetches pages cannot be linked");
  for (const std::string &Name : Defined) {
    Function &F = *M.getFunction(Name);
    if (F.getCallingConv() == CallingConv::PTX_Kernel) {
      // Units that are linked need one of them.
      F.setLinkage(GlobalValue::WeakODRLinkage);
      appendToCompilerUsed(M, &F);
    } else {
      F.setLinkage(GlobalValue::InternalLinkage);
    }
  }
}

void PagedCopier::inlineLookUps() {
  for (StringRef Name : {BeginName, ReadName, WriteName}) {
    Function *LookUp = M.getFunction(Name);
    if (!LookUp)
      continue;
    SmallVector<CallBase *, 64> Calls;
    for (User *U : LookUp->users())
      if (auto *Call = dyn_cast<CallBase>(U))
        Calls.push_back(Call);
    for (CallBase *Call : Calls) {
      Call->removeFnAttr(Attribute::Memory);
      InlineFunctionInfo Info;
      InlineFunction(*Call, Info);
    }
    if (LookUp->use_empty())
      LookUp->eraseFromParent();
  }
}

void PagedCopier::finish() {
  if (Analyses) {
    removeLookUps();
    for (Function *Copy : Made)
      keepPages(*Copy);
  }
  linkCode();
  inlineLookUps();
}

/// While nobody knows what they do.
void PagedCopier::removeLookUps() {
  FunctionPassManager Passes;
  Passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                 /*UseMemorySSA=*/true));
  Passes.addPass(GVNPass());
  for (Function *Copy : Made) {
    Passes.run(*Copy, *Analyses);
    Analyses->clear(*Copy, Copy->getName());
  }
}

} // namespace

unsigned archOf(const Function &F) {
  unsigned Arch = 0;
  StringRef Name = F.getFnAttribute("target-cpu").getValueAsString();
  if (!Name.consume_front("sm_") || Name.consumeInteger(10, Arch))
    return 0;
  return Arch;
}

std::string pagedCopyName(StringRef Kernel) {
  return (DRAGON_PAGED_PREFIX + Kernel).str();
}

StringMap<std::string> choosePaged(ModuleSummary &Summary) {
  StringMap<std::string> Kernels;
  for (KernelSummary &Kernel : Summary.Kernels)
    if (std::string Why = whyAddressesUnknown(Kernel, Summary.Exprs);
        !Why.empty()) {
      Kernel.Flags |= KernelHasPagedCopy;
      Kernels[Kernel.Name] = std::move(Why);
    }
  return Kernels;
}

void reportPagedCopy(Function &Kernel, StringRef Cause, StringRef WhyNot) {
  const std::string Name = displayName(Kernel.getName());
  OptimizationRemarkEmitter Emitter(&Kernel);
  emitRemark(Emitter,
             WhyNot.empty() ? Reason(RemarkId::PagedCopy)
                                  .with("Kernel", Name)
                                  .with("Cause", Cause.str())
                            : Reason(RemarkId::NotPaged)
                                  .with("Kernel", Name)
                                  .with("Cause", WhyNot.str()),
             lineOf(Kernel), &Kernel.getEntryBlock());
}

void addPagedCopies(ArrayRef<Function *> Kernels, PageCode How,
                    FunctionAnalysisManager *Analyses) {
  if (Kernels.empty())
    return;
  PagedCopier Copier(*Kernels.front()->getParent(), How, Analyses);
  for (Function *Kernel : Kernels)
    Copier.addCopy(*Kernel);
  Copier.finish();
}

PreservedAnalyses PagedCopiesPass::run(Module &M,
                                       ModuleAnalysisManager &Analyses) {
  SmallVector<Function *, 8> Kernels;
  for (Function &F : M)
    if (F.getCallingConv() == CallingConv::PTX_Kernel && !F.isDeclaration() &&
        whyNotPaged(F).empty())
      Kernels.push_back(&F);
  addPagedCopies(
      Kernels, PageCode::Gpu,
      &Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager());
  return Kernels.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace dragon
