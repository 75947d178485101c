//===- FlatFunction.cpp - a function with what it calls -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/FlatFunction.h"

#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/BufferArrays.h"
#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/FieldVariables.h"
#include "passes/lifetime/LocalObjects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/DemandedBits.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"

using namespace llvm;

namespace dragon {

static unsigned countInstructions(const Function &F) {
  unsigned Count = 0;
  for (const BasicBlock &B : F)
    Count += B.size();
  return Count;
}

// -- Taking in calls --------------------------------------------------------

bool FlatFunction::inlineCall(CallBase &Call,
                              SmallVectorImpl<CallBase *> &Pending,
                              Taking What) {
  Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->isDeclaration() || isLaunch(Call) ||
      Callee->isInterposable() || Callee->isPresplitCoroutine() ||
      Callee->isVarArg() || Callee == &Original || libraryFunction(Call) ||
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
  unsigned &Sum = What == Taking::Small ? SmallSize : Size;
  if (Sum + Added > Limit) {
    HitLimit |= What == Taking::Relevant;
    return false;
  }
  InlineFunctionInfo Info;
  if (!InlineFunction(Call, Info, /*MergeAttributes=*/true).isSuccess())
    return false;
  Sum += Added;
  History.emplace_back(Callee, Parent);
  for (CallBase *New : Info.InlinedCallSites) {
    Through[New] = History.size() - 1;
    Names.note(*New);
    Pending.push_back(New);
  }
  return true;
}

/// Takes in what uses files, buffers or the device, and then small functions:
/// accessors, constructors, checks of results. Of these there are many where a
/// standard library is used, so they have a limit of their own, and those that
/// are called directly come before what they call in turn.
void FlatFunction::inlineFrom(SmallVectorImpl<CallBase *> &Pending) {
  SmallVector<CallBase *, 32> Small;
  auto NoteSmall = [&](CallBase *Call) {
    Function *Callee = Call->getCalledFunction();
    if (Callee && !Callee->isDeclaration() && countInstructions(*Callee) <= 100)
      Small.push_back(Call);
  };
  while (!Pending.empty()) {
    CallBase *Call = Pending.pop_back_val();
    if (Relevant.contains(Call->getCalledFunction()))
      inlineCall(*Call, Pending, Taking::Relevant);
    else
      NoteSmall(Call);
  }
  for (size_t I = 0; I < Small.size(); ++I) {
    inlineCall(*Small[I], Pending, Taking::Small);
    for (CallBase *Call : Pending)
      NoteSmall(Call);
    Pending.clear();
  }
}

bool FlatFunction::inlineCalls(ArrayRef<CallBase *> Calls) {
  bool Changed = false;
  SmallVector<CallBase *, 16> Pending;
  for (CallBase *Call : Calls)
    Changed |= inlineCall(*Call, Pending, Taking::Relevant);
  if (!Changed)
    return false;
  inlineFrom(Pending);
  bringIntoForm();
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
        if (Value *To = Call->getArgOperand(Out);
            !isOutSlot(To) && !isa<ConstantPointerNull>(To))
          Calls.push_back(Call);
  for (CallBase *Call : Calls) {
    int Out = outParameter(*Call);
    Value *To = Call->getArgOperand(Out);
    Names.add(*Call, *To);
    StringRef Name = userName(getUnderlyingObject(To)->getName());
    Type *Pointer = PointerType::getUnqual(Copy->getContext());
    IRBuilder<> Entry(&*Copy->getEntryBlock().getFirstInsertionPt());
    AllocaInst *Slot =
        Entry.CreateAlloca(Pointer, nullptr, Twine(Name) + ".slot");
    markOutSlot(*Slot);
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

/// Behind a scope that a `break` leaves there is a branch on the exit by which
/// it was left: `phi [2, from the break], [0, else]; icmp eq 0; br`. Makes the
/// comparison a phi, on which SimplifyCFG sends each exit where it goes.
static bool foldExitBranches(Function &F) {
  bool Changed = false;
  for (BasicBlock &B : F) {
    auto *Branch = dyn_cast<BranchInst>(B.getTerminator());
    auto *Compare = Branch && Branch->isConditional()
                        ? dyn_cast<ICmpInst>(Branch->getCondition())
                        : nullptr;
    auto *Phi = Compare ? dyn_cast<PHINode>(Compare->getOperand(0)) : nullptr;
    if (!Phi || Phi->getParent() != &B || Compare->getParent() != &B ||
        !isa<ConstantInt>(Compare->getOperand(1)) ||
        !all_of(Phi->incoming_values(),
                [](const Use &U) { return isa<ConstantInt>(U); }))
      continue;
    PHINode *Taken =
        PHINode::Create(Compare->getType(), Phi->getNumIncomingValues(),
                        "exit.taken", Phi->getIterator());
    for (unsigned I = 0; I < Phi->getNumIncomingValues(); ++I)
      Taken->addIncoming(
          ConstantInt::getBool(
              F.getContext(),
              ICmpInst::compare(
                  cast<ConstantInt>(Phi->getIncomingValue(I))->getValue(),
                  cast<ConstantInt>(Compare->getOperand(1))->getValue(),
                  Compare->getPredicate())),
          Phi->getIncomingBlock(I));
    Compare->replaceAllUsesWith(Taken);
    Compare->eraseFromParent();
    if (Phi->use_empty())
      Phi->eraseFromParent();
    Changed = true;
  }
  return Changed;
}

/// Arithmetic, and phis in a circle, that nothing comes of. Not the loads of
/// buffers, used or not.
static void removeDeadNumbers(Function &F) {
  auto IsNumber = [](const Instruction &I) {
    return I.getType()->isIntegerTy() &&
           isa<BinaryOperator, CastInst, CmpInst, PHINode>(I);
  };
  SmallPtrSet<const Instruction *, 32> Live;
  SmallVector<const Instruction *, 32> Pending;
  for (const Instruction &I : instructions(F))
    if (!IsNumber(I))
      Pending.push_back(&I);
  while (!Pending.empty())
    for (const Use &Operand : Pending.pop_back_val()->operands())
      if (auto *I = dyn_cast<Instruction>(Operand);
          I && IsNumber(*I) && Live.insert(I).second)
        Pending.push_back(I);
  SmallVector<Instruction *, 16> Dead;
  for (Instruction &I : instructions(F))
    if (IsNumber(I) && !Live.contains(&I))
      Dead.push_back(&I);
  for (Instruction *I : Dead) {
    salvageDebugInfo(*I);
    I->dropAllReferences();
  }
  for (Instruction *I : Dead)
    I->eraseFromParent();
}

/// A dim3 is put together in halves, each beside what the other half was
/// before: bits that nobody looks at become zero. As BDCE, which would also
/// remove the loads of buffers that are not used.
static void clearDeadBits(Function &F, DemandedBits &Bits) {
  SmallVector<Use *, 16> Dead;
  for (Instruction &I : instructions(F))
    if (I.getOpcode() == Instruction::And)
      for (Use &U : I.operands())
        if (!isa<Constant>(U) && Bits.isUseDead(&U))
          Dead.push_back(&U);
  for (Use *U : Dead) {
    // What it is part of has other bits now, where they do not matter.
    SmallVector<Instruction *, 8> Pending{cast<Instruction>(U->getUser())};
    SmallPtrSet<Instruction *, 8> Seen(llvm::from_range, Pending);
    while (!Pending.empty())
      for (User *Of : Pending.pop_back_val()->users()) {
        auto *I = dyn_cast<Instruction>(Of);
        if (!I || !I->getType()->isIntOrIntVectorTy() || !Seen.insert(I).second)
          continue;
        I->dropPoisonGeneratingAnnotations();
        if (!Bits.getDemandedBits(I).isAllOnes())
          Pending.push_back(I);
      }
    U->set(ConstantInt::get(U->get()->getType(), 0));
  }
  if (!Dead.empty())
    removeDeadNumbers(F);
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
  clearDeadBits(*Copy, Analyses.getResult<DemandedBitsAnalysis>(*Copy));
  Analyses.invalidate(*Copy, PreservedAnalyses::none());
  if (foldExitBranches(*Copy))
    Run(SimplifyCFGPass(Options));
  Run(LoopSimplifyPass());
}

/// dim3, and what it is passed as.
static bool isStructureOfNumbers(const Type *T) {
  return T->isStructTy() && all_of(cast<StructType>(T)->elements(),
                                   [](Type *E) { return E->isIntegerTy(); });
}

/// A launch configuration of a function that was taken in, in a loop, begins
/// each time without contents: else it would seem to keep bits of the last
/// iteration's, as it is set field by field.
static void forgetAtBirth(Function &F) {
  constexpr uint64_t MostBytes = 64; // what is kept in registers
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Birth = dyn_cast<LifetimeIntrinsic>(&I);
    if (!Birth || Birth->getIntrinsicID() != Intrinsic::lifetime_start)
      continue;
    auto *Variable = dyn_cast<AllocaInst>(Birth->getArgOperand(0));
    if (!Variable || Variable->isArrayAllocation() ||
        !isStructureOfNumbers(Variable->getAllocatedType()))
      continue;
    std::optional<TypeSize> Bytes =
        Variable->getAllocationSize(F.getDataLayout());
    if (!Bytes || Bytes->isScalable() || Bytes->getFixedValue() > MostBytes)
      continue;
    // One number: what is stored field by field stays in pieces. Not poison: a
    // field that is put beside undefined bits must not become that.
    Type *Whole = IntegerType::get(F.getContext(), Bytes->getFixedValue() * 8);
    IRBuilder<> After(Birth->getParent(), std::next(Birth->getIterator()));
    After.CreateAlignedStore(UndefValue::get(Whole), Variable,
                             Variable->getAlign());
  }
}

void FlatFunction::bringIntoForm() {
  forgetAtBirth(*Copy);
  // With pointers to objects in registers, but not yet what is in the objects.
  Analyses.invalidate(*Copy, PreservedAnalyses::none());
  Analyses.invalidate(*Copy, PromotePass().run(*Copy, Analyses));
  Names.noteAll(*Copy);
  if (makeObjectsLocal(*Copy, Analyses)) {
    Analyses.invalidate(*Copy, PreservedAnalyses::none());
    Names.noteAll(*Copy);
  }
  separateFields(*Copy, [&](const StructType &Struct, unsigned Number) {
    return Relevant.fieldName(Struct, Number);
  });
  simplify();
  if (unrollBufferArrays(*Copy, Analyses, Limit)) {
    Size = countInstructions(*Copy);
    Names.noteAll(*Copy);
    simplify();
  }
  separateOutParameters();
  simplify();
  if (unrollBufferSwaps(*Copy, Analyses, Limit)) {
    Size = countInstructions(*Copy);
    simplify();
  }
  Names.apply();
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
  Copy->setName(F.getName() + Suffix);
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
      Flat->Names.note(*Call);
      Pending.push_back(Call);
    }
  Flat->inlineFrom(Pending);
  Flat->bringIntoForm();
  return Flat;
}

const Function &FlatFunction::originalOf(const Function &Copy) {
  StringRef Name = Copy.getName();
  const Function *Original =
      Name.consume_back(Suffix) ? Copy.getParent()->getFunction(Name) : nullptr;
  return Original ? *Original : Copy;
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
  removeBufferNames(Original);
  Copy->eraseFromParent();
  Copy = nullptr;
}

} // namespace dragon
