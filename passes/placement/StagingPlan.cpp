//===- StagingPlan.cpp - which staging buffers are elided -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/StagingPlan.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

/// Of a buffer without a flow. One between files and copies may have none
/// because the host looks at the bytes on the way.
static std::optional<Finding> whyNoFlow(const BufferProgram &Program,
                                        const FlowGraph &Graph, unsigned B,
                                        const std::vector<bool> &Elided) {
  const Buffer &Of = Program.Buffers[B];
  bool ReadsFile = false, CopiesIn = false, CopiesOut = false,
       WritesFile = false;
  const Event *Looks = nullptr;
  for (EventRef At : Program.uses(B)) {
    const Event &E = Program.event(At);
    ReadsFile |= E.is<FileReadEvent>();
    CopiesIn |= E.is<CopyInEvent>();
    CopiesOut |= E.is<CopyOutEvent>();
    WritesFile |= E.is<FileWriteEvent>();
    if (E.is<HostAccessEvent>())
      Looks = &E;
  }
  auto Because = [&](RemarkId Id, std::string Cause, const Position &At) {
    return Finding{B, Of.Where,
                   Reason(Id)
                       .with("Buffer", Of.Name)
                       .with("Cause", std::move(Cause))
                       .with("CauseAt", describe(At, Of.Where))};
  };
  if (!Of.StreamedBy.empty() && (CopiesIn || CopiesOut))
    return Because(RemarkId::NotElidedStream, "'" + Of.StreamedBy + "'",
                   Of.StreamedAt);
  if (!(ReadsFile && CopiesIn) && !(CopiesOut && WritesFile))
    return std::nullopt;
  if (std::optional<Finding> Why = whyNotElided(Program, Graph, B, Elided))
    return Why;
  if (Looks)
    return Because(RemarkId::NotElidedLooked, Looks->Name, Looks->Where);
  return std::nullopt;
}

StagingPlan planStaging(const BufferProgram &Program, const FlowGraph &Graph) {
  const size_t NumBuffers = Program.Buffers.size();
  StagingFlows All = stagingFlows(Program, Graph);
  StagingPlan Plan{std::vector<bool>(NumBuffers),
                   std::move(All.OfFiles),
                   std::move(All.Back),
                   {}};
  std::vector<bool> &Elided = Plan.Elided;
  for (const auto *Flows : {&Plan.Flows, &Plan.Back})
    for (const StagingFlow &F : *Flows)
      Elided[F.Staging] = true;
  for (unsigned B = 0; B < NumBuffers; ++B)
    if (Program.Buffers[B].Kind == BufferKind::Host && !Elided[B])
      if (std::optional<Finding> Why = whyNoFlow(Program, Graph, B, Elided))
        Plan.RuledOut.push_back(std::move(*Why));
  // One that is not elided may rule out those it is mixed with.
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned B = 0; B < NumBuffers; ++B) {
      if (!Elided[B])
        continue;
      if (std::optional<Finding> Why =
              whyNotElided(Program, Graph, B, Elided)) {
        Elided[B] = false;
        Changed = true;
        // Of copies alone nobody expects it.
        if (any_of(Plan.Flows,
                   [B](const StagingFlow &F) { return F.Staging == B; }))
          Plan.RuledOut.push_back(std::move(*Why));
      }
    }
  }
  for (auto *Flows : {&Plan.Flows, &Plan.Back})
    erase_if(*Flows, [&](const StagingFlow &F) { return !Elided[F.Staging]; });
  return Plan;
}

} // namespace dragon
