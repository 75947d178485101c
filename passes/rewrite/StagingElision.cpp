//===- StagingElision.cpp - staging calls in place of file calls ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/StagingElision.h"

#include "passes/lifetime/CallEffects.h"
#include "passes/rewrite/EntryPoints.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

/// How much of what is freed may be deferred. The runtime finds out by itself
/// where that is not known.
static Value *bytesOfFreed(CallBase &Free, ArrayRef<unsigned> Buffers,
                           bool Must, BufferHandles &Handles) {
  IRBuilder<> Builder(&Free);
  Value *Address = Free.getArgOperand(callEffect(Free)->Pointer);
  if (Must && Handles.isAtHand(Buffers[0], Free))
    return Handles.get(Buffers[0], Free).Bytes;
  Value *Bytes = Builder.getInt64(-1);
  for (unsigned Buffer : Buffers) {
    BufferHandles::Handle H = Handles.get(Buffer, Free);
    Bytes = Builder.CreateSelect(Builder.CreateICmpEQ(Address, H.Address),
                                 H.Bytes, Bytes);
  }
  return Bytes;
}

void elideStaging(
    BuiltProgram &Built, const Placement &Decisions, BufferHandles &Handles,
    function_ref<void(unsigned, const Event &, CallBase &)> Tell) {
  // A call may be an event of several elided buffers.
  SetVector<CallBase *> Transfers;
  SmallVector<CallBase *, 4> Deferred, Zeroed;
  // What is freed may be one of several, of different sizes.
  MapVector<CallBase *, SmallVector<unsigned, 2>> Freed;
  DenseMap<CallBase *, bool> Must;
  for (const Directive &D : Decisions.Directives) {
    if (D.is<DeferDirective>())
      Deferred.push_back(
          cast<CallBase>(Built.Instructions[D.At.Block][D.At.Index]));
    if (D.is<ZeroDirective>())
      Zeroed.push_back(
          cast<CallBase>(Built.Instructions[D.At.Block][D.At.Index]));
    if (!D.is<ElideDirective>())
      continue;
    for (EventRef At : Built.Program.uses(D.Buffer)) {
      auto *Call = dyn_cast<CallBase>(Built.Instructions[At.Block][At.Index]);
      const Event &E = Built.Program.event(At);
      if (E.is<FileReadEvent, CopyOutEvent>()) {
        if (Transfers.insert(Call))
          Tell(D.Buffer, E, *Call);
      } else if (E.is<FileWriteEvent, CopyInEvent>()) {
        Transfers.insert(Call);
      } else if (E.is<FreeEvent>()) {
        Freed[Call].push_back(D.Buffer);
        Must[Call] = E.find(D.Buffer)->Must;
      }
    }
  }
  for (const auto &[Free, Buffers] : Freed)
    callEntry("__dragon_stage_forget",
              {Free->getArgOperand(callEffect(*Free)->Pointer),
               bytesOfFreed(*Free, Buffers, Must[Free], Handles)},
              *Free);
  auto Replace = [](CallBase &Call, StringRef (*TwinOf)(StringRef)) {
    Function *Callee = Call.getCalledFunction();
    FunctionCallee Twin = Call.getModule()->getOrInsertFunction(
        TwinOf(Callee->getName()), Callee->getFunctionType());
    SmallVector<Value *, 5> Args(Call.args());
    replaceCall(Call, Twin, Args);
  };
  for (CallBase *Call : Zeroed) {
    Transfers.remove(Call);
    Replace(*Call, zeroingTwin);
  }
  for (CallBase *Call : Transfers)
    Replace(*Call, stagingTwin);
  for (CallBase *Call : Deferred)
    Replace(*Call, deferredTwin);
}

void materialise(const Directive &D, const BuiltProgram &Built,
                 BufferHandles &Handles, ScalarEvolution &Evolution,
                 Instruction &Point) {
  const auto *Access = Built.Program.event(D.At).as<HostAccessEvent>();
  ArrayRef<HostPart> Parts;
  if (Access && Access->Part >= 0)
    Parts = Built.Parts[static_cast<size_t>(Access->Part)];
  const auto [Address, Bytes] = Handles.get(D.Buffer, Point);
  auto Fill = [&](const HostRange &Range) {
    callEntry("__dragon_stage_materialise", {Range.Address, Range.Bytes},
              Point);
  };
  const HostRange All{Address, Bytes};
  if (Parts.empty() || !all_of(Parts, [&](const HostPart &Part) {
        return canCompute(Part, Point, Evolution);
      }))
    return Fill(All);
  for (const HostPart &Part : Parts)
    Fill(emitHostPart(Part, All, Point, Evolution));
}

} // namespace dragon
