//===- FlatFunction.cpp - a function with what it calls -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/FlatFunction.h"

#include "passes/lifetime/CallEffects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace dragon {

// -- Which functions --------------------------------------------------------

RelevantFunctions::RelevantFunctions(Module &M) {
  auto Add = [](SmallPtrSetImpl<const Function *> &Set, const Function *Start) {
    SmallVector<const Function *, 16> Pending{Start};
    while (!Pending.empty()) {
      const Function *F = Pending.pop_back_val();
      if (!Set.insert(F).second)
        continue;
      for (const User *U : F->users())
        if (auto *Call = dyn_cast<CallBase>(U))
          if (Call->getCalledOperand() == F)
            Pending.push_back(Call->getFunction());
    }
  };
  for (Function &F : M) {
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      const CallEffect *Effect = callEffect(*Call);
      bool Launch = isLaunch(*Call);
      if (!Effect && !Launch)
        continue;
      if (Launch || (Effect->Kind != CallKind::Neutral &&
                     Effect->Kind != CallKind::Query))
        Add(Functions, &F);
      if (Launch || (Call->getCalledFunction()->getName().starts_with("cuda") &&
                     Effect->Kind != CallKind::Neutral &&
                     Effect->Kind != CallKind::Query))
        Add(Device, &F);
    }
  }
}

// -- Names ------------------------------------------------------------------

StringRef userName(StringRef Name) {
  // Inlining appends ".i12", parameters have ".addr", SROA ".sroa.0".
  for (StringRef Suffix : {".sroa.", ".slot", ".addr"})
    Name = Name.split(Suffix).first;
  while (true) {
    size_t Dot = Name.rfind(".i");
    if (Dot == StringRef::npos || Dot == 0 ||
        !all_of(Name.substr(Dot + 2), isDigit))
      return Name;
    Name = Name.substr(0, Dot);
  }
}

namespace {

/// Values get numbers where names clash, so names are kept as metadata, while
/// the copy is one.
constexpr StringLiteral NameKind = "dragon.name";

void setBufferName(CallBase &Allocation, StringRef Name) {
  LLVMContext &Context = Allocation.getContext();
  if (!Name.empty() && !Allocation.getMetadata(NameKind))
    Allocation.setMetadata(NameKind,
                           MDNode::get(Context, MDString::get(Context, Name)));
}

/// What the user calls a variable.
std::string variableName(Value &Variable) {
  for (DbgVariableRecord *Record : findDVRDeclares(&Variable))
    return Record->getVariable()->getName().str();
  return userName(Variable.getName()).str();
}

bool isUserVariable(const AllocaInst &Variable) {
  StringRef Name = Variable.getName();
  return !Name.contains(".addr") && !Name.starts_with("retval") &&
         !Name.contains("tmp");
}

unsigned countInstructions(const Function &F) {
  unsigned Count = 0;
  for (const BasicBlock &B : F)
    Count += B.size();
  return Count;
}

} // namespace

/// `h_A = (float *)malloc(n)`: the variable that the result is stored to.
void FlatFunction::noteName(CallBase &Call) {
  const CallEffect *Effect = callEffect(Call);
  bool IsDescriptor = Effect && Effect->Kind == CallKind::FileOpen;
  if (!Call.getType()->isPointerTy() && !IsDescriptor)
    return;
  for (User *U : Call.users()) {
    auto *Store = dyn_cast<StoreInst>(U);
    if (!Store || Store->getValueOperand() != &Call)
      continue;
    Value *To = Store->getPointerOperand();
    auto *Local = dyn_cast<AllocaInst>(To);
    if (!(Local && isUserVariable(*Local)) && !isa<GlobalVariable>(To))
      continue;
    std::string Name = variableName(*To);
    if (!Name.empty()) {
      Names.emplace_back(&Call, Name);
      return;
    }
  }
}

void FlatFunction::nameBuffers() {
  for (auto &[Handle, Name] : Names) {
    Value *V = Handle;
    if (auto *Call = dyn_cast_or_null<CallBase>(V))
      setBufferName(*Call, Name);
  }
}

