//===- Aliases.cpp - which pointers may point where -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/Aliases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include <numeric>

using namespace llvm;

namespace dragon {

namespace {

// More distinct offsets than that in one object count as "any".
constexpr size_t MaxOffsets = 128;

/// Values in which a pointer may travel.
bool mayHoldPointer(const Type *T) {
  if (T->isPtrOrPtrVectorTy() || T->isAggregateType())
    return true;
  return T->isIntOrIntVectorTy() && T->getPrimitiveSizeInBits() >= 64;
}

} // namespace

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
  const int64_t Common = std::gcd(Stride, Other.Stride);
  return Common ? (Offset - Other.Offset) % Common == 0
                : Offset == Other.Offset;
}

Aliases::Aliases(Function &F, const KernelSummaries &Kernels,
                 ArrayRef<const GlobalVariable *> OwnGlobals)
    : F(F), Layout(F.getDataLayout()), Kernels(Kernels) {
  addObjects(OwnGlobals);
  do {
    Changed = false;
    for (Instruction &I : instructions(F))
      visit(I);
  } while (Changed);
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
  if (isa<Constant>(V))
    return constantTargets(V);
  if (isa<Argument>(V)) {
    if (mayHoldPointer(V->getType()) && V->getType()->isPointerTy())
      return {{Unknown, Target::AnyOffset}};
    return {};
  }
  auto It = Points.find(V);
  return It == Points.end() ? TargetSet() : It->second;
}

TargetSet Aliases::contents(unsigned Object) const {
  TargetSet Result;
  for (const auto &[Offset, Targets] : Contents[Object])
    Result.insert(Targets.begin(), Targets.end());
  return Result;
}

TargetSet Aliases::contents(unsigned Object, Place At) const {
  TargetSet Result;
  for (const auto &[Where, Targets] : Contents[Object])
    if (Where.mayBe(At))
      Result.insert(Targets.begin(), Targets.end());
  return Result;
}

bool Aliases::add(const Value *V, const TargetSet &Targets) {
  if (Targets.empty())
    return false;
  TargetSet &Set = Points[V];
  size_t Before = Set.size();
  bool Anything = Set.count({Unknown, Target::AnyOffset});
  for (const Target &T : Targets)
    // "Any" covers the others, and Unknown what has escaped.
    if (!Set.count({T.Object, Target::AnyOffset}) &&
        !(Anything && Objects[T.Object].Escapes))
      Set.insert(T);
  // A pointer that walks through an object takes ever new offsets.
  if (Set.size() > MaxOffsets) {
    TargetSet Coarse;
    for (const Target &T : Set)
      Coarse.insert({T.Object, Target::AnyOffset});
    if (Coarse != Set) {
      Set = std::move(Coarse);
      Changed = true;
      return true;
    }
  }
  bool Grew = Set.size() != Before;
  Changed |= Grew;
  return Grew;
}

void Aliases::addContents(unsigned Object, Place At, const TargetSet &Targets) {
  auto &Of = Contents[Object];
  if (Of.size() >= MaxOffsets && !Of.count(At))
    At = {};
  TargetSet &Set = Of[At];
  size_t Before = Set.size();
  Set.insert(Targets.begin(), Targets.end());
  Changed |= Set.size() != Before;
}

void Aliases::escape(const TargetSet &Targets, const Instruction &At,
                     const std::string &To) {
  SmallVector<unsigned, 8> Pending;
  for (const Target &T : Targets)
    Pending.push_back(T.Object);
  while (!Pending.empty()) {
    unsigned Index = Pending.pop_back_val();
    MemoryObject &O = Objects[Index];
    if (O.Escapes)
      continue;
    O.Escapes = true;
    O.EscapesTo = To;
    auto *Call = dyn_cast<CallBase>(&At);
    O.EscapesToKernel = Call && isLaunch(*Call);
    O.EscapesAt = &At;
    Changed = true;
    // What is stored in it can be reached as well; what will be, escapes then.
    for (const auto &[Offset, Stored] : Contents[Index])
      for (const Target &T : Stored)
        Pending.push_back(T.Object);
  }
}

void Aliases::store(const Value *To, const TargetSet &Targets,
                    const Instruction &At) {
  if (Targets.empty())
    return;
  for (const Target &T : pointsTo(To)) {
    if (T.Object == Unknown || Objects[T.Object].Escapes)
      escape(Targets, At, "a store to memory that other code may see");
    if (T.Object != Unknown)
      addContents(T.Object, T.At, Targets);
  }
}

TargetSet Aliases::load(const TargetSet &From) const {
  TargetSet Result;
  for (const Target &T : From) {
    TargetSet Found = contents(T.Object, T.At);
    Result.insert(Found.begin(), Found.end());
    // Someone else may have stored whatever has escaped.
    if (Objects[T.Object].Escapes)
      Result.insert({Unknown, Target::AnyOffset});
  }
  return Result;
}

