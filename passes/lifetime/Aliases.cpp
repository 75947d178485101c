//===- Aliases.cpp - which pointers may point where -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/Aliases.h"

#include "passes/libraries/GivenLibraries.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

using namespace llvm;

namespace dragon {

namespace {

// More distinct offsets than that in one object count as "any".
constexpr size_t MaxOffsets = 128;

std::string toOtherCode() {
  return "a store to memory that other code may see";
}

/// Whether a copy of so many bytes from `From` on, or of any number, may take a
/// pointer at `Where` with it.
bool mayCopy(const Place &Where, const Place &From,
             std::optional<uint64_t> Bytes) {
  constexpr int64_t PointerBytes = 8;
  if (!Where.exact() || !From.exact())
    return true;
  return Where.Offset + PointerBytes > From.Offset &&
         (!Bytes || Where.Offset < From.Offset ||
          uint64_t(Where.Offset - From.Offset) < *Bytes);
}

} // namespace

bool mayHoldPointer(const Type *T) {
  if (T->isPtrOrPtrVectorTy() || T->isAggregateType())
    return true;
  return T->isIntOrIntVectorTy() && T->getPrimitiveSizeInBits() >= 64;
}

TargetSet::TargetSet(ArrayRef<Target> Targets)
    : Sorted(Targets.begin(), Targets.end()) {
  std::sort(Sorted.begin(), Sorted.end());
  Sorted.erase(llvm::unique(Sorted), Sorted.end());
}

bool TargetSet::insert(const Target &T) {
  auto *At = lower_bound(Sorted, T);
  if (At != Sorted.end() && *At == T)
    return false;
  Sorted.insert(At, T);
  return true;
}

bool TargetSet::insert(const TargetSet &Targets) {
  if (std::includes(begin(), end(), Targets.begin(), Targets.end()))
    return false;
  SmallVector<Target, 2> Both;
  std::set_union(begin(), end(), Targets.begin(), Targets.end(),
                 std::back_inserter(Both));
  Sorted = std::move(Both);
  return true;
}

bool TargetSet::count(const Target &T) const {
  return std::binary_search(begin(), end(), T);
}

Place Place::plus(int64_t Bytes) const {
  if (anywhere())
    return *this;
  if (Stride)
    return {((Offset + Bytes) % Stride + Stride) % Stride, Stride};
  return {Offset + Bytes, 0};
}

Place Place::plusMultiples(int64_t Bytes) const {
  if (anywhere())
    return *this;
  const int64_t Common = std::gcd(Stride, Bytes);
  if (Common < 8) // a pointer fills it
    return {};
  return {(Offset % Common + Common) % Common, Common};
}

bool Place::mayBe(const Place &Other) const {
  if (anywhere() || Other.anywhere())
    return true;
  if (!Stride && !Other.Stride)
    return Offset == Other.Offset;
  const int64_t Common = std::gcd(Stride, Other.Stride);
  return (Offset - Other.Offset) % Common == 0;
}

Aliases::Aliases(Function &F, const KernelSummaries &Kernels,
                 ArrayRef<const GlobalVariable *> OwnGlobals)
    : F(F), Layout(F.getDataLayout()), Kernels(Kernels) {
  addObjects(OwnGlobals);
  solve();
}

/// In rounds over the function, that leave out what nothing has changed for.
void Aliases::solve() {
  std::vector<Visit> Visits;
  for (Instruction &I : instructions(F)) {
    Visit V{
        &I,
        {},
        isa<LoadInst, StoreInst, AtomicCmpXchgInst, AtomicRMWInst, CallBase>(
            I)};
    for (const Use &Operand : I.operands())
      if (mayHoldPointer(Operand->getType()))
        V.Operands.push_back(&pointer(Operand));
    Visits.push_back(std::move(V));
  }
  bool Again = true;
  while (Again) {
    Again = false;
    for (Visit &V : Visits)
      if (isDue(V)) {
        V.Last = ++Now;
        visit(*V.I);
        Again = true;
      }
    if (!Again)
      Again = addFromOutside();
  }
}

bool Aliases::isDue(const Visit &V) const {
  if (V.Last == 0)
    return true;
  // What the visit itself changed has its number.
  for (const Pointer *Operand : V.Operands)
    if (Operand->Changed >= V.Last)
      return true;
  if (V.OfMemory)
    for (const Pointer *Operand : V.Operands)
      for (const Target &T : Operand->Targets)
        if (ObjectChanged[T.Object] >= V.Last)
          return true;
  return false;
}

Aliases::Pointer &Aliases::pointer(const Value *V) {
  auto [It, New] = NumberOf.try_emplace(V, Pointers.size());
  if (New) {
    Pointers.emplace_back();
    if (isa<Constant>(V))
      Pointers.back().Targets = constantTargets(V);
    else if (isa<Argument>(V) && V->getType()->isPointerTy())
      Pointers.back().Targets.insert({Unknown, Target::AnyOffset});
  }
  return Pointers[It->second];
}

void Aliases::addObjects(ArrayRef<const GlobalVariable *> OwnGlobals) {
  auto Add = [&](ObjectKind Kind, const Value *Site) -> MemoryObject & {
    if (Site)
      ObjectOf[Site] = Objects.size();
    Objects.emplace_back();
    Objects.back().Kind = Kind;
    Objects.back().Site = Site;
    return Objects.back();
  };
  Add(ObjectKind::Unknown, nullptr).Escapes = true;
  for (const GlobalVariable *G : OwnGlobals)
    Add(ObjectKind::Global, G);
  for (Instruction &I : instructions(F)) {
    if (isa<AllocaInst>(I)) {
      Add(ObjectKind::Local, &I);
      continue;
    }
    auto *Call = dyn_cast<CallBase>(&I);
    const CallEffect *Effect = Call ? callEffect(*Call) : nullptr;
    if (!Effect)
      continue;
    if (Effect->Kind == CallKind::AllocateInto ||
        Effect->Kind == CallKind::Allocate)
      Add(ObjectKind::Buffer, &I).Buffer = Effect->Buffer;
    else if (Effect->Kind == CallKind::FileOpen && I.getType()->isPointerTy())
      Add(ObjectKind::File, &I);
  }
  Contents.resize(Objects.size());
  ObjectChanged.resize(Objects.size());
}

const unsigned *Aliases::objectOf(const Value *Site) const {
  auto It = ObjectOf.find(Site);
  return It == ObjectOf.end() ? nullptr : &It->second;
}

TargetSet Aliases::constantTargets(const Value *V) const {
  if (!mayHoldPointer(V->getType()) || isa<ConstantPointerNull>(V) ||
      isa<UndefValue>(V) || isa<ConstantInt>(V) ||
      isa<ConstantAggregateZero>(V))
    return {};
  if (V->getType()->isPointerTy()) {
    APInt Offset(64, 0);
    const Value *Base = V->stripAndAccumulateConstantOffsets(
        Layout, Offset, /*AllowNonInbounds=*/true);
    if (auto It = ObjectOf.find(Base); It != ObjectOf.end())
      return {{It->second, Offset.getSExtValue()}};
    if (isa<ConstantPointerNull>(Base))
      return {};
  }
  return {{Unknown, Target::AnyOffset}};
}

TargetSet Aliases::pointsTo(const Value *V) const {
  if (auto It = NumberOf.find(V); It != NumberOf.end())
    return Pointers[It->second].Targets;
  if (isa<Constant>(V))
    return constantTargets(V);
  if (isa<Argument>(V) && V->getType()->isPointerTy())
    return {{Unknown, Target::AnyOffset}};
  return {};
}

TargetSet Aliases::contents(unsigned Object) const {
  TargetSet Result;
  for (const auto &[Offset, Targets] : Contents[Object])
    Result.insert(Targets);
  return Result;
}

TargetSet Aliases::contents(unsigned Object, Place At) const {
  TargetSet Result;
  for (const auto &[Where, Targets] : Contents[Object])
    if (Where.mayBe(At))
      Result.insert(Targets);
  return Result;
}

void Aliases::add(const Value *V, const TargetSet &Targets) {
  if (Targets.empty())
    return;
  Pointer &Known = pointer(V);
  TargetSet &Set = Known.Targets;
  bool Grew = false;
  bool Anything = Set.count({Unknown, Target::AnyOffset});
  for (const Target &T : Targets)
    // "Any" covers the others, and Unknown what has escaped.
    if (!Set.count({T.Object, Target::AnyOffset}) &&
        !(Anything && Objects[T.Object].Escapes))
      Grew |= Set.insert(T);
  // A pointer that walks through an object takes ever new offsets.
  if (Set.size() > MaxOffsets) {
    TargetSet Coarse;
    for (const Target &T : Set)
      Coarse.insert({T.Object, Target::AnyOffset});
    Grew |= Coarse != Set;
    Set = std::move(Coarse);
  }
  if (Grew)
    Known.Changed = Now;
}

void Aliases::addContents(unsigned Object, Place At, const TargetSet &Targets) {
  auto &Of = Contents[Object];
  if (Of.size() >= MaxOffsets && !Of.count(At))
    At = {};
  if (Of[At].insert(Targets))
    ObjectChanged[Object] = Now;
}

void Aliases::escape(const TargetSet &Targets, const Instruction &At,
                     function_ref<std::string()> To) {
  SmallVector<unsigned, 8> Pending;
  for (const Target &T : Targets)
    Pending.push_back(T.Object);
  while (!Pending.empty()) {
    unsigned Index = Pending.pop_back_val();
    MemoryObject &O = Objects[Index];
    if (O.Escapes)
      continue;
    O.Escapes = true;
    O.EscapesTo = To();
    auto *Call = dyn_cast<CallBase>(&At);
    O.EscapesToKernel = Call && isLaunch(*Call);
    O.EscapesAt = &At;
    ObjectChanged[Index] = Now;
    // What is stored in it can be reached as well; what will be, escapes then.
    for (const auto &[Offset, Stored] : Contents[Index])
      for (const Target &T : Stored)
        Pending.push_back(T.Object);
  }
}

/// Where a value of that type is, whose address is `Address`: what is larger
/// than a pointer may have some elsewhere.
TargetSet Aliases::places(const Value *Address, const Type *T) {
  constexpr uint64_t PointerBytes = 8;
  const TargetSet &Targets = targetsOf(Address);
  if (Layout.getTypeStoreSize(const_cast<Type *>(T)).getKnownMinValue() <=
      PointerBytes)
    return Targets;
  TargetSet Result;
  for (const Target &To : Targets)
    Result.insert({To.Object, Target::AnyOffset});
  return Result;
}

void Aliases::store(const TargetSet &To, const TargetSet &Targets,
                    const Instruction &At) {
  if (Targets.empty())
    return;
  for (const Target &T : To) {
    if (T.Object == Unknown || Objects[T.Object].Escapes)
      escape(Targets, At, toOtherCode);
    if (T.Object != Unknown)
      addContents(T.Object, T.At, Targets);
  }
}

TargetSet Aliases::load(const TargetSet &From) const {
  TargetSet Result;
  // Anywhere comes first of an object's places: the others add nothing.
  const Target *Whole = nullptr;
  for (const Target &T : From) {
    if (Whole && Whole->Object == T.Object)
      continue;
    Whole = T.At.anywhere() ? &T : nullptr;
    for (const auto &[Where, Targets] : Contents[T.Object])
      if (Where.mayBe(T.At))
        Result.insert(Targets);
    // Someone else may have stored whatever has escaped.
    if (Objects[T.Object].Escapes)
      Result.insert({Unknown, Target::AnyOffset});
  }
  return Result;
}

void Aliases::storeUnknown(const Value *To, std::optional<uint64_t> Bytes) {
  constexpr uint64_t PointerBytes = 8, MostApart = 256;
  for (const Target &T : targetsOf(To)) {
    if (T.Object == Unknown)
      continue;
    if (!Bytes || *Bytes > MostApart || T.At.anywhere()) {
      addContents(T.Object, {}, {{Unknown, Target::AnyOffset}});
      continue;
    }
    for (uint64_t At = 0; At < *Bytes; At += PointerBytes)
      addContents(T.Object, T.At.plus(At), {{Unknown, Target::AnyOffset}});
  }
}

void Aliases::copyContents(const Value *To, const Value *From,
                           const Value *Bytes, const Instruction &At) {
  std::optional<uint64_t> Length;
  if (auto *Constant = dyn_cast_or_null<ConstantInt>(Bytes))
    Length = Constant->getZExtValue();
  TargetSet Seen;
  for (const Target &Source : targetsOf(From))
    if (Objects[Source.Object].Escapes)
      Seen.insert(Source);
  if (!Seen.empty()) {
    // All that is in them has escaped.
    store(targetsOf(To), load(Seen), At);
    storeUnknown(To, Length);
  }
  for (const Target &Source : targetsOf(From)) {
    if (Seen.count(Source))
      continue;
    // What the copy adds to the object that it is from is for the next visit.
    SmallVector<Place, 8> Places;
    for (const auto &[Where, Targets] : Contents[Source.Object])
      if (mayCopy(Where, Source.At, Length))
        Places.push_back(Where);
    for (const Place &Where : Places) {
      const TargetSet Targets = Contents[Source.Object][Where];
      for (const Target &Destination : targetsOf(To)) {
        if (Destination.Object == Unknown ||
            Objects[Destination.Object].Escapes)
          escape(Targets, At, toOtherCode);
        if (Destination.Object == Unknown)
          continue;
        Place Goal;
        if (!Where.anywhere() && !Source.At.anywhere()) {
          Goal = Destination.At.plus(Where.Offset - Source.At.Offset);
          if (Where.Stride || Source.At.Stride)
            Goal = Goal.plusMultiples(std::gcd(Where.Stride, Source.At.Stride));
        }
        addContents(Destination.Object, Goal, Targets);
      }
    }
  }
}

void Aliases::visit(Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return visitCall(*Call);
  if (auto It = ObjectOf.find(&I); It != ObjectOf.end()) {
    add(&I, {{It->second, 0}});
    return;
  }
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    if (mayHoldPointer(I.getType()))
      add(&I, load(places(Load->getPointerOperand(), I.getType())));
    return exposeByLoad(*Load);
  }
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    const Value *Stored = Store->getValueOperand();
    return store(places(Store->getPointerOperand(), Stored->getType()),
                 targetsOf(Stored), I);
  }
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
    store(targetsOf(Exchange->getPointerOperand()),
          targetsOf(Exchange->getNewValOperand()), I);
    add(&I, load(targetsOf(Exchange->getPointerOperand())));
    return;
  }
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I)) {
    store(targetsOf(Update->getPointerOperand()),
          targetsOf(Update->getValOperand()), I);
    add(&I, load(targetsOf(Update->getPointerOperand())));
    return;
  }
  if (auto *Return = dyn_cast<ReturnInst>(&I)) {
    if (Value *V = Return->getReturnValue())
      escape(targetsOf(V), I, [] { return std::string("the caller"); });
    return;
  }
  if (auto *Address = dyn_cast<GEPOperator>(&I)) {
    APInt Constant(64, 0);
    SmallMapVector<Value *, APInt, 4> Variable;
    const bool Known = Address->getType()->isPointerTy() &&
                       Address->collectOffset(Layout, 64, Variable, Constant);
    int64_t Stride = 0;
    for (const auto &[Index, Scale] : Variable)
      Stride = std::gcd(Stride, Scale.getSExtValue());
    TargetSet Result;
    for (const Target &T : targetsOf(Address->getPointerOperand())) {
      Place At;
      if (Known) {
        At = T.At.plus(Constant.getSExtValue());
        if (!Variable.empty())
          At = At.plusMultiples(Stride);
      }
      Result.insert({T.Object, At});
    }
    // (char *)nullptr + number, (char *)a + (b - a), and a table's entry by a
    // part of an address. An index that nothing is known of stays inside.
    const bool FromNull =
        isa<ConstantPointerNull>(Address->getPointerOperand());
    for (const auto &[Index, Scale] : Variable)
      for (const Target &T : targetsOf(Index))
        if (FromNull || T.Object != Unknown)
          Result.insert({T.Object, Target::AnyOffset});
    for (const Use &Index : Address->indices())
      if (mayHoldPointer(Index->getType()) && !FromNull)
        expose(Index, I);
    add(&I, Result);
    return;
  }
  if (!mayHoldPointer(I.getType()))
    return exposeOperands(I);
  if (isDifference(I))
    return;
  if (auto *Operation = dyn_cast<BinaryOperator>(&I);
      Operation &&
      (Operation->isIntDivRem() || Operation->getOpcode() == Instruction::Mul))
    exposeOperands(I);
  if (isa<LandingPadInst>(I)) {
    add(&I, {{Unknown, Target::AnyOffset}});
    return;
  }
  // Casts, phis, selects, arithmetic on integers, parts of aggregates.
  bool Keeps = isa<CastInst>(I) || isa<PHINode>(I) || isa<SelectInst>(I) ||
               isa<FreezeInst>(I) || isa<ExtractValueInst>(I) ||
               isa<InsertValueInst>(I);
  TargetSet Result;
  for (const Use &Operand : I.operands()) {
    if (!mayHoldPointer(Operand->getType()) ||
        (isa<Constant>(Operand) && !Operand->getType()->isPtrOrPtrVectorTy()))
      continue;
    for (Target T : targetsOf(Operand)) {
      if (!Keeps)
        T.At = {};
      Result.insert(T);
    }
  }
  // An integer made a pointer that nothing is known of.
  if (isa<IntToPtrInst>(I) && Result.empty() && !isa<Constant>(I.getOperand(0)))
    Result.insert({Unknown, Target::AnyOffset});
  add(&I, Result);
}