std::string bufferName(const CallBase &Call) {
  if (const MDNode *Node = Call.getMetadata(NameKind))
    return cast<MDString>(Node->getOperand(0))->getString().str();
  return "buffer";
}

// -- Taking in calls --------------------------------------------------------

/// What uses files, buffers or the device, and small functions: accessors,
/// constructors, checks of results.
bool FlatFunction::isWanted(const Function &Callee) const {
  return Relevant.contains(&Callee) || countInstructions(Callee) <= 100;
}

bool FlatFunction::inlineCall(CallBase &Call,
                              SmallVectorImpl<CallBase *> &Pending) {
  Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->isDeclaration() || isLaunch(Call) ||
      Callee->isInterposable() || Callee->isPresplitCoroutine() ||
      Callee->isVarArg() || Callee == &Original ||
      Callee->getFunctionType() != Call.getFunctionType() ||
      !isInlineViable(*Callee).isSuccess())
    return false;
  if (!AttributeFuncs::areInlineCompatible(*Copy, *Callee) ||
      !Analyses.getResult<TargetIRAnalysis>(*Callee).areInlineCompatible(
          Copy, Callee))
    return false;
  // At -O0 every function has noinline, with optnone.
  if (Call.isNoInline() && !Callee->hasOptNone())
    return false;
  int Parent = -1;
  if (auto It = Through.find(&Call); It != Through.end())
    Parent = It->second;
  for (int H = Parent; H >= 0; H = History[H].second)
    if (History[H].first == Callee)
      return false;
  unsigned Added = countInstructions(*Callee);
  if (Size + Added > Limit) {
    HitLimit = true;
    return false;
  }
  InlineFunctionInfo Info;
  if (!InlineFunction(Call, Info, /*MergeAttributes=*/true).isSuccess())
    return false;
  Size += Added;
  History.emplace_back(Callee, Parent);
  for (CallBase *New : Info.InlinedCallSites) {
    Through[New] = History.size() - 1;
    noteName(*New);
    Pending.push_back(New);
  }
  return true;
}

void FlatFunction::inlineFrom(SmallVectorImpl<CallBase *> &Pending) {
  while (!Pending.empty()) {
    CallBase *Call = Pending.pop_back_val();
    Function *Callee = Call->getCalledFunction();
    if (Callee && !Callee->isDeclaration() && isWanted(*Callee))
      inlineCall(*Call, Pending);
  }
}

bool FlatFunction::inlineCalls(ArrayRef<CallBase *> Calls) {
  bool Changed = false;
  SmallVector<CallBase *, 16> Pending;
  for (CallBase *Call : Calls)
    Changed |= inlineCall(*Call, Pending);
  if (!Changed)
    return false;
  inlineFrom(Pending);
  simplify();
  separateOutParameters();
  simplify();
  nameBuffers();
  return true;
}

// -- Simplification ---------------------------------------------------------

/// Gives each call that writes a new buffer's address through a pointer a
/// variable of its own.
void FlatFunction::separateOutParameters() {
  SmallVector<CallBase *, 8> Calls;
  for (Instruction &I : instructions(*Copy))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (int Out = outParameter(*Call); Out >= 0)
        if (!Call->getArgOperand(Out)->getName().ends_with(".slot"))
          Calls.push_back(Call);
  for (CallBase *Call : Calls) {
    int Out = outParameter(*Call);
    Value *To = Call->getArgOperand(Out);
    std::string Name = variableName(*getUnderlyingObject(To));
    setBufferName(*Call, Name);
    Type *Pointer = PointerType::getUnqual(Copy->getContext());
    IRBuilder<> Entry(&*Copy->getEntryBlock().getFirstInsertionPt());
    AllocaInst *Slot =
        Entry.CreateAlloca(Pointer, nullptr, Twine(Name) + ".slot");
    IRBuilder<> Before(Call);
    Before.CreateStore(Before.CreateLoad(Pointer, To), Slot);
    Call->setArgOperand(Out, Slot);
    Instruction *Next;
    if (auto *Invoke = dyn_cast<InvokeInst>(Call)) {
      BasicBlock *Normal = Invoke->getNormalDest();
      if (!Normal->getSinglePredecessor())
        Normal = SplitEdge(Invoke->getParent(), Normal);
      Next = &*Normal->getFirstInsertionPt();
    } else {
      Next = Call->getNextNode();
    }
    IRBuilder<> After(Next);
    After.SetCurrentDebugLocation(Call->getDebugLoc());
    After.CreateStore(After.CreateLoad(Pointer, Slot, Name), To);
  }
}

