//===- Polyhedra.cpp - what no launch can do ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/access/Polyhedra.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <optional>

using namespace llvm;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;

namespace dragon::ir {

namespace {

/// More variables than this are not worth the library's time.
constexpr size_t MaxVariables = 16;

/// A sum of products of a number and a variable, which is a node. NoIndex: the
/// number alone.
using Linear = std::map<uint32_t, int64_t>;
constexpr uint32_t One = NoIndex;

bool addTo(Linear &To, const Linear &What, int64_t Times) {
  for (const auto &[Variable, Factor] : What) {
    int64_t Product = 0;
    if (MulOverflow(Factor, Times, Product) ||
        AddOverflow(To[Variable], Product, To[Variable]))
      return false;
  }
  return true;
}

/// Constraints on the variables of a thread.
class System {
public:
  explicit System(const ExprPool &Pool) : Pool(Pool) {}

  std::optional<Linear> linear(uint32_t Node) {
    const ExprNode &N = Pool.Nodes[Node];
    Linear Result;
    switch (N.Op) {
    case ExprOp::Const:
      Result[One] = N.Imm;
      return Result;
    case ExprOp::Add:
    case ExprOp::Sub: {
      if (!(N.Flags & NoSignedWrap))
        break;
      std::optional<Linear> A = linear(N.A), B = linear(N.B);
      if (!A || !B || !addTo(Result, *A, 1) ||
          !addTo(Result, *B, N.Op == ExprOp::Add ? 1 : -1))
        return std::nullopt;
      return Result;
    }
    case ExprOp::Mul: {
      if (!(N.Flags & NoSignedWrap))
        break;
      const bool First = Pool.Nodes[N.A].Op == ExprOp::Const;
      if (!First && Pool.Nodes[N.B].Op != ExprOp::Const)
        break;
      std::optional<Linear> Of = linear(First ? N.B : N.A);
      if (!Of || !addTo(Result, *Of, Pool.Nodes[First ? N.A : N.B].Imm))
        return std::nullopt;
      return Result;
    }
    case ExprOp::ZExt:
    case ExprOp::SExt:
      // Indices are positive.
      if (isPosition(Pool.Nodes[N.A].Op))
        return linear(N.A);
      break;
    default:
      break;
    }
    Result[variable(Node)] = 1;
    return Result;
  }

  /// Lhs - Rhs + Plus >= 0, or == 0.
  bool constrain(uint32_t Lhs, uint32_t Rhs, int64_t Plus, bool Equal) {
    std::optional<Linear> A = linear(Lhs), B = linear(Rhs);
    Linear Sum;
    if (!A || !B || !addTo(Sum, *A, 1) || !addTo(Sum, *B, -1) ||
        AddOverflow(Sum[One], Plus, Sum[One]))
      return false;
    (Equal ? Equalities : Inequalities).push_back(std::move(Sum));
    return true;
  }

  /// What cannot be said is left out: the system has more solutions then.
  void add(const GuardRecord &G) {
    switch (G.Pred) {
    case GuardPred::EQ:
      constrain(G.Lhs, G.Rhs, 0, true);
      return;
    case GuardPred::SLT:
      constrain(G.Rhs, G.Lhs, -1, false);
      return;
    case GuardPred::SLE:
      constrain(G.Rhs, G.Lhs, 0, false);
      return;
    case GuardPred::NE:
    case GuardPred::ULT:
    case GuardPred::ULE:
      return;
    }
  }

  bool isEmpty() {
    // Bounds may bring new variables, in the counts of loops.
    for (size_t I = 0; I < Variables.size() && I < MaxVariables; ++I)
      addBounds(Variables[I]);
    if (Variables.size() > MaxVariables)
      return false;
    IntegerPolyhedron Set(
        PresburgerSpace::getSetSpace(unsigned(Variables.size())));
    for (const Linear &L : Equalities)
      Set.addEquality(row(L));
    for (const Linear &L : Inequalities)
      Set.addInequality(row(L));
    return Set.isIntegerEmpty();
  }

private:
  static bool isPosition(ExprOp Op) {
    return Op == ExprOp::BlockIdx || Op == ExprOp::ThreadIdx ||
           Op == ExprOp::BlockDim || Op == ExprOp::GridDim;
  }
  uint32_t variable(uint32_t Node) {
    if (Numbers.try_emplace(Node, Variables.size()).second)
      Variables.push_back(Node);
    return Node;
  }

  bool notNegative(uint32_t Node) const {
    const ExprNode &N = Pool.Nodes[Node];
    switch (N.Op) {
    case ExprOp::Const:
      return N.Imm >= 0;
    case ExprOp::Loop:
    case ExprOp::BlockIdx:
    case ExprOp::ThreadIdx:
    case ExprOp::BlockDim:
    case ExprOp::GridDim:
      return true;
    case ExprOp::ZExt:
      return Pool.Nodes[N.A].Bits < N.Bits;
    case ExprOp::Mul:
    case ExprOp::Add:
      return (N.Flags & NoSignedWrap) && notNegative(N.A) && notNegative(N.B);
    default:
      return false;
    }
  }

  void addBounds(uint32_t Node) {
    if (notNegative(Node)) {
      Linear L;
      L[Node] = 1;
      Inequalities.push_back(std::move(L));
    }
    const ExprNode &N = Pool.Nodes[Node];
    if (N.Op == ExprOp::Loop && N.A != NoIndex) {
      constrain(N.A, Node, 0, false);
    } else if (N.Op == ExprOp::Opaque) {
      if (N.A != NoIndex)
        constrain(Node, N.A, 0, false);
      if (N.B != NoIndex)
        constrain(N.B, Node, 0, false);
    } else if (N.Op == ExprOp::SMax || N.Op == ExprOp::SMin) {
      const bool Max = N.Op == ExprOp::SMax;
      for (uint32_t Of : {N.A, N.B})
        constrain(Max ? Node : Of, Max ? Of : Node, 0, false);
    }
  }

  SmallVector<int64_t> row(const Linear &L) const {
    SmallVector<int64_t> Result(Variables.size() + 1, 0);
    for (const auto &[Variable, Factor] : L)
      Result[Variable == One ? Variables.size() : Numbers.at(Variable)] =
          Factor;
    return Result;
  }

  const ExprPool &Pool;
  std::map<uint32_t, size_t> Numbers;
  std::vector<uint32_t> Variables;
  std::vector<Linear> Equalities, Inequalities;
};

} // namespace

bool neverHappens(const ExprPool &Pool, const AccessSummary &Access) {
  System S(Pool);
  for (const GuardRecord &G : Access.Guards)
    S.add(G);
  return S.isEmpty();
}

void dropImpliedGuards(const ExprPool &Pool, AccessSummary &Access) {
  for (size_t I = 0; I < Access.Guards.size();) {
    const GuardRecord G = Access.Guards[I];
    System S(Pool);
    for (size_t J = 0; J < Access.Guards.size(); ++J)
      if (J != I)
        S.add(Access.Guards[J]);
    // Its contrary: rhs <= lhs, or rhs < lhs.
    const bool Asked =
        (G.Pred == GuardPred::SLT || G.Pred == GuardPred::SLE) &&
        S.constrain(G.Lhs, G.Rhs, G.Pred == GuardPred::SLT ? 0 : -1, false);
    if (Asked && S.isEmpty())
      Access.Guards.erase(Access.Guards.begin() + ptrdiff_t(I));
    else
      ++I;
  }
}

} // namespace dragon::ir
