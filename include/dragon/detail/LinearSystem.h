//===- LinearSystem.h - integer linear forms and constraints ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic below the footprint evaluator: linear forms
// c + a1*v1 + ... + an*vn over integer variables, each variable in an interval,
// and constraints `form >= 0`. Bounds of a form are sought over the box of the
// variables, and then tightened by adding multiples of constraints: for a
// triangular loop with 0 <= j <= n-2-i the form n*i + (i+1+j) is at most
// n*i + n-1, because the constraint times one can be added to it, which cancels
// i + j. (One step of Fourier-Motzkin elimination, greedily.)
//
// Coefficients are checked 64-bit integers, bounds are 128 bits wide with an
// infinity, so that nothing here wraps. An operation that would overflow
// answers false.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_LINEARSYSTEM_H
#define DRAGON_DETAIL_LINEARSYSTEM_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace dragon {
namespace detail {

__extension__ typedef __int128 Wide;

constexpr Wide Infinity = Wide(1) << 100;

inline Wide clampWide(Wide X) {
  return X >= Infinity ? Infinity : X <= -Infinity ? -Infinity : X;
}
inline bool isFinite(Wide X) { return X > -Infinity && X < Infinity; }

/// Both have 64 bits, as nearly all numbers do: products are exact, and
/// divisions one instruction.
inline bool areShort(Wide A, Wide B) {
  return A == int64_t(A) && B == int64_t(B);
}

/// Coefficient times bound; infinite if it is out of range.
inline Wide scaleBound(Wide Coefficient, Wide Bound) {
  if (areShort(Coefficient, Bound))
    return clampWide(Wide(int64_t(Coefficient)) * int64_t(Bound));
  Wide Product;
  if (!isFinite(Bound) || __builtin_mul_overflow(Coefficient, Bound, &Product))
    return (Coefficient > 0) == (Bound > 0) ? Infinity : -Infinity;
  return clampWide(Product);
}

inline Wide floorDiv(Wide A, Wide B) {
  if (areShort(A, B) && B > 0) {
    const auto X = int64_t(A), Y = int64_t(B);
    return X / Y - (X % Y < 0 ? 1 : 0);
  }
  Wide Q = A / B;
  return (A % B != 0 && (A < 0) != (B < 0)) ? Q - 1 : Q;
}
inline Wide ceilDiv(Wide A, Wide B) { return -floorDiv(-A, B); }

/// A closed interval; empty if Lo > Hi.
struct Interval {
  Wide Lo = -Infinity;
  Wide Hi = Infinity;
  bool contains(const Interval &I) const { return Lo <= I.Lo && I.Hi <= Hi; }
};

/// The values of a two's complement number.
inline Interval valuesOf(unsigned Bits, bool Signed) {
  Wide Size = Wide(1) << Bits;
  return Signed ? Interval{-Size / 2, Size / 2 - 1} : Interval{0, Size - 1};
}

/// What counts [Lo, End); UINT64_MAX: without an end.
inline Interval countOf(uint64_t Lo, uint64_t End) {
  return {Wide(Lo), End == UINT64_MAX ? Infinity : Wide(End) - 1};
}

/// C + sum of Coefficient * variable, terms sorted by variable, none zero.
class Linear {
public:
  static constexpr unsigned MaxTerms = 14;
  struct Term {
    uint32_t Var;
    int64_t Coefficient;
  };

  int64_t C = 0;

  Linear() = default;
  explicit Linear(int64_t Constant) : C(Constant) {}
  /// Terms in the order of their variables, not more than MaxTerms.
  Linear(int64_t Constant, const Term *First, unsigned Number)
      : C(Constant), Count(Number) {
    std::copy_n(First, Number, Terms);
  }
  /// Only the terms that there are: forms are copied by the thousand.
  Linear(const Linear &Other) : Linear(Other.C, Other.Terms, Other.Count) {}
  Linear &operator=(const Linear &Other) {
    if (this == &Other)
      return *this;
    C = Other.C;
    Count = Other.Count;
    std::copy_n(Other.Terms, Other.Count, Terms);
    return *this;
  }
  static Linear variable(uint32_t Var) {
    Linear L;
    L.Terms[0] = {Var, 1};
    L.Count = 1;
    return L;
  }

