//===- Progressions.h - sums of arithmetic progressions ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of a quantity as a union of arithmetic progressions: a variable of
// a kernel is one, a sum of variables is the sum of theirs. Two progressions
// become one where they fit together (256*b + t with t < 256), else one for
// each member of the coarser.
//
// Numbers are 128 bits wide; what leaves the range of finite bounds is an
// answer of false. No global state: thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_PROGRESSIONS_H
#define DRAGON_DETAIL_PROGRESSIONS_H

#include "dragon/detail/LinearSystem.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace dragon {
namespace detail {

/// The integers Lo, Lo + Step, ..., Lo + (Count - 1) * Step; Count >= 1.
struct Progression {
  Wide Lo = 0;
  Wide Step = 1;
  Wide Count = 1;
  Wide hi() const { return Lo + (Count - 1) * Step; }
};

/// The union of progressions.
using Progressions = std::vector<Progression>;

/// Factor times the set. False if it leaves the range of finite bounds.
inline bool scaleProgressions(Progressions &Set, Wide Factor) {
  for (Progression &P : Set) {
    Wide Lo = scaleBound(Factor, Factor > 0 ? P.Lo : P.hi());
    Wide Step = scaleBound(Factor < 0 ? -Factor : Factor, P.Step);
    if (!isFinite(Lo) || !isFinite(scaleBound(Step, P.Count)))
      return false;
    P = {Lo, Step, P.Count};
  }
  return true;
}

/// Appends {a + b} to Sum: one progression where there are no gaps but Step's,
/// else one per member of the progression with the larger step.
inline bool addProgressions(const Progression &A, const Progression &B,
                            size_t Limit, Progressions &Sum) {
  const Progression &Fine =
      B.Count == 1 || (A.Count > 1 && A.Step <= B.Step) ? A : B;
  const Progression &Coarse = &Fine == &A ? B : A;
  if (Coarse.Count == 1) {
    Sum.push_back({Fine.Lo + Coarse.Lo, Fine.Step, Fine.Count});
  } else if (Coarse.Step % Fine.Step == 0 &&
             Coarse.Step <= Fine.Step * Fine.Count) {
    Sum.push_back(
        {Fine.Lo + Coarse.Lo, Fine.Step,
         Fine.Count + (Coarse.Count - 1) * (Coarse.Step / Fine.Step)});
  } else {
    if (Coarse.Count > Wide(Limit))
      return false;
    for (Wide I = 0; I < Coarse.Count; ++I)
      Sum.push_back(
          {Fine.Lo + Coarse.Lo + I * Coarse.Step, Fine.Step, Fine.Count});
  }
  return Sum.size() <= Limit;
}

/// All sums of a member of each set; false if more than Limit progressions
/// would be needed.
inline bool sumProgressions(std::vector<Progressions> Parts, size_t Limit,
                            Progressions &Sum) {
  std::sort(Parts.begin(), Parts.end(),
            [](const Progressions &A, const Progressions &B) {
              return A.front().Step < B.front().Step;
            });
  Sum = {Progression()};
  for (const Progressions &Part : Parts) {
    Progressions Next;
    for (const Progression &A : Sum)
      for (const Progression &B : Part)
        if (!addProgressions(A, B, Limit, Next))
          return false;
    Sum = std::move(Next);
  }
  return true;
}

/// One progression that holds all of them.
inline Progression hullOf(const Progressions &Set) {
  Wide Lo = Set.front().Lo, Hi = Set.front().hi(), Common = 0;
  auto divide = [&Common](Wide A) {
    while (A != 0) {
      Wide Rest = Common % A;
      Common = A;
      A = Rest;
    }
  };
  for (const Progression &P : Set) {
    divide(P.Count > 1 ? P.Step : 0);
    divide(P.Lo < Set.front().Lo ? Set.front().Lo - P.Lo
                                 : P.Lo - Set.front().Lo);
    Lo = std::min(Lo, P.Lo);
    Hi = std::max(Hi, P.hi());
  }
  Wide Step = Common == 0 ? 1 : Common;
  return {Lo, Step, (Hi - Lo) / Step + 1};
}

/// One progression that holds every sum of a member of each set.
inline Progression hullOfSums(const std::vector<Progressions> &Parts) {
  Wide Lo = 0, Length = 0;
  Progressions Steps;
  for (const Progressions &Part : Parts) {
    const Progression P = hullOf(Part);
    Lo += P.Lo;
    Length += P.hi() - P.Lo;
    Steps.push_back({0, 1, 1});
    Steps.push_back({P.hi() - P.Lo, P.Step, 1});
    if (P.Count > 1)
      Steps.push_back({0, P.Step, 2});
  }
  // All multiples of the common divisor between the bounds.
  const Wide Step = hullOf(Steps).Step;
  return {Lo, Step, Length / Step + 1};
}

/// Keeps the members t with C + Divisor * t >= 0; Divisor > 0.
inline void clampProgressions(Progressions &Set, Wide C, Wide Divisor) {
  const Wide Least = ceilDiv(-C, Divisor);
  Progressions Kept;
  for (const Progression &P : Set) {
    const Wide Skip = Least <= P.Lo ? 0 : ceilDiv(Least - P.Lo, P.Step);
    if (Skip < P.Count)
      Kept.push_back({P.Lo + Skip * P.Step, P.Step, P.Count - Skip});
  }
  Set = std::move(Kept);
}

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_PROGRESSIONS_H
