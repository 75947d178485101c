//===- ExprForms.h - index expressions to linear forms ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the expression DAG of a kernel summary for one access of one
// launch. Arguments and dimensions are numbers now, so most expressions are
// linear in the variables (row * width + col, too). What is not linear is an
// opaque variable with bounds.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_EXPRFORMS_H
#define DRAGON_DETAIL_EXPRFORMS_H

#include "dragon/detail/EvalBounds.h"
#include "dragon/detail/EvalInput.h"
#include "dragon/detail/FormMemo.h"
#include "dragon/detail/LoadedPlaces.h"
#include "dragon/detail/WrappedNumbers.h"

#include <algorithm>
#include <vector>

namespace dragon {
namespace detail {

/// What the counter of the loop cannot exceed, inside of it or behind it, by
/// the conditions of its iterations; Infinity: not known. Defined in
/// ExprEval.h.
Wide mostCounted(const EvalInput &In, uint32_t Node);

/// Forms of expressions, each computed once. The first six variables are the
/// block's and the thread's indices. The input outlives it.
class ExprForms : public WrappedNumbers {
public:
  /// The loads so far that may give several known values.
  std::vector<LoadedValues> Loads;
  /// Something that was evaluated so far depends on data that are not known.
  bool Unknown = false;
  /// The variable that counts the iterations of In.Loop; NoIndex: none so far.
  uint32_t Counter = NoIndex;
  uint32_t RoundCounter = NoIndex; ///< the same of In.Around

protected:
  const EvalInput &In;
  /// Loops whose counters a guard bounds.
  std::vector<uint32_t> TestedLoops;

  explicit ExprForms(const EvalInput &In) : In(In) {
    System.Vars.reserve(Usual);
    System.Constraints.reserve(Usual);
    for (unsigned D = 0; D < 3; ++D) {
      Interval Blocks{Wide(In.BoxLo[D]), Wide(In.BoxHi[D]) - 1};
      System.addVariable(Blocks, false);
      System.Empty |= In.BoxLo[D] >= In.BoxHi[D];
    }
    for (unsigned D = 0; D < 3; ++D) {
      System.addVariable({0, Wide(In.Block[D]) - 1}, false);
      System.Empty |= In.Block[D] == 0;
    }
  }

  /// The value of an expression, modulo 2^Bits.
  Linear form(uint32_t Node) {
    if (Linear Known; Memo.find(Node, Known))
      return Known;
    if (Depth >= DeepestExpression || Memo.size() >= MostNodes)
      return anything(In.Exprs[Node]);
    ++Depth;
    Linear L = compute(Node);
    --Depth;
    Memo.keep(Node, L);
    return L;
  }

  /// It is computed anew, under what is known by then.
  void forget(uint32_t Node) { Memo.forget(Node); }

  bool number(uint32_t Node, bool Signed, Linear &Out) {
    return normalise(form(Node), In.Exprs[Node].Bits, Signed, Out);
  }
  Linear number(uint32_t Node, bool Signed) {
    return toNumber(form(Node), In.Exprs[Node].Bits, Signed);
  }

private:
  /// More expressions, variables or constraints than that are rare.
  static constexpr size_t Usual = 24;
  FormMemo Memo{Usual};
  unsigned Depth = 0;

  unsigned Induction = 0;
  unsigned Left = MostInductions;
  unsigned *LeftOfAll = &Left; ///< of the access's own forms
  uint32_t Cut = In.Loop;      ///< the loop whose iterations are restricted
  uint32_t Around = In.Around; ///< and the one whose rounds are
  /// What an induction assumes.
  uint32_t Assumed = NoIndex;
  Interval AssumedRange;

  Linear notKnown(const ExprNode &N) {
    Unknown = true;
    return anything(N);
  }
  Linear anything(const ExprNode &N) { return opaque(valuesOf(N.Bits, true)); }

  Interval interval(uint32_t Node, bool Signed) {
    Linear L;
    Interval Range = valuesOf(In.Exprs[Node].Bits, Signed);
    return number(Node, Signed, L) ? System.bounds(L) : Range;
  }

