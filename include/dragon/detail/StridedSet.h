//===- StridedSet.h - the bytes a linear form covers ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns `bytes [Form, Form + Width) for all points of a LinearSystem` into
// ranges of bytes. The idea: a constraint whose terms occur in the form in the
// same proportions speaks of one quantity; all its variables are replaced by
// this quantity, a single variable with clamped range. In
//
//   4*(bx*256 + tx) + 4096*(by*8 + ty)   with  n-1 - (bx*256 + tx) >= 0
//                                        and   m-1 - (by*8 + ty) >= 0
//
// there are two, i = bx*256 + tx in [0, n) and j = by*8 + ty in [0, m). What is
// left is a sum of arithmetic progressions, which become one dense range where
// they fit together, and are enumerated where they do not.
//
// A constraint that fits no such pattern is left out: the set is then too large
// (fine for "may") and not exact (no "must").
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_STRIDEDSET_H
#define DRAGON_DETAIL_STRIDEDSET_H

#include "dragon/detail/LinearSystem.h"
#include "dragon/detail/Progressions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace dragon {
namespace detail {

/// The bytes of one access. Ranges are those of may; they are those of must as
/// well if Exact.
struct AccessBytes {
  bool Everything = false;
  bool Exact = false;
  /// Whether it happens depends on loaded data that are not known.
  bool Uncertain = false;
  std::vector<std::pair<int64_t, int64_t>> Ranges;
};

class AccessImage {
public:
  AccessImage(LinearSystem &System, const Linear &Form, int64_t Width,
              size_t MaxRanges, int64_t MergeGap)
      : System(System), Form(Form), Width(Width),
        MaxRanges(MaxRanges ? MaxRanges : 1), MergeGap(MergeGap) {}

  AccessBytes compute() {
    AccessBytes Result;
    if (System.Empty) {
      Result.Exact = true;
      return Result;
    }
    // The bounds are sought before variables are replaced.
    Interval Hull{System.lower(Form), System.upper(Form)};
    Result.Exact = System.isExact() && !System.mentionsOpaque(Form);
    NumOriginal = uint32_t(System.Vars.size());
    dropRedundant();
    if (!replaceGroups())
      Result.Exact = false;
    if (System.Empty) {
      // Exact or not: nothing satisfies a superset of the constraints.
      Result.Ranges.clear();
      return Result;
    }
    enumerate(Hull, Result);
    return Result;
  }

  /// Variables of conditions that could not be represented.
  const std::vector<uint32_t> &lost() const { return Lost; }

private:
  LinearSystem &System;
  Linear Form;
  int64_t Width;
  size_t MaxRanges;
  int64_t MergeGap;
  uint32_t NumOriginal = 0;
  std::vector<uint32_t> Lost;
  /// The values of the variables that replaced a group.
  std::vector<std::pair<uint32_t, Progressions>> Replaced;

  /// The values of a variable, without a bound on one side: false.
  bool valuesOfVariable(uint32_t Var, Progressions &Values) const {
    for (const auto &[Known, Set] : Replaced)
      if (Known == Var) {
        Values = Set;
        return true;
      }
    const Interval &R = System.Vars[Var].Range;
    if (!isFinite(R.Lo) || !isFinite(R.Hi))
      return false;
    Values = {{R.Lo, 1, R.Hi - R.Lo + 1}};
    return true;
  }

  /// Constraints that hold everywhere, or follow from one other constraint.
  void dropRedundant() {
    std::vector<Constraint> &All = System.Constraints;
    for (size_t I = 0; I < All.size();) {
      bool Redundant = System.boxLower(All[I].Form) >= 0;
      for (size_t J = 0; J < All.size() && !Redundant; ++J)
        // Of two that follow from each other the later is kept; a hard one
        // may not lean on a soft one, which may be left out.
        Redundant = J != I && (All[I].Soft || !All[J].Soft) &&
                    follows(All[I].Form, All[J].Form) &&
                    (J > I || (All[I].Soft && !All[J].Soft) ||
                     !follows(All[J].Form, All[I].Form));
      if (Redundant)
        All.erase(All.begin() + ptrdiff_t(I));
      else
        ++I;
    }
  }

  /// A >= M * B everywhere in the box for some M > 0: A >= 0 follows from B.
  bool follows(const Linear &A, const Linear &B) const {
    for (const Linear::Term &T : B) {
      int64_t Coefficient = A.coefficient(T.Var);
      int64_t M;
      if (Coefficient == 0 || !divides(T.Coefficient, Coefficient, M))
        continue;
      Linear Difference = A;
      if (M > 0 && M < INT64_MAX && Difference.add(B, -M) &&
          System.boxLower(Difference) >= 0)
        return true;
    }
    return false;
  }

  static bool divides(int64_t Divisor, int64_t Value, int64_t &Quotient) {
    if (Value == INT64_MIN || Divisor == 0 || Value % Divisor != 0)
      return false;
    Quotient = Value / Divisor;
    return true;
  }

