//===- Wavefront.cpp - launches that run together -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Wavefront.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <queue>
#include <tuple>

using namespace llvm;

namespace dragon {

namespace {

/// Waits for the device, is ordered with its work, or may take long.
bool isBarrier(const BufferProgram &Program, const Event &E) {
  auto IsOnHost = [&](const BufferUse &U) {
    return Program.Buffers[U.Buffer].Kind == BufferKind::Host;
  };
  return !E.is<AllocateEvent, FreeEvent, HostAccessEvent>() || E.Uses.empty() ||
         !all_of(E.Uses, IsOnHost);
}

/// The host may wait for what a launch leaves in memory of its own without any
/// call, so that is not to be kept back.
bool mayBeKeptBack(const BufferProgram &Program, const Event &E) {
  const auto *Launch = E.as<LaunchEvent>();
  return Launch && Launch->Sliceable && all_of(E.Uses, [&](const BufferUse &U) {
           return Program.Buffers[U.Buffer].Kind == BufferKind::Device;
         });
}

/// The path to the next launch.
struct Following {
  EventRef At;
  std::optional<EventRef> Between;
  SmallVector<unsigned, 8> Entered; ///< blocks, from their beginning
};

/// A loop is taken to go on, and where a path passes no barrier, it is
/// taken to be the usual one.
std::optional<Following> following(const BufferProgram &Program,
                                   const FlowGraph &Graph, EventRef Launch) {
  constexpr unsigned None = ~0u;
  struct Path {
    unsigned LoopsLeft, Barriers;
    EventRef At;
    unsigned From; ///< block
    std::optional<EventRef> Between;
    bool operator>(const Path &Other) const {
      return std::tie(LoopsLeft, Barriers) >
             std::tie(Other.LoopsLeft, Other.Barriers);
    }
  };
  std::priority_queue<Path, std::vector<Path>, std::greater<>> Paths;
  std::vector<bool> Entered(Program.Blocks.size(), false);
  std::vector<unsigned> From(Program.Blocks.size(), None);
  Paths.push({0, 0, {Launch.Block, Launch.Index + 1}, None, std::nullopt});
  while (!Paths.empty()) {
    Path P = Paths.top();
    Paths.pop();
    const bool Begins = P.From == None;
    if (!Begins) {
      if (Entered[P.At.Block])
        continue;
      Entered[P.At.Block] = true;
      From[P.At.Block] = P.From;
    }
    const Block &B = Program.Blocks[P.At.Block];
    for (; P.At.Index < B.Events.size(); ++P.At.Index) {
      const Event &E = B.Events[P.At.Index];
      if (E.is<LaunchEvent>()) {
        Following Result{P.At, P.Between, {}};
        if (!Begins) {
          unsigned Last = P.At.Block;
          do {
            Result.Entered.push_back(Last);
            Last = From[Last];
          } while (Last != Launch.Block);
        }
        return Result;
      }
      if (!isBarrier(Program, E))
        continue;
      ++P.Barriers;
      if (!P.Between)
        P.Between = P.At;
    }
    for (unsigned S : B.Successors) {
      if (Program.Blocks[S].Fails || Entered[S])
        continue;
      const bool LeavesLoop =
          Graph.inCycle(P.At.Block) && !Graph.reaches(S, P.At.Block);
      Paths.push({P.LoopsLeft + LeavesLoop,
                  P.Barriers,
                  {S, 0},
                  P.At.Block,
                  P.Between});
    }
  }
  return std::nullopt;
}

/// Whether the launches may touch the same bytes of the buffer.
bool overlap(const BufferProgram &Program, const BufferUse &First,
             const BufferUse &Second, ArrayRef<unsigned> Entered) {
  // What one of several pointers is in the next iteration, is not known; what
  // moves on is elsewhere.
  if (First.Cursor >= 0 && First.Cursor == Second.Cursor)
    return !is_contained(Entered, Program.Cursors[First.Cursor].Header);
  if (!First.Element || !Second.Element)
    return !Program.Buffers[First.Buffer].IsSummary;
  const ElementIndex &A = *First.Element, &B = *Second.Element;
  if (A.Loop != B.Loop || A.At.Base != B.At.Base)
    return false;
  int64_t Step = 0;
  if (A.Loop >= 0) {
    const CountedLoop &L = Program.Loops[static_cast<size_t>(A.Loop)];
    Step = is_contained(Entered, L.Header) ? L.Step : 0;
  }
  return A.At.Plus == B.At.Plus + Step;
}

/// The buffers of which both may touch the same bytes.
SmallVector<unsigned, 4> sharedBy(const BufferProgram &Program,
                                  const Event &First, const Event &Second,
                                  ArrayRef<unsigned> Entered) {
  SmallVector<unsigned, 4> Shared;
  for (const BufferUse &U : First.Uses)
    if (!is_contained(Shared, U.Buffer) &&
        any_of(Second.Uses, [&](const BufferUse &Again) {
          return Again.Buffer == U.Buffer &&
                 overlap(Program, U, Again, Entered);
        }))
      Shared.push_back(U.Buffer);
  llvm::sort(Shared);
  return Shared;
}

/// Launches of other data that may come in between: what clears the result of
/// the next layer of a network.
constexpr unsigned MaxBetween = 2;

} // namespace

std::vector<LaunchPair> launchPairs(const BufferProgram &Program,
                                    const FlowGraph &Graph) {
  std::vector<LaunchPair> Result;
  for (unsigned Block : Graph.order()) {
    const auto &Events = Program.Blocks[Block].Events;
    for (unsigned I = 0; I < Events.size(); ++I) {
      if (Program.Blocks[Block].Fails || !mayBeKeptBack(Program, Events[I]))
        continue;
      std::optional<Following> Next = following(Program, Graph, {Block, I});
      if (!Next || !mayBeKeptBack(Program, Program.event(Next->At)))
        continue;
      LaunchPair Pair{{Block, I}, Next->At, {}, Next->Between};
      SmallVector<unsigned, 8> Entered = Next->Entered;
      for (unsigned Others = 0;; ++Others) {
        Pair.Shared =
            sharedBy(Program, Events[I], Program.event(Pair.Second), Entered);
        if (!Pair.Shared.empty() || Pair.Between || Others == MaxBetween)
          break;
        Next = following(Program, Graph, Pair.Second);
        if (!Next || Next->Between ||
            !mayBeKeptBack(Program, Program.event(Next->At)))
          break;
        Pair.Second = Next->At;
        append_range(Entered, Next->Entered);
      }
      if (!Pair.Shared.empty())
        Result.push_back(std::move(Pair));
    }
  }
  return Result;
}

} // namespace dragon
