//===- WrappedNumbers.h - forms modulo a power of two -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers of Bits bits are kept as linear forms *modulo 2^Bits*: addition,
// multiplication and truncation are right in this ring whatever the size of the
// form. Only where the number's sign counts (extension, comparison, division)
// the form's bounds are needed: if they lie within the signed (unsigned) range,
// the form is the number itself; if they may not, the number becomes an opaque
// variable of its whole range. So index arithmetic that may wrap is noticed.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_WRAPPEDNUMBERS_H
#define DRAGON_DETAIL_WRAPPEDNUMBERS_H

#include "dragon/detail/Fractions.h"
#include "dragon/detail/LinearSystem.h"

#include <cstdint>
#include <numeric>

namespace dragon {
namespace detail {

/// The variables of one access, and numbers as forms over them. A look at a
/// number may add variables and constraints, so one thread at a time may use
/// it.
class WrappedNumbers {
public:
  LinearSystem System;

protected:
  Linear opaque(const Interval &Range) {
    if (Range.Lo > Range.Hi) {
      // Bounds under the guards contradict each other: the access never
      // happens.
      System.Empty = true;
      return Linear();
    }
    if (Range.Lo == Range.Hi && Range.Lo == Wide(int64_t(Range.Lo)))
      return Linear(int64_t(Range.Lo));
    return Linear::variable(System.addVariable(Range, true));
  }

  /// Form as the number it stands for: Form + m * 2^Bits for the one m that
  /// brings all its values into the range. False if there is none.
  bool normalise(const Linear &Form, unsigned Bits, bool Signed, Linear &Out) {
    Interval Range = valuesOf(Bits, Signed);
    Interval I = System.bounds(Form, Range);
    Out = Form;
    if (Range.contains(I))
      return true;
    if (!isFinite(I.Lo) || !isFinite(I.Hi))
      return false;
    Wide Size = Wide(1) << Bits;
    Wide Shift = ceilDiv(Range.Lo - I.Lo, Size) * Size;
    return I.Hi + Shift <= Range.Hi && Out.addConstant(Shift);
  }

  /// Form as a number. If it may wrap, what is left of the form when the
  /// range's size has been taken away often enough; opaque if the form has no
  /// bounds.
  Linear toNumber(const Linear &Form, unsigned Bits, bool Signed) {
    Linear L;
    if (normalise(Form, Bits, Signed, L))
      return L;
    L = Form;
    const Interval Range = valuesOf(Bits, Signed);
    const Interval I = System.bounds(L);
    Linear FromLeast = L;
    if (Bits <= MaxWrappingBits && isFinite(I.Lo) && isFinite(I.Hi) &&
        FromLeast.addConstant(-Range.Lo)) {
      const int64_t Size = int64_t(1) << Bits;
      if (L.add(floorQuotient(FromLeast, Size), -Size))
        return L;
    }
    return opaque(Range);
  }

  /// floor(L / D) of a number L, D > 0. Exact where all terms but a rest in
  /// [0, D) are multiples of D.
  Linear floorQuotient(const Linear &L, int64_t D) {
    Linear Multiple, Rest;
    Wide RestConstant = Wide(L.C) - floorDiv(L.C, D) * D;
    Multiple.C = int64_t(floorDiv(L.C, D));
    Rest.C = int64_t(RestConstant);
    bool Fits = true;
    for (const Linear::Term &T : L) {
      if (T.Coefficient % D == 0)
        Fits &= Multiple.add(Linear::variable(T.Var), T.Coefficient / D);
      else
        Fits &= Rest.add(Linear::variable(T.Var), T.Coefficient);
    }
    if (Fits) {
      Interval I = System.bounds(Rest, {0, Wide(D) - 1});
      Wide Lo = isFinite(I.Lo) ? floorDiv(I.Lo, D) : I.Lo;
      Wide Hi = isFinite(I.Hi) ? floorDiv(I.Hi, D) : I.Hi;
      if (Lo == Hi && isFinite(Lo) && Multiple.addConstant(Lo))
        return Multiple;
    }
    for (const Division &Known : System.Divisions)
      if (Known.Divisor == D && Known.Dividend == L)
        return Linear::variable(Known.Quotient);
    Linear Simple = L;
    int64_t Divisor = D;
    if (simplifyQuotient(Simple, Divisor) || flattenQuotient(Simple, Divisor))
      return floorQuotient(Simple, Divisor);
    Interval I = System.bounds(L);
    Interval Q{isFinite(I.Lo) ? floorDiv(I.Lo, D) : I.Lo,
               isFinite(I.Hi) ? floorDiv(I.Hi, D) : I.Hi};
    Linear Quotient = opaque(Q);
    // D*Q <= L <= D*Q + D - 1.
    Linear Low = L, High = L;
    if (!Quotient.isConstant() && Low.add(Quotient, -D) && High.scale(-1) &&
        High.add(Quotient, D) && High.addConstant(Wide(D) - 1)) {
      System.Divisions.push_back({L, D, Quotient.begin()->Var});
      System.require(Low, /*Soft=*/true);
      System.require(High, /*Soft=*/true);
    }
    return Quotient;
  }

  /// L < R or L <= R.
  void requireOrdered(const Linear &L, Linear R, bool Strict) {
    if (R.add(L, -1) && R.addConstant(Strict ? -1 : 0))
      System.require(R);
    else
      System.Exact = false;
  }

private:
  /// Wider numbers that wrap are not followed.
  static constexpr unsigned MaxWrappingBits = 32;

  /// floor(L / D) = floor(p * n / q) for n = L / g: a smaller fraction p / q in
  /// place of g / D, where it gives the same for all values of n. Programs
  /// divide by numbers of the launch so: floor(m * n / 2^s) is floor(n / d), if
  /// 2^s <= m * d and n is not too large (Granlund and Montgomery, Division by
  /// Invariant Integers using Multiplication, PLDI 1994). False: L and D are as
  /// they were.
  bool simplifyQuotient(Linear &L, int64_t &D) const {
    const int64_t Content = L.content();
    if (Content == 0)
      return false;
    const int64_t Common = std::gcd(Content, D);
    Fraction Least{Content / Common, D / Common};
    const Interval I = System.bounds(L, {0, Infinity});
    if (I.Lo >= 0 && isFinite(I.Hi))
      Least = leastFraction(Least, floorDiv(I.Hi, Content));
    Linear Smaller = L.dividedBy(Content);
    if (Least.Bottom == D || !Smaller.scale(Least.Top))
      return false;
    L = Smaller;
    D = Least.Bottom;
    return true;
  }

  /// floor((floor(X / d) + R) / D) is floor((X + d * R) / (d * D)); done where
  /// that can be simplified. What bounds the inner quotient, which is of no
  /// more use as a rule, goes.
  bool flattenQuotient(Linear &L, int64_t &D) {
    for (const Division &Inner : System.Divisions) {
      Linear Sum = L.without(Inner.Quotient);
      int64_t Product;
      if (L.coefficient(Inner.Quotient) != 1 ||
          __builtin_mul_overflow(Inner.Divisor, D, &Product) ||
          !Sum.scale(Inner.Divisor) || !Sum.add(Inner.Dividend) ||
          !simplifyQuotient(Sum, Product))
        continue;
      System.dropSoft(Inner.Quotient);
      L = Sum;
      D = Product;
      return true;
    }
    return false;
  }
};

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_WRAPPEDNUMBERS_H
