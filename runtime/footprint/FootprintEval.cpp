//===- FootprintEval.cpp - bytes a box of blocks touches --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/FootprintEval.h"

#include "dragon/detail/ExprEval.h"
#include "dragon/detail/LoadedAccess.h"
#include "dragon/detail/Refinement.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace dragon {

using namespace detail;

namespace {

/// Of the whole grid, but for its box.
EvalInput inputOf(const SummaryView &Summary, const KernelRecord &Kernel,
                  const LaunchDims &Launch) {
  EvalInput In;
  In.Exprs = &Summary.expr(0);
  In.Guards = &Summary.guard(0);
  In.Accesses = &Summary.access(0);
  In.Pointers = &Summary.pointer(Kernel.FirstPointer);
  In.NumPointers = Kernel.NumPointers;
  In.ArgSizes = Summary.argSizes(Kernel);
  In.NumArgs = Kernel.NumArgs;
  In.Grid = Launch.Grid;
  In.Block = Launch.Block;
  In.ArgValues = Launch.Args;
  return In;
}

EvalInput inputOf(const SummaryView &Summary, const KernelRecord &Kernel,
                  const LaunchDims &Launch, const BlockBox &Box) {
  EvalInput In = inputOf(Summary, Kernel, Launch);
  In.BoxLo = Box.Lo;
  In.BoxHi = Box.Hi;
  In.Memory = Launch.Memory;
  In.Wanted = Launch.Wanted;
  return In;
}

/// Iterations of one of the kernel's loops, in some rounds of the loop around
/// it.
struct OneLoop {
  uint32_t Number = NoIndex; ///< NoIndex: of all, or none
  LoopPart Part = {0, UINT64_MAX};
  uint32_t Around = NoIndex;
};

/// With which iterations of the box the access happens, by loop; nothing: it
/// does not happen there.
std::vector<OneLoop> iterationsOf(const KernelRecord &Kernel,
                                  const LaunchDims &Launch, const BlockBox &Box,
                                  const AccessRecord &A) {
  if (!Box.Hi[LoopDimension])
    return {OneLoop{}};
  if (A.Place == LoopPlace::Last) {
    if (Box.Hi[LoopDimension] != ToTheEnd)
      return {};
    return {OneLoop{}};
  }
  std::vector<OneLoop> Result;
  for (uint32_t L = A.FirstLoop; L <= A.LastLoop; ++L)
    for (const LoopPart &Part : partsOfLoop(Kernel, Launch, Box, L)) {
      const bool IsFirst = Part.Lo == 0 && Part.FirstRound == 0;
      if (Part.empty() || (A.Place == LoopPlace::First && !IsFirst))
        continue;
      if (A.Place == LoopPlace::First)
        return {OneLoop{}};
      const uint32_t Rounds = Kernel.LoopRounds[L];
      OneLoop Of{Kernel.LoopNumbers[L], Part};
      if (Rounds) {
        Of.Around = Rounds - 1;
        // All iterations, and what is beside the loop in its rounds.
        if (Part.WholeRounds)
          Of.Number = NoIndex;
      }
      Result.push_back(Of);
    }
  return Result;
}

/// The largest value of the loop's counter where the access happens, plus one;
/// 0: it never does. Infinity: not known.
Wide tripsOf(const EvalInput &In, const AccessRecord &A) {
  ExprEval Eval(In);
  Eval.addGuards(A.FirstGuard, A.NumGuards);
  if (Eval.System.Empty)
    return 0;
  if (!(A.Flags & AccessUnbounded))
    Eval.evaluateSigned(A.Offset);
  if (Eval.System.Empty || Eval.Counter == NoIndex)
    return 0;
  return Eval.System.upper(Linear::variable(Eval.Counter)) + 1;
}

} // namespace

/// Of one of the loops; nothing: not known.
static std::optional<uint64_t> tripsOfLoop(const SummaryView &Summary,
                                           const KernelRecord &Kernel,
                                           const LaunchDims &Launch,
                                           uint32_t Number) {
  EvalInput In = inputOf(Summary, Kernel, Launch);
  const uint32_t Whole[3] = {0, 0, 0};
  In.BoxLo = Whole;
  In.BoxHi = Launch.Grid;
  In.Loop = Number;
  Wide Most = 0;
  for (uint32_t P = 0; P < Kernel.NumPointers; ++P) {
    const PointerRecord &Pointer = Summary.pointer(Kernel.FirstPointer + P);
    for (uint32_t I = 0; I < Pointer.NumAccesses; ++I)
      Most =
          std::max(Most, tripsOf(In, Summary.access(Pointer.FirstAccess + I)));
  }
  if (Most >= Infinity || Most != uint64_t(Most))
    return std::nullopt;
  return uint64_t(Most);
}