  /// If every variable of Group has in L the coefficient Ratio * its own:
  /// true, and Ratio. (0 is a ratio.)
  static bool proportional(const Linear &L, const Linear &Group,
                           int64_t &Ratio) {
    bool First = true;
    for (const Linear::Term &T : Group) {
      int64_t Coefficient = L.coefficient(T.Var);
      int64_t R;
      if (!divides(T.Coefficient, Coefficient, R))
        return false;
      if (!First && R != Ratio)
        return false;
      Ratio = R;
      First = false;
    }
    return !First;
  }

  static bool touches(const Linear &L, const Linear &Group) {
    for (const Linear::Term &T : Group)
      if (L.coefficient(T.Var) != 0)
        return true;
    return false;
  }

  /// L's terms in Group become Ratio * Var.
  static bool replace(Linear &L, const Linear &Group, int64_t Ratio,
                      uint32_t Var) {
    Linear Terms = Group;
    Terms.C = 0;
    return L.add(Terms, -Ratio) && L.add(Linear::variable(Var), Ratio);
  }

  /// Works through the constraints, hard ones first, small ones first. True if
  /// all hard ones could be represented exactly.
  bool replaceGroups() {
    bool Exact = true;
    std::vector<Constraint> Open;
    Open.swap(System.Constraints);
    while (!Open.empty() && !System.Empty) {
      size_t Smallest = 0;
      for (size_t I = 1; I < Open.size(); ++I)
        if (Open[I].Soft != Open[Smallest].Soft
                ? Open[Smallest].Soft
                : Open[I].Form.size() < Open[Smallest].Form.size())
          Smallest = I;
      Constraint K = Open[Smallest];
      Open.erase(Open.begin() + ptrdiff_t(Smallest));
      if (!replaceGroup(K, Open, Exact) && !K.Soft) {
        lose(K.Form);
        Exact = false;
      }
    }
    return Exact;
  }

  void lose(const Linear &L) {
    for (const Linear::Term &T : L)
      if (T.Var < NumOriginal &&
          std::find(Lost.begin(), Lost.end(), T.Var) == Lost.end())
        Lost.push_back(T.Var);
  }

  /// A constraint c + g*t >= 0 speaks of t, the sum of its terms over their
  /// common divisor g. t becomes a variable with the values that satisfy it.
  /// False if the form has t's terms in other proportions.
  bool replaceGroup(const Constraint &K, std::vector<Constraint> &Open,
                    bool &Exact) {
    Linear Group;
    int64_t Divisor = 0, FormRatio = 0;
    if (!groupOf(K.Form, Group, Divisor))
      return false;
    if (Divisor == 0) {
      if (K.Form.C < 0)
        System.Empty = true;
      return true;
    }
    Progressions Sum;
    bool Gaps = false;
    if (!proportional(Form, Group, FormRatio) ||
        !valuesOfGroup(Group, Sum, Gaps))
      return false;
    if (Gaps && !K.Soft)
      Exact = false;
    clampProgressions(Sum, K.Form.C, Divisor);
    if (Sum.empty()) {
      System.Empty = true;
      return true;
    }
    const Progression Hull = hullOf(Sum);
    const uint32_t Var = System.addVariable({Hull.Lo, Hull.hi()}, Gaps);
    Replaced.push_back({Var, std::move(Sum)});
    if (Gaps && K.Soft && FormRatio != 0)
      Exact = false;
    if (!replace(Form, Group, FormRatio, Var))
      return false;
    replaceInOthers(Group, Var, Gaps, Open, Exact);
    return true;
  }

  /// L's terms over their common divisor, which is 0 if there are none. False
  /// on overflow.
  static bool groupOf(const Linear &L, Linear &Group, int64_t &Divisor) {
    Divisor = 0;
    for (const Linear::Term &T : L) {
      if (T.Coefficient == INT64_MIN)
        return false;
      Divisor = std::gcd(Divisor, T.Coefficient);
    }
    for (const Linear::Term &T : L)
      if (!Group.add(Linear::variable(T.Var), T.Coefficient / Divisor))
        return false;
    return true;
  }

  /// The values of a sum of variables. Gaps: it may not take all of them. False
  /// if one of the variables has no bounds.
  bool valuesOfGroup(const Linear &Group, Progressions &Sum, bool &Gaps) const {
    std::vector<Progressions> Parts;
    for (const Linear::Term &T : Group) {
      Progressions Values;
      if (!valuesOfVariable(T.Var, Values) ||
          !scaleProgressions(Values, T.Coefficient))
        return false;
      // What an opaque variable does between its bounds is unknown.
      Gaps |= System.Vars[T.Var].Opaque &&
              (Values.size() > 1 || Values.front().Count > 1);
      Parts.push_back(std::move(Values));
    }
    if (!sumProgressions(Parts, MaxRanges, Sum)) {
      Gaps = true;
      Sum = {hullOfSums(Parts)};
    }
    return true;
  }