void Aliases::visitLaunch(CallBase &Call) {
  const Function &Stub = *Call.getCalledFunction();
  for (const Use &Operand : Call.args()) {
    unsigned Parameter = Call.getArgOperandNo(&Operand);
    if (Call.isByValArgument(Parameter)) {
      for (const Target &T : targetsOf(Operand)) {
        for (const auto &[Where, Targets] : Contents[T.Object]) {
          bool Exact =
              Where.exact() && T.At.exact() && Where.Offset >= T.At.Offset;
          TargetSet Given = Targets;
          if (!Exact ||
              Kernels.use(Stub, Parameter, Where.Offset - T.At.Offset).Escapes)
            escape(Given, Call, [&] { return calleeName(Call); });
        }
      }
      continue;
    }
    if (Kernels.use(Stub, Parameter, 0).Escapes)
      escape(targetsOf(Operand), Call, [&] { return calleeName(Call); });
  }
}

/// What is described is used while the call lasts, and not kept. A buffer where
/// the summary expects none is one that nothing is known of.
void Aliases::visitLibrary(CallBase &Call, const LibraryFunction &Function) {
  for (const Use &Operand : Call.args()) {
    unsigned Parameter = Call.getArgOperandNo(&Operand);
    if (Function.Neutral || !mayHoldPointer(Operand->getType()))
      continue;
    const LibraryUse *Known = Function.use(Parameter);
    const TargetSet &Targets = targetsOf(Operand);
    bool Expected = Known || Function.hostUse(Parameter) ||
                    none_of(Targets, [&](const Target &T) {
                      return Objects[T.Object].Kind == ObjectKind::Buffer;
                    });
    if (!Expected || (Known && Known->Mode == LibraryMode::Keep))
      escape(Targets, Call, [&] { return "'" + Function.shownName() + "'"; });
  }
  // What it returns may be what it was given.
  if (mayHoldPointer(Call.getType())) {
    TargetSet Result{{Unknown, Target::AnyOffset}};
    for (const Use &Operand : Call.args())
      for (const Target &T : targetsOf(Operand))
        Result.insert({T.Object, Target::AnyOffset});
    add(&Call, Result);
  }
}