bool loopEnds(const SummaryView &Summary, const KernelRecord &Kernel,
              const LaunchDims &Launch, uint32_t Ends[MaxLoops],
              uint32_t Rounds[MaxLoops]) {
  auto TripsOf = [&](uint32_t Number) -> uint64_t {
    const std::optional<uint64_t> Trips =
        tripsOfLoop(Summary, Kernel, Launch, Number);
    // What stands in front of a loop has an iteration in any case.
    return Trips ? std::max<uint64_t>(*Trips, 1) : ToTheEnd;
  };
  uint64_t End = 0, Begin = 0;
  for (uint32_t L = 0; L < Kernel.NumLoops; ++L) {
    const uint32_t Around = Kernel.LoopRounds[L];
    const bool IsFirst = !L || !Around || Around != Kernel.LoopRounds[L - 1];
    if (IsFirst)
      Begin = End;
    const uint64_t Trips = TripsOf(Kernel.LoopNumbers[L]);
    const uint64_t Times = !Around   ? 1
                           : IsFirst ? TripsOf(Around - 1)
                                     : Rounds[L - 1];
    const uint64_t InRound = (IsFirst ? Begin : Ends[L - 1]) + Trips;
    if (Trips >= ToTheEnd || Times >= ToTheEnd ||
        Begin + (InRound - Begin) * Times >= ToTheEnd)
      return false;
    Ends[L] = uint32_t(InRound);
    Rounds[L] = uint32_t(Times);
    End = Begin + (InRound - Begin) * Times;
  }
  return true;
}

uint64_t evaluateTrips(const SummaryView &Summary, const KernelRecord &Kernel,
                       const LaunchDims &Launch) {
  if (hasLoopEnds(Kernel)) {
    LaunchDims Dims = Launch;
    if (!loopEnds(Summary, Kernel, Launch, Dims.LoopEnds, Dims.LoopRounds))
      return 0;
    return allIterations(Kernel, Dims);
  }
  return tripsOfLoop(Summary, Kernel, Launch, Kernel.LoopNumbers[0])
      .value_or(0);
}

/// What the access does for the box and the iterations of the input.
static void addAccess(const EvalInput &In, const AccessRecord &A,
                      const EvalLimits &Limits, bool Promises,
                      ByteFootprint &Result) {
  EvalLimits Precise = Limits;
  Precise.MergeGap = 0;
  AccessBytes Bytes = evaluateAccess(In, A, Promises ? Precise : Limits);
  Result.Uncertain |=
      Bytes.Uncertain && (Bytes.Everything || !Bytes.Ranges.empty());
  if (A.Flags & AccessRead)
    append(Result.MayRead, Bytes);
  if (A.Flags & AccessWrite)
    append(Result.MayWrite, Bytes);
  if (A.Flags & AccessAtomic)
    append(Result.Atomic, Bytes);
  if (Limits.WithAffine && !(A.Flags & (AccessIndirect | AccessConditional)))
    append(Result.Affine, Bytes);
  if (Promises && Bytes.Exact && !Bytes.Everything)
    append(Result.MustWrite, Bytes);
}

/// Takes away what a block of the launch may read before it is written: also
/// blocks outside of the box may run before it. Where the index is loaded, it
/// is asked last, and mostly nothing is left by then.
static void subtractReads(const SummaryView &Summary,
                          const PointerRecord &Pointer, EvalInput In,
                          const EvalLimits &Limits, ByteSet &MustWrite) {
  const uint32_t Whole[3] = {0, 0, 0};
  In.BoxLo = Whole;
  In.BoxHi = In.Grid;
  In.Loop = In.Around = NoIndex;
  EvalLimits Precise = Limits;
  Precise.MergeGap = 0;
  for (const bool Indirect : {false, true})
    for (uint32_t I = 0; I < Pointer.NumAccesses; ++I) {
      const AccessRecord &A = Summary.access(Pointer.FirstAccess + I);
      if (MustWrite.Ranges.empty())
        return;
      if (!(A.Flags & AccessRead) || bool(A.Flags & AccessIndirect) != Indirect)
        continue;
      ByteSet Read;
      append(Read, evaluateAccess(In, A, Precise));
      normalize(Read, Limits.MaxRanges);
      MustWrite = subtract(MustWrite, Read);
    }
}

