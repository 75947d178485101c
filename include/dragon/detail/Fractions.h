//===- Fractions.h - small fractions for large ones -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products by a fraction, rounded down, are the same for a range of numbers if
// the fraction is replaced by one a little below it. The candidates are the
// convergents of its continued fraction: no fraction with a smaller denominator
// is nearer.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_FRACTIONS_H
#define DRAGON_DETAIL_FRACTIONS_H

#include "dragon/detail/LinearSystem.h"

#include <cstdint>

namespace dragon {
namespace detail {

/// Top / Bottom, neither negative, Bottom > 0.
struct Fraction {
  int64_t Top;
  int64_t Bottom;
};

/// The first convergent c of F for which floor(c * n) = floor(F * n) for all n
/// in 0 .. Most; F itself (which is in its lowest terms) is the last.
///
/// With F = t/b, c = p/q <= F and e = t*q - p*b: F*n = p*n/q + n*e/(q*b). The
/// first part is at most floor + (q - 1)/q, so the sum does not reach the next
/// integer if n*e < b.
inline Fraction leastFraction(const Fraction &F, Wide Most) {
  Wide P = 1, Q = 0, OlderP = 0, OlderQ = 1; // convergents -1 and -2
  int64_t A = F.Top, B = F.Bottom;
  while (B != 0) {
    const int64_t Whole = A / B, Rest = A % B;
    const Wide NextP = Whole * P + OlderP, NextQ = Whole * Q + OlderQ;
    OlderP = P;
    OlderQ = Q;
    P = NextP;
    Q = NextQ;
    A = B;
    B = Rest;
    const Wide Error = F.Top * Q - P * F.Bottom;
    if (Error == 0 || (Error > 0 && Most <= (F.Bottom - 1) / Error))
      break;
  }
  return {int64_t(P), int64_t(Q)};
}

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_FRACTIONS_H
