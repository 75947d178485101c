//===- ExprEval.h - index expressions to linear forms -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the expression DAG of a kernel summary for one access of one
// launch. Arguments and dimensions are numbers now, so most expressions are
// linear in the variables (row * width + col, too).
//
// Numbers of Bits bits are kept as linear forms *modulo 2^Bits*: addition,
// multiplication and truncation are right in this ring whatever the size of the
// form. Only where the number's sign counts (extension, comparison, division)
// the form's bounds are needed: if they lie within the signed (unsigned) range,
// the form is the number itself; if they may not, the number becomes an opaque
// variable of its whole range. So index arithmetic that may wrap is noticed.
//
// Guards become constraints. They are evaluated first and in order, so that
// bounds may be sought under them: with `if (i > 0) a[i - 1]` and unsigned i,
// i - 1 does not wrap.
//
// Loops: a counter k >= 0 that advances only while `start + step*k < bound`
// holds. That the left side does not wrap is shown by induction with the
// launch's numbers: start fits, and bound - 1 + step fits.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_EXPREVAL_H
#define DRAGON_DETAIL_EXPREVAL_H

#include "dragon/KernelSummary.h"
#include "dragon/detail/LinearSystem.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace dragon {
namespace detail {

/// What the evaluator needs of a summary and a launch.
struct EvalInput {
  const ExprNode *Exprs;
  const GuardRecord *Guards;
  const uint32_t *ArgSizes;
  uint32_t NumArgs;
  const uint32_t *Grid;  ///< x, y, z
  const uint32_t *Block; ///< x, y, z
  const uint32_t *BoxLo; ///< x, y, z
  const uint32_t *BoxHi; ///< x, y, z; exclusive
  const void *const *ArgValues;
};

class ExprEval {
public:
  LinearSystem System;

