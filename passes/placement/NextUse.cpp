//===- NextUse.cpp - who needs a buffer next ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/NextUse.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <queue>

using namespace llvm;

namespace dragon {

namespace {

/// Walks forward along all paths until Stop says so, but not where the program
/// is about to fail. Returns true if some path returns without a stop.
bool walk(const BufferProgram &Program, EventRef From,
          function_ref<bool(EventRef)> Stop, bool Failing = false) {
  std::vector<bool> Entered(Program.Blocks.size(), false);
  std::vector<EventRef> Pending{From};
  bool Ended = false;
  while (!Pending.empty()) {
    EventRef At = Pending.back();
    Pending.pop_back();
    const Block &B = Program.Blocks[At.Block];
    while (At.Index < B.Events.size() && !Stop(At))
      ++At.Index;
    if (At.Index < B.Events.size())
      continue;
    Ended |= B.Returns;
    for (unsigned S : B.Successors) {
      if (Entered[S] || (Program.Blocks[S].Fails && !Failing))
        continue;
      Entered[S] = true;
      Pending.push_back({S, 0});
    }
  }
  return Ended;
}

} // namespace

NextUses nextUses(const BufferProgram &Program, EventRef From, unsigned Buffer,
                  bool Failing) {
  NextUses Result;
  auto Stop = [&](EventRef At) {
    if (!Program.event(At).find(Buffer))
      return false;
    if (!is_contained(Result.Events, At))
      Result.Events.push_back(At);
    return true;
  };
  Result.Never = walk(Program, From, Stop, Failing);
  return Result;
}

namespace {

bool isHostWork(const Event &E) {
  return isTransfer(E) || E.is<FileUseEvent, HostAccessEvent, OpaqueEvent>();
}

/// A path so far.
struct Path {
  unsigned Launches; ///< on it; a loop that was left counts as many
  EventRef At;       ///< the event that it has come to
  bool HostWork;
  bool operator>(const Path &Other) const { return Launches > Other.Launches; }
};
enum class Step {
  Pass, ///< the path goes on
  End,  ///< it ends here
  Stop  ///< so does the search
};

/// Visits the events on all paths, those with the fewest launches first, but
/// not where the program is about to fail.
void visitNearestFirst(const BufferProgram &Program, const FlowGraph &Graph,
                       EventRef From, function_ref<Step(const Path &)> Visit) {
  std::priority_queue<Path, std::vector<Path>, std::greater<>> Paths;
  std::vector<bool> Done(Program.Blocks.size(), false);
  Paths.push({0, From, false});
  while (!Paths.empty()) {
    Path P = Paths.top();
    Paths.pop();
    if (P.At.Index == 0) {
      if (Done[P.At.Block])
        continue;
      Done[P.At.Block] = true;
    }
    const Block &B = Program.Blocks[P.At.Block];
    bool Ended = false;
    for (; !Ended && P.At.Index < B.Events.size(); ++P.At.Index) {
      const Step Next = Visit(P);
      if (Next == Step::Stop)
        return;
      Ended = Next == Step::End;
      const Event &E = B.Events[P.At.Index];
      P.Launches += E.is<LaunchEvent>();
      P.HostWork |= isHostWork(E);
    }
    if (Ended)
      continue;
    for (unsigned S : B.Successors) {
      if (Program.Blocks[S].Fails)
        continue;
      const bool LeavesLoop =
          Graph.inCycle(P.At.Block) && !Graph.reaches(S, P.At.Block);
      Paths.push({P.Launches + (LeavesLoop ? NextNeed::LoopLaunches : 0),
                  {S, 0},
                  P.HostWork});
    }
  }
}

} // namespace

NextNeed nextNeed(const BufferProgram &Program, const FlowGraph &Graph,
                  EventRef From, unsigned Buffer) {
  NextNeed Device;
  NextNeed Host; // on the device's behalf, nobody
  visitNearestFirst(Program, Graph, From, [&](const Path &P) {
    const Event &E = Program.event(P.At);
    const BufferUse *U = E.find(Buffer);
    if (!U)
      return Step::Pass;
    // What overwrites all of it does not need it.
    if (E.is<FreeEvent, AllocateEvent>() ||
        (U->Must && U->Whole && U->Writes && !U->Reads))
      return Step::End;
    if (E.is<LaunchEvent, CopyEvent>()) {
      Device = {P.At, P.Launches, P.HostWork};
      return Step::Stop;
    }
    if (!Host.At)
      Host.At = P.At;
    return Step::End;
  });
  return Device.At ? Device : Host;
}

bool usedSoon(const BufferProgram &Program, const FlowGraph &Graph,
              EventRef From, unsigned Buffer) {
  bool Soon = false;
  visitNearestFirst(Program, Graph, From, [&](const Path &P) {
    if (P.Launches >= NextNeed::LoopLaunches)
      return Step::Stop;
    Soon = Program.event(P.At).find(Buffer) != nullptr;
    return Soon ? Step::Stop : Step::Pass;
  });
  return Soon;
}

std::string describeDeath(const BufferProgram &Program,
                          const PointerFlow &Pointers, EventRef From,
                          ArrayRef<NameId> Names, const Position &Where) {
  const Event *Free = nullptr;
  const Event *Overwrite = nullptr;
  bool Never = walk(Program, From, [&](EventRef At) {
    const Event &E = Program.event(At);
    // What reads by a pointer is on another path.
    if (none_of(Names, [&](NameId N) { return Pointers.mayTouch(E, N); }) ||
        any_of(Names, [&](NameId N) {
          return Pointers.mayTouch(E, N, /*Read=*/true);
        }))
      return false;
    if (E.is<FreeEvent>())
      Free = &E;
    else if (!E.is<AllocateEvent>())
      Overwrite = &E;
    return true;
  });
  if (Overwrite)
    return "overwritten by '" + Overwrite->Name + "' at " +
           describe(Overwrite->Where, Where) + " before any read";
  if (Free && !Never)
    return "freed at " + describe(Free->Where, Where) + " before any read";
  return "never read again";
}

bool changesAhead(const BufferProgram &Program, EventRef From,
                  unsigned Staging) {
  bool Found = false;
  walk(Program, From, [&](EventRef At) {
    const Event &E = Program.event(At);
    if (E.is<FreeEvent>() && E.find(Staging))
      return true;
    const FileAction *OnFile = E.onFile();
    const bool IsFile = OnFile && OnFile->File >= 0;
    if (!E.is<AllocateEvent, HostAccessEvent>())
      Found |= IsFile || E.is<FileUseEvent>() ||
               any_of(E.Uses, [&](const BufferUse &U) {
                 return Program.Buffers[U.Buffer].Kind != BufferKind::Host;
               });
    return Found;
  });
  return Found;
}

bool launchAhead(const BufferProgram &Program, EventRef From) {
  bool Found = false;
  walk(Program, From, [&](EventRef At) {
    return Found |= Program.event(At).is<LaunchEvent>();
  });
  return Found;
}

bool deviceWorkAhead(const BufferProgram &Program, EventRef From) {
  bool Found = false;
  walk(Program, From, [&](EventRef At) {
    const Event &E = Program.event(At);
    Found |= E.is<CopyInEvent, CopyOutEvent, CopyEvent, FillEvent, LaunchEvent,
                  OpaqueEvent>() ||
             (E.is<AllocateEvent>() && any_of(E.Uses, [&](const BufferUse &U) {
                return Program.Buffers[U.Buffer].Kind != BufferKind::Host;
              }));
    return Found;
  });
  return Found;
}

} // namespace dragon
