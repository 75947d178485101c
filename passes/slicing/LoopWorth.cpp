//===- LoopWorth.cpp - does a cut along a loop need less ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LoopWorth.h"

#include "passes/support/UnknownAddresses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

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

/// The counter is multiplied by something for which `Is` holds.
template <typename Predicate>
bool hasStep(const ExprPool &Exprs, uint32_t Node, uint32_t Number,
             Predicate Is) {
  return Exprs.anyIn(Node, [&](uint32_t I) {
    const ExprNode &N = Exprs.Nodes[I];
    if (N.Op != ExprOp::Mul && N.Op != ExprOp::Shl)
      return false;
    return (Exprs.counts(N.A, Number) && Is(N.B)) ||
           (Exprs.counts(N.B, Number) && Is(N.A));
  });
}

/// What the iterations of a loop touch that go on by less than this in all is
/// in one place: a table, whatever the launch.
constexpr uint64_t FewBytes = 64 << 10;

/// So many bytes at most are between the first iteration's value of the node
/// and the last one's, as far as the code says it.
uint64_t reachOf(const ExprPool &Exprs, uint32_t Node, uint32_t Number,
                 unsigned Depth = 12) {
  constexpr uint64_t Far = UINT64_MAX;
  if (Node == NoIndex || !Exprs.counts(Node, Number))
    return 0;
  if (!Depth)
    return Far;
  const ExprNode &N = Exprs.Nodes[Node];
  auto Reach = [&](uint32_t I) { return reachOf(Exprs, I, Number, Depth - 1); };
  // An operand that is a number: its size.
  auto Constant = [&](uint32_t I) -> std::optional<uint64_t> {
    if (I == NoIndex || Exprs.Nodes[I].Op != ExprOp::Const)
      return std::nullopt;
    return AbsoluteValue(Exprs.Nodes[I].Imm);
  };
  const std::optional<uint64_t> First = Constant(N.A), Second = Constant(N.B);
  switch (N.Op) {
  case ExprOp::Loop:
    return First.value_or(Far);
  case ExprOp::SExt:
  case ExprOp::ZExt:
    return Reach(N.A);
  case ExprOp::Add:
  case ExprOp::Sub:
    return SaturatingAdd(Reach(N.A), Reach(N.B));
  case ExprOp::Mul:
    return First    ? SaturatingMultiply(Reach(N.B), *First)
           : Second ? SaturatingMultiply(Reach(N.A), *Second)
                    : Far;
  case ExprOp::Shl:
    return Second && *Second < 64
               ? SaturatingMultiply(Reach(N.A), uint64_t(1) << *Second)
               : Far;
  case ExprOp::UDiv:
  case ExprOp::SDiv:
    return Second && *Second ? Reach(N.A) / *Second + 1 : Far;
  case ExprOp::URem:
  case ExprOp::SRem:
    return Second ? SaturatingMultiply(*Second, uint64_t(2)) : Far;
  default:
    return Far;
  }
}

/// Through all of a buffer: steps that the launch or its arguments say.
constexpr unsigned WorthOfFarSteps = 8;
/// All blocks alike, which may be all of a buffer or a small table.
constexpr unsigned WorthOfSamePlaces = 2;
unsigned worthOf(const ExprPool &Exprs, uint32_t At, uint32_t Number) {
  const bool Far = hasStep(Exprs, At, Number, [&](uint32_t Step) {
    return Exprs.anyIn(Step, [&](uint32_t I) {
      const ExprOp Op = Exprs.Nodes[I].Op;
      return Op != ExprOp::Const && Op != ExprOp::BlockDim &&
             !ExprPool::hasOperands(Op);
    });
  });
  if (Far)
    return WorthOfFarSteps;
  const bool OfBlock = Exprs.anyIn(
      At, [&](uint32_t I) { return Exprs.Nodes[I].Op == ExprOp::BlockIdx; });
  const bool ByBlocks = hasStep(Exprs, At, Number, [&](uint32_t Step) {
    return Exprs.Nodes[Step].Op != ExprOp::Const;
  });
  return OfBlock ? 0 : ByBlocks ? WorthOfBlockSteps : WorthOfSamePlaces;
}

/// It happens in the loop's iterations, as a condition says, and its address
/// does not count them.
bool isConditionOf(const AccessSummary &Access, const ExprPool &Exprs,
                   uint32_t Number) {
  return (Access.Offset == NoIndex || !Exprs.counts(Access.Offset, Number)) &&
         any_of(Access.Guards, [&](const GuardRecord &G) {
           return Exprs.counts(G.Lhs, Number) && !isShort(Exprs, G.Lhs, Number);
         });
}

} // namespace