  unsigned size() const { return Count; }
  bool isConstant() const { return Count == 0; }
  const Term *begin() const { return Terms; }
  const Term *end() const { return Terms + Count; }

  int64_t coefficient(uint32_t Var) const {
    for (const Term &T : *this)
      if (T.Var == Var)
        return T.Coefficient;
    return 0;
  }

  /// this += Scale * Other. False (and this is unspecified) on overflow.
  bool add(const Linear &Other, int64_t Scale = 1) {
    if (Scale == 0)
      return true;
    if (!addScaled(C, Other.C, Scale))
      return false;
    Linear Sum;
    Sum.C = C;
    if (!forSum(*this, Other, Scale, [&Sum](const Term &T) {
          if (Sum.Count == MaxTerms)
            return false;
          Sum.Terms[Sum.Count++] = T;
          return true;
        }))
      return false;
    *this = Sum;
    return true;
  }

  /// Body(T) for the terms of A + Scale * B, until it answers false. False: it
  /// did, or there is an overflow.
  template <typename Body>
  static bool forSum(const Linear &A, const Linear &B, int64_t Scale,
                     Body Each) {
    unsigned I = 0, J = 0;
    while (I < A.Count || J < B.Count) {
      Term T;
      if (J == B.Count || (I < A.Count && A.Terms[I].Var < B.Terms[J].Var)) {
        T = A.Terms[I++];
      } else {
        T = {B.Terms[J].Var, 0};
        if (I < A.Count && A.Terms[I].Var == T.Var)
          T.Coefficient = A.Terms[I++].Coefficient;
        if (!addScaled(T.Coefficient, B.Terms[J++].Coefficient, Scale))
          return false;
      }
      if (T.Coefficient != 0 && !Each(T))
        return false;
    }
    return true;
  }
  /// Into += Value * Scale; false: it has no 64 bits.
  static bool addScaled(int64_t &Into, int64_t Value, int64_t Scale) {
    Wide Sum = Wide(Into) + Wide(Value) * Scale;
    if (Sum != Wide(int64_t(Sum)))
      return false;
    Into = int64_t(Sum);
    return true;
  }

  bool scale(int64_t Scale) {
    Linear Zero;
    if (!Zero.add(*this, Scale))
      return false;
    *this = Zero;
    return true;
  }

  bool addConstant(Wide Constant) {
    Wide Sum = Wide(C) + Constant;
    if (!isFinite(Constant) || Sum != Wide(int64_t(Sum)))
      return false;
    C = int64_t(Sum);
    return true;
  }

  /// The greatest number that divides the constant and all coefficients; 0 of
  /// 0 and where it has no 64 bits.
  int64_t content() const {
    uint64_t Divisor = magnitude(C);
    for (const Term &T : *this)
      Divisor = std::gcd(Divisor, magnitude(T.Coefficient));
    return Divisor > uint64_t(INT64_MAX) ? 0 : int64_t(Divisor);
  }

  /// this / Divisor, which divides content().
  Linear dividedBy(int64_t Divisor) const {
    Linear L = *this;
    L.C /= Divisor;
    for (unsigned I = 0; I < Count; ++I)
      L.Terms[I].Coefficient /= Divisor;
    return L;
  }

  /// Var becomes Value. False (and this is unspecified) on overflow.
  bool substitute(uint32_t Var, const Linear &Value) {
    const int64_t Coefficient = coefficient(Var);
    if (Coefficient == 0)
      return true;
    *this = without(Var);
    return add(Value, Coefficient);
  }

  /// this without variable Var.
  Linear without(uint32_t Var) const {
    Linear L;
    L.C = C;
    for (const Term &T : *this)
      if (T.Var != Var)
        L.Terms[L.Count++] = T;
    return L;
  }

  bool operator==(const Linear &Other) const {
    if (C != Other.C || Count != Other.Count)
      return false;
    for (unsigned I = 0; I < Count; ++I)
      if (Terms[I].Var != Other.Terms[I].Var ||
          Terms[I].Coefficient != Other.Terms[I].Coefficient)
        return false;
    return true;
  }

private:
  static uint64_t magnitude(int64_t X) {
    return X < 0 ? -uint64_t(X) : uint64_t(X);
  }