  explicit ExprEval(const EvalInput &In) : In(In) {
    Memo.reserve(Usual);
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

  /// All guards of an access; they restrict what is evaluated later.
  void addGuards(uint32_t First, uint32_t Count) {
    for (uint32_t I = First; I < First + Count; ++I)
      if (testsLoop(In.Guards[I]))
        TestedLoops.push_back(In.Guards[I].Loop);
    for (uint32_t I = First; I < First + Count && !System.Empty; ++I) {
      const GuardRecord &G = In.Guards[I];
      Splits = 0;
      if (!testsLoop(G)) {
        addGuard(G);
      } else if (!addLoopTest(G)) {
        System.Exact = false;
        addGuard(G);
      }
    }
  }

  /// The node's value as a signed number of its width.
  Linear evaluateSigned(uint32_t Node) { return number(Node, true); }

private:
  /// Wider numbers that wrap are not followed.
  static constexpr unsigned MaxWrappingBits = 32;
  /// More expressions, variables or conditions than that are rare.
  static constexpr size_t Usual = 24;
  /// Expressions of more operations, or deeper ones, may have any value; guards
  /// of more conditions are not looked at. No kernel has them, but a damaged
  /// summary could take for ever, or all of the stack.
  static constexpr size_t MostNodes = 4096;
  static constexpr unsigned Deepest = 512;
  static constexpr unsigned MostSplits = 64;

  const EvalInput &In;
  struct Known {
    uint32_t Node;
    Linear Form;
  };
  std::vector<Known> Memo;
  std::vector<uint32_t> TestedLoops;
  unsigned Depth = 0;
  unsigned Splits = 0; ///< of the guard at hand

  static bool testsLoop(const GuardRecord &G) {
    return G.Loop != NoIndex && G.Pred != GuardPred::EQ &&
           G.Pred != GuardPred::NE;
  }

  // -- Forms modulo 2^Bits

  Linear form(uint32_t Node) {
    for (const Known &K : Memo)
      if (K.Node == Node)
        return K.Form;
    if (Depth >= Deepest || Memo.size() >= MostNodes)
      return anything(In.Exprs[Node]);
    ++Depth;
    Linear L = compute(Node);
    --Depth;
    Memo.push_back({Node, L});
    return L;
  }

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
  Linear anything(const ExprNode &N) { return opaque(valuesOf(N.Bits, true)); }

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

  bool number(uint32_t Node, bool Signed, Linear &Out) {
    return normalise(form(Node), In.Exprs[Node].Bits, Signed, Out);
  }
  /// If it may wrap, what is left of the form when the range's size has been
  /// taken away often enough; opaque if the form has no bounds.
  Linear number(uint32_t Node, bool Signed) {
    Linear L;
    if (number(Node, Signed, L))
      return L;
    L = form(Node);
    const unsigned Bits = In.Exprs[Node].Bits;
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
      return between(N);
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
      return anything(N);
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

  Linear argument(const ExprNode &N) {
    size_t Bytes = (size_t(N.Bits) + 7) / 8;
    if (!In.ArgValues || N.A >= In.NumArgs || !In.ArgValues[N.A] || N.Imm < 0 ||
        uint64_t(N.Imm) + Bytes > In.ArgSizes[N.A])
      return anything(N);
    uint64_t Raw = 0;
    std::memcpy(&Raw, static_cast<const char *>(In.ArgValues[N.A]) + N.Imm,
                Bytes);
    unsigned Unused = 64 - N.Bits;
    return Linear(int64_t(Raw << Unused) >> Unused);
  }

  Linear multiply(const ExprNode &N) {
    Linear A = form(N.A), B = form(N.B);
    if (A.isConstant())
      std::swap(A, B);
    if (B.isConstant()) {
      return A.scale(B.C) ? A : anything(N);
    }
    Interval X = interval(N.A, true), Y = interval(N.B, true);
    Wide Corners[] = {scaleBound(X.Lo, Y.Lo), scaleBound(X.Lo, Y.Hi),
                      scaleBound(X.Hi, Y.Lo), scaleBound(X.Hi, Y.Hi)};
    Interval R{*std::min_element(Corners, Corners + 4),
               *std::max_element(Corners, Corners + 4)};
    if (!valuesOf(64, true).contains(R))
      return anything(N);
    // The product itself; modulo 2^Bits, as every form.
    return opaque(R);
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

  // -- Loops

  Linear loop(uint32_t Node) {
    const ExprNode &N = In.Exprs[Node];
    uint32_t Var = System.addVariable({0, Infinity}, false);
    bool Soft = std::find(TestedLoops.begin(), TestedLoops.end(), Node) !=
                TestedLoops.end();
    // Where a guard tests the loop, its count only helps to find bounds.
    if (N.A == NoIndex || !addLoopBound(N.A, Var, Soft))
      if (!Soft)
        System.Exact = false;
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
      System.Vars[Var].Range.Hi = valuesOf(N.Bits, false).Hi;
      return false;
    }
    if (!Bound.add(Linear::variable(Var), -D))
      return false;
    System.require(Bound, Soft);
    return true;
  }

  // -- Guards

  void addGuard(const GuardRecord &G) {
    unsigned Bits = In.Exprs[G.Lhs].Bits;
    if (splitGuard(G))
      return;
    switch (G.Pred) {
    case GuardPred::SLT:
    case GuardPred::SLE: {
      Linear L, R;
      if (number(G.Lhs, true, L) && number(G.Rhs, true, R))
        requireOrdered(L, R, G.Pred == GuardPred::SLT);
      else
        System.Exact = false;
      return;
    }
    case GuardPred::ULT:
    case GuardPred::ULE:
      addUnsignedGuard(G, Bits);
      return;
    case GuardPred::EQ:
    case GuardPred::NE: {
      Linear L, R;
      bool Known = number(G.Lhs, true, L) && number(G.Rhs, true, R);
      if (!Known)
        Known = number(G.Lhs, false, L) && number(G.Rhs, false, R);
      if (!Known || !R.add(L, -1)) {
        System.Exact = false;
        return;
      }
      Linear Negated = R;
      if (!Negated.scale(-1)) {
        System.Exact = false;
      } else if (G.Pred == GuardPred::EQ) {
        System.require(R);
        System.require(Negated);
      } else {
        Interval I = System.bounds(R);
        if (I.Lo > 0 || I.Hi < 0)
          return;
        if (I.Lo == 0 && R.addConstant(-1))
          System.require(R);
        else if (I.Hi == 0 && Negated.addConstant(-1))
          System.require(Negated);
        else
          System.Exact = false;
      }
      return;
    }
    }
    System.Exact = false;
  }

  /// max(a, b) < c is a < c and b < c, and a < min(b, c) likewise.
  bool splitGuard(const GuardRecord &G) {
    bool Signed = G.Pred == GuardPred::SLT || G.Pred == GuardPred::SLE;
    if (!Signed && G.Pred != GuardPred::ULT && G.Pred != GuardPred::ULE)
      return false;
    const ExprNode &L = In.Exprs[G.Lhs], &R = In.Exprs[G.Rhs];
    GuardRecord First = G, Second = G;
    if (L.Op == (Signed ? ExprOp::SMax : ExprOp::UMax)) {
      First.Lhs = L.A;
      Second.Lhs = L.B;
    } else if (R.Op == (Signed ? ExprOp::SMin : ExprOp::UMin)) {
      First.Rhs = R.A;
      Second.Rhs = R.B;
    } else {
      return false;
    }
    if (++Splits > MostSplits) {
      System.Exact = false;
      return true;
    }
    addGuard(First);
    addGuard(Second);
    return true;
  }

  void addUnsignedGuard(const GuardRecord &G, unsigned Bits) {
    bool Strict = G.Pred == GuardPred::ULT;
    Linear L, R;
    if (!number(G.Rhs, false, R)) {
      addAboveGuard(G, Bits);
      return;
    }
    if (number(G.Lhs, false, L)) {
      requireOrdered(L, R, Strict);
      return;
    }
    // The usual range check `(unsigned)(i - lo) < count`: a negative left side
    // stands for a number that is too large.
    L = form(G.Lhs);
    Interval I = System.bounds(L);
    Wide Size = Wide(1) << Bits;
    if (isFinite(I.Lo) && I.Hi < Size &&
        I.Lo + Size >= System.upper(R) + (Strict ? 0 : 1)) {
      System.require(L);
      requireOrdered(L, R, Strict);
      return;
    }
    System.Exact = false;
  }

  /// `-count <= (unsigned)(i - end)`, the range check from above: only a
  /// negative right side, which stands for a large number, is above the left
  /// one.
  void addAboveGuard(const GuardRecord &G, unsigned Bits) {
    const bool Strict = G.Pred == GuardPred::ULT;
    const Wide Size = Wide(1) << Bits;
    Linear L, R = form(G.Rhs);
    const Interval I = System.bounds(R);
    if (I.Lo < -Size || I.Hi >= Size || !number(G.Lhs, false, L) ||
        System.lower(L) + (Strict ? 1 : 0) <= I.Hi) {
      System.Exact = false;
      return;
    }
    Linear Negative = R;
    if (Negative.scale(-1) && Negative.addConstant(-1) && R.addConstant(Size)) {
      System.require(Negative);
      requireOrdered(L, R, Strict);
    } else {
      System.Exact = false;
    }
  }

  /// L < R or L <= R.
  void requireOrdered(const Linear &L, Linear R, bool Strict) {
    if (R.add(L, -1) && R.addConstant(Strict ? -1 : 0))
      System.require(R);
    else
      System.Exact = false;
  }

  /// `start + step*k < bound`, see above. False: treat it as any guard.
  bool addLoopTest(const GuardRecord &G) {
    Linear Counter = form(G.Loop);
    if (Counter.size() != 1)
      return false;
    uint32_t Var = Counter.begin()->Var;
    bool Signed = G.Pred == GuardPred::SLT || G.Pred == GuardPred::SLE;
    int64_t Strict = G.Pred == GuardPred::SLT || G.Pred == GuardPred::ULT;
    // The side that counts, through extensions; Range: where it is a number.
    for (bool Left : {true, false}) {
      uint32_t Node = Left ? G.Lhs : G.Rhs;
      uint32_t Other = Left ? G.Rhs : G.Lhs;
      Interval Range = valuesOf(In.Exprs[Node].Bits, Signed);
      unsigned Bits = In.Exprs[Node].Bits;
      bool SignedCounter = Signed;
      while (In.Exprs[Node].Op == ExprOp::SExt ||
             In.Exprs[Node].Op == ExprOp::ZExt) {
        SignedCounter = In.Exprs[Node].Op == ExprOp::SExt;
        Node = In.Exprs[Node].A;
        Bits = In.Exprs[Node].Bits;
        Interval Inner = valuesOf(Bits, SignedCounter);
        Range.Lo = std::max(Range.Lo, Inner.Lo);
        Range.Hi = std::min(Range.Hi, Inner.Hi);
      }
      Linear Form = form(Node);
      int64_t Step = Form.coefficient(Var);
      if (Step == 0 || (Step > 0) != Left)
        continue;
      Linear Start, Bound;
      if (!normalise(Form.without(Var), Bits, SignedCounter, Start) ||
          !Range.contains(System.bounds(Start, Range)) ||
          !number(Other, Signed, Bound) || Bound.coefficient(Var) != 0)
        continue;
      // The last number tested is the first beyond the bound.
      Wide Last = Left ? System.upper(Bound) - Strict + Step
                       : System.lower(Bound) + Strict + Step;
      if (Last > Range.Hi || Last < Range.Lo)
        continue;
      if (!Start.add(Linear::variable(Var), Step))
        continue;
      if (Left)
        requireOrdered(Start, Bound, Strict);
      else
        requireOrdered(Bound, Start, Strict);
      return true;
    }
    return false;
  }
};

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_EXPREVAL_H
