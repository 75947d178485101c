//===- Conditions.cpp - when an operation of a kernel runs ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/access/Conditions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dragon::ir {

When Conditions::of(Operation *Op) {
  Block *B = Op->getBlock();
  auto It = Known.find(B);
  if (It != Known.end())
    return It->second;
  When W = compute(B);
  Known[B] = W;
  return W;
}

When Conditions::compute(Block *B) {
  Region *R = B->getParent();
  Operation *Parent = R->getParentOp();
  When Result = Parent == Exprs.kernel() ? When() : of(Parent);
  // Branches are not followed.
  if (!R->hasOneBlock()) {
    Result.Exact = false;
    Result.Loaded = true;
  }
  if (Parent == Exprs.kernel())
    return Result;
  if (auto If = dyn_cast<scf::IfOp>(Parent)) {
    addIf(Result, If.getCondition(), R == &If.getThenRegion());
  } else if (auto If = dyn_cast<affine::AffineIfOp>(Parent)) {
    addSet(Result, If, R == &If.getThenRegion());
  } else if (!Exprs.counters(Parent).empty()) {
    addLoop(Result, Parent);
  } else if (!isa<scf::ExecuteRegionOp, memref::AllocaScopeOp>(Parent)) {
    // A loop that nobody counts, a choice by number.
    Result.Exact = false;
    Result.Loaded = true;
  }
  return Result;
}

void Conditions::addLoop(When &To, Operation *Loop) {
  for (const LoopCounter &C : Exprs.counters(Loop)) {
    if (C.Lower.Unknown || C.Upper.Unknown || C.Step.Unknown) {
      To.Exact = false;
      To.Loaded |= C.Counter.Loaded;
      continue;
    }
    const ExprPool &Pool = Exprs.pool();
    const ExprNode &Low = Pool.Nodes[C.Lower.Node],
                   &High = Pool.Nodes[C.Upper.Node];
    // That it runs at all.
    if (Low.Op != ExprOp::Const || High.Op != ExprOp::Const ||
        Low.Imm >= High.Imm)
      addGuard(To, C.Lower, C.Upper, GuardPred::SLT);
  }
}

void Conditions::addGuard(When &To, Index Lhs, Index Rhs, GuardPred Pred,
                          uint32_t Loop) {
  To.Loaded |= Lhs.Loaded || Rhs.Loaded;
  if (Lhs.Unknown || Rhs.Unknown) {
    To.Exact = false;
    return;
  }
  To.Exact &= Lhs.Exact && Rhs.Exact;
  GuardRecord G{};
  G.Lhs = Lhs.Node;
  G.Rhs = Rhs.Node;
  G.Loop = Loop;
  G.Pred = Pred;
  To.Guards.push_back(G);
}

void Conditions::addIf(When &To, Value Condition, bool Holds) {
  APInt Constant;
  if (matchPattern(Condition, m_ConstantInt(&Constant))) {
    // Never: 0 < 0.
    if (Constant.isZero() == Holds)
      addGuard(To, Exprs.number(0), Exprs.number(0), GuardPred::SLT);
    return;
  }
  if (auto And = Condition.getDefiningOp<arith::AndIOp>(); And && Holds) {
    addIf(To, And.getLhs(), true);
    addIf(To, And.getRhs(), true);
    return;
  }
  if (auto Or = Condition.getDefiningOp<arith::OrIOp>(); Or && !Holds) {
    addIf(To, Or.getLhs(), false);
    addIf(To, Or.getRhs(), false);
    return;
  }
  if (auto Xor = Condition.getDefiningOp<arith::XOrIOp>())
    if (matchPattern(Xor.getRhs(), m_One()))
      return addIf(To, Xor.getLhs(), !Holds);
  auto Compare = Condition.getDefiningOp<arith::CmpIOp>();
  if (!Compare || !Compare.getLhs().getType().isIntOrIndex()) {
    To.Exact = false;
    // A comparison of data, most likely.
    To.Loaded = true;
    return;
  }
  arith::CmpIPredicate Pred = Compare.getPredicate();
  if (!Holds)
    Pred = arith::invertPredicate(Pred);
  Index A = Exprs.of(Compare.getLhs()), B = Exprs.of(Compare.getRhs());
  switch (Pred) {
  case arith::CmpIPredicate::eq:
    return addGuard(To, A, B, GuardPred::EQ);
  case arith::CmpIPredicate::ne:
    return addGuard(To, A, B, GuardPred::NE);
  case arith::CmpIPredicate::slt:
    return addGuard(To, A, B, GuardPred::SLT);
  case arith::CmpIPredicate::sle:
    return addGuard(To, A, B, GuardPred::SLE);
  case arith::CmpIPredicate::sgt:
    return addGuard(To, B, A, GuardPred::SLT);
  case arith::CmpIPredicate::sge:
    return addGuard(To, B, A, GuardPred::SLE);
  case arith::CmpIPredicate::ult:
    return addGuard(To, A, B, GuardPred::ULT);
  case arith::CmpIPredicate::ule:
    return addGuard(To, A, B, GuardPred::ULE);
  case arith::CmpIPredicate::ugt:
    return addGuard(To, B, A, GuardPred::ULT);
  case arith::CmpIPredicate::uge:
    return addGuard(To, B, A, GuardPred::ULE);
  }
}

void Conditions::addSet(When &To, Operation *Op, bool Holds) {
  auto If = cast<affine::AffineIfOp>(Op);
  IntegerSet Set = If.getIntegerSet();
  if (!Holds && Set.getNumConstraints() != 1) {
    To.Exact = false;
    return;
  }
  ValueRange Operands = If.getOperands();
  ValueRange Dims = Operands.take_front(Set.getNumDims());
  ValueRange Symbols = Operands.drop_front(Set.getNumDims());
  for (unsigned I = 0; I < Set.getNumConstraints(); ++I) {
    Index E = Exprs.of(Set.getConstraint(I), Dims, Symbols);
    Index Zero = Exprs.number(0);
    if (Set.isEq(I))
      addGuard(To, E, Zero, Holds ? GuardPred::EQ : GuardPred::NE);
    else if (Holds)
      addGuard(To, Zero, E, GuardPred::SLE);
    else
      addGuard(To, E, Zero, GuardPred::SLT);
  }
}

} // namespace dragon::ir
