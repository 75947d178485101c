//===- Legality.cpp - what may be done to a staging buffer ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Legality.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

StagingFlows stagingFlows(const BufferProgram &Program,
                          const FlowGraph &Graph) {
  StagingFlows Flows;
  for (unsigned Buffer = 0; Buffer < Program.Buffers.size(); ++Buffer) {
    if (Program.Buffers[Buffer].Kind != BufferKind::Host)
      continue;
    // Forward: the transfers whose bytes the buffer may hold, unseen by the
    // host, or seen in part. A later transfer adds to an earlier one: it may be
    // of another part.
    using Sources = std::vector<EventRef>;
    std::vector<Sources> In(Program.Blocks.size());
    auto Add = [](Sources &To, EventRef From) {
      if (is_contained(To, From))
        return false;
      To.push_back(From);
      return true;
    };
    auto Transfer = [&](EventRef At, Sources &S) {
      const Event &E = Program.event(At);
      if (!E.find(Buffer))
        return;
      if (E.is<FileReadEvent, CopyOutEvent>())
        Add(S, At);
      else if (const auto *Access = E.as<HostAccessEvent>();
               !isTransfer(E) && !(Access && Access->Part >= 0))
        S.clear();
    };
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (unsigned B : Graph.order()) {
        Sources S = In[B];
        for (unsigned I = 0; I < Program.Blocks[B].Events.size(); ++I)
          Transfer({B, I}, S);
        for (unsigned Successor : Program.Blocks[B].Successors)
          for (EventRef From : S)
            Changed |= Add(In[Successor], From);
      }
    }
    for (unsigned B : Graph.order()) {
      Sources S = In[B];
      for (unsigned I = 0; I < Program.Blocks[B].Events.size(); ++I) {
        EventRef At{B, I};
        const Event &E = Program.event(At);
        if (E.find(Buffer) && (E.is<CopyInEvent, FileWriteEvent>()))
          for (EventRef From : S) {
            const bool OfFile = Program.event(From).is<FileReadEvent>();
            if (OfFile == E.is<CopyInEvent>())
              Flows.OfFiles.push_back({Buffer, From, At});
            // For a part the copy of the rest would no longer be deferred.
            else if (!OfFile && Program.event(From).find(Buffer)->Whole)
              Flows.Back.push_back({Buffer, From, At});
          }
        Transfer(At, S);
      }
    }
  }
  return Flows;
}

bool mayBeDeferred(const BufferProgram &Program, const FlowGraph &Graph,
                   unsigned Buffer, EventRef At) {
  return any_of(Program.uses(Buffer), [&](EventRef In) {
    return Program.event(In).is<FileReadEvent, CopyOutEvent>() &&
           Graph.mayPrecede(In, At);
  });
}

std::optional<Finding> whyNotElided(const BufferProgram &Program,
                                    const FlowGraph &Graph, unsigned Buffer,
                                    const std::vector<bool> &Elided) {
  const struct Buffer &B = Program.Buffers[Buffer];
  auto Because = [&](RemarkId Id, StringRef Cause, const Position &At) {
    return Finding{Buffer, B.Where,
                   Reason(Id)
                       .with("Buffer", B.Name)
                       .with("Cause", Cause.str())
                       .with("CauseAt", describe(At, B.Where))};
  };
  if (B.Escapes)
    return Because(RemarkId::NotElidedEscapes, whoKeeps(B), B.EscapesAt);
  for (EventRef At : Program.uses(Buffer)) {
    const Event &E = Program.event(At);
    if (E.is<OpaqueEvent, LaunchEvent>())
      return Because(RemarkId::NotElidedEscapes, "'" + E.Name + "'", E.Where);
    if (const auto *Access = E.as<HostAccessEvent>();
        Access && Access->Repeated && Access->Part < 0)
      return Because(RemarkId::NotElidedLooked, E.Name, E.Where);
    if (E.Unresolved &&
        (isTransfer(E) || mayBeDeferred(Program, Graph, Buffer, At)))
      return Because(RemarkId::NotElidedSeveral, E.Name, E.Where);
    if (!isTransfer(E))
      continue;
    std::string Other;
    if (E.OtherMemory)
      Other = "other memory";
    for (const BufferUse &U : E.Uses)
      if (U.Buffer != Buffer && !Elided[U.Buffer] &&
          Program.Buffers[U.Buffer].Kind == BufferKind::Host)
        Other = Program.Buffers[U.Buffer].Name;
    if (!Other.empty()) {
      Finding F =
          Because(RemarkId::NotElidedMixed, "'" + E.Name + "'", E.Where);
      F.Why = std::move(F.Why).with("Other", Other);
      return F;
    }
  }
  return std::nullopt;
}

bool alwaysReaches(const BufferProgram &Program, EventRef At,
                   EventRef Through) {
  std::vector<bool> Entered(Program.Blocks.size(), false);
  std::vector<EventRef> Pending{At};
  while (!Pending.empty()) {
    EventRef Here = Pending.back();
    Pending.pop_back();
    const Block &B = Program.Blocks[Here.Block];
    if (B.Fails)
      continue;
    if (Here.Block == Through.Block && Here.Index <= Through.Index)
      continue;
    if (B.Returns)
      return false;
    for (unsigned S : B.Successors) {
      if (Entered[S])
        continue;
      Entered[S] = true;
      Pending.push_back({S, 0});
    }
  }
  return true;
}

} // namespace dragon
