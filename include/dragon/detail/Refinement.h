//===- Refinement.h - divisions and cases, for exact images -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes of an access whose image is not exact at once. Two things are
// tried:
//
// Divisions. The quotient q of a linear form l by a constant d is an opaque
// variable, bounded by 0 <= l - d*q < d. Where conditions or the address speak
// of the quotient or the rest, one of l's variables is replaced instead:
// l = d*q + r, 0 <= r < d, is one to one, so q and r are variables like any
// other. In
//
//   int y = i / 28, x = i % 28;  if (y > 0 && x > 0) sum += a[i - 29];
//
// i becomes 28*y + x with 1 <= y, 1 <= x < 28: rows without their first
// element.
//
// Cases. A condition that several variables share, in other proportions than
// the address (a neighbour's row y + k/3 - 1 >= 0 in a loop over neighbours k),
// is no condition on one quantity. If one of them has few values, the others'
// bytes are found for each of its values.
//
// Both give a set that holds all bytes of the access; it is taken if it is
// exact or smaller.
//
// Where gaps may be filled, as those within a chunk, many cases add nothing to
// what others have found. So the least and the greatest value are looked at
// first, and then only those between them whose bytes may lie elsewhere; and
// after some cases all that are left are one. In
//
//   for (int y = 0; y < 54; ++y) sum += a[i / 2916 * 2916 + y * 54];
//
// the first and the last row of each square hold the others between them.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_REFINEMENT_H
#define DRAGON_DETAIL_REFINEMENT_H

#include "dragon/FootprintEval.h"
#include "dragon/detail/LinearSystem.h"
#include "dragon/detail/StridedSet.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dragon {
namespace detail {

/// Sorts the ranges and fills gaps of up to `Gap` bytes between them.
inline void fillGaps(AccessBytes &Bytes, int64_t Gap) {
  auto &Ranges = Bytes.Ranges;
  if (Ranges.empty())
    return;
  std::sort(Ranges.begin(), Ranges.end());
  size_t Last = 0;
  for (size_t I = 1; I < Ranges.size(); ++I) {
    if (Wide(Ranges[I].first) - Ranges[Last].second > Gap) {
      Ranges[++Last] = Ranges[I];
      continue;
    }
    Bytes.Exact &= Ranges[I].first <= Ranges[Last].second;
    Ranges[Last].second = std::max(Ranges[Last].second, Ranges[I].second);
  }
  Ranges.resize(Last + 1);
}

class RefinedImage {
public:
  RefinedImage(const LinearSystem &System, const Linear &Form, int64_t Width,
               size_t MaxRanges, int64_t MergeGap)
      : System(System), Form(Form), Width(Width), MaxRanges(MaxRanges),
        MergeGap(MergeGap) {}

  /// How often bytes were enumerated, which is what takes time.
  size_t images() const { return Images; }

  AccessBytes compute() {
    std::vector<uint32_t> Lost;
    AccessBytes Plain = image(System, Form, Lost);
    if (Plain.Exact)
      return Plain;
    LinearSystem Divided = System;
    Linear Address = Form;
    bool Changed = false;
    if (!replaceDivisions(Divided, Address, Changed)) {
      Divided = System;
      Address = Form;
      Changed = false;
    }
    if (!Changed && Lost.empty())
      return Plain;
    AccessBytes Cases;
    Cases.Exact = true;
    solve(Divided, Address, 1, Cases);
    if (Cases.Exact || Plain.Everything)
      return Cases;
    return !Cases.Everything && bytesOf(Cases) < bytesOf(Plain) ? Cases : Plain;
  }

private:
  static constexpr size_t MaxCases = 64;
  /// Where gaps may be filled: after so many, the values of a variable that are
  /// left are no cases of their own.
  static constexpr size_t EnoughImages = 16;
  static constexpr Wide GapsPerLittle = 64;

  const LinearSystem &System;
  const Linear &Form;
  int64_t Width;
  size_t MaxRanges;
  int64_t MergeGap;
  size_t Images = 0;

  AccessBytes image(LinearSystem Copy, const Linear &Address,
                    std::vector<uint32_t> &Lost) {
    ++Images;
    AccessImage Image(Copy, Address, Width, MaxRanges, MergeGap);
    AccessBytes Bytes = Image.compute();
    Lost = Image.lost();
    return Bytes;
  }

  // -- Divisions

  /// Whether more than bounds of others depends on it.
  static bool matters(const LinearSystem &S, const Linear &Address,
                      uint32_t Var) {
    if (Address.coefficient(Var) != 0)
      return true;
    for (const Constraint &K : S.Constraints)
      if (!K.Soft && K.Form.coefficient(Var) != 0)
        return true;
    return false;
  }