  Linear compute(uint32_t Node) {
    const ExprNode &N = In.Exprs[Node];
    switch (N.Op) {
    case ExprOp::Const:
      return Linear(N.Imm);
    case ExprOp::Arg:
      return argument(N);
    case ExprOp::BlockDim:
      return Linear(In.Block[N.Imm]);
    case ExprOp::GridDim:
      return Linear(In.Grid[N.Imm]);
    case ExprOp::BlockIdx:
      return Linear::variable(uint32_t(N.Imm));
    case ExprOp::ThreadIdx:
      return Linear::variable(uint32_t(N.Imm) + 3);
    case ExprOp::Loop:
      return loop(Node);
    case ExprOp::Opaque:
      return Node == Assumed ? opaque(AssumedRange) : between(N);
    case ExprOp::Carried:
      return carried(N);
    case ExprOp::Loaded:
      return loaded(Node);
    case ExprOp::Add:
    case ExprOp::Sub: {
      Linear L = form(N.A);
      if (L.add(form(N.B), N.Op == ExprOp::Add ? 1 : -1))
        return L;
      return anything(N);
    }
    case ExprOp::Mul:
      return multiply(N);
    case ExprOp::Shl: {
      Linear Amount = form(N.B), L = form(N.A);
      if (Amount.isConstant() && Amount.C >= 0 && Amount.C < 63 &&
          Amount.C < N.Bits && L.scale(int64_t(1) << Amount.C))
        return L;
      return anything(N);
    }
    case ExprOp::SDiv:
    case ExprOp::UDiv:
      return divide(N, form(N.B), N.Op == ExprOp::SDiv);
    case ExprOp::SRem:
    case ExprOp::URem:
      return remainder(N, form(N.B), N.Op == ExprOp::SRem);
    case ExprOp::LShr:
    case ExprOp::AShr:
      return shiftRight(N, form(N.B));
    case ExprOp::SMin:
    case ExprOp::SMax:
    case ExprOp::UMin:
    case ExprOp::UMax:
      return minMax(N);
    case ExprOp::And:
      return bitAnd(N);
    case ExprOp::Or:
    case ExprOp::Xor:
      return bitOr(N);
    case ExprOp::SExt:
      return number(N.A, true);
    case ExprOp::ZExt:
      return number(N.A, false);
    case ExprOp::Trunc:
      return form(N.A);
    case ExprOp::Unknown:
      return notKnown(N);
    }
    return anything(N);
  }

  /// A value between two others: the one bound plus a rest, so that what the
  /// bounds have in common is kept (with `i > 0 ? i - 1 : i`, i).
  Linear between(const ExprNode &N) {
    Interval Range = valuesOf(N.Bits, true);
    Linear Lo, Hi;
    bool KnownLo = N.A != NoIndex && number(N.A, true, Lo);
    bool KnownHi = N.B != NoIndex && number(N.B, true, Hi);
    if (KnownLo)
      Range.Lo = System.bounds(Lo).Lo;
    if (KnownHi)
      Range.Hi = System.bounds(Hi).Hi;
    Linear Distance = Hi;
    if (KnownLo && KnownHi && Distance.add(Lo, -1) && Distance.isConstant() &&
        Distance.C >= 0) {
      Linear Rest = opaque({0, Distance.C});
      return Lo.add(Rest) ? Lo : anything(N);
    }
    if (Range.Lo > Range.Hi)
      return anything(N);
    Linear Result = opaque(Range);
    Linear Above = Result, Below = Hi;
    if (KnownLo && !Lo.isConstant() && Above.add(Lo, -1))
      System.require(Above, /*Soft=*/true);
    if (KnownHi && !Hi.isConstant() && Below.add(Result, -1))
      System.require(Below, /*Soft=*/true);
    return Result;
  }

