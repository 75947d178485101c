//===- LoopRanges.cpp - which iterations a box of them has ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boxes count the iterations of a kernel's loops on, one loop's behind those of
// the one before, and of loops that are walked through in rounds one round
// behind the other. An example: two loops of 10 and 20 iterations in 3 rounds,
// and then one of 5 have the iterations
//
//   [0, 10) [10, 30) | [30, 40) [40, 60) | [60, 70) [70, 90) || [90, 95)
//
// and the box [35, 75) has of the first loop 5 to 9 of the second round and all
// of the third one.
//
//===----------------------------------------------------------------------===//

#include "dragon/FootprintEval.h"

#include <algorithm>

namespace dragon {

namespace {

/// The part of [Lo, Hi) that is within [From, End), from there on.
LoopPart within(uint64_t Lo, uint64_t Hi, uint64_t From, uint64_t End) {
  if (Hi <= From || Lo >= End)
    return {0, 0};
  return {Lo > From ? Lo - From : 0, Hi >= End ? UINT64_MAX : Hi - From};
}

/// Loops that are walked through together, [First, End) of the kernel's: those
/// inside of one loop, or one alone.
struct LoopGroup {
  uint32_t First, End;
  uint64_t Begin;  ///< of its iterations, in boxes
  uint64_t Length; ///< of a round
  uint64_t Rounds;

  uint64_t end() const { return Begin + Length * Rounds; }
  /// The part [Lo, Hi) of a round that is a loop's, in its own iterations.
  LoopPart partOf(const LaunchDims &Launch, uint32_t Loop, uint64_t Lo,
                  uint64_t Hi) const {
    const uint64_t From = Loop > First ? Launch.LoopEnds[Loop - 1] : Begin;
    return within(Lo, Hi, From - Begin, Launch.LoopEnds[Loop] - Begin);
  }
};

uint32_t endOfGroup(const KernelRecord &Kernel, uint32_t First) {
  uint32_t End = First + 1;
  while (Kernel.LoopRounds[First] && End < Kernel.NumLoops &&
         Kernel.LoopRounds[End] == Kernel.LoopRounds[First])
    ++End;
  return End;
}

LoopGroup groupAt(const KernelRecord &Kernel, const LaunchDims &Launch,
                  uint32_t First, uint64_t Begin) {
  const uint32_t End = endOfGroup(Kernel, First);
  return {First, End, Begin, Launch.LoopEnds[End - 1] - Begin,
          std::max(Launch.LoopRounds[First], 1u)};
}

} // namespace

std::vector<LoopPart> partsOfLoop(const KernelRecord &Kernel,
                                  const LaunchDims &Launch, const BlockBox &Box,
                                  uint32_t Loop) {
  const uint64_t Lo = Box.Lo[LoopDimension];
  // To the end is all that there is, and more.
  const uint64_t Hi = Box.Hi[LoopDimension];
  if (!hasLoopEnds(Kernel))
    return {within(Lo, Hi, 0, ToTheEnd)};
  LoopGroup Group = groupAt(Kernel, Launch, 0, 0);
  while (Group.End <= Loop)
    Group = groupAt(Kernel, Launch, Group.End, Group.end());
  const uint64_t Most = Group.end() - Group.Begin;
  const uint64_t Begin = Lo > Group.Begin ? Lo - Group.Begin : 0;
  const uint64_t Behind =
      Hi > Group.Begin ? std::min(Hi - Group.Begin, Most) : 0;
  std::vector<LoopPart> Parts;
  if (Begin >= Behind || !Group.Length)
    return Parts;
  auto Add = [&](uint64_t FirstRound, uint64_t EndRound, uint64_t PartLo,
                 uint64_t PartHi) {
    LoopPart Part = Group.partOf(Launch, Loop, PartLo, PartHi);
    Part.FirstRound = FirstRound;
    Part.EndRound = EndRound;
    Part.WholeRounds = PartLo == 0 && PartHi == Group.Length;
    if (!Part.empty() && FirstRound < EndRound)
      Parts.push_back(Part);
  };
  const uint64_t Length = Group.Length;
  const uint64_t First = Begin / Length, Last = (Behind - 1) / Length;
  if (First == Last) {
    Add(First, First + 1, Begin % Length, Behind - First * Length);
    return Parts;
  }
  const bool Starts = Begin % Length == 0, Ends = Behind % Length == 0;
  if (!Starts)
    Add(First, First + 1, Begin % Length, Length);
  Add(First + !Starts, Last + Ends, 0, Length);
  if (!Ends)
    Add(Last, Last + 1, 0, Behind % Length);
  return Parts;
}

uint32_t numNests(const KernelRecord &Kernel) {
  uint32_t Number = 0;
  for (uint32_t L = 0; L < Kernel.NumLoops; L = endOfGroup(Kernel, L))
    Number += Kernel.LoopRounds[L] != 0;
  return Number;
}

uint64_t allIterations(const KernelRecord &Kernel, const LaunchDims &Launch) {
  LoopGroup Group{};
  while (Group.End < Kernel.NumLoops)
    Group = groupAt(Kernel, Launch, Group.End, Group.end());
  return Group.end();
}

LoopStops loopStops(const KernelRecord &Kernel, const LaunchDims &Launch,
                    const BlockBox &Box) {
  LoopStops Stops;
  const uint64_t Hi = Box.Hi[LoopDimension];
  uint32_t Number = 0; // among those with rounds
  LoopGroup Group{};
  for (uint32_t First = 0; First < Kernel.NumLoops; First = Group.End) {
    Group = groupAt(Kernel, Launch, First, Group.end());
    const bool Nested = Kernel.LoopRounds[First];
    uint64_t *Rounds = Nested ? &Stops.Rounds[Number++] : nullptr;
    if (Hi <= Group.Begin)
      continue;
    uint64_t Within = Hi - Group.Begin;
    if (Within >= Group.Length * Group.Rounds) {
      if (Rounds)
        *Rounds = UINT64_MAX;
      std::fill(Stops.Ends + First, Stops.Ends + Group.End, UINT64_MAX);
      continue;
    }
    if (Rounds) {
      *Rounds = Within / Group.Length;
      Within %= Group.Length;
    }
    for (uint32_t L = First; L < Group.End; ++L)
      Stops.Ends[L] = Group.partOf(Launch, L, 0, Within).Hi;
  }
  return Stops;
}

} // namespace dragon