/// The same threads touch the same bytes.
static bool touchTheSame(const SummaryView &Summary, const AccessRecord &A,
                         const AccessRecord &B) {
  constexpr uint8_t Matter =
      AccessUnbounded | AccessIndirect | AccessConditional | AccessUnsaid;
  if (A.Offset != B.Offset || A.Width != B.Width ||
      A.NumGuards != B.NumGuards || A.Place != B.Place ||
      A.FirstLoop != B.FirstLoop || A.LastLoop != B.LastLoop ||
      ((A.Flags ^ B.Flags) & Matter) != 0)
    return false;
  const GuardRecord *OfA = &Summary.guard(A.FirstGuard);
  return std::equal(OfA, OfA + A.NumGuards, &Summary.guard(B.FirstGuard),
                    [](const GuardRecord &G, const GuardRecord &H) {
                      return G.Lhs == H.Lhs && G.Rhs == H.Rhs &&
                             G.Loop == H.Loop && G.Pred == H.Pred;
                    });
}

namespace {

/// Accesses through a pointer that touch the same, as in `x[i] += y`: they are
/// evaluated once.
struct JointAccess {
  AccessRecord All;      ///< with the flags of each
  bool Promises = false; ///< what they write is written in any case
};

} // namespace

static bool promises(const AccessRecord &A) {
  return (A.Flags & AccessWrite) && (A.Flags & AccessExact) &&
         !(A.Flags & (AccessRead | AccessAtomic | AccessUnbounded));
}

/// The access at this index, and those behind it that touch the same; nothing:
/// one in front of it does.
static std::optional<JointAccess> accessAt(const SummaryView &Summary,
                                           const PointerRecord &Pointer,
                                           uint32_t Index) {
  const AccessRecord &First = Summary.access(Pointer.FirstAccess + Index);
  JointAccess Joint{First, promises(First)};
  for (uint32_t I = 0; I < Pointer.NumAccesses; ++I) {
    const AccessRecord &Other = Summary.access(Pointer.FirstAccess + I);
    if (I == Index || !touchTheSame(Summary, First, Other))
      continue;
    if (I < Index)
      return std::nullopt;
    Joint.All.Flags |= Other.Flags;
    Joint.Promises |= promises(Other);
  }
  if ((Pointer.Flags & PointerReadBeforeWrite) &&
      (Joint.All.Flags & AccessRead))
    Joint.Promises = false; // subtractReads() would leave nothing of it
  return Joint;
}

ByteFootprint evaluateFootprint(const SummaryView &Summary,
                                const KernelRecord &Kernel, uint32_t Index,
                                const LaunchDims &Launch, const BlockBox &Box,
                                const EvalLimits &Limits) {
  ByteFootprint Result;
  const PointerRecord &Pointer = Summary.pointer(Index);
  Result.Mode = Pointer.Mode;
  Result.Escapes = Pointer.Flags & PointerEscapes;
  bool Empty = false;
  for (unsigned D = 0; D < 3; ++D)
    Empty |= Box.Lo[D] >= Box.Hi[D] || Launch.Block[D] == 0;
  if (Empty)
    return Result;
  if ((Kernel.Flags & KernelUnknown) || Result.Escapes ||
      Pointer.Mode == AccessMode::Any) {
    Result.MayRead.Everything = true;
    Result.MayWrite.Everything = true;
    Result.Atomic.Everything = true;
    return Result;
  }

  EvalInput In = inputOf(Summary, Kernel, Launch, Box);
  for (uint32_t I = 0; I < Pointer.NumAccesses; ++I) {
    const std::optional<JointAccess> Joint = accessAt(Summary, Pointer, I);
    if (!Joint)
      continue;
    for (const OneLoop &Of : iterationsOf(Kernel, Launch, Box, Joint->All)) {
      In.Loop = Of.Number;
      In.LoopLo = Of.Part.Lo;
      In.LoopHi = Of.Part.Hi;
      In.Around = Of.Around;
      In.RoundLo = Of.Part.FirstRound;
      In.RoundHi = Of.Part.EndRound;
      addAccess(In, Joint->All, Limits, Limits.WithMust && Joint->Promises,
                Result);
    }
  }
  normalize(Result.MayRead, Limits.MaxRanges);
  normalize(Result.MayWrite, Limits.MaxRanges);
  normalize(Result.Atomic, Limits.MaxRanges);
  normalize(Result.Affine, Limits.MaxRanges);
  normalize(Result.MustWrite, SIZE_MAX);

  if (Pointer.Flags & PointerReadBeforeWrite)
    subtractReads(Summary, Pointer, In, Limits, Result.MustWrite);
  std::vector<ByteRange> &Must = Result.MustWrite.Ranges;
  if (Must.size() > std::max<size_t>(Limits.MaxRanges, 1)) {
    std::sort(Must.begin(), Must.end(),
              [](const ByteRange &A, const ByteRange &B) {
                return A.End - A.Begin > B.End - B.Begin;
              });
    Must.resize(std::max<size_t>(Limits.MaxRanges, 1));
    normalize(Result.MustWrite, SIZE_MAX);
  }
  return Result;
}

} // namespace dragon