  /// What a loop carries along and never falls below where it began, or never
  /// rises above it, by induction with the launch's numbers: the next value
  /// does not if the one before does not. The guards around the access hold of
  /// the last iteration, so the induction does without.
  Linear carried(const ExprNode &N) {
    const Interval All = valuesOf(N.Bits, true);
    Interval Range = All;
    if (Induction < DeepestInduction && *LeftOfAll > 0) {
      --*LeftOfAll;
      const Interval Start = induction().interval(N.A, true);
      for (Interval Before :
           {Interval{Start.Lo, All.Hi}, Interval{All.Lo, Start.Hi}}) {
        ExprForms Step = induction();
        Step.Assumed = N.C;
        Step.AssumedRange = Before;
        if (!Before.contains(Step.interval(N.B, true)))
          continue;
        Range.Lo = std::max(Range.Lo, Before.Lo);
        Range.Hi = std::min(Range.Hi, Before.Hi);
      }
    }
    return opaque(Range);
  }

  /// What lies at the addresses of the box, if the launch knows it.
  Linear loaded(uint32_t Node) {
    const ExprNode &N = In.Exprs[Node];
    System.Exact = false;
    for (size_t I = 0; I < In.NumCases; ++I)
      if (In.Cases[I].Node == Node)
        return opaque({In.Cases[I].Lo, In.Cases[I].Hi});
    Linear Address;
    NumberPlaces Places;
    if ((!In.Memory && !In.Wanted) || !number(N.A, true, Address) ||
        !placesOf(Address, System, N.Bits, Places))
      return notKnown(N);
    LoadedValues Found{Node, {}, 0, 0};
    if (!In.Memory || !knownValues(*In.Memory, Places, Found.Values)) {
      if (In.Wanted)
        In.Wanted->push_back(Places);
      return notKnown(N);
    }
    if (Found.Values.empty())
      return notKnown(N);
    Linear Value = opaque({Found.Values.front().Lo, Found.Values.back().Hi});
    if (Found.Values.size() > 1) {
      Found.Var = Value.begin()->Var;
      Loads.push_back(std::move(Found));
    }
    return Value;
  }

  /// The launch and the box, and nothing else.
  ExprForms induction() const {
    ExprForms Fresh(In);
    Fresh.Induction = Induction + 1;
    Fresh.LeftOfAll = LeftOfAll;
    // Of all iterations, since there were those before.
    Fresh.Cut = Fresh.Around = NoIndex;
    return Fresh;
  }

  Linear argument(const ExprNode &N) {
    int64_t Value;
    return In.argument(N, Value) ? Linear(Value) : anything(N);
  }

  Linear multiply(const ExprNode &N) {
    Linear A = form(N.A), B = form(N.B);
    if (A.isConstant())
      std::swap(A, B);
    if (B.isConstant())
      return A.scale(B.C) ? A : anything(N);
    Interval X = interval(N.A, true), Y = interval(N.B, true);
    Wide Corners[] = {scaleBound(X.Lo, Y.Lo), scaleBound(X.Lo, Y.Hi),
                      scaleBound(X.Hi, Y.Lo), scaleBound(X.Hi, Y.Hi)};
    Interval R{*std::min_element(Corners, Corners + 4),
               *std::max_element(Corners, Corners + 4)};
    if (!valuesOf(64, true).contains(R))
      return anything(N);
    return opaque(R); // itself; modulo 2^Bits, as every form
  }

  bool positiveDivisor(const ExprNode &N, const Linear &Divisor, bool Signed,
                       int64_t &D) {
    Linear L;
    if (!Divisor.isConstant() || !normalise(Divisor, N.Bits, Signed, L) ||
        L.C <= 0)
      return false;
    D = L.C;
    return true;
  }

