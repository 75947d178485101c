//===- UnknownAddresses.cpp - addresses that are data ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/UnknownAddresses.h"

#include <set>
#include <utility>

namespace dragon {

namespace {

/// An index that is anywhere in a range of so many is known well enough.
constexpr int64_t Near = 4096;
/// A number that is multiplied by so much and reduced again, by a remainder or
/// a mask, is another one for each thread: generators of random numbers, hash
/// functions, permutations.
constexpr int64_t Far = 4096;

class Scatter {
public:
  explicit Scatter(const ExprPool &Exprs) : Exprs(Exprs) {}

  /// Threads next to one another have values that are far apart, or nobody
  /// knows where.
  bool isIn(uint32_t Node) {
    // These stand for what is carried, and are no values of their own.
    Exprs.anyIn(Node, [&](uint32_t I) {
      if (at(I).Op == ExprOp::Carried)
        Before.insert(at(I).C);
      return false;
    });
    return Exprs.anyIn(Node, [&](uint32_t I) { return scatters(I); });
  }

private:
  const ExprNode &at(uint32_t Node) const { return Exprs.Nodes[Node]; }
  bool isVariable(uint32_t Node) const {
    return Node != NoIndex && Exprs.anyIn(Node, [&](uint32_t I) {
      switch (at(I).Op) {
      case ExprOp::ThreadIdx:
      case ExprOp::Loop:
      case ExprOp::Opaque:
      case ExprOp::Unknown:
      case ExprOp::Loaded:
        return true;
      default:
        return false;
      }
    });
  }
  /// A variable times a large constant.
  bool spreads(uint32_t Node) const {
    return Exprs.anyIn(Node, [&](uint32_t I) {
      const ExprNode &N = at(I);
      if (N.Op != ExprOp::Mul)
        return false;
      for (auto [Factor, Of] : {std::pair(N.A, N.B), std::pair(N.B, N.A)})
        if (at(Factor).Op == ExprOp::Const &&
            (at(Factor).Imm >= Far || at(Factor).Imm <= -Far) && isVariable(Of))
          return true;
      return false;
    });
  }
  bool isWide(const ExprNode &Range) const {
    if (Range.A == NoIndex || Range.B == NoIndex)
      return true;
    const ExprNode &Low = at(Range.A), &High = at(Range.B);
    int64_t Width = 0;
    return Low.Op != ExprOp::Const || High.Op != ExprOp::Const ||
           __builtin_sub_overflow(High.Imm, Low.Imm, &Width) || Width > Near;
  }
  /// It changes by the same amount in each iteration.
  bool isSteady(const ExprNode &Carried) const {
    const ExprNode &Next = at(Carried.B);
    return (Next.Op == ExprOp::Add || Next.Op == ExprOp::Sub) &&
           (Next.A == Carried.C || Next.B == Carried.C);
  }
  bool scatters(uint32_t Node) const;

  const ExprPool &Exprs;
  std::set<uint32_t> Before;
};

bool Scatter::scatters(uint32_t Node) const {
  const ExprNode &N = at(Node);
  switch (N.Op) {
  case ExprOp::Unknown:
    return true;
  case ExprOp::Opaque:
    return isWide(N) && !Before.count(Node);
  case ExprOp::Carried:
    return !isSteady(N) && spreads(N.B);
  case ExprOp::Xor:
    return isVariable(N.A) && isVariable(N.B);
  case ExprOp::URem:
  case ExprOp::SRem:
  case ExprOp::UDiv:
  case ExprOp::SDiv:
  case ExprOp::LShr:
  case ExprOp::AShr:
  case ExprOp::And:
    return spreads(N.A) || (N.Op == ExprOp::And && spreads(N.B));
  default:
    return false;
  }
}

} // namespace

bool isAddressUnknown(const AccessSummary &Access, const ExprPool &Exprs) {
  return (Access.Flags & (AccessIndirect | AccessUnbounded)) ||
         (Access.Offset != NoIndex && Scatter(Exprs).isIn(Access.Offset));
}

static std::string whyUnknown(const PointerSummary &Pointer,
                              const AccessSummary &Access,
                              const ExprPool &Exprs) {
  const std::string Where = "where in '" + Pointer.Name + "' it does is ";
  if (Access.Flags & AccessIndirect)
    return Where + "data";
  if (Access.Flags & AccessUnbounded)
    return Where + "not known";
  return isAddressUnknown(Access, Exprs) ? Where + "anywhere" : "";
}

std::string whyAddressesUnknown(const KernelSummary &Kernel,
                                const ExprPool &Exprs) {
  if (Kernel.touchesAnything())
    return "which buffers it accesses is not known";
  for (const PointerSummary &Pointer : Kernel.Pointers)
    for (const AccessSummary &Access : Pointer.Accesses)
      if (std::string Why = whyUnknown(Pointer, Access, Exprs); !Why.empty())
        return Why;
  return "";
}

} // namespace dragon
