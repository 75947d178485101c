//===- HostAccesses.cpp - where the host looks at buffers -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/HostAccesses.h"

#include "passes/lifetime/CallEffects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace dragon {

void HostAccesses::noteAccess(Instruction &I, const Value *Pointer,
                              bool OnlyReads) {
  for (const Target &T : Facts.Pointers.pointsTo(Pointer)) {
    const MemoryObject &O = Facts.Pointers.objects()[T.Object];
    if (O.Kind == ObjectKind::Buffer && O.Buffer != BufferKind::Device)
      Accesses.push_back({&I, Pointer, Facts.BufferOf[T.Object], OnlyReads});
  }
}

std::optional<HostPart> HostAccesses::partOf(const Access &Of,
                                             ArrayRef<const Loop *> Loops,
                                             const Instruction &At) const {
  if (!Of.OnlyReads || !isa<LoadInst>(Of.At) ||
      Facts.Result.Program.Buffers[Of.Buffer].IsSummary)
    return std::nullopt;
  std::optional<HostPart> Part =
      hostPart(*Of.At, *Of.Pointer, Loops, Facts.Evolution);
  if (!Part || !canCompute(*Part, At, Facts.Evolution))
    return std::nullopt;
  const CallBase &Call = *Facts.Result.Sites[Of.Buffer].Call;
  const CallEffect *Effect = callEffect(Call);
  const SCEV *All = Effect && Effect->Bytes >= 0
                        ? Values.bytesOf(Call, Effect->Bytes, Effect->Count)
                        : nullptr;
  return All && !hasBytes(*Part, *All, Facts.Evolution) ? Part : std::nullopt;
}

void HostAccesses::addHostAccess(const Access &Of) {
  Instruction &I = *Of.At;
  const unsigned Buffer = Of.Buffer;
  auto IsOther = [&](const Instruction *Other) {
    return any_of(Accesses, [&](const auto &A) {
      return A.At == Other && A.Buffer == Buffer;
    });
  };
  // Does the loop have events of the buffer other than accesses?
  auto HasTransfers = [&](const Loop &L) {
    for (const BasicBlock *B : L.blocks()) {
      unsigned Index = Facts.BlockOf[B];
      const auto &Events = Facts.Result.Program.Blocks[Index].Events;
      for (size_t E = 0; E < Events.size(); ++E)
        if (!Events[E].is<HostAccessEvent>() && Events[E].find(Buffer) &&
            !IsOther(Facts.Result.Instructions[Index][E]))
          return true;
    }
    return false;
  };
  Instruction *At = &I;
  bool Repeated = false;
  SmallVector<const Loop *, 4> Loops;
  for (Loop *L = Facts.Loops.getLoopFor(I.getParent()); L;
       L = L->getParentLoop()) {
    if (HasTransfers(*L)) {
      Repeated = true;
      break;
    }
    BasicBlock *Before = L->getLoopPreheader();
    if (!Before)
      break;
    At = Before->getTerminator();
    Loops.push_back(L);
  }
  std::string Name = "host code";
  if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst>(Call))
    Name = "'" + calleeName(*Call) + "'";
  const bool InLoop = At != &I;
  // Once between events that write buffers is enough: something may be put in
  // front of those that is not to come behind an access.
  unsigned Index = Facts.BlockOf[At->getParent()];
  const auto &Here = Facts.Result.Instructions[Index];
  auto &Events = Facts.Result.Program.Blocks[Index].Events;
  for (size_t E = Here.size(); E > 0; --E) {
    if (!(Here[E - 1] == At || Here[E - 1]->comesBefore(At)))
      continue;
    auto *Before = Events[E - 1].as<HostAccessEvent>();
    if (!Events[E - 1].find(Buffer)) {
      if (!Before && any_of(Events[E - 1].Uses,
                            [](const BufferUse &U) { return U.Writes; }))
        break;
      continue;
    }
    if (!Before)
      break;
    Before->OnlyReads &= Of.OnlyReads;
    Before->InLoop |= InLoop;
    if (Before->Part >= 0) {
      auto &Parts = Facts.Result.Parts[static_cast<size_t>(Before->Part)];
      if (std::optional<HostPart> Part = partOf(Of, Loops, *Here[E - 1]))
        Parts.push_back(std::move(*Part));
      else
        Before->Part = -1;
    }
    return;
  }
  HostAccessEvent Kind{Repeated, Of.OnlyReads, InLoop};
  if (std::optional<HostPart> Part = partOf(Of, Loops, *At)) {
    Kind.Part = static_cast<int>(Facts.Result.Parts.size());
    Facts.Result.Parts.emplace_back().push_back(std::move(*Part));
  }
  Event E = Writer.event(Kind, I);
  E.Name = Name;
  E.Unresolved = Facts.Result.Program.Buffers[Buffer].IsSummary;
  BufferUse U;
  U.Buffer = Buffer;
  U.Reads = U.Writes = true;
  E.Uses.push_back(U);
  Writer.insertBefore(std::move(E), *At);
}

void HostAccesses::addHostAccesses() {
  // Only what is used by files or copies, or lives on both sides, matters.
  std::vector<bool> Matters(Facts.Result.Program.Buffers.size());
  for (unsigned B = 0; B < Matters.size(); ++B)
    Matters[B] = Facts.Result.Program.Buffers[B].Kind == BufferKind::Managed;
  for (const Block &B : Facts.Result.Program.Blocks)
    for (const Event &E : B.Events)
      if (!E.is<AllocateEvent, FreeEvent>())
        for (const BufferUse &U : E.Uses)
          Matters[U.Buffer] = true;
  // What a call does to managed memory its own event says, if it has one.
  auto HasEvent = [&](const Instruction &I, unsigned Buffer) {
    unsigned B = Facts.BlockOf[I.getParent()];
    const auto &Events = Facts.Result.Program.Blocks[B].Events;
    for (size_t E = 0; E < Events.size(); ++E)
      if (Facts.Result.Instructions[B][E] == &I && Events[E].find(Buffer))
        return true;
    return false;
  };
  erase_if(Accesses, [&](const auto &A) {
    return !Matters[A.Buffer] || (Facts.Result.Program.Buffers[A.Buffer].Kind ==
                                      BufferKind::Managed &&
                                  HasEvent(*A.At, A.Buffer));
  });
  for (const Access &A : Accesses)
    addHostAccess(A);
}

/// A loop that has nothing to do with buffers may take long all the same.
void HostAccesses::addLoopBarriers(const Loop &L) {
  constexpr unsigned Short = 64;
  bool HasEvents = any_of(L.blocks(), [&](const BasicBlock *B) {
    return !Facts.Result.Program.Blocks[Facts.BlockOf[B]].Events.empty();
  });
  if (HasEvents) {
    for (const Loop *Inner : L)
      addLoopBarriers(*Inner);
    return;
  }
  const unsigned Times = Facts.Evolution.getSmallConstantMaxTripCount(&L);
  if (Times && Times <= Short && L.isInnermost())
    return;
  Instruction &First = *L.getHeader()->getFirstNonPHIIt();
  Event E = Writer.event(BarrierEvent{}, First);
  E.Name = "a loop";
  Writer.insertBefore(std::move(E), First);
}

} // namespace dragon
