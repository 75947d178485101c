//===- FootprintEval.h - bytes a box of blocks touches ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates a kernel summary for a box of blocks of one launch. Used by the
// runtime at each launch and by the compiler, its printers and tests: library
// DragonFootprint (runtime/footprint). No global state: thread-safe. The steps
// are in detail/: expressions become linear forms under constraints, and these
// become ranges of bytes.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_FOOTPRINTEVAL_H
#define DRAGON_FOOTPRINTEVAL_H

#include "dragon/BlockBox.h"
#include "dragon/KernelSummary.h"
#include "dragon/KnownMemory.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace dragon {

/// A half-open range of bytes, relative to a pointer argument's value (may be
/// negative: a[i - 1]).
struct ByteRange {
  int64_t Begin;
  int64_t End;
};

/// A set of bytes: sorted, disjoint ranges; or everything.
struct ByteSet {
  bool Everything = false;
  std::vector<ByteRange> Ranges;
};

/// The launch whose summary is evaluated. Args[i] points at argument i (as in
/// cudaLaunchKernel) and stays owned by the caller.
struct LaunchDims {
  uint32_t Grid[3];
  uint32_t Block[3];
  const void *const *Args;
  /// What addresses and conditions depend on may be there; null: nothing is
  /// known of what is loaded.
  const KnownMemory *Memory = nullptr;
  /// Where numbers are loaded that are not known and would tell more, they are
  /// added here; null: nobody asks.
  std::vector<NumberPlaces> *Wanted = nullptr;
  /// Of a kernel that can be cut along several loops, or loops in rounds: where
  /// the iterations of each end in boxes, of its first round, and how many
  /// rounds there are (loopEnds()).
  uint32_t LoopEnds[MaxLoops] = {};
  uint32_t LoopRounds[MaxLoops] = {};
};

/// What the blocks of a box do to bytes: through one pointer, relative to it.
struct ByteFootprint {
  AccessMode Mode = AccessMode::Any;
  ByteSet MayRead;   ///< over-approximation; also where atomics read
  ByteSet MayWrite;  ///< over-approximation
  ByteSet MustWrite; ///< under-approximation, before any read; never Everything
  ByteSet Atomic;    ///< over-approximation of what is updated atomically
  /// What of MayRead and MayWrite is there for accesses whose address, and
  /// whether they happen, depend on no loaded data.
  ByteSet Affine;
  bool Escapes = true;
  /// Whether some of it happens depends on loaded data that are not known: it
  /// may be much less.
  bool Uncertain = false;
};

/// A validated view on a blob. The blob outlives the view.
class SummaryView {
public:
  /// Checks magic, version, sizes, every index and that expression operands
  /// precede their users. On failure returns false and says why.
  static bool open(const void *Blob, size_t Bytes, SummaryView &View,
                   std::string &Error);

  uint32_t numKernels() const { return Header->NumKernels; }
  const KernelRecord &kernel(uint32_t Index) const { return Kernels[Index]; }
  /// By device symbol; null if the blob has none of that name.
  const KernelRecord *findKernel(const char *Name) const;
  const PointerRecord &pointer(uint32_t Index) const { return Pointers[Index]; }
  const AccessRecord &access(uint32_t Index) const { return Accesses[Index]; }
  const GuardRecord &guard(uint32_t Index) const { return Guards[Index]; }
  const ExprNode &expr(uint32_t Index) const { return Exprs[Index]; }
  const uint32_t *argSizes(const KernelRecord &K) const {
    return ArgSizes + K.FirstArgSize;
  }
  const char *string(uint32_t Offset) const { return Strings + Offset; }
  /// Calls Visit(Node) for each expression that the pointer's footprint depends
  /// on, once.
  template <typename Visitor>
  void visitExprs(const PointerRecord &P, Visitor Visit) const;
  /// The arguments that the footprint depends on, beside the pointer itself.
  std::set<uint32_t> argumentsOf(const PointerRecord &P) const {
    std::set<uint32_t> Arguments;
    visitExprs(P, [&](const ExprNode &Node) {
      if (Node.Op == ExprOp::Arg)
        Arguments.insert(Node.A);
    });
    return Arguments;
  }
  /// Footprints of some kernel do.
  bool anyDependsOnMemory() const {
    for (uint32_t I = 0; I < Header->NumExprs; ++I)
      if (Exprs[I].Op == ExprOp::Loaded)
        return true;
    return false;
  }
  /// The footprint depends on what device memory holds (KnownMemory).
  bool dependsOnMemory(const PointerRecord &P) const {
    bool Depends = false;
    visitExprs(
        P, [&](const ExprNode &Node) { Depends |= Node.Op == ExprOp::Loaded; });
    return Depends;
  }

private:
  const SummaryHeader *Header = nullptr;
  const KernelRecord *Kernels = nullptr;
  const PointerRecord *Pointers = nullptr;
  const AccessRecord *Accesses = nullptr;
  const GuardRecord *Guards = nullptr;
  const ExprNode *Exprs = nullptr;
  const uint32_t *ArgSizes = nullptr;
  const char *Strings = nullptr;

