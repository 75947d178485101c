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

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/DemandedBits.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
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
      if (auto *Address = dyn_cast<GetElementPtrInst>(&I))
        noteField(*Address);
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      if (const LibraryFunction *Library = libraryFunction(*Call);
          Library && !Library->Uses.empty()) {
        Add(Functions, &F);
        Add(Device, &F);
        continue;
      }
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

/// The structure and the field's number in `getelementptr %struct, ptr, 0, n`.
static std::optional<std::pair<const Type *, uint64_t>>
fieldOf(const GEPOperator &Address) {
  auto *Struct = dyn_cast<StructType>(Address.getSourceElementType());
  if (!Struct || Address.getNumIndices() != 2)
    return std::nullopt;
  auto *Number = dyn_cast<ConstantInt>((Address.idx_end() - 1)->get());
  if (!Number)
    return std::nullopt;
  return std::pair<const Type *, uint64_t>(Struct, Number->getZExtValue());
}

/// Clang calls the address of a field by the field's name, with a number where
/// it has called another value of the function so: the shortest is the name.
void RelevantFunctions::noteField(const GetElementPtrInst &Address) {
  auto Field = fieldOf(cast<GEPOperator>(Address));
  if (!Field || !Address.hasName())
    return;
  std::string &Name = Fields[*Field];
  StringRef Given = userName(Address.getName());
  if (Name.empty() || Given.size() < Name.size())
    Name = Given.str();
}

std::string RelevantFunctions::fieldName(const GEPOperator &Address) const {
  auto Field = fieldOf(Address);
  return Field ? Fields.lookup(*Field) : "";
}

std::string RelevantFunctions::fieldName(const StructType &Struct,
                                         unsigned Number) const {
  return Fields.lookup({&Struct, Number});
}

std::string RelevantFunctions::firstFieldName(const Type *T) const {
  std::string Name;
  while (auto *Struct = dyn_cast<StructType>(T)) {
    if (Struct->getNumElements() == 0)
      break;
    Name = Fields.lookup({Struct, 0});
    T = Struct->getElementType(0);
  }
  return T->isPointerTy() ? Name : "";
}

StringRef userName(StringRef Name) {
  // Parameters have ".addr", inlining appends ".i12", unrolling ".1", SROA
  // ".sroa.0". There is no dot in a name of the user's.
  return Name.split('.').first;
}