  Term Terms[MaxTerms];
  unsigned Count = 0;
};

/// A variable takes every integer of its interval, unless it is opaque: then it
/// takes some of them.
struct Variable {
  Interval Range;
  bool Opaque = false;
};

/// Form >= 0. A soft constraint follows from others (and the program), so that
/// leaving it out loses no exactness. A doubtful one holds of some values of
/// opaque variables only: nobody knows whether they take these.
struct Constraint {
  Linear Form;
  bool Soft = false;
  bool Doubtful = false;
};

/// Quotient, an opaque variable, is floor(Dividend / Divisor).
struct Division {
  Linear Dividend;
  int64_t Divisor;
  uint32_t Quotient;
};

/// Variables in a box, and constraints on them.
class LinearSystem {
public:
  std::vector<Variable> Vars;
  std::vector<Constraint> Constraints;
  std::vector<Division> Divisions;
  /// No point satisfies the constraints.
  bool Empty = false;
  /// The points that satisfy the constraints, if none is doubtful, are the ones
  /// the program visits, for all values of the opaque variables; otherwise a
  /// superset of them.
  bool Exact = true;

  bool isExact() const {
    for (const Constraint &K : Constraints)
      if (K.Doubtful)
        return false;
    return Exact;
  }

  uint32_t addVariable(Interval Range, bool Opaque) {
    Vars.push_back({Range, Opaque});
    return uint32_t(Vars.size() - 1);
  }

  /// Over the box alone.
  Wide boxUpper(const Linear &L) const {
    Wide Sum = L.C;
    for (const Linear::Term &T : L) {
      const Wide Part = upperPart(T);
      if (!isFinite(Part))
        return Infinity;
      Sum += Part;
    }
    return clampWide(Sum);
  }
  Wide boxLower(const Linear &L) const {
    Wide Sum = L.C;
    for (const Linear::Term &T : L) {
      const Interval &R = Vars[T.Var].Range;
      Wide Part = scaleBound(T.Coefficient, T.Coefficient > 0 ? R.Lo : R.Hi);
      if (!isFinite(Part))
        return -Infinity;
      Sum += Part;
    }
    return clampWide(Sum);
  }

  /// Over the box and the constraints.
  Wide upper(const Linear &L) const {
    Linear Form = L;
    auto [Best, BestInfinite] = upperOfSum(Form, Linear(), 1);
    for (unsigned Step = 0; Step < MaxSteps; ++Step) {
      Linear BestForm;
      bool Improved = false;
      for (const Constraint &K : Constraints)
        for (const Linear::Term &T : K.Form) {
          const Wide A = Form.coefficient(T.Var), B = T.Coefficient;
          // Only opposite signs cancel; Form + M * K, M >= 1.
          if (A == 0 || B == 0 || (A > 0) == (B > 0))
            continue;
          Wide M = ceilDiv(A < 0 ? -A : A, B < 0 ? -B : B);
          const UpperOfSum Sum = M == Wide(int64_t(M))
                                     ? upperOfSum(Form, K.Form, int64_t(M))
                                     : UpperOfSum();
          if (Sum.Infinite < BestInfinite ||
              (Sum.Infinite == BestInfinite && Sum.Bound < Best)) {
            BestInfinite = Sum.Infinite;
            Best = Sum.Bound;
            BestForm = Form;
            BestForm.add(K.Form, int64_t(M));
            Improved = true;
          }
        }
      if (!Improved)
        break;
      Form = BestForm;
    }
    return Best;
  }
  Wide lower(const Linear &L) const {
    Linear Negated = L;
    return Negated.scale(-1) ? clampWide(-upper(Negated)) : boxLower(L);
  }

  /// The box's bounds if they lie within Wanted, else the tightened ones.
  Interval bounds(const Linear &L, const Interval &Wanted) const {
    Interval I{boxLower(L), boxUpper(L)};
    if (Wanted.contains(I))
      return I;
    return {lower(L), upper(L)};
  }
  Interval bounds(const Linear &L) const { return {lower(L), upper(L)}; }

