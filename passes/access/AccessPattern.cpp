//===- AccessPattern.cpp - how a pointer's accesses are laid out ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/AccessPattern.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace dragon {

namespace {

/// A derivative: a number, or something that is only known at launch.
using Slope = std::optional<int64_t>;

/// A component of blockIdx or threadIdx.
struct Position {
  ExprOp Op;
  int64_t Axis;
};

class Derivative {
public:
  explicit Derivative(const ExprPool &Pool) : Pool(Pool) {}

  /// By threadIdx.x.
  Slope of(uint32_t Node) {
    auto It = Known.find(Node);
    if (It != Known.end())
      return It->second;
    return Known[Node] = compute(Pool.Nodes[Node]);
  }

  bool dependsOn(uint32_t Node, const Position &P) {
    for (uint32_t I = 0; I <= Node; ++I)
      if (Pool.Nodes[I].Op == P.Op && Pool.Nodes[I].Imm == P.Axis)
        return Pool.mentions(Node, I);
    return false;
  }

private:
  const ExprPool &Pool;
  std::map<uint32_t, Slope> Known;

  Slope constant(uint32_t Node) {
    const ExprNode &N = Pool.Nodes[Node];
    if (N.Op == ExprOp::Const)
      return N.Imm;
    return std::nullopt;
  }

  Slope compute(const ExprNode &N) {
    if (N.Op == ExprOp::ThreadIdx)
      return N.Imm == 0 ? 1 : 0;
    if (!ExprPool::hasOperands(N.Op) || N.Op == ExprOp::Loop)
      return 0;
    Slope A = N.A == NoIndex ? Slope(0) : of(N.A);
    Slope B = N.B == NoIndex ? Slope(0) : of(N.B);
    int64_t Result = 0;
    switch (N.Op) {
    case ExprOp::Add:
    case ExprOp::Sub:
      if (A && B &&
          !(N.Op == ExprOp::Add ? __builtin_add_overflow(*A, *B, &Result)
                                : __builtin_sub_overflow(*A, *B, &Result)))
        return Result;
      return std::nullopt;
    case ExprOp::Mul: {
      if (A == 0 && B == 0)
        return 0;
      Slope Factor = constant(N.A) ? constant(N.A) : constant(N.B);
      Slope Other = constant(N.A) ? B : A;
      if (Factor && Other && !__builtin_mul_overflow(*Factor, *Other, &Result))
        return Result;
      return std::nullopt;
    }
    case ExprOp::Shl: {
      Slope Amount = constant(N.B);
      if (A == 0 && B == 0)
        return 0;
      if (Amount && A && *Amount >= 0 && *Amount < 32 &&
          !__builtin_mul_overflow(*A, int64_t(1) << *Amount, &Result))
        return Result;
      return std::nullopt;
    }
    case ExprOp::SExt:
    case ExprOp::ZExt:
    case ExprOp::Trunc:
      return A;
    case ExprOp::SMin:
    case ExprOp::SMax:
    case ExprOp::UMin:
    case ExprOp::UMax:
    case ExprOp::Opaque:
      // A clamped index moves with what is clamped.
      if (!A || !B)
        return std::nullopt;
      return std::max(*A, *B);
    default:
      if (A == 0 && B == 0)
        return 0;
      return std::nullopt;
    }
  }
};

} // namespace

static AccessPattern classify(Derivative &D, const ExprPool &Pool,
                              const PointerSummary &Pointer,
                              const std::vector<Position> &Used) {
  AccessPattern Worst = AccessPattern::Unknown;
  auto worsen = [&Worst](AccessPattern P) { Worst = std::max(Worst, P); };
  size_t Reads = 0;
  for (const AccessSummary &A : Pointer.Accesses) {
    Reads += (A.Flags & AccessRead) != 0;
    if (A.Flags & AccessIndirect) {
      worsen(AccessPattern::Indirect);
      continue;
    }
    if (A.Flags & AccessUnbounded)
      return AccessPattern::Unknown;
    Slope S = D.of(A.Offset);
    if (!S)
      return AccessPattern::Unknown;
    int64_t Distance = *S < 0 ? -*S : *S;
    // Accesses that were joined may overlap the neighbour's.
    worsen(Distance > A.Width                    ? AccessPattern::Strided
           : Distance != 0 && Distance < A.Width ? AccessPattern::Reused
                                                 : AccessPattern::Streaming);
    // Something moves that does not move the access.
    for (const Position &P : Used)
      if (!D.dependsOn(A.Offset, P))
        worsen(AccessPattern::Reused);
    for (const GuardRecord &G : A.Guards)
      if (G.Loop != NoIndex && !Pool.mentions(A.Offset, G.Loop))
        worsen(AccessPattern::Reused);
  }
  // Neighbours of the same element are read more than once.
  if (Worst == AccessPattern::Streaming && Reads > 1)
    worsen(AccessPattern::Reused);
  return Worst;
}

void classifyPointers(const ExprPool &Pool, KernelSummary &Kernel) {
  Derivative D(Pool);
  // What of the thread's position any access depends on.
  std::vector<Position> Used;
  for (ExprOp Op : {ExprOp::BlockIdx, ExprOp::ThreadIdx})
    for (int64_t Axis = 0; Axis < 3; ++Axis) {
      Position P{Op, Axis};
      bool Found = false;
      for (const PointerSummary &Q : Kernel.Pointers)
        for (const AccessSummary &A : Q.Accesses)
          Found |= A.Offset != NoIndex && D.dependsOn(A.Offset, P);
      if (Found)
        Used.push_back(P);
    }
  for (PointerSummary &P : Kernel.Pointers)
    P.Pattern = classify(D, Pool, P, Used);
}

} // namespace dragon
