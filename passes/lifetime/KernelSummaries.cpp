//===- KernelSummaries.cpp - what the launched kernels may touch ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/KernelSummaries.h"

#include "passes/lifetime/SummaryJoin.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <cstring>

using namespace llvm;

namespace dragon {

namespace {

/// Without registration code (--cuda-host-only): `_Z24__device_stub__addPf` ->
/// `_Z3addPf`.
std::string symbolFromStub(StringRef Stub) {
  constexpr StringRef Marker = "__device_stub__";
  size_t At = Stub.find(Marker);
  if (At == StringRef::npos)
    return Stub.str();
  StringRef Before = Stub.take_front(At);
  StringRef After = Stub.drop_front(At + Marker.size());
  size_t Digits = Before.size();
  while (Digits > 0 && isDigit(Before[Digits - 1]))
    --Digits;
  unsigned Length;
  if (Before.drop_front(Digits).getAsInteger(10, Length) ||
      Length <= Marker.size())
    return (Before + After).str();
  return (Before.take_front(Digits) + Twine(Length - Marker.size()) + After)
      .str();
}

} // namespace

const SummaryView *KernelSummaries::addUnit(StringRef Blob) {
  Expected<std::unique_ptr<SummaryCopy>> New = SummaryCopy::open(Blob);
  if (!New) {
    consumeError(New.takeError());
    return nullptr;
  }
  Units.push_back(std::move(*New));
  return &Units.back()->view();
}

void KernelSummaries::findRegistrations(
    Module &M, function_ref<const SummaryView *(const Function &)> UnitOf) {
  Function *Register = M.getFunction("__cudaRegisterFunction");
  if (!Register)
    return;
  for (User *U : Register->users()) {
    auto *Call = dyn_cast<CallBase>(U);
    if (!Call || Call->arg_size() < 3)
      continue;
    auto *Stub =
        dyn_cast<Function>(Call->getArgOperand(1)->stripPointerCasts());
    StringRef Symbol;
    if (Stub && getConstantStringInfo(Call->getArgOperand(2), Symbol))
      Registered[Stub].push_back({UnitOf(*Call->getFunction()), Symbol.str()});
  }
}

KernelSummaries::KernelSummaries(Module &M, StringRef Blob) {
  if (!Blob.empty())
    Only = addUnit(Blob);
  findRegistrations(M, [&](const Function &) { return Only; });
}

KernelSummaries::KernelSummaries(Module &M, ArrayRef<UnitSummary> Given) {
  StringMap<const SummaryView *> Views;
  for (const UnitSummary &One : Given)
    if (!One.Blob.empty()) {
      const SummaryView *View = addUnit(One.Blob);
      for (StringRef Unit : One.Units)
        Views[Unit] = View;
    }
  findRegistrations(M, [&](const Function &Registers) {
    return Views.lookup(
        Registers.getFnAttribute(UnitAttribute).getValueAsString());
  });
}

const KernelInfoOnHost &KernelSummaries::kernel(const Function &Stub) const {
  std::unique_ptr<KernelInfoOnHost> &Entry = Known[&Stub];
  if (!Entry)
    Entry = std::make_unique<KernelInfoOnHost>(describe(Stub));
  return *Entry;
}

KernelInfoOnHost KernelSummaries::describe(const Function &Stub) const {
  KernelInfoOnHost Result;
  SmallVector<Registration, 1> Kernels = Registered.lookup(&Stub);
  if (Kernels.empty())
    Kernels.push_back({Only, symbolFromStub(Stub.getName())});
  Result.Symbol = Kernels.front().Symbol;
  for (const Registration &One : Kernels) {
    const KernelRecord *Record =
        One.View ? One.View->findKernel(One.Symbol.c_str()) : nullptr;
    if (!Record || (Result.Record && !sameKernel(*Result.View, *Result.Record,
                                                 *One.View, *Record))) {
      Result.View = nullptr;
      Result.Record = nullptr;
      break;
    }
    Result.View = One.View;
    Result.Record = Record;
  }
  Result.Parameters.resize(Stub.arg_size());

  // The array of addresses: the stub's only array of pointers.
  const DataLayout &Layout = Stub.getDataLayout();
  const AllocaInst *Array = nullptr;
  for (const Instruction &I : instructions(Stub))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (const Function *Callee = Call->getCalledFunction())
        if (Callee->getName().starts_with("cudaLaunchKernel"))
          for (const Use &Operand : Call->args())
            if (auto *Local =
                    dyn_cast<AllocaInst>(getUnderlyingObject(Operand)))
              if (Local->getAllocatedType()->isPointerTy() ||
                  Local->getAllocatedType()->isArrayTy())
                Array = Array ? Array : Local;
  if (!Array)
    return Result;
  // Variable -> kernel argument.
  DenseMap<const Value *, int> ArgumentOf;
  for (const Instruction &I : instructions(Stub)) {
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!Store || !Store->getValueOperand()->getType()->isPointerTy())
      continue;
    int64_t Offset = 0;
    const Value *Base = GetPointerBaseWithConstantOffset(
        Store->getPointerOperand(), Offset, Layout);
    if (Base == Array)
      ArgumentOf[Store->getValueOperand()->stripPointerCasts()] =
          static_cast<int>(Offset / 8);
  }
  for (const Argument &A : Stub.args()) {
    StubParameter &P = Result.Parameters[A.getArgNo()];
    if (auto Direct = ArgumentOf.find(&A); Direct != ArgumentOf.end()) {
      P.Argument = Direct->second; // byval
      continue;
    }
    for (const User *U : A.users()) {
      auto *Store = dyn_cast<StoreInst>(U);
      if (!Store || Store->getValueOperand() != &A)
        continue;
      int64_t Offset = 0;
      const Value *Base = GetPointerBaseWithConstantOffset(
          Store->getPointerOperand(), Offset, Layout);
      auto Indirect = ArgumentOf.find(Base);
      if (Indirect == ArgumentOf.end() || Offset < 0)
        continue;
      P.Argument = Indirect->second;
      P.Offset = static_cast<uint32_t>(Offset);
    }
  }
  return Result;
}