  static bool substitute(LinearSystem &S, Linear &Address, uint32_t Var,
                         const Linear &Value) {
    if (!Address.substitute(Var, Value))
      return false;
    for (Division &D : S.Divisions)
      if (!D.Dividend.substitute(Var, Value))
        return false;
    std::vector<Constraint> Kept;
    for (Constraint &K : S.Constraints) {
      if (!K.Form.substitute(Var, Value)) {
        if (!K.Soft)
          return false;
        continue;
      }
      if (K.Form.isConstant())
        S.Empty |= K.Form.C < 0;
      else
        Kept.push_back(K);
    }
    S.Constraints = std::move(Kept);
    return true;
  }

  /// False if the numbers become too large; S and Address are then of no use.
  static bool replaceDivisions(LinearSystem &S, Linear &Address,
                               bool &Changed) {
    for (size_t I = 0; I < S.Divisions.size(); ++I) {
      const Division D = S.Divisions[I]; // as those before it have made it
      if (!matters(S, Address, D.Quotient))
        continue;
      const Linear::Term *Found = nullptr;
      for (const Linear::Term &T : D.Dividend)
        if ((T.Coefficient == 1 || T.Coefficient == -1) &&
            !S.Vars[T.Var].Opaque && T.Var != D.Quotient)
          Found = &T;
      if (!Found)
        continue;
      const Interval Box = S.Vars[Found->Var].Range;
      Linear Value = D.Dividend.without(Found->Var);
      const uint32_t Rest = S.addVariable({0, Wide(D.Divisor) - 1}, false);
      if (!Value.scale(-1) ||
          !Value.add(Linear::variable(D.Quotient), D.Divisor) ||
          !Value.add(Linear::variable(Rest)) ||
          !Value.scale(Found->Coefficient))
        return false;
      S.Vars[D.Quotient].Opaque = false;
      if (!substitute(S, Address, Found->Var, Value))
        return false;
      Changed = true;
      Linear Low = Value, High = Value;
      if (isFinite(Box.Lo)) {
        if (!Low.addConstant(-Box.Lo))
          return false;
        addConstraint(S, Low);
      }
      if (isFinite(Box.Hi)) {
        if (!High.scale(-1) || !High.addConstant(Box.Hi))
          return false;
        addConstraint(S, High);
      }
    }
    for (Constraint &K : S.Constraints)
      K.Doubtful = K.Doubtful && S.mentionsOpaque(K.Form);
    if (Changed)
      eliminate(S, Address);
    return true;
  }

  static void addConstraint(LinearSystem &S, const Linear &L) {
    if (L.isConstant())
      S.Empty |= L.C < 0;
    else
      S.Constraints.push_back({L, false, S.mentionsOpaque(L)});
  }

  /// A variable v that stands in no more than x + m*v >= 0 and y - m*v >= 0,
  /// where x + y is a constant of at least m - 1: whatever x, some integer
  /// satisfies both, and it lies in v's interval [lo, hi] as well if
  /// x + m*hi >= 0 and y - m*lo >= 0.
  static void eliminate(LinearSystem &S, const Linear &Address) {
    for (uint32_t Var = 0; Var < S.Vars.size(); ++Var) {
      const Variable &V = S.Vars[Var];
      if (V.Opaque || !isFinite(V.Range.Lo) || !isFinite(V.Range.Hi) ||
          Address.coefficient(Var) != 0)
        continue;
      std::vector<size_t> Uses;
      for (size_t I = 0; I < S.Constraints.size(); ++I)
        if (!S.Constraints[I].Soft &&
            S.Constraints[I].Form.coefficient(Var) != 0)
          Uses.push_back(I);
      if (Uses.size() != 2)
        continue;
      if (S.Constraints[Uses[0]].Form.coefficient(Var) < 0)
        std::swap(Uses[0], Uses[1]);
      Constraint &Up = S.Constraints[Uses[0]], &Down = S.Constraints[Uses[1]];
      const int64_t M = Up.Form.coefficient(Var);
      Linear X = Up.Form.without(Var), Y = Down.Form.without(Var), Sum = X;
      if (M <= 0 || Down.Form.coefficient(Var) != -M || !Sum.add(Y) ||
          !Sum.isConstant() || Sum.C < M - 1 ||
          !X.addConstant(scaleBound(M, V.Range.Hi)) ||
          !Y.addConstant(-scaleBound(M, V.Range.Lo)))
        continue;
      Up.Form = X;
      Down.Form = Y;
      S.dropSoft(Var);
    }
  }

  // -- Cases