  /// Adds Form >= 0 and narrows the box by it.
  void require(const Linear &Form, bool Soft = false) {
    if (Form.isConstant()) {
      if (Form.C < 0)
        Empty = true;
      return;
    }
    // Whether an opaque variable satisfies a constraint is only known where all
    // of its values do.
    Constraints.push_back(
        {Form, Soft, !Soft && mentionsOpaque(Form) && boxLower(Form) < 0});
    narrow();
  }

  /// Removes the soft constraints on Var.
  void dropSoft(uint32_t Var) {
    Constraints.erase(std::remove_if(Constraints.begin(), Constraints.end(),
                                     [Var](const Constraint &K) {
                                       return K.Soft &&
                                              K.Form.coefficient(Var) != 0;
                                     }),
                      Constraints.end());
  }

  /// Narrows the box by the constraints: from c + a*v + rest >= 0 follows
  /// a*v >= -(c + upper(rest)).
  void narrow() {
    for (unsigned Round = 0; Round < MaxRounds && !Empty; ++Round) {
      bool Changed = false;
      for (const Constraint &K : Constraints) {
        // The bound of a variable that a constraint narrows is not the one that
        // is in the constraint's own upper bound.
        Wide Parts[Linear::MaxTerms], Finite = K.Form.C;
        size_t Infinite = 0;
        Wide *Next = Parts;
        for (const Linear::Term &T : K.Form) {
          *Next = upperPart(T);
          if (isFinite(*Next))
            Finite += *Next;
          else
            ++Infinite;
          ++Next;
        }
        if (Infinite > 1)
          continue;
        Next = Parts;
        for (const Linear::Term &T : K.Form) {
          // As many as above.
          // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
          const Wide Part = *Next++;
          if (Infinite && isFinite(Part))
            continue;
          const Wide Rest = clampWide(Infinite ? Finite : Finite - Part);
          if (!isFinite(Rest))
            continue;
          Interval &R = Vars[T.Var].Range;
          if (T.Coefficient > 0) {
            Wide Lo = ceilDiv(-Rest, T.Coefficient);
            if (Lo > R.Lo) {
              R.Lo = Lo;
              Changed = true;
            }
          } else {
            Wide Hi = floorDiv(Rest, -Wide(T.Coefficient));
            if (Hi < R.Hi) {
              R.Hi = Hi;
              Changed = true;
            }
          }
          if (R.Lo > R.Hi)
            Empty = true;
        }
      }
      if (!Changed)
        break;
    }
  }

  bool mentionsOpaque(const Linear &L) const {
    for (const Linear::Term &T : L)
      if (Vars[T.Var].Opaque)
        return true;
    return false;
  }

private:
  static constexpr unsigned MaxSteps = 4;
  static constexpr unsigned MaxRounds = 4;

  /// What the term adds to the upper bound.
  Wide upperPart(const Linear::Term &T) const {
    const Interval &R = Vars[T.Var].Range;
    return scaleBound(T.Coefficient, T.Coefficient > 0 ? R.Hi : R.Lo);
  }

  struct UpperOfSum {
    Wide Bound = Infinity;
    size_t Infinite = SIZE_MAX; ///< terms; so many: there is no such form
  };
  /// boxUpper(Form + Scale * Other), without the form: there are many, and one
  /// in a hundred is of use.
  UpperOfSum upperOfSum(const Linear &Form, const Linear &Other,
                        int64_t Scale) const {
    Wide Bound = 0;
    size_t Count = 0, Infinite = 0;
    int64_t C = Form.C;
    if (!Linear::addScaled(C, Other.C, Scale) ||
        !Linear::forSum(Form, Other, Scale, [&](const Linear::Term &T) {
          const Wide Part = upperPart(T);
          if (isFinite(Part))
            Bound += Part;
          else
            ++Infinite;
          return ++Count <= Linear::MaxTerms;
        }))
      return {};
    return {Infinite ? Infinity : clampWide(Bound + C), Infinite};
  }
};

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_LINEARSYSTEM_H