void Aliases::copyContents(const Value *To, const Value *From,
                           const Instruction &At) {
  for (const Target &Source : pointsTo(From)) {
    if (Objects[Source.Object].Escapes) {
      store(To, load({Source}), At);
      continue;
    }
    for (const auto &[Where, Targets] : Contents[Source.Object]) {
      for (const Target &Destination : pointsTo(To)) {
        if (Destination.Object == Unknown ||
            Objects[Destination.Object].Escapes)
          escape(Targets, At, "a store to memory that other code may see");
        if (Destination.Object == Unknown)
          continue;
        TargetSet Copied = Targets;
        Place Goal;
        if (!Where.anywhere() && !Source.At.anywhere()) {
          Goal = Destination.At.plus(Where.Offset - Source.At.Offset);
          if (Where.Stride || Source.At.Stride)
            Goal = Goal.plusMultiples(std::gcd(Where.Stride, Source.At.Stride));
        }
        addContents(Destination.Object, Goal, Copied);
        // addContents may have changed the map that is walked.
        if (Destination.Object == Source.Object)
          return;
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
      add(&I, load(pointsTo(Load->getPointerOperand())));
    return;
  }
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return store(Store->getPointerOperand(), pointsTo(Store->getValueOperand()),
                 I);
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
    store(Exchange->getPointerOperand(), pointsTo(Exchange->getNewValOperand()),
          I);
    add(&I, load(pointsTo(Exchange->getPointerOperand())));
    return;
  }
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I)) {
    store(Update->getPointerOperand(), pointsTo(Update->getValOperand()), I);
    add(&I, load(pointsTo(Update->getPointerOperand())));
    return;
  }
  if (auto *Return = dyn_cast<ReturnInst>(&I)) {
    if (Value *V = Return->getReturnValue())
      escape(pointsTo(V), I, "the caller");
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
    for (const Target &T : pointsTo(Address->getPointerOperand())) {
      Place At;
      if (Known) {
        At = T.At.plus(Constant.getSExtValue());
        if (!Variable.empty())
          At = At.plusMultiples(Stride);
      }
      Result.insert({T.Object, At});
    }
    add(&I, Result);
    return;
  }
  if (!mayHoldPointer(I.getType()))
    return;
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
    for (Target T : pointsTo(Operand)) {
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
      for (const Target &T : pointsTo(Operand)) {
        for (const auto &[Where, Targets] : Contents[T.Object]) {
          bool Exact =
              Where.exact() && T.At.exact() && Where.Offset >= T.At.Offset;
          TargetSet Given = Targets;
          if (!Exact ||
              Kernels.use(Stub, Parameter, Where.Offset - T.At.Offset).Escapes)
            escape(Given, Call, calleeName(Call));
        }
      }
      continue;
    }
    if (Kernels.use(Stub, Parameter, 0).Escapes)
      escape(pointsTo(Operand), Call, calleeName(Call));
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
    TargetSet Targets = pointsTo(Operand);
    bool Expected = Known || Function.hostUse(Parameter) ||
                    none_of(Targets, [&](const Target &T) {
                      return Objects[T.Object].Kind == ObjectKind::Buffer;
                    });
    if (!Expected || (Known && Known->Mode == LibraryMode::Keep))
      escape(Targets, Call, "'" + Function.shownName() + "'");
  }
  // What it returns may be what it was given.
  if (mayHoldPointer(Call.getType())) {
    TargetSet Result{{Unknown, Target::AnyOffset}};
    for (const Use &Operand : Call.args())
      for (const Target &T : pointsTo(Operand))
        Result.insert({T.Object, Target::AnyOffset});
    add(&Call, Result);
  }
}

void Aliases::visitCall(CallBase &Call) {
  if (auto *Transfer = dyn_cast<AnyMemTransferInst>(&Call))
    return copyContents(Transfer->getDest(), Transfer->getSource(), Call);
  if (isLaunch(Call))
    return visitLaunch(Call);
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call)) {
    if (Intrinsic->getType()->isPointerTy()) {
      TargetSet Result;
      for (const Use &Operand : Call.args()) {
        TargetSet Given = pointsTo(Operand);
        for (const Target &T : Given)
          Result.insert({T.Object, Target::AnyOffset});
      }
      add(&Call, Result);
    }
    return;
  }
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
          escape(pointsTo(Operand), Call, "'" + calleeName(Call) + "'");
    if (mayHoldPointer(Call.getType())) {
      TargetSet Result{{Unknown, Target::AnyOffset}};
      if (Call.doesNotAccessMemory())
        for (const Use &Operand : Call.args())
          for (const Target &T : pointsTo(Operand))
            Result.insert({T.Object, Target::AnyOffset});
      add(&Call, Result);
    }
    return;
  }
  switch (Effect->Kind) {
  case CallKind::AllocateInto:
    store(Call.getArgOperand(Effect->Pointer), {{ObjectOf[&Call], 0}}, Call);
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
                 Call.getArgOperand(Effect->From), Call);
    break;
  case CallKind::FileUse:
    // setvbuf keeps the buffer that it is given.
    if (Call.getCalledFunction()->getName().starts_with("set"))
      for (const Use &Operand : Call.args())
        if (static_cast<int>(Call.getArgOperandNo(&Operand)) != Effect->File)
          escape(pointsTo(Operand), Call, "'" + calleeName(Call) + "'");
    [[fallthrough]];
  case CallKind::StreamTransfer:
  case CallKind::Neutral:
  case CallKind::Query:
    // A returned pointer (strtok, getenv, memset) may be one that was given.
    if (Call.getType()->isPointerTy()) {
      TargetSet Result{{Unknown, Target::AnyOffset}};
      for (const Use &Operand : Call.args())
        for (const Target &T : pointsTo(Operand))
          Result.insert({T.Object, Target::AnyOffset});
      add(&Call, Result);
    }
    break;
  case CallKind::Parse: {
    TargetSet Into;
    for (const Target &T : pointsTo(Call.getArgOperand(Effect->From)))
      Into.insert({T.Object, Target::AnyOffset});
    store(Call.getArgOperand(Effect->Pointer), Into, Call);
    break;
  }
  case CallKind::Publish:
    for (const Target &T : pointsTo(Call.getArgOperand(Effect->From)))
      escape(contents(T.Object), Call, "'" + calleeName(Call) + "'");
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