  bool checkReferences(std::string &Error) const;
};

template <typename Visitor>
void SummaryView::visitExprs(const PointerRecord &P, Visitor Visit) const {
  std::set<uint32_t> Pending; // operands precede their users
  auto Add = [&Pending](uint32_t Index) {
    if (Index != NoIndex)
      Pending.insert(Index);
  };
  for (uint32_t I = 0; I < P.NumAccesses; ++I) {
    const AccessRecord &Access = access(P.FirstAccess + I);
    Add(Access.Offset);
    for (uint32_t G = 0; G < Access.NumGuards; ++G) {
      Add(guard(Access.FirstGuard + G).Lhs);
      Add(guard(Access.FirstGuard + G).Rhs);
    }
  }
  while (!Pending.empty()) {
    const auto Last = std::prev(Pending.end());
    const ExprNode &Node = expr(*Last);
    Pending.erase(Last);
    Visit(Node);
    switch (Node.Op) {
    case ExprOp::Const:
    case ExprOp::Arg:
    case ExprOp::BlockIdx:
    case ExprOp::ThreadIdx:
    case ExprOp::BlockDim:
    case ExprOp::GridDim:
    case ExprOp::Unknown:
      break;
    case ExprOp::Loop:
    case ExprOp::SExt:
    case ExprOp::ZExt:
    case ExprOp::Trunc:
    case ExprOp::Loaded:
      Add(Node.A);
      break;
    default:
      Add(Node.A);
      Add(Node.B);
      break;
    }
  }
}

struct EvalLimits {
  size_t MaxRanges = 4096; ///< per set; more are merged (may) or dropped (must)
  /// Gaps of up to so many bytes between the ranges of one access may be filled
  /// in may-sets, and a 64th of it be added to either end, where that takes
  /// nothing from must-sets: a caller that thinks in chunks saves time, and
  /// with a chunk less one byte loses next to nothing.
  int64_t MergeGap = 0;
  bool WithMust = true; ///< false: MustWrite is not asked for and stays empty
  bool WithAffine = false; ///< Affine is asked for, else it stays empty
};

/// The footprint of pointer number \p Index (into the blob) for the blocks of
/// \p Box.
ByteFootprint evaluateFootprint(const SummaryView &Summary,
                                const KernelRecord &Kernel, uint32_t Index,
                                const LaunchDims &Launch, const BlockBox &Box,
                                const EvalLimits &Limits = {});

/// So many iterations has the loop that the kernel can be cut along, in the
/// thread of the launch that has most, at most; of several loops in all, as
/// LoopEnds has them. 0: not known.
uint64_t evaluateTrips(const SummaryView &Summary, const KernelRecord &Kernel,
                       const LaunchDims &Launch);

/// The copy LoopName of the kernel has parameters for the end of each loop.
inline bool hasLoopEnds(const KernelRecord &Kernel) {
  return Kernel.NumLoops > 1 || Kernel.LoopRounds[0];
}

/// Loops around some of the loops that the kernel can be cut along.
uint32_t numNests(const KernelRecord &Kernel);

/// Writes LaunchDims::LoopEnds and LoopRounds, if the kernel's copy has them;
/// false: not known, or more than boxes have room for.
bool loopEnds(const SummaryView &Summary, const KernelRecord &Kernel,
              const LaunchDims &Launch, uint32_t Ends[MaxLoops],
              uint32_t Rounds[MaxLoops]);

/// A part of the iterations of a box that is one loop's, in its own iterations
/// and rounds. The box leaves the loop in these rounds: Hi is UINT64_MAX.
struct LoopPart {
  uint64_t Lo, Hi;
  uint64_t FirstRound = 0, EndRound = UINT64_MAX;
  bool WholeRounds = false; ///< with all that is in them

  bool empty() const { return Lo >= Hi; }
};
std::vector<LoopPart> partsOfLoop(const KernelRecord &Kernel,
                                  const LaunchDims &Launch, const BlockBox &Box,
                                  uint32_t Loop);

/// Those of all loops in all their rounds, as boxes count them.
uint64_t allIterations(const KernelRecord &Kernel, const LaunchDims &Launch);

/// Where a range of iterations ends: the parameters `ends`, and `rounds` of
/// each loop's rounds.
struct LoopStops {
  uint64_t Ends[MaxLoops] = {};
  uint64_t Rounds[MaxLoops] = {};
};
LoopStops loopStops(const KernelRecord &Kernel, const LaunchDims &Launch,
                    const BlockBox &Box);

// Set operations that planners need. All are exact unless they hit a limit.
void unite(ByteSet &Into, const ByteSet &Other);
void normalize(ByteSet &Set, size_t MaxRanges);
bool covers(const ByteSet &Set, ByteRange Range);
bool intersects(const ByteSet &Set, ByteRange Range);
/// Set without Other (Other.Everything leaves nothing). Everything without some
/// ranges has no representation and stays everything.
ByteSet subtract(const ByteSet &Set, const ByteSet &Other);

} // namespace dragon

#endif // DRAGON_FOOTPRINTEVAL_H
