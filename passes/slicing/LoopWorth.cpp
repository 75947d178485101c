//===- LoopWorth.cpp - does a cut along a loop need less ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LoopWorth.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

namespace {

/// A loop that has fewer iterations, whatever the launch, is not cut.
constexpr int64_t FewIterations = 16;

/// Loops of that number have so few iterations as the code says.
bool isShort(const ExprPool &Exprs, uint32_t Node, uint32_t Number) {
  return Exprs.anyIn(Node, [&](uint32_t I) {
    const ExprNode &N = Exprs.Nodes[I];
    return N.Op == ExprOp::Loop && N.Imm == int64_t(Number) && N.A != NoIndex &&
           Exprs.Nodes[N.A].Op == ExprOp::Const &&
           uint64_t(Exprs.Nodes[N.A].Imm) < uint64_t(FewIterations);
  });
}

/// The counter is multiplied by something that the launch says.
bool isFarStep(const ExprPool &Exprs, uint32_t Node, uint32_t Number) {
  return Exprs.anyIn(Node, [&](uint32_t I) {
    const ExprNode &N = Exprs.Nodes[I];
    if (N.Op != ExprOp::Mul && N.Op != ExprOp::Shl)
      return false;
    const bool Left = Exprs.counts(N.A, Number);
    const bool Right = Exprs.counts(N.B, Number);
    return (Left && Exprs.Nodes[N.B].Op != ExprOp::Const) ||
           (Right && Exprs.Nodes[N.A].Op != ExprOp::Const);
  });
}

bool isOfBlock(const ExprPool &Exprs, uint32_t Node) {
  return Exprs.anyIn(
      Node, [&](uint32_t I) { return Exprs.Nodes[I].Op == ExprOp::BlockIdx; });
}

} // namespace

unsigned loopWorth(const KernelSummary &Kernel, const ExprPool &Exprs,
                   uint32_t Number) {
  if (Kernel.touchesAnything() ||
      any_of(Kernel.Pointers, [](const PointerSummary &Pointer) {
        return Pointer.Flags & PointerEscapes;
      }))
    return 0;
  unsigned Divided = 0;
  for (const PointerSummary &Pointer : Kernel.Pointers)
    for (const AccessSummary &Access : Pointer.Accesses) {
      const uint32_t At = Access.Offset;
      if (At == NoIndex || (Access.Flags & AccessUnbounded) ||
          !Exprs.counts(At, Number))
        continue;
      if (isShort(Exprs, At, Number))
        return 0;
      Divided += isFarStep(Exprs, At, Number) || !isOfBlock(Exprs, At);
    }
  return Divided;
}

} // namespace dragon
