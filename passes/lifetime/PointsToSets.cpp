//===- PointsToSets.cpp - objects and what points to them -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/PointsToSets.h"

#include "passes/lifetime/CallEffects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <numeric>

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

PointsToSets::PointsToSets(Function &F,
                           ArrayRef<const GlobalVariable *> OwnGlobals)
    : F(F), Layout(F.getDataLayout()) {
  addObjects(OwnGlobals);
}

PointsToSets::Pointer &PointsToSets::pointer(const Value *V) {
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

void PointsToSets::addObjects(ArrayRef<const GlobalVariable *> OwnGlobals) {
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

const unsigned *PointsToSets::objectOf(const Value *Site) const {
  auto It = ObjectOf.find(Site);
  return It == ObjectOf.end() ? nullptr : &It->second;
}

TargetSet PointsToSets::constantTargets(const Value *V) const {
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

TargetSet PointsToSets::pointsTo(const Value *V) const {
  if (auto It = NumberOf.find(V); It != NumberOf.end())
    return Pointers[It->second].Targets;
  if (isa<Constant>(V))
    return constantTargets(V);
  if (isa<Argument>(V) && V->getType()->isPointerTy())
    return {{Unknown, Target::AnyOffset}};
  return {};
}

TargetSet PointsToSets::contents(unsigned Object) const {
  TargetSet Result;
  for (const auto &[Offset, Targets] : Contents[Object])
    Result.insert(Targets);
  return Result;
}

TargetSet PointsToSets::contents(unsigned Object, Place At) const {
  TargetSet Result;
  for (const auto &[Where, Targets] : Contents[Object])
    if (Where.mayBe(At))
      Result.insert(Targets);
  return Result;
}

void PointsToSets::add(const Value *V, const TargetSet &Targets) {
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

void PointsToSets::addContents(unsigned Object, Place At,
                               const TargetSet &Targets) {
  auto &Of = Contents[Object];
  if (Of.size() >= MaxOffsets && !Of.count(At))
    At = {};
  if (Of[At].insert(Targets))
    ObjectChanged[Object] = Now;
}

void PointsToSets::escape(const TargetSet &Targets, const Instruction &At,
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
TargetSet PointsToSets::places(const Value *Address, const Type *T) {
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

void PointsToSets::store(const TargetSet &To, const TargetSet &Targets,
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

TargetSet PointsToSets::load(const TargetSet &From) const {
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

void PointsToSets::storeUnknown(const Value *To,
                                std::optional<uint64_t> Bytes) {
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

void PointsToSets::copyContents(const Value *To, const Value *From,
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

} // namespace dragon
