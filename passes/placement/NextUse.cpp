//===- NextUse.cpp - who needs a buffer next ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/NextUse.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

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

std::string describeDeath(const BufferProgram &Program, EventRef From,
                          unsigned Buffer, const Position &Where) {
  NextUses Next = nextUses(Program, From, Buffer);
  const Event *Free = nullptr;
  const Event *Overwrite = nullptr;
  for (EventRef At : Next.Events) {
    const Event &E = Program.event(At);
    if (E.Kind == EventKind::Free)
      Free = &E;
    else if (E.Kind != EventKind::Allocate)
      Overwrite = &E;
  }
  if (Overwrite)
    return "overwritten by '" + Overwrite->Name + "' at " +
           describe(Overwrite->Where, Where) + " before any read";
  if (Free && !Next.Never)
    return "freed at " + describe(Free->Where, Where) + " before any read";
  return "never read again";
}

bool changesAhead(const BufferProgram &Program, EventRef From,
                  unsigned Staging) {
  bool Found = false;
  walk(Program, From, [&](EventRef At) {
    const Event &E = Program.event(At);
    if (E.Kind == EventKind::Free && E.find(Staging))
      return true;
    if (E.Kind != EventKind::Allocate && E.Kind != EventKind::HostAccess)
      Found |= E.File >= 0 || E.Kind == EventKind::FileUse ||
               any_of(E.Uses, [&](const BufferUse &U) {
                 return Program.Buffers[U.Buffer].Kind != BufferKind::Host;
               });
    return Found;
  });
  return Found;
}

bool deviceWorkAhead(const BufferProgram &Program, EventRef From) {
  bool Found = false;
  walk(Program, From, [&](EventRef At) {
    const Event &E = Program.event(At);
    switch (E.Kind) {
    case EventKind::Allocate:
      Found |= any_of(E.Uses, [&](const BufferUse &U) {
        return Program.Buffers[U.Buffer].Kind != BufferKind::Host;
      });
      break;
    case EventKind::CopyIn:
    case EventKind::CopyOut:
    case EventKind::Copy:
    case EventKind::Fill:
    case EventKind::Launch:
    case EventKind::Opaque:
      Found = true;
      break;
    default:
      break;
    }
    return Found;
  });
  return Found;
}

} // namespace dragon
