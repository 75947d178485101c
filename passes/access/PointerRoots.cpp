//===- PointerRoots.cpp - what an address is made from --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/PointerRoots.h"

#include "passes/access/Canonicalize.h"
#include "passes/access/LoadedData.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned SharedSpace = 3;
constexpr unsigned LocalSpace = 5;
constexpr unsigned MaxRoots = 16;
constexpr unsigned MaxSteps = 256;

/// False: T may hold others than those collected.
bool collectPointerFields(Type *T, uint64_t Offset, const DataLayout &Layout,
                          SmallVectorImpl<uint64_t> &Fields) {
  constexpr size_t MaxFields = 64;
  if (T->isPointerTy()) {
    if (Fields.size() >= MaxFields)
      return false;
    Fields.push_back(Offset);
    return true;
  }
  if (auto *Struct = dyn_cast<StructType>(T)) {
    // A union has the type of one of its members, whichever is stored.
    bool All = !Struct->hasName() || !Struct->getName().starts_with("union.");
    const StructLayout *L = Layout.getStructLayout(Struct);
    for (unsigned I = 0; I < Struct->getNumElements(); ++I)
      All &=
          collectPointerFields(Struct->getElementType(I),
                               Offset + L->getElementOffset(I), Layout, Fields);
    return All;
  }
  auto *Array = dyn_cast<ArrayType>(T);
  if (!Array)
    return true;
  uint64_t Size = Layout.getTypeAllocSize(Array->getElementType());
  bool All = true;
  for (uint64_t I = 0; I < Array->getNumElements() && All; ++I) {
    size_t Before = Fields.size();
    All = collectPointerFields(Array->getElementType(), Offset + I * Size,
                               Layout, Fields);
    if (All && Fields.size() == Before)
      break; // nor do the others have any
  }
  return All;
}

class RootFinder {
public:
  explicit RootFinder(ScalarEvolution &SE) : SE(SE) {}

  PointerRoots Roots;

  /// Address = V + Offset (null: V + something).
  void find(Value *V, const SCEV *Offset, bool Sometimes) {
    if (Roots.size() >= MaxRoots || ++Steps > MaxSteps)
      return add(PointerRoot::Unseen, Offset, Sometimes);
    // Constant expressions and phis are looked through by hand.
    if (auto *Cast = dyn_cast<AddrSpaceCastOperator>(V)) {
      unsigned From = Cast->getSrcAddressSpace();
      if (From == SharedSpace || From == LocalSpace)
        return add(PointerRoot::NoBuffer, Offset, Sometimes);
      return find(Cast->getPointerOperand(), Offset, Sometimes);
    }
    if (auto *Cast = dyn_cast<IntToPtrInst>(V))
      return findNumber(Cast->getOperand(0), Offset, Sometimes);
    unsigned Space = V->getType()->getPointerAddressSpace();
    if (Space == SharedSpace || Space == LocalSpace)
      return add(PointerRoot::NoBuffer, Offset, Sometimes);
    if (auto *Arg = dyn_cast<Argument>(V))
      return findArgument(*Arg, Offset, Sometimes);
    if (isa<AllocaInst, GlobalVariable>(V))
      return add(PointerRoot::NoBuffer, Offset, Sometimes);
    if (isa<UndefValue>(V) || isa<ConstantPointerNull>(V))
      return; // undefined behaviour touches no buffer
    if (auto *Gep = dyn_cast<GEPOperator>(V)) {
      const SCEV *S = SE.getSCEV(Gep);
      const SCEV *Base = SE.getPointerBase(S);
      if (auto *Unknown = dyn_cast<SCEVUnknown>(Base);
          Unknown && Unknown->getValue() != V)
        return find(Unknown->getValue(), plus(Offset, SE.removePointerBase(S)),
                    Sometimes);
      return find(Gep->getPointerOperand(), nullptr, Sometimes);
    }
    if (auto *Select = dyn_cast<SelectInst>(V)) {
      findBase(Select->getTrueValue(), Offset, true);
      return findBase(Select->getFalseValue(), Offset, true);
    }
    if (auto *Phi = dyn_cast<PHINode>(V))
      return findPhi(*Phi, Offset);
    if (auto *Load = dyn_cast<LoadInst>(V))
      return findLoaded(*Load, Offset, Sometimes);
    if (auto *Call = dyn_cast<CallBase>(V)) {
      Function *Callee = Call->getCalledFunction();
      // Memory of its own.
      if (Callee && Callee->getName() == "malloc")
        return add(PointerRoot::NoBuffer, Offset, Sometimes);
      if (auto *Intrinsic = dyn_cast<IntrinsicInst>(Call))
        switch (Intrinsic->getIntrinsicID()) {
        case Intrinsic::launder_invariant_group:
        case Intrinsic::strip_invariant_group:
        case Intrinsic::ssa_copy:
          return findBase(Intrinsic->getArgOperand(0), Offset, Sometimes);
        default:
          break;
        }
    }
    if (auto *Freeze = dyn_cast<FreezeInst>(V))
      return findBase(Freeze->getOperand(0), Offset, Sometimes);
    add(PointerRoot::Unseen, Offset, Sometimes);
  }