bool KernelSummaries::touchesAnything(const Function &Stub) const {
  const KernelRecord *Record = kernel(Stub).Record;
  return !Record || (Record->Flags & (KernelTouchesAnything | KernelUnknown));
}

bool KernelSummaries::sliceable(const Function &Stub) const {
  return !touchesAnything(Stub) &&
         (kernel(Stub).Record->Flags & KernelSliceable);
}

const PointerRecord *KernelSummaries::pointer(const Function &Stub,
                                              unsigned Parameter,
                                              uint32_t Offset) const {
  const KernelInfoOnHost &Kernel = kernel(Stub);
  if (!Kernel.Record || Parameter >= Kernel.Parameters.size() ||
      Kernel.Parameters[Parameter].Argument < 0)
    return nullptr;
  const StubParameter &P = Kernel.Parameters[Parameter];
  for (uint32_t I = 0; I < Kernel.Record->NumPointers; ++I) {
    const PointerRecord &Pointer =
        Kernel.View->pointer(Kernel.Record->FirstPointer + I);
    if (static_cast<int>(Pointer.ArgIndex) == P.Argument &&
        Pointer.ByteOffset == P.Offset + Offset)
      return &Pointer;
  }
  return nullptr;
}

PointerUse KernelSummaries::use(const Function &Stub, unsigned Parameter,
                                uint32_t Offset) const {
  PointerUse Result;
  const PointerRecord *Pointer = pointer(Stub, Parameter, Offset);
  if (!Pointer)
    return Result;
  bool Any = Pointer->Mode == AccessMode::Any;
  // Reads of what the same thread has written see no old contents.
  Result.Reads = Any || Pointer->Mode == AccessMode::Read ||
                 (Pointer->Mode == AccessMode::ReadWrite &&
                  (Pointer->Flags & PointerReadBeforeWrite));
  Result.Writes = Any || Pointer->Mode == AccessMode::Write ||
                  Pointer->Mode == AccessMode::ReadWrite;
  Result.Escapes = Pointer->Flags & (PointerEscapes | PointerKept);
  const SummaryView &View = *kernel(Stub).View;
  for (uint32_t I = 0; I < Pointer->NumAccesses; ++I) {
    uint8_t Flags = View.access(Pointer->FirstAccess + I).Flags;
    Result.MayOverwrite |= !Result.Reads && !Result.Escapes &&
                           (Flags & AccessWrite) && (Flags & AccessExact);
  }
  return Result;
}

ArrayRef<uint32_t> KernelSummaries::argumentSizes(const Function &Stub) const {
  const KernelInfoOnHost &Kernel = kernel(Stub);
  if (!Kernel.Record)
    return {};
  return {Kernel.View->argSizes(*Kernel.Record), Kernel.Record->NumArgs};
}

FootprintInputs KernelSummaries::footprintInputs(const Function &Stub,
                                                 unsigned Parameter) const {
  FootprintInputs Result;
  const PointerRecord *Pointer = pointer(Stub, Parameter, 0);
  if (!Pointer)
    return Result;
  const SummaryView &View = *kernel(Stub).View;
  View.visitExprs(*Pointer, [&](const ExprNode &Node) {
    if (Node.Op == ExprOp::Arg)
      Result.Arguments.insert(Node.A);
    Result.GridSize |= Node.Op == ExprOp::GridDim;
  });
  return Result;
}

} // namespace dragon