  /// Other constraints that mention a quantity which became \p Var; those that
  /// split it are lost.
  void replaceInOthers(const Linear &Group, uint32_t Var, bool Gaps,
                       std::vector<Constraint> &Open, bool &Exact) {
    for (size_t I = 0; I < Open.size();) {
      int64_t Ratio;
      if (!touches(Open[I].Form, Group)) {
        ++I;
        continue;
      }
      if (proportional(Open[I].Form, Group, Ratio) &&
          replace(Open[I].Form, Group, Ratio, Var)) {
        if (Gaps && !Open[I].Soft)
          Exact = false;
        ++I;
        continue;
      }
      if (!Open[I].Soft) {
        lose(Open[I].Form);
        lose(Group);
        Exact = false;
      }
      Open.erase(Open.begin() + ptrdiff_t(I));
    }
  }

  struct Dimension {
    Wide Stride;
    Wide Count;
  };

  void enumerate(Interval Hull, AccessBytes &Result) {
    Progressions Offsets = {{Form.C, 1, 1}};
    std::vector<Progression> Single;
    for (const Linear::Term &T : Form) {
      Progressions Values;
      if (!valuesOfVariable(T.Var, Values) ||
          !scaleProgressions(Values, T.Coefficient)) {
        fallBackToHull(Hull, Result);
        return;
      }
      if (Values.size() == 1) {
        Single.push_back(Values.front());
        continue;
      }
      Progressions Sum;
      if (!sumProgressions({Offsets, Values}, MaxRanges, Sum)) {
        Result.Exact = false;
        Values = {hullOf(Values)};
        if (!sumProgressions({Offsets, Values}, MaxRanges, Sum))
          Sum = {hullOf(Offsets)}, Single.push_back(Values.front());
      }
      Offsets = std::move(Sum);
    }
    size_t Limit = std::max<size_t>(MaxRanges / Offsets.size(), 1);
    for (const Progression &Offset : Offsets) {
      std::vector<Progression> Parts = Single;
      Parts.push_back(Offset);
      enumerateSum(Parts, Limit, Hull, Result);
    }
  }

  /// Bytes [t, t + Width) for all sums t of a member of each part.
  void enumerateSum(const std::vector<Progression> &Parts, size_t Limit,
                    Interval Hull, AccessBytes &Result) {
    Wide Base = 0;
    std::vector<Dimension> Dims;
    for (const Progression &P : Parts) {
      Base += P.Lo;
      if (P.Count > 1)
        Dims.push_back({P.Step, P.Count});
    }
    std::sort(Dims.begin(), Dims.end(),
              [](const Dimension &A, const Dimension &B) {
                return A.Stride < B.Stride;
              });
    // Dense from the innermost on; what remains has gaps.
    Wide Run = Width;
    std::vector<Dimension> Gaps;
    bool Filled = false;
    for (const Dimension &D : Dims) {
      Wide Gap = D.Stride - Run;
      if (Gaps.empty() && Gap <= MergeGap) {
        Filled |= Gap > 0;
        Run += D.Stride * (D.Count - 1);
      } else if (!Gaps.empty() && D.Stride % Gaps.back().Stride == 0 &&
                 D.Stride <= Gaps.back().Stride * Gaps.back().Count) {
        Gaps.back().Count += (D.Count - 1) * (D.Stride / Gaps.back().Stride);
      } else {
        Gaps.push_back(D);
      }
    }
    // Too many ranges: the innermost gaps are filled.
    auto total = [&Gaps] {
      Wide Total = 1;
      for (const Dimension &D : Gaps)
        Total = clampWide(Total * D.Count);
      return Total;
    };
    while (total() > Wide(Limit)) {
      const Dimension &D = Gaps.front();
      Run += D.Stride * (D.Count - 1);
      Gaps.erase(Gaps.begin());
      Filled = true;
    }
    if (Filled)
      Result.Exact = false;

    Wide HullLo = Hull.Lo, HullHi = clampWide(Hull.Hi + Width);
    std::vector<Wide> Index(Gaps.size(), 0);
    for (;;) {
      Wide Begin = Base;
      for (size_t I = 0; I < Gaps.size(); ++I)
        Begin += Gaps[I].Stride * Index[I];
      addRange(std::max(Begin, HullLo), std::min(Begin + Run, HullHi), Result);
      size_t I = 0;
      while (I < Gaps.size() && ++Index[I] == Gaps[I].Count)
        Index[I++] = 0;
      if (I == Gaps.size())
        break;
    }
  }

  void fallBackToHull(Interval Hull, AccessBytes &Result) {
    Result.Exact = false;
    addRange(Hull.Lo, clampWide(Hull.Hi + Width), Result);
  }

  void addRange(Wide Begin, Wide End, AccessBytes &Result) {
    if (Begin >= End || Result.Everything)
      return;
    if (Begin != Wide(int64_t(Begin)) || End != Wide(int64_t(End))) {
      Result.Everything = true;
      Result.Exact = false;
      Result.Ranges.clear();
      return;
    }
    std::pair<int64_t, int64_t> Range{int64_t(Begin), int64_t(End)};
    if (!Result.Ranges.empty() && Result.Ranges.back().second == Range.first)
      Result.Ranges.back().second = Range.second;
    else
      Result.Ranges.push_back(Range);
  }
};

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_STRIDEDSET_H