  void solve(LinearSystem &S, const Linear &Address, size_t Cases,
             AccessBytes &Into) {
    S.narrow();
    if (S.Empty)
      return;
    std::vector<uint32_t> Lost;
    AccessBytes Bytes = image(S, Address, Lost);
    const Interval *Range = nullptr;
    uint32_t Var = 0;
    for (uint32_t L : Lost) {
      const Interval &R = S.Vars[L].Range;
      if (S.Vars[L].Opaque || !isFinite(R.Lo) || !isFinite(R.Hi) ||
          R.Hi <= R.Lo || (R.Hi - R.Lo + 1) * Wide(Cases) > Wide(MaxCases) ||
          (Range && R.Hi - R.Lo >= Range->Hi - Range->Lo))
        continue;
      Range = &R;
      Var = L;
    }
    if (Bytes.Exact || !Range) {
      append(Into, Bytes);
      return;
    }
    const Interval Values = *Range;
    Cases *= size_t(Values.Hi - Values.Lo + 1);
    solveFor(S, Address, Var, Values, Cases, Into);
  }

  static void append(AccessBytes &Into, const AccessBytes &Bytes) {
    Into.Exact &= Bytes.Exact;
    Into.Everything |= Bytes.Everything;
    Into.Ranges.insert(Into.Ranges.end(), Bytes.Ranges.begin(),
                       Bytes.Ranges.end());
  }

  /// The cases of some values of a variable.
  void solveFor(const LinearSystem &S, const Linear &Address, uint32_t Var,
                Interval Values, size_t Cases, AccessBytes &Into) {
    auto SolveOne = [&](Wide Value) {
      LinearSystem One = S;
      Linear At = Address;
      if (substitute(One, At, Var, Linear(int64_t(Value)))) {
        solve(One, At, Cases, Into);
      } else {
        Into.Exact = false;
        Into.Everything = true;
      }
    };
    if (MergeGap <= 0) {
      for (Wide Value = Values.Lo; Value <= Values.Hi; ++Value)
        SolveOne(Value);
      return;
    }
    if (Values.Lo > Values.Hi || isFound(S, Address, Var, Values, Into))
      return;
    if (Images >= EnoughImages) {
      LinearSystem Rest = S;
      Rest.Vars[Var].Range = Values;
      Rest.narrow();
      std::vector<uint32_t> Lost;
      append(Into, image(std::move(Rest), Address, Lost));
      return;
    }
    SolveOne(Values.Lo++);
    if (Values.Lo <= Values.Hi)
      SolveOne(Values.Hi--);
    const Wide Middle = floorDiv(Values.Lo + Values.Hi, 2);
    solveFor(S, Address, Var, {Values.Lo, Middle}, Cases, Into);
    solveFor(S, Address, Var, {Middle + 1, Values.Hi}, Cases, Into);
  }

  /// Whether the bytes for these values of a variable are among what was
  /// found, its gaps filled, or reach so little beyond that this is taken, too.
  bool isFound(LinearSystem S, const Linear &Address, uint32_t Var,
               Interval Values, AccessBytes &Found) const {
    if (Found.Everything)
      return true;
    if (Found.Ranges.empty())
      return false;
    S.Vars[Var].Range = Values;
    S.narrow();
    if (S.Empty)
      return true;
    fillGaps(Found, MergeGap);
    const Wide Lo = S.lower(Address), End = S.upper(Address) + Width;
    const Wide Little = (Wide(MergeGap) + 1) / GapsPerLittle;
    for (auto &[From, To] : Found.Ranges) {
      if (Lo < From - Little || End > To + Little || Lo != Wide(int64_t(Lo)) ||
          End != Wide(int64_t(End)))
        continue;
      Found.Exact &= From <= Lo && End <= To;
      From = std::min(From, int64_t(Lo));
      To = std::max(To, int64_t(End));
      return true;
    }
    return false;
  }

  static Wide bytesOf(const AccessBytes &Bytes) {
    std::vector<std::pair<int64_t, int64_t>> Sorted = Bytes.Ranges;
    std::sort(Sorted.begin(), Sorted.end());
    Wide Sum = 0, End = -Infinity;
    for (const auto &[From, To] : Sorted) {
      if (To > End)
        Sum += To - std::max<Wide>(From, End);
      End = std::max<Wide>(End, To);
    }
    return Sum;
  }
};

inline void append(ByteSet &Set, const AccessBytes &Bytes) {
  Set.Everything |= Bytes.Everything;
  for (const auto &[Begin, End] : Bytes.Ranges)
    Set.Ranges.push_back({Begin, End});
}

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_REFINEMENT_H
