//===- RandomSystem.h - systems small enough to be enumerated ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A LinearSystem with a few variables in small boxes, constraints and a
// quotient now and then, a form over it, and all points that satisfy it. The
// seed makes the system.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_SETS_RANDOMSYSTEM_H
#define DRAGON_TEST_SETS_RANDOMSYSTEM_H

#include "dragon/detail/Refinement.h"

#include <functional>
#include <random>
#include <vector>

namespace dragon::sets {

using detail::Constraint;
using detail::Division;
using detail::Interval;
using detail::Linear;
using detail::LinearSystem;
using detail::Wide;

class Random {
public:
  explicit Random(uint32_t Seed) : Engine(Seed) {}
  int64_t pick(int64_t Lo, int64_t Hi) {
    return std::uniform_int_distribution<int64_t>(Lo, Hi)(Engine);
  }
  bool oneIn(int N) { return pick(1, N) == 1; }

private:
  std::mt19937_64 Engine;
};

inline Wide valueOf(const Linear &Form, const std::vector<int64_t> &Point) {
  Wide Sum = Form.C;
  for (const Linear::Term &T : Form)
    Sum += Wide(T.Coefficient) * Point[T.Var];
  return Sum;
}

class RandomSystem {
public:
  LinearSystem System;
  Linear Form;
  int64_t Width = 1;

  explicit RandomSystem(uint32_t Seed) : R(Seed) {
    const int64_t Plain = R.pick(1, 4);
    for (int64_t V = 0; V < Plain; ++V) {
      const int64_t Lo = R.pick(-3, 3);
      addVariable({Lo, Lo + R.pick(0, 7)});
    }
    if (R.oneIn(2))
      addConstraint();
    if (R.oneIn(3))
      addQuotient();
    for (int64_t More = R.pick(0, 2); More > 0; --More)
      addConstraint();
    if (Known.size() > 1 && R.oneIn(3))
      addConsequence();
    Width = R.pick(1, 8);
    const int64_t Unit = R.oneIn(2) ? Width : R.pick(1, 5);
    // Often what a constraint speaks of, which is what kernels do.
    if (!Known.empty() && R.oneIn(2)) {
      Form = Known[size_t(R.pick(0, int64_t(Known.size()) - 1))];
      Form.C = R.pick(-4, 4);
      EXPECT_TRUE(Form.scale(R.oneIn(4) ? -Unit : Unit));
      if (R.oneIn(2))
        EXPECT_TRUE(Form.add(combination(), Unit));
    } else {
      Form = combination();
      EXPECT_TRUE(Form.scale(Unit));
    }
  }

  /// Calls \p Visit with the values of all variables, for each point.
  void forEachPoint(
      const std::function<void(const std::vector<int64_t> &)> &Visit) const {
    std::vector<int64_t> Point;
    visitFrom(Point, Visit);
  }

  /// The bytes [Form, Form + Width) of all points.
  ByteSet touched() const {
    ByteSet Bytes;
    forEachPoint([&](const std::vector<int64_t> &Point) {
      const auto Begin = int64_t(valueOf(Form, Point));
      Bytes.Ranges.push_back({Begin, Begin + Width});
    });
    normalize(Bytes, SIZE_MAX);
    return Bytes;
  }

  Linear combination() {
    Linear Sum(R.pick(-6, 6));
    for (uint32_t V = 0; V < Boxes.size(); ++V)
      if (!R.oneIn(3))
        EXPECT_TRUE(Sum.add(Linear::variable(V), R.pick(-4, 4)));
    return Sum;
  }

private:
  Random R;
  std::vector<Interval> Boxes; ///< as they were before narrowing
  std::vector<Linear> Known;   ///< >= 0, the hard constraints
  std::vector<Division> Quotients;

  void addVariable(Interval Box) {
    System.addVariable(Box, false);
    Boxes.push_back(Box);
  }

  void addConstraint() {
    Linear L = combination();
    if (R.oneIn(2))
      EXPECT_TRUE(L.addConstant(R.pick(0, 12)));
    Known.push_back(L);
    System.require(L);
  }

  /// Soft: it follows from two others.
  void addConsequence() {
    Linear Sum = Known[0];
    EXPECT_TRUE(Sum.add(Known[1], R.pick(1, 3)));
    System.require(Sum, /*Soft=*/true);
  }

  /// q = floor(l / d), as the evaluator adds it (WrappedNumbers.h).
  void addQuotient() {
    const Linear Dividend = combination();
    const int64_t Divisor = R.pick(2, 5);
    const Interval Range = System.bounds(Dividend);
    if (Dividend.isConstant() || System.Empty || Range.Lo > Range.Hi)
      return;
    const Interval Quotients{detail::floorDiv(Range.Lo, Divisor),
                             detail::floorDiv(Range.Hi, Divisor)};
    const uint32_t Quotient = System.addVariable(Quotients, true);
    Boxes.push_back(Quotients);
    Linear Low = Dividend, High = Dividend;
    EXPECT_TRUE(Low.add(Linear::variable(Quotient), -Divisor) &&
                High.scale(-1) &&
                High.add(Linear::variable(Quotient), Divisor) &&
                High.addConstant(Divisor - 1));
    System.Divisions.push_back({Dividend, Divisor, Quotient});
    this->Quotients.push_back(System.Divisions.back());
    System.require(Low, /*Soft=*/true);
    System.require(High, /*Soft=*/true);
  }

  void visitFrom(
      std::vector<int64_t> &Point,
      const std::function<void(const std::vector<int64_t> &)> &Visit) const {
    const auto Var = uint32_t(Point.size());
    if (Var == Boxes.size()) {
      for (const Linear &L : Known)
        if (valueOf(L, Point) < 0)
          return;
      Visit(Point);
      return;
    }
    for (const Division &D : Quotients)
      if (D.Quotient == Var) {
        Point.push_back(
            int64_t(detail::floorDiv(valueOf(D.Dividend, Point), D.Divisor)));
        visitFrom(Point, Visit);
        Point.pop_back();
        return;
      }
    for (auto Value = int64_t(Boxes[Var].Lo); Value <= Boxes[Var].Hi; ++Value) {
      Point.push_back(Value);
      visitFrom(Point, Visit);
      Point.pop_back();
    }
  }
};

} // namespace dragon::sets

#endif // DRAGON_TEST_SETS_RANDOMSYSTEM_H