void Aliases::visitCall(CallBase &Call) {
  if (auto *Transfer = dyn_cast<AnyMemTransferInst>(&Call))
    return copyContents(Transfer->getDest(), Transfer->getSource(),
                        Transfer->getLength(), Call);
  if (isLaunch(Call))
    return visitLaunch(Call);
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call)) {
    // Rotations, swapped bytes, results with their overflow.
    const bool Holds = mayHoldPointer(Intrinsic->getType());
    TargetSet Result;
    for (const Use &Operand : Call.args()) {
      if (Holds)
        for (const Target &T : targetsOf(Operand))
          Result.insert({T.Object, Target::AnyOffset});
      else if (!Intrinsic->getType()->isVoidTy() &&
               Operand->getType()->isIntOrIntVectorTy())
        expose(Operand, Call);
    }
    add(&Call, Result);
    return;
  }
  auto Quoted = [&] { return "'" + calleeName(Call) + "'"; };
  const CallEffect *Effect = callEffect(Call);
  if (!Effect)
    if (const LibraryFunction *Function = libraryFunction(Call))
      return visitLibrary(Call, *Function);
  if (!Effect) {
    // Opaque: keeps what it is given and gives back what it likes.
    if (!Call.doesNotAccessMemory())
      for (const Use &Operand : Call.args())
        if (mayHoldPointer(Operand->getType()) &&
            !(Call.onlyReadsMemory() &&
              Call.doesNotCapture(Call.getArgOperandNo(&Operand))))
          escape(targetsOf(Operand), Call, Quoted);
    // What one that keeps nothing returns may be made of what it looks at.
    if (!Call.getType()->isVoidTy())
      for (const Use &Operand : Call.args()) {
        if (!mayHoldPointer(Operand->getType()))
          continue;
        if (!Call.doesNotAccessMemory())
          exposeContents(Operand, UINT64_MAX, Call);
        else if (!mayHoldPointer(Call.getType()))
          expose(Operand, Call);
      }
    if (mayHoldPointer(Call.getType())) {
      TargetSet Result{{Unknown, Target::AnyOffset}};
      if (Call.doesNotAccessMemory())
        for (const Use &Operand : Call.args())
          for (const Target &T : targetsOf(Operand))
            Result.insert({T.Object, Target::AnyOffset});
      add(&Call, Result);
    }
    return;
  }
  exposeByCall(Call, *Effect);
  switch (Effect->Kind) {
  case CallKind::AllocateInto:
    store(targetsOf(Call.getArgOperand(Effect->Pointer)),
          {{ObjectOf[&Call], 0}}, Call);
    break;
  case CallKind::Allocate:
    add(&Call, {{ObjectOf[&Call], 0}});
    break;
  case CallKind::FileOpen:
    if (Call.getType()->isPointerTy())
      add(&Call, {{ObjectOf[&Call], 0}});
    break;
  case CallKind::Copy:
    copyContents(Call.getArgOperand(Effect->Pointer),
                 Call.getArgOperand(Effect->From), /*Bytes=*/nullptr, Call);
    break;
  case CallKind::FileUse:
    // setvbuf keeps the buffer that it is given.
    if (Call.getCalledFunction()->getName().starts_with("set"))
      for (const Use &Operand : Call.args())
        if (static_cast<int>(Call.getArgOperandNo(&Operand)) != Effect->File)
          escape(targetsOf(Operand), Call, Quoted);
    [[fallthrough]];
  case CallKind::StreamTransfer:
  case CallKind::Neutral:
  case CallKind::Query:
    // A returned pointer (strtok, getenv, memset) may be one that was given.
    if (Call.getType()->isPointerTy()) {
      TargetSet Result{{Unknown, Target::AnyOffset}};
      for (const Use &Operand : Call.args())
        for (const Target &T : targetsOf(Operand))
          Result.insert({T.Object, Target::AnyOffset});
      add(&Call, Result);
    }
    break;
  case CallKind::Parse: {
    TargetSet Into;
    for (const Target &T : targetsOf(Call.getArgOperand(Effect->From)))
      Into.insert({T.Object, Target::AnyOffset});
    store(targetsOf(Call.getArgOperand(Effect->Pointer)), Into, Call);
    break;
  }
  case CallKind::Publish:
    for (const Target &T : targetsOf(Call.getArgOperand(Effect->From)))
      escape(contents(T.Object), Call, Quoted);
    break;
  case CallKind::Free:
  case CallKind::FreeAll:
  case CallKind::Fill:
  case CallKind::FileRead:
  case CallKind::FileWrite:
    break;
  }
}

} // namespace dragon