namespace {

/// Values get numbers where names clash, so names are kept as metadata, while
/// the copy is one.
constexpr StringLiteral NameKind = "dragon.name";
/// Marks the variables that separateOutParameters made.
constexpr StringLiteral SlotKind = "dragon.slot";

void setBufferName(CallBase &Allocation, StringRef Name) {
  LLVMContext &Context = Allocation.getContext();
  if (!Name.empty() && !Allocation.getMetadata(NameKind))
    Allocation.setMetadata(NameKind,
                           MDNode::get(Context, MDString::get(Context, Name)));
}

std::string elementName(const std::string &Array, int64_t Index) {
  return Array.empty() ? Array : Array + "[" + std::to_string(Index) + "]";
}

/// What the user calls a variable: `d`, an element: `d[1]`, or a field. Sets
/// Exact to false where it is known of the array only.
std::string variableName(Value &Variable, const RelevantFunctions &Relevant,
                         bool &Exact) {
  auto First = [](const std::string &Name, const Type *T) {
    return T->isArrayTy() ? elementName(Name, 0) : Name;
  };
  if (auto *Address = dyn_cast<GEPOperator>(&Variable)) {
    if (Address->getSourceElementType()->isStructTy()) {
      std::string Field = Relevant.fieldName(*Address);
      // The library's own.
      if (Field.empty() || StringRef(Field).starts_with("_"))
        return variableName(*Address->getPointerOperand(), Relevant, Exact);
      return First(Field, Address->getResultElementType());
    }
    Value &Array = *Address->getPointerOperand();
    // `&d[0]` has become `d`.
    std::string Name;
    if (auto *Field = dyn_cast<GEPOperator>(&Array))
      Name = Relevant.fieldName(*Field);
    else if (isa<AllocaInst>(Array))
      Name = userName(Array.getName()).str();
    if (auto *Index = dyn_cast<ConstantInt>((Address->idx_end() - 1)->get()))
      return elementName(Name, Index->getSExtValue());
    Exact = false;
    return Name;
  }
  if (isa<GlobalVariable>(Variable))
    return demangle(Variable.getName());
  std::string Name = userName(Variable.getName()).str();
  for (DbgVariableRecord *Record : findDVRDeclares(&Variable))
    if (!Record->getExpression()->getFragmentInfo())
      Name = Record->getVariable()->getName().str();
  auto *Local = dyn_cast<AllocaInst>(&Variable);
  if (!Local)
    return Name;
  // The address of the first field has become that of the structure.
  std::string Field = Relevant.firstFieldName(Local->getAllocatedType());
  return First(Field.empty() || StringRef(Field).starts_with("_") ? Name
                                                                  : Field,
               Local->getAllocatedType());
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

/// `h_A = (float *)malloc(n)`, `std::vector<float> h_A(n)`: the variable that
/// the result is stored to.
void FlatFunction::noteName(CallBase &Call) {
  const CallEffect *Effect = callEffect(Call);
  bool IsDescriptor = Effect && Effect->Kind == CallKind::FileOpen;
  if (!Call.getType()->isPointerTy() && !IsDescriptor)
    return;
  SmallVector<Value *, 4> Results{&Call};
  for (User *U : Call.users())
    if (isa<PHINode>(U))
      Results.push_back(U);
  for (Value *Result : Results)
    for (User *U : Result->users()) {
      auto *Store = dyn_cast<StoreInst>(U);
      if (!Store || Store->getValueOperand() != Result)
        continue;
      Value *To = Store->getPointerOperand();
      auto *Local = dyn_cast<AllocaInst>(To);
      if (((Local && isUserVariable(*Local)) ||
           isa<GlobalVariable, GEPOperator>(To)) &&
          addName(Call, *To))
        return;
    }
}

bool FlatFunction::addName(CallBase &Call, Value &Variable) {
  bool Exact = true;
  std::string Name = variableName(Variable, Relevant, Exact);
  // The library's own variables.
  if (Name.empty() || StringRef(Name).starts_with("__"))
    return false;
  (Exact ? Names : RoughNames).emplace_back(&Call, std::move(Name));
  return true;
}

/// The call that made the value: `deviceAlloc<float>(n)` has become a load of
/// what cudaMalloc wrote.
static CallBase *makerOf(Value *V) {
  auto *Load = dyn_cast_or_null<LoadInst>(V);
  if (!Load || !isOutSlot(Load->getPointerOperand()))
    return dyn_cast_or_null<CallBase>(V);
  for (User *U : Load->getPointerOperand()->users())
    if (auto *Call = dyn_cast<CallBase>(U); Call && outParameter(*Call) >= 0)
      return Call;
  return nullptr;
}

void FlatFunction::nameBuffers() {
  for (const auto *List : {&Names, &RoughNames})
    for (const auto &[Handle, Name] : *List)
      if (CallBase *Call = makerOf(Handle))
        setBufferName(*Call, Name);
}

bool isOutSlot(const Value *V) {
  auto *Local = dyn_cast<AllocaInst>(V);
  return Local && Local->hasMetadata(SlotKind);
}

std::string bufferName(const CallBase &Call) {
  if (const MDNode *Node = Call.getMetadata(NameKind))
    return cast<MDString>(Node->getOperand(0))->getString().str();
  return "buffer";
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
    noteName(*New);
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
    addName(*Call, *To);
    StringRef Name = userName(getUnderlyingObject(To)->getName());
    Type *Pointer = PointerType::getUnqual(Copy->getContext());
    IRBuilder<> Entry(&*Copy->getEntryBlock().getFirstInsertionPt());
    AllocaInst *Slot =
        Entry.CreateAlloca(Pointer, nullptr, Twine(Name) + ".slot");
    Slot->setMetadata(SlotKind, MDNode::get(Copy->getContext(), {}));
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

void FlatFunction::noteNames() {
  for (Instruction &I : instructions(*Copy))
    if (auto *Call = dyn_cast<CallBase>(&I))
      noteName(*Call);
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
    // One number: what is stored field by field stays in pieces.
    Type *Whole = IntegerType::get(F.getContext(), Bytes->getFixedValue() * 8);
    IRBuilder<> After(Birth->getParent(), std::next(Birth->getIterator()));
    After.CreateAlignedStore(PoisonValue::get(Whole), Variable,
                             Variable->getAlign());
  }
}

void FlatFunction::bringIntoForm() {
  forgetAtBirth(*Copy);
  // With pointers to objects in registers, but not yet what is in the objects.
  Analyses.invalidate(*Copy, PreservedAnalyses::none());
  Analyses.invalidate(*Copy, PromotePass().run(*Copy, Analyses));
  noteNames();
  separateFields(*Copy, [&](const StructType &Struct, unsigned Number) {
    return Relevant.fieldName(Struct, Number);
  });
  simplify();
  if (unrollBufferArrays(*Copy, Analyses, Limit)) {
    Size = countInstructions(*Copy);
    noteNames();
    simplify();
  }
  separateOutParameters();
  simplify();
  if (unrollBufferSwaps(*Copy, Analyses, Limit)) {
    Size = countInstructions(*Copy);
    simplify();
  }
  nameBuffers();
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
      Flat->noteName(*Call);
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
  for (Instruction &I : instructions(Original)) {
    I.setMetadata(NameKind, nullptr);
    I.setMetadata(SlotKind, nullptr);
  }
  Copy->eraseFromParent();
  Copy = nullptr;
}

} // namespace dragon