  Linear divide(const ExprNode &N, const Linear &Divisor, bool Signed) {
    int64_t D;
    if (!positiveDivisor(N, Divisor, Signed, D))
      return anything(N);
    Linear L;
    if (!number(N.A, Signed, L)) {
      Interval R = valuesOf(N.Bits, Signed);
      return opaque({-floorDiv(-R.Lo, D), floorDiv(R.Hi, D)});
    }
    if (D == 1)
      return L;
    Interval I = System.bounds(L, {0, Infinity});
    if (I.Lo >= 0)
      return floorQuotient(L, D);
    // Division truncates towards zero.
    return opaque(
        {isFinite(I.Lo) ? ceilDiv(I.Lo, D) : I.Lo,
         I.Hi < 0 ? Wide(0) : (isFinite(I.Hi) ? floorDiv(I.Hi, D) : I.Hi)});
  }

  Linear remainder(const ExprNode &N, const Linear &Divisor, bool Signed) {
    int64_t D;
    if (!positiveDivisor(N, Divisor, Signed, D))
      return anything(N);
    Linear L;
    if (!number(N.A, Signed, L))
      return opaque({Signed ? -(Wide(D) - 1) : Wide(0), Wide(D) - 1});
    Interval I = System.bounds(L, {0, Wide(D) - 1});
    if (I.Lo >= 0 && I.Hi < D)
      return L;
    if (I.Lo >= 0) {
      Linear R = L;
      // A quotient that is not exact leaves 0 <= R < D as constraints.
      if (R.add(floorQuotient(L, D), -D))
        return R;
      return opaque({0, Wide(D) - 1});
    }
    return opaque({std::max(I.Lo, -(Wide(D) - 1)),
                   std::min(std::max(I.Hi, Wide(0)), Wide(D) - 1)});
  }

  Linear shiftRight(const ExprNode &N, const Linear &Amount) {
    bool Signed = N.Op == ExprOp::AShr;
    if (!Amount.isConstant() || Amount.C < 0 || Amount.C >= N.Bits ||
        Amount.C >= 63)
      return anything(N);
    int64_t D = int64_t(1) << Amount.C;
    Linear L;
    if (number(N.A, Signed, L))
      return floorQuotient(L, D);
    Interval R = valuesOf(N.Bits, Signed);
    return opaque({floorDiv(R.Lo, D), floorDiv(R.Hi, D)});
  }

  Linear minMax(const ExprNode &N) {
    bool Signed = N.Op == ExprOp::SMin || N.Op == ExprOp::SMax;
    bool Min = N.Op == ExprOp::SMin || N.Op == ExprOp::UMin;
    Linear A, B;
    bool KnownA = number(N.A, Signed, A), KnownB = number(N.B, Signed, B);
    if (KnownA && KnownB) {
      Linear Difference = B;
      if (Difference.add(A, -1)) {
        Interval I = System.bounds(Difference);
        if (I.Lo >= 0)
          return Min ? A : B;
        if (I.Hi <= 0)
          return Min ? B : A;
      }
    }
    Interval Range = valuesOf(N.Bits, Signed);
    Interval X = KnownA ? System.bounds(A) : Range;
    Interval Y = KnownB ? System.bounds(B) : Range;
    Linear Result =
        opaque(Min ? Interval{std::min(X.Lo, Y.Lo), std::min(X.Hi, Y.Hi)}
                   : Interval{std::max(X.Lo, Y.Lo), std::max(X.Hi, Y.Hi)});
    // The result lies on one side of both.
    for (const Linear *Side : {KnownA ? &A : nullptr, KnownB ? &B : nullptr}) {
      if (!Side)
        continue;
      Linear Gap = *Side;
      if (Gap.add(Result, -1) && (Min || Gap.scale(-1)))
        System.require(Gap, /*Soft=*/true);
    }
    return Result;
  }

