//===- ElideStaging.cpp - staging calls instead of copies -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An elided staging buffer stands for bytes that are elsewhere. Where host code
// looks at it, it is filled first (materialised).
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

/// The device buffer of a copy.
static std::string deviceOf(const ProgramFacts &Facts, const Event &Copy) {
  for (const BufferUse &U : Copy.Uses)
    if (Facts.buffer(U.Buffer).Kind != BufferKind::Host)
      return Facts.buffer(U.Buffer).Name;
  return "device memory";
}

static void reportBack(const ProgramFacts &Facts, unsigned B,
                       PlacementBuilder &Result) {
  const auto Flow = find_if(
      Facts.Staging.Back, [B](const StagingFlow &F) { return F.Staging == B; });
  if (Flow == Facts.Staging.Back.end())
    return;
  const Event &Out = Facts.event(Flow->From), &In = Facts.event(Flow->To);
  Result.tell({B, In.Where,
               Facts.about(B, RemarkId::StagingElidedBack)
                   .with("Device", deviceOf(Facts, Out))
                   .with("OutAt", Facts.at(Flow->From, In.Where))});
}

static void reportElision(const ProgramFacts &Facts, unsigned B,
                          PlacementBuilder &Result) {
  bool In = false, Out = false;
  for (const StagingFlow &F : Facts.Staging.Flows) {
    if (F.Staging != B)
      continue;
    bool IsIn = Facts.event(F.From).is<FileReadEvent>();
    bool &Done = IsIn ? In : Out;
    if (Done)
      continue;
    Done = true;
    const Event &Copy = Facts.event(IsIn ? F.To : F.From);
    Reason Why = Facts
                     .about(B, IsIn ? RemarkId::StagingElidedIn
                                    : RemarkId::StagingElidedOut)
                     .with("Device", deviceOf(Facts, Copy));
    if (IsIn)
      Why = std::move(Why).with("ReadAt", Facts.at(F.From, Copy.Where));
    else
      Why = std::move(Why).with("WriteAt", Facts.at(F.To, Copy.Where));
    Result.tell({B, Copy.Where, std::move(Why)});
  }
}

static void materialise(const ProgramFacts &Facts, unsigned B,
                        PlacementBuilder &Result) {
  for (EventRef At : Facts.Program.uses(B)) {
    const Event &E = Facts.event(At);
    if (!E.is<HostAccessEvent, CopyEvent, FillEvent>())
      continue;
    if (!mayBeDeferred(Facts.Program, Facts.Graph, B, At))
      continue;
    const auto *Access = E.as<HostAccessEvent>();
    Result.add({B, At, MaterialiseDirective{}}, E.Where,
               Facts
                   .about(B, Access && Access->Part >= 0
                                 ? RemarkId::StagingPartMaterialised
                                 : RemarkId::StagingMaterialised)
                   .with("Cause", E.Name));
  }
}

void elideStaging(const ProgramFacts &Facts, PlacementBuilder &Result) {
  for (const Finding &Why : Facts.Staging.RuledOut)
    Result.tell(Why);
  for (unsigned B = 0; B < Facts.Program.Buffers.size(); ++B) {
    if (!Facts.Staging.Elided[B])
      continue;
    Result.add({B, {}, ElideDirective{}});
    reportElision(Facts, B, Result);
    reportBack(Facts, B, Result);
    materialise(Facts, B, Result);
  }
}

} // namespace dragon
