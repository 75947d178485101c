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

using namespace llvm;

namespace dragon {

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
    std::string Device = "device memory";
    for (const BufferUse &U : Copy.Uses)
      if (Facts.buffer(U.Buffer).Kind != BufferKind::Host) {
        Device = Facts.buffer(U.Buffer).Name;
        break;
      }
    Reason Why = Facts
                     .about(B, IsIn ? RemarkId::StagingElidedIn
                                    : RemarkId::StagingElidedOut)
                     .with("Device", Device);
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
    materialise(Facts, B, Result);
  }
}

} // namespace dragon
