//===- ExprEval.h - guards to constraints -----------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates one access of one launch: its guards become constraints, its offset
// a linear form (ExprForms.h). Guards are evaluated first and in order, so that
// bounds may be sought under them: with `if (i > 0) a[i - 1]` and unsigned i,
// i - 1 does not wrap.
//
// Loops: a counter k >= 0 that advances only while `start + step*k < bound`
// holds. That the left side does not wrap is shown by induction with the
// launch's numbers: start fits, and bound - 1 + step fits. So does a bound that
// comes the other way, `start + step*k < end - back*k`: what passed the test
// lies between start and end, and what is tested next a step beyond.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_EXPREVAL_H
#define DRAGON_DETAIL_EXPREVAL_H

#include "dragon/KernelSummary.h"
#include "dragon/detail/ExprForms.h"

#include <algorithm>

namespace dragon {
namespace detail {

/// The constraints and the offset of one access. The input outlives it; one
/// thread at a time may use it.
class ExprEval : public ExprForms {
public:
  explicit ExprEval(const EvalInput &In) : ExprForms(In) {}

  /// The guards of an access become constraints, which restrict what is
  /// evaluated later.
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

  /// What the counter of the loop is in the last iteration that the test lets
  /// pass; Infinity: not known, -1: there is none.
  Wide lastPassing(const GuardRecord &Test) {
    TestedLoops.push_back(Test.Loop);
    const Linear Count = form(Test.Loop);
    if (Count.size() != 1 || !addLoopTest(Test))
      return Infinity;
    const Wide Most = System.upper(Count);
    return System.Empty ? Wide(-1) : Most;
  }

  static bool testsLoop(const GuardRecord &G) {
    return G.Loop != NoIndex && G.Pred != GuardPred::EQ &&
           G.Pred != GuardPred::NE;
  }

  /// The node's value as a signed number of its width.
  Linear evaluateSigned(uint32_t Node) { return number(Node, true); }

private:
  unsigned Splits = 0; ///< of the guard at hand

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

  /// `start + step*k < end - back*k`, see above, with a step that is no less
  /// than 0, and one of both that is not 0.
  bool addMeeting(const GuardRecord &G, uint32_t Var, bool Signed,
                  int64_t Strict) {
    const unsigned Bits = In.Exprs[G.Lhs].Bits;
    const Interval Range = valuesOf(Bits, Signed);
    Linear Low = form(G.Lhs), High = form(G.Rhs), Start, End;
    const int64_t Step = Low.coefficient(Var), Back = High.coefficient(Var);
    if (Step <= 0 || Back >= 0 ||
        !normalise(Low.without(Var), Bits, Signed, Start) ||
        !normalise(High.without(Var), Bits, Signed, End) ||
        !Range.contains(System.bounds(Start, Range)) ||
        !Range.contains(System.bounds(End, Range)))
      return false;
    // The last numbers tested are one step beyond those that passed.
    if (System.upper(End) - Strict + Step > Range.Hi ||
        System.lower(Start) + Strict + Back < Range.Lo ||
        !Start.add(Linear::variable(Var), Step) ||
        !End.add(Linear::variable(Var), Back))
      return false;
    requireOrdered(Start, End, Strict);
    return true;
  }

  /// The number that the node multiplies by, if that is positive, and the node
  /// that it multiplies, if that is an extension; else 0. Others are part of
  /// what is extended, or of the form.
  int64_t factorOfExtension(uint32_t &Node) {
    const ExprNode &N = In.Exprs[Node];
    if (N.Op != ExprOp::Mul && N.Op != ExprOp::Shl)
      return 0;
    auto isExtension = [this](uint32_t Of) {
      return In.Exprs[Of].Op == ExprOp::SExt || In.Exprs[Of].Op == ExprOp::ZExt;
    };
    uint32_t Of = N.A, By = N.B;
    if (N.Op == ExprOp::Mul && !isExtension(Of))
      std::swap(Of, By);
    if (!isExtension(Of))
      return 0;
    const Linear Factor = form(By);
    const bool Shifts = N.Op == ExprOp::Shl;
    if (!Factor.isConstant() || Factor.C < (Shifts ? 0 : 1) ||
        Factor.C >= (Shifts ? 31 : int64_t(1) << 31))
      return 0;
    Node = Of;
    return Shifts ? int64_t(1) << Factor.C : Factor.C;
  }

