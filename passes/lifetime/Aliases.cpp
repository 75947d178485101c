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
#include "llvm/IR/Operator.h"
#include <numeric>

using namespace llvm;

namespace dragon {

Aliases::Aliases(Function &F, const KernelSummaries &Kernels,
                 ArrayRef<const GlobalVariable *> OwnGlobals)
    : PointsToSets(F, OwnGlobals), Kernels(Kernels) {
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
  if (auto *Address = dyn_cast<GetElementPtrInst>(&I))
    return visitAddress(*Address);
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
  visitOperation(I);
}

void Aliases::visitAddress(GetElementPtrInst &Address) {
  const auto &Offsets = cast<GEPOperator>(Address);
  APInt Constant(64, 0);
  SmallMapVector<Value *, APInt, 4> Variable;
  const bool Known = Offsets.getType()->isPointerTy() &&
                     Offsets.collectOffset(Layout, 64, Variable, Constant);
  int64_t Stride = 0;
  for (const auto &[Index, Scale] : Variable)
    Stride = std::gcd(Stride, Scale.getSExtValue());
  TargetSet Result;
  for (const Target &T : targetsOf(Offsets.getPointerOperand())) {
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
  const bool FromNull = isa<ConstantPointerNull>(Offsets.getPointerOperand());
  for (const auto &[Index, Scale] : Variable)
    for (const Target &T : targetsOf(Index))
      if (FromNull || T.Object != Unknown)
        Result.insert({T.Object, Target::AnyOffset});
  for (const Use &Index : Offsets.indices())
    if (mayHoldPointer(Index->getType()) && !FromNull)
      expose(Index, Address);
  add(&Address, Result);
}

/// Casts, phis, selects, arithmetic on integers, parts of aggregates: the
/// operands' addresses, or others in their objects.
void Aliases::visitOperation(Instruction &I) {
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

/// A parameter that the summary describes is used while the call lasts, and not
/// kept. A buffer that the summary does not expect may be kept.
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
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call))
    return visitIntrinsic(*Intrinsic);
  if (const CallEffect *Effect = callEffect(Call))
    return visitEffect(Call, *Effect);
  if (const LibraryFunction *Function = libraryFunction(Call))
    return visitLibrary(Call, *Function);
  visitOpaque(Call);
}

/// Rotations, swapped bytes, results with their overflow.
void Aliases::visitIntrinsic(IntrinsicInst &Call) {
  const bool Holds = mayHoldPointer(Call.getType());
  TargetSet Result;
  for (const Use &Operand : Call.args()) {
    if (Holds)
      for (const Target &T : targetsOf(Operand))
        Result.insert({T.Object, Target::AnyOffset});
    else if (!Call.getType()->isVoidTy() &&
             Operand->getType()->isIntOrIntVectorTy())
      expose(Operand, Call);
  }
  add(&Call, Result);
}

/// An opaque call keeps what it is given, and returns anything.
void Aliases::visitOpaque(CallBase &Call) {
  const bool Extracts = isExtraction(Call);
  if (!Call.doesNotAccessMemory())
    for (const Use &Operand : Call.args())
      if (mayHoldPointer(Operand->getType()) &&
          !(Extracts && Call.getArgOperandNo(&Operand) > 0) &&
          !(Call.onlyReadsMemory() &&
            Call.doesNotCapture(Call.getArgOperandNo(&Operand))))
        escape(targetsOf(Operand), Call,
               [&] { return "'" + calleeName(Call) + "'"; });
  // A call that keeps nothing may return a value made of what it reads.
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
}

void Aliases::visitEffect(CallBase &Call, const CallEffect &Effect) {
  auto Quoted = [&] { return "'" + calleeName(Call) + "'"; };
  exposeByCall(Call, Effect);
  switch (Effect.Kind) {
  case CallKind::AllocateInto:
    store(targetsOf(Call.getArgOperand(Effect.Pointer)), {{ObjectOf[&Call], 0}},
          Call);
    break;
  case CallKind::Allocate:
    add(&Call, {{ObjectOf[&Call], 0}});
    break;
  case CallKind::FileOpen:
    if (Call.getType()->isPointerTy())
      add(&Call, {{ObjectOf[&Call], 0}});
    break;
  case CallKind::Copy:
    copyContents(Call.getArgOperand(Effect.Pointer),
                 Call.getArgOperand(Effect.From), /*Bytes=*/nullptr, Call);
    break;
  case CallKind::FileUse:
    // setvbuf keeps the buffer that it is given.
    if (Call.getCalledFunction()->getName().starts_with("set"))
      for (const Use &Operand : Call.args())
        if (static_cast<int>(Call.getArgOperandNo(&Operand)) != Effect.File)
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
    for (const Target &T : targetsOf(Call.getArgOperand(Effect.From)))
      Into.insert({T.Object, Target::AnyOffset});
    store(targetsOf(Call.getArgOperand(Effect.Pointer)), Into, Call);
    break;
  }
  case CallKind::Publish:
    for (const Target &T : targetsOf(Call.getArgOperand(Effect.From)))
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