void FlatFunction::simplify() {
  auto Run = [&](auto &&Pass) {
    Analyses.invalidate(*Copy, Pass.run(*Copy, Analyses));
  };
  Analyses.invalidate(*Copy, PreservedAnalyses::none());
  SimplifyCFGOptions Options;
  Options.speculateBlocks(false);
  Run(SROAPass(SROAOptions::ModifyCFG));
  Run(SimplifyCFGPass(Options));
  Run(SROAPass(SROAOptions::ModifyCFG));
  Run(LoopSimplifyPass());
}

// -- The copy ---------------------------------------------------------------

std::unique_ptr<FlatFunction>
FlatFunction::create(Function &F, const RelevantFunctions &Relevant,
                     FunctionAnalysisManager &Analyses, unsigned Limit) {
  if (F.isDeclaration() || F.hasAvailableExternallyLinkage() ||
      F.callsFunctionThatReturnsTwice() || F.isPresplitCoroutine() ||
      F.hasFnAttribute(Attribute::Naked) ||
      any_of(F, [](const BasicBlock &B) { return B.hasAddressTaken(); }))
    return nullptr;
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&F, Map);
  Copy->setName(F.getName() + ".dragon.flat");
  Copy->setComdat(nullptr);
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->removeFnAttr(Attribute::OptimizeNone);
  Copy->removeFnAttr(Attribute::NoInline);
  std::unique_ptr<FlatFunction> Flat(
      new FlatFunction(F, Copy, Relevant, Analyses, Limit));
  Flat->Size = countInstructions(*Copy);

  SmallVector<CallBase *, 16> Pending;
  for (Instruction &I : instructions(*Copy))
    if (auto *Call = dyn_cast<CallBase>(&I)) {
      Flat->noteName(*Call);
      Pending.push_back(Call);
    }
  Flat->inlineFrom(Pending);
  Flat->simplify();
  Flat->separateOutParameters();
  Flat->simplify();
  Flat->nameBuffers();
  return Flat;
}

FlatFunction::~FlatFunction() {
  if (!Copy)
    return;
  Analyses.clear(*Copy, Copy->getName());
  Copy->eraseFromParent();
}

void FlatFunction::adopt() {
  Analyses.clear(Original, Original.getName());
  Analyses.clear(*Copy, Copy->getName());

  SmallVector<std::pair<unsigned, MDNode *>, 4> Metadata;
  Original.getAllMetadata(Metadata);
  AttributeList Attributes = Copy->getAttributes();
  for (Attribute::AttrKind Kind :
       {Attribute::OptimizeNone, Attribute::NoInline})
    if (Original.hasFnAttribute(Kind))
      Attributes = Attributes.addFnAttribute(Original.getContext(), Kind);
  GlobalValue::LinkageTypes Linkage = Original.getLinkage();
  Comdat *Group = Original.getComdat();

  Original.deleteBody();
  Original.setLinkage(Linkage);
  Original.setComdat(Group);
  Original.setAttributes(Attributes);
  for (auto [Kind, Node] : Metadata)
    if (Kind != LLVMContext::MD_dbg)
      Original.addMetadata(Kind, *Node);
  if (Copy->hasPersonalityFn())
    Original.setPersonalityFn(Copy->getPersonalityFn());
  DISubprogram *Program = Copy->getSubprogram();
  Copy->setSubprogram(nullptr);
  Original.setSubprogram(Program);

  for (auto [From, To] : zip(Copy->args(), Original.args()))
    From.replaceAllUsesWith(&To);
  Original.splice(Original.begin(), Copy);
  for (Instruction &I : instructions(Original))
    I.setMetadata(NameKind, nullptr);
  Copy->eraseFromParent();
  Copy = nullptr;
}

} // namespace dragon