bool isWorthInRounds(const KernelSummary &Kernel, const ExprPool &Exprs,
                     uint32_t Number, uint32_t Around) {
  auto HasPitch = [&](uint32_t At, uint32_t Of) {
    return hasStep(Exprs, At, Of, [&](uint32_t Step) {
      return Exprs.anyIn(
          Step, [&](uint32_t I) { return Exprs.Nodes[I].Op == ExprOp::Arg; });
    });
  };
  return any_of(Kernel.Pointers, [&](const PointerSummary &Pointer) {
    return any_of(Pointer.Accesses, [&](const AccessSummary &Access) {
      const uint32_t At = Access.Offset;
      return At != NoIndex && !(Access.Flags & AccessUnbounded) &&
             Exprs.counts(At, Number) &&
             reachOf(Exprs, At, Number) >= FewBytes &&
             worthOf(Exprs, At, Number) &&
             (!Exprs.counts(At, Around) ||
              (HasPitch(At, Number) && !HasPitch(At, Around)));
    });
  });
}

namespace {
/// How many numbers of the launch and of its arguments the counter is
/// multiplied by: 2 for k in (k * gridDim.x + x) * width.
unsigned degreeOf(const ExprPool &Exprs, uint32_t Node, uint32_t Number,
                  unsigned Depth = 12) {
  if (!Depth || Node == NoIndex || !Exprs.counts(Node, Number))
    return 0;
  auto Factors = [&](uint32_t Of) {
    unsigned Count = 0;
    Exprs.anyIn(Of, [&](uint32_t I) {
      const ExprOp Op = Exprs.Nodes[I].Op;
      Count += Op == ExprOp::Arg || Op == ExprOp::GridDim;
      return false;
    });
    return Count;
  };
  const ExprNode &N = Exprs.Nodes[Node];
  if (N.Op == ExprOp::Loop || !ExprPool::hasOperands(N.Op))
    return 0;
  const unsigned A = degreeOf(Exprs, N.A, Number, Depth - 1),
                 B = degreeOf(Exprs, N.B, Number, Depth - 1);
  if (N.Op != ExprOp::Mul)
    return std::max(A, B);
  return Exprs.counts(N.A, Number) ? A + Factors(N.B) : B + Factors(N.A);
}

bool isCutAlong(const KernelSummary &Kernel, uint32_t Number) {
  return is_contained(Kernel.LoopNumbers, Number) ||
         is_contained(Kernel.LoopRounds, Number + 1);
}
} // namespace

bool goesFar(const KernelSummary &Kernel, const ExprPool &Exprs) {
  auto InAnyRange = [&](uint32_t At, uint32_t Number) {
    return none_of(Kernel.LoopNumbers, [&](uint32_t Cut) {
      return degreeOf(Exprs, At, Cut) > degreeOf(Exprs, At, Number);
    });
  };
  return any_of(Kernel.Pointers, [&](const PointerSummary &Pointer) {
    return any_of(Pointer.Accesses, [&](const AccessSummary &Access) {
      const uint32_t At = Access.Offset;
      return At != NoIndex && Exprs.anyIn(At, [&](uint32_t I) {
        const ExprNode &N = Exprs.Nodes[I];
        const auto Number = uint32_t(N.Imm);
        return N.Op == ExprOp::Loop && !isCutAlong(Kernel, Number) &&
               !isShort(Exprs, At, Number) &&
               worthOf(Exprs, At, Number) == WorthOfFarSteps &&
               InAnyRange(At, Number);
      });
    });
  });
}

unsigned loopWorth(const KernelSummary &Kernel, const ExprPool &Exprs,
                   uint32_t Number) {
  if (Kernel.touchesAnything() ||
      any_of(Kernel.Pointers, [](const PointerSummary &Pointer) {
        return Pointer.Flags & PointerEscapes;
      }))
    return 0;
  unsigned Worth = 0;
  for (const PointerSummary &Pointer : Kernel.Pointers)
    for (const AccessSummary &Access : Pointer.Accesses) {
      const uint32_t At = Access.Offset;
      if (isAddressUnknown(Access, Exprs) &&
          isConditionOf(Access, Exprs, Number)) {
        Worth += WorthOfSamePlaces;
        continue;
      }
      if (At == NoIndex || (Access.Flags & AccessUnbounded) ||
          !Exprs.counts(At, Number))
        continue;
      if (isShort(Exprs, At, Number))
        return 0;
      if (reachOf(Exprs, At, Number) >= FewBytes)
        Worth += worthOf(Exprs, At, Number);
    }
  return Worth;
}

} // namespace dragon