  Linear bitAnd(const ExprNode &N) {
    Linear A = form(N.A), B = form(N.B);
    uint32_t Node = N.A;
    if (A.isConstant()) {
      std::swap(A, B);
      Node = N.B;
    }
    if (A.isConstant())
      return Linear(A.C & B.C);
    if (B.isConstant()) {
      Linear Mask;
      if (normalise(B, N.Bits, true, Mask)) {
        int64_t M = Mask.C;
        Linear L;
        // Low bits: L mod (M + 1), which is right modulo 2^Bits; high bits:
        // the rest of L.
        bool High = M < 0 && M > INT64_MIN && (-M & (-M - 1)) == 0;
        // `i % 8 > 0` of a signed i becomes `(i & (sign | 7)) > 0`; the sign of
        // what is not negative is no matter.
        if (M < 0 && !High && number(Node, true, L) &&
            System.bounds(L, {0, Infinity}).Lo >= 0)
          M &= int64_t((uint64_t(1) << (N.Bits - 1)) - 1);
        bool Low = M > 0 && (M & (M + 1)) == 0 && M < INT64_MAX;
        if ((Low || High) && number(Node, false, L)) {
          int64_t D = Low ? M + 1 : -M;
          Linear Quotient = floorQuotient(L, D);
          if (High)
            return Quotient.scale(D) ? Quotient : anything(N);
          if (L.add(Quotient, -D))
            return L;
        }
        if (M >= 0)
          return opaque({0, M});
      }
      return anything(N);
    }
    Interval X = interval(N.A, true), Y = interval(N.B, true);
    if (X.Lo >= 0 || Y.Lo >= 0)
      return opaque({0, X.Lo < 0   ? Y.Hi
                        : Y.Lo < 0 ? X.Hi
                                   : std::min(X.Hi, Y.Hi)});
    return anything(N);
  }

  Linear bitOr(const ExprNode &N) {
    Linear A = form(N.A), B = form(N.B);
    if (A.isConstant() && B.isConstant())
      return Linear(N.Op == ExprOp::Or ? A.C | B.C : A.C ^ B.C);
    Interval X = interval(N.A, true), Y = interval(N.B, true);
    if (X.Lo < 0 || Y.Lo < 0)
      return anything(N);
    Wide Bound = std::max(X.Hi, Y.Hi), Ones = 0;
    while (Ones < Bound)
      Ones = Ones * 2 + 1;
    return opaque({N.Op == ExprOp::Or ? std::max(X.Lo, Y.Lo) : Wide(0), Ones});
  }

  Linear loop(uint32_t Node) {
    const ExprNode &N = In.Exprs[Node];
    uint32_t Var = System.addVariable({0, Infinity}, false);
    if (Cut != NoIndex && N.Imm == int64_t(Cut)) {
      Counter = Var;
      System.Vars[Var].Range = countOf(In.LoopLo, In.LoopHi);
    } else if (Around != NoIndex && N.Imm == int64_t(Around)) {
      RoundCounter = Var;
      System.Vars[Var].Range = countOf(In.RoundLo, In.RoundHi);
    }
    bool Soft = std::find(TestedLoops.begin(), TestedLoops.end(), Node) !=
                TestedLoops.end();
    // Where a guard tests the loop, its count only helps to find bounds.
    if ((N.A == NoIndex || !addLoopBound(N.A, Var, Soft)) && !Soft) {
      System.Exact = false;
      Wide &Hi = System.Vars[Var].Range.Hi;
      Hi = std::min(Hi, mostCounted(In, Node));
    }
    return Linear::variable(Var);
  }

  /// Var <= value of Node, as an unsigned number.
  bool addLoopBound(uint32_t Node, uint32_t Var, bool Soft) {
    while (In.Exprs[Node].Op == ExprOp::ZExt)
      Node = In.Exprs[Node].A;
    const ExprNode &N = In.Exprs[Node];
    int64_t D = 1;
    Linear Bound;
    if (N.Op == ExprOp::UDiv && positiveDivisor(N, form(N.B), false, D)) {
      // k <= floor(x / D) is D*k <= x.
      if (!number(N.A, false, Bound))
        D = 1;
    } else {
      D = 1;
    }
    if (D == 1 && !number(Node, false, Bound)) {
      Wide &Hi = System.Vars[Var].Range.Hi;
      Hi = std::min(Hi, valuesOf(N.Bits, false).Hi);
      return false;
    }
    if (!Bound.add(Linear::variable(Var), -D))
      return false;
    System.require(Bound, Soft);
    return true;
  }
};

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_EXPRFORMS_H