  /// `scale * (start + step*k) < bound`, see above. False: treat it as any
  /// guard.
  bool addLoopTest(const GuardRecord &G) {
    Linear Counter = form(G.Loop);
    if (Counter.size() != 1)
      return false;
    uint32_t Var = Counter.begin()->Var;
    bool Signed = G.Pred == GuardPred::SLT || G.Pred == GuardPred::SLE;
    int64_t Strict = G.Pred == GuardPred::SLT || G.Pred == GuardPred::ULT;
    if (addMeeting(G, Var, Signed, Strict))
      return true;
    // The side that counts, through extensions and what multiplies them; Range:
    // where what is counted is a number, and Scale times it as well.
    for (bool Left : {true, false}) {
      uint32_t Node = Left ? G.Lhs : G.Rhs;
      uint32_t Other = Left ? G.Rhs : G.Lhs;
      Interval Range = valuesOf(In.Exprs[Node].Bits, Signed);
      unsigned Bits = In.Exprs[Node].Bits;
      bool SignedCounter = Signed;
      int64_t Scale = 1;
      if (const int64_t Factor = factorOfExtension(Node)) {
        Scale = Factor;
        Range = {ceilDiv(Range.Lo, Scale), floorDiv(Range.Hi, Scale)};
      }
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
      const Wide Limit =
          Left ? System.upper(Bound) - Strict : System.lower(Bound) + Strict;
      if (!isFinite(Limit))
        continue;
      const Wide Last =
          (Left ? floorDiv(Limit, Scale) : ceilDiv(Limit, Scale)) + Step;
      if (Last > Range.Hi || Last < Range.Lo)
        continue;
      if (!Start.add(Linear::variable(Var), Step) || !Start.scale(Scale))
        continue;
      if (Left)
        requireOrdered(Start, Bound, Strict);
      else
        requireOrdered(Bound, Start, Strict);
      // Only now it is known that the extensions lose nothing.
      for (uint32_t At = Left ? G.Lhs : G.Rhs; At != Node;) {
        forget(At);
        if (!factorOfExtension(At))
          At = In.Exprs[At].A;
      }
      return true;
    }
    return false;
  }
};

// A counter advances only while the test holds (GuardRecord::Loop), so where it
// is seen outside of the loop it is at most one more than when the test held
// last.
inline Wide mostCounted(const EvalInput &In, uint32_t Node) {
  if (In.LoopsAsked >= MostLoopsAsked)
    return Infinity;
  EvalInput Whole = In;
  ++Whole.LoopsAsked;
  Whole.Loop = Whole.Around = NoIndex; // all iterations
  Whole.Memory = nullptr; // what is loaded is another thing in each of them
  Whole.Wanted = nullptr;
  Whole.NumCases = 0;
  Wide Most = Infinity;
  auto ask = [&](const AccessRecord &A) {
    for (uint32_t I = A.FirstGuard; I < A.FirstGuard + A.NumGuards; ++I)
      if (const GuardRecord &Test = In.Guards[I];
          Test.Loop == Node && ExprEval::testsLoop(Test))
        if (const Wide Last = ExprEval(Whole).lastPassing(Test); isFinite(Last))
          Most = std::min(Most, Last + 1);
  };
  for (uint32_t P = 0; P < In.NumPointers; ++P)
    for (uint32_t I = 0; I < In.Pointers[P].NumAccesses; ++I)
      ask(In.Accesses[In.Pointers[P].FirstAccess + I]);
  return Most;
}

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_EXPREVAL_H