  /// As find(), for any pointer value: splits off its offset first.
  void findBase(Value *V, const SCEV *Offset, bool Sometimes) {
    if (!SE.isSCEVable(V->getType()))
      return add(PointerRoot::Unseen, Offset, Sometimes);
    const SCEV *S = SE.getSCEV(V);
    const SCEV *Base = SE.getPointerBase(S);
    if (auto *Unknown = dyn_cast<SCEVUnknown>(Base))
      return find(Unknown->getValue(), plus(Offset, SE.removePointerBase(S)),
                  Sometimes);
    if (isa<SCEVConstant>(Base))
      return; // null
    find(V, nullptr, Sometimes);
  }

  /// As find(), for an address as a number: a pointer's plus something that no
  /// other address can be in.
  void findNumber(Value *V, const SCEV *Offset, bool Sometimes) {
    Value *Pointer = nullptr;
    const SCEV *Rest = V->getType()->isIntegerTy(64)
                           ? splitNumber(SE.getSCEV(V), Pointer)
                           : nullptr;
    if (!Rest || !Pointer || mayHoldAddress(Rest))
      return add(PointerRoot::Unseen, Offset, Sometimes);
    findBase(Pointer, plus(Offset, Rest), Sometimes);
  }

private:
  ScalarEvolution &SE;
  SmallPtrSet<Value *, 8> Active; ///< phis being looked through
  unsigned Steps = 0;

  const SCEV *plus(const SCEV *A, const SCEV *B) {
    if (!A || !B)
      return nullptr;
    Type *T = Type::getInt64Ty(SE.getContext());
    return SE.getAddExpr(SE.getTruncateOrSignExtend(A, T),
                         SE.getTruncateOrSignExtend(B, T));
  }

  /// S = Pointer's address + the result; null if S is no such sum.
  const SCEV *splitNumber(const SCEV *S, Value *&Pointer) {
    if (auto *Cast = dyn_cast<SCEVPtrToIntExpr>(S)) {
      auto *Unknown = dyn_cast<SCEVUnknown>(Cast->getOperand());
      Pointer = Unknown ? Unknown->getValue() : nullptr;
      return Pointer ? SE.getZero(S->getType()) : nullptr;
    }
    if (auto *Unknown = dyn_cast<SCEVUnknown>(S)) {
      auto *Cast = dyn_cast<PtrToIntInst>(Unknown->getValue());
      Pointer = Cast ? Cast->getPointerOperand() : nullptr;
      return Pointer ? SE.getZero(S->getType()) : nullptr;
    }
    if (auto *Rec = dyn_cast<SCEVAddRecExpr>(S)) {
      const SCEV *Start =
          Rec->isAffine() ? splitNumber(Rec->getStart(), Pointer) : nullptr;
      return Start ? SE.getAddRecExpr(Start, Rec->getStepRecurrence(SE),
                                      Rec->getLoop(), SCEV::FlagAnyWrap)
                   : nullptr;
    }
    auto *Sum = dyn_cast<SCEVAddExpr>(S);
    if (!Sum)
      return nullptr;
    const SCEV *Found = nullptr;
    SmallVector<const SCEV *, 4> Rest;
    for (const SCEV *Operand : Sum->operands()) {
      const SCEV *Part = Found ? nullptr : splitNumber(Operand, Pointer);
      Rest.push_back(Part ? Part : Operand);
      Found = Part ? Part : Found;
    }
    return Found ? SE.getAddExpr(Rest) : nullptr;
  }

