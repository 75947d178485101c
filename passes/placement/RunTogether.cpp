//===- RunTogether.cpp - launches that share data -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is kept back until the next that shares data with it is made, and
// both run slice by slice (Wavefront.h). Where that cannot be, the user is told
// why.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"
#include "passes/placement/Wavefront.h"

using namespace llvm;

namespace dragon {

void runTogether(const ProgramFacts &Facts, PlacementBuilder &Result) {
  for (const LaunchPair &Pair : launchPairs(Facts.Program, Facts.Graph)) {
    const Event &First = Facts.event(Pair.First);
    const Event &Second = Facts.event(Pair.Second);
    const unsigned B = Pair.Shared.front();
    std::string Names;
    for (unsigned Shared : Pair.Shared)
      Names += (Names.empty() ? "'" : ", '") + Facts.buffer(Shared).Name + "'";
    auto About = [&](RemarkId Id) {
      return Reason(Id)
          .with("Kernel", First.Name)
          .with("Next", Second.Name)
          .with("NextAt", Facts.at(Pair.Second, First.Where))
          .with("Shared", Names);
    };
    if (const std::optional<EventRef> Between = Pair.Between) {
      const Event &E = Facts.event(*Between);
      const bool IsSaid = E.is<HostAccessEvent, BarrierEvent>();
      Result.tell({B, First.Where,
                   About(RemarkId::NotTogether)
                       .with("Cause", IsSaid ? E.Name : "'" + E.Name + "'")
                       .with("CauseAt", Facts.at(*Between, First.Where))});
      continue;
    }
    if (First.Stream != Second.Stream || First.Stream == UnknownStream) {
      Result.tell({B, First.Where, About(RemarkId::NotTogetherStreams)});
      continue;
    }
    Result.add({B, Pair.First, FollowsDirective{Pair.Second}}, First.Where,
               About(RemarkId::RunsTogether));
  }
}

} // namespace dragon