  /// Numbers from memory may be addresses, or differences of them.
  static bool mayHoldAddress(const SCEV *S) {
    return SCEVExprContains(S, [](const SCEV *Part) {
      if (isa<SCEVPtrToIntExpr>(Part))
        return true;
      auto *Unknown = dyn_cast<SCEVUnknown>(Part);
      return Unknown && (Unknown->getType()->isPointerTy() ||
                         isa<PtrToIntInst>(Unknown->getValue()) ||
                         dependsOnMemory(*Unknown->getValue()));
    });
  }

  void add(PointerRoot::Kind What, const SCEV *Offset, bool Sometimes,
           PointerParameter From = {}) {
    if (What != PointerRoot::Parameter) {
      for (PointerRoot &R : Roots)
        if (R.What == What)
          return;
    }
    Roots.push_back({What, From, Offset, Sometimes});
  }

  void findArgument(Argument &Arg, const SCEV *Offset, bool Sometimes) {
    // Another function's argument: nothing is known of the caller.
    if (!isKernel(*Arg.getParent()))
      return add(PointerRoot::Unseen, Offset, Sometimes);
    if (Arg.hasByValAttr())
      return add(PointerRoot::NoBuffer, Offset, Sometimes);
    add(PointerRoot::Parameter, Offset, Sometimes, {&Arg, 0});
  }

  void findPhi(PHINode &Phi, const SCEV *Offset) {
    if (!Active.insert(&Phi).second)
      return; // its other values say what it can be
    // In a loop, a value of an earlier iteration plus what was added since.
    SmallPtrSet<const Value *, 8> Seen;
    bool Cyclic = reaches(Phi, Phi, Seen);
    for (Value *Incoming : Phi.incoming_values())
      findBase(Incoming, Cyclic ? nullptr : Offset,
               Phi.getNumIncomingValues() > 1);
    Active.erase(&Phi);
  }

  /// Whether Phi's value can flow back into it.
  static bool reaches(const Value &From, const PHINode &Phi,
                      SmallPtrSet<const Value *, 8> &Seen) {
    auto *U = dyn_cast<User>(&From);
    if (!U || isa<Constant>(U))
      return false;
    for (const Value *Op : U->operands()) {
      if (Op == &Phi)
        return true;
      if (isa<Instruction>(Op) && Op->getType()->isPointerTy() &&
          Seen.insert(Op).second && reaches(*Op, Phi, Seen))
        return true;
    }
    return false;
  }

  void findLoaded(LoadInst &Load, const SCEV *Offset, bool Sometimes) {
    if (auto Field = fieldReadBy(Load))
      return add(PointerRoot::Parameter, Offset, Sometimes,
                 {Field->Arg, uint32_t(Field->Offset)});
    // A field of a structure passed by value, chosen at run time: any of them.
    if (auto *Arg =
            dyn_cast<Argument>(getUnderlyingObject(Load.getPointerOperand()));
        Arg && isKernel(*Arg->getParent()) && Load.isSimple() &&
        isUnchangedByValue(*Arg)) {
      bool All;
      for (const PointerParameter &P : pointersOfParameter(*Arg, &All))
        add(PointerRoot::Parameter, Offset, true, P);
      if (!All)
        add(PointerRoot::Unseen, Offset, true);
      return;
    }
    add(PointerRoot::Unseen, Offset, Sometimes);
  }
};

} // namespace

SmallVector<PointerParameter, 4> pointersOfParameter(const Argument &Arg,
                                                     bool *All) {
  SmallVector<PointerParameter, 4> Pointers;
  if (All)
    *All = true;
  if (!Arg.hasByValAttr()) {
    if (Arg.getType()->isPointerTy())
      Pointers.push_back({&Arg, 0});
    return Pointers;
  }
  SmallVector<uint64_t, 8> Offsets;
  bool Complete = collectPointerFields(
      Arg.getParamByValType(), 0, Arg.getParent()->getDataLayout(), Offsets);
  if (All)
    *All = Complete;
  for (uint64_t Offset : Offsets)
    Pointers.push_back({&Arg, uint32_t(Offset)});
  return Pointers;
}

PointerRoots findRoots(Value &Address, ScalarEvolution &SE) {
  RootFinder Finder(SE);
  Type *T = Type::getInt64Ty(SE.getContext());
  if (Address.getType()->isPointerTy())
    Finder.findBase(&Address, SE.getZero(T), false);
  else
    Finder.findNumber(&Address, SE.getZero(T), false);
  return Finder.Roots;
}

} // namespace dragon
