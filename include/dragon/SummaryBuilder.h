//===- SummaryBuilder.h - kernel summaries being made -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel summary (KernelSummary.h) as a value that can be changed: kernels
// own pointers, pointers own accesses, accesses own guards; only the expression
// nodes are shared. write() lays it out as a blob, ModuleSummary::read() is its
// inverse. Written by the access analysis, read by the host pass; tests make
// summaries with it.
//
// Equal expressions are one node. Loop and Opaque leaves are variables, so two
// of them are one only if they are made as one; so are loads.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_SUMMARYBUILDER_H
#define DRAGON_SUMMARYBUILDER_H

#include "dragon/FootprintEval.h"

#include <algorithm>
#include <cstring>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace dragon {

/// An access with its guards; Record's FirstGuard and NumGuards are set by
/// write().
struct AccessSummary {
  uint32_t Offset = NoIndex;
  uint32_t Width = 0;
  uint8_t Flags = 0;
  std::vector<GuardRecord> Guards;
  LoopPlace Place = LoopPlace::Any;
  uint8_t FirstLoop = 0, LastLoop = 0;
  /// Where it stands beside loops, by their numbers, ascending: First or Last.
  /// Not in the blob, which knows one loop.
  std::vector<std::pair<uint32_t, LoopPlace>> Beside;
};

/// What a kernel does through one pointer. Made as "anything is possible".
struct PointerSummary {
  uint32_t ArgIndex = 0;
  uint32_t ByteOffset = 0;
  std::string Name;
  AccessMode Mode = AccessMode::Any;
  AccessPattern Pattern = AccessPattern::Unknown;
  uint8_t Flags = PointerEscapes | PointerReadBeforeWrite;
  std::vector<AccessSummary> Accesses;
};

struct KernelSummary {
  std::string Name;
  std::string SliceName;
  std::string CountingName;
  /// Of the copy that runs a part of a loop.
  std::string LoopName;
  std::vector<uint32_t> LoopNumbers; ///< MaxLoops at most
  std::vector<uint32_t> LoopRounds;  ///< as many, or none
  uint32_t LoopThreadBytes = 0;
  uint32_t LoopBlockBytes = 0;
  uint32_t Flags = KernelUnknown | KernelTouchesAnything;
  std::vector<uint32_t> ArgSizes;
  std::vector<PointerSummary> Pointers;
  std::string WhyNotSliceable;

  bool isUnknown() const { return Flags & KernelUnknown; }
  bool touchesAnything() const {
    return Flags & (KernelUnknown | KernelTouchesAnything);
  }
  /// The summary of the pointer at a place in the arguments; null if none.
  const PointerSummary *pointer(uint32_t ArgIndex,
                                uint32_t ByteOffset = 0) const {
    for (const PointerSummary &P : Pointers)
      if (P.ArgIndex == ArgIndex && P.ByteOffset == ByteOffset)
        return &P;
    return nullptr;
  }
};

/// The expression nodes of a module.
class ExprPool {
public:
  std::vector<ExprNode> Nodes;

  uint32_t constant(int64_t Value, unsigned Bits = 64) {
    return add(ExprOp::Const, Bits, NoIndex, NoIndex, Value);
  }
  uint32_t argument(uint32_t Index, unsigned Bits, uint32_t ByteOffset = 0) {
    return add(ExprOp::Arg, Bits, Index, NoIndex, ByteOffset);
  }
  /// BlockDim, GridDim, BlockIdx or ThreadIdx, 32 bits.
  uint32_t launchValue(ExprOp Op, unsigned Dimension) {
    return add(Op, 32, NoIndex, NoIndex, Dimension);
  }
  /// Number is unique to the loop.
  uint32_t loop(uint32_t Number, uint32_t Count = NoIndex) {
    return add(ExprOp::Loop, 64, Count, NoIndex, Number);
  }
  /// A new variable in [Lo, Hi].
  uint32_t opaque(unsigned Bits, uint32_t Lo, uint32_t Hi) {
    return add(ExprOp::Opaque, Bits, Lo, Hi, NextOpaque++);
  }
  /// Start, then Next, in which Before (an opaque() without bounds) is the
  /// value before.
  uint32_t carried(uint32_t Start, uint32_t Next, uint32_t Before) {
    return add(ExprOp::Carried, Nodes[Start].Bits, Start, Next, 0, 0, Before);
  }
  /// What lies at the address (a node of 64 bits), of its own each time.
  uint32_t loaded(unsigned Bits, uint32_t Address) {
    return add(ExprOp::Loaded, Bits, Address, NoIndex, NextOpaque++);
  }
  uint32_t unknown(unsigned Bits) {
    return add(ExprOp::Unknown, Bits, NoIndex, NoIndex, NextOpaque++);
  }
  uint32_t binary(ExprOp Op, uint32_t A, uint32_t B, uint8_t Flags = 0) {
    if ((Op == ExprOp::Add && isConstant(A, 0)) ||
        (Op == ExprOp::Mul && isConstant(A, 1)))
      return B;
    if ((Op == ExprOp::Add && isConstant(B, 0)) ||
        (Op == ExprOp::Mul && isConstant(B, 1)))
      return A;
    if (Op == ExprOp::Mul && (isConstant(A, 0) || isConstant(B, 0)))
      return isConstant(A, 0) ? A : B;
    if ((Op == ExprOp::SMin || Op == ExprOp::SMax) &&
        Nodes[A].Op == ExprOp::Const && Nodes[B].Op == ExprOp::Const)
      return (Nodes[A].Imm < Nodes[B].Imm) == (Op == ExprOp::SMin) ? A : B;
    return add(Op, Nodes[A].Bits, A, B, 0, Flags);
  }
  /// SExt, ZExt or Trunc; the node itself if it has that width.
  uint32_t cast(ExprOp Op, uint32_t A, unsigned Bits) {
    return Nodes[A].Bits == Bits ? A : add(Op, Bits, A, NoIndex, 0);
  }

  bool isConstant(uint32_t Node, int64_t Value) const {
    return Nodes[Node].Op == ExprOp::Const && Nodes[Node].Imm == Value;
  }

  /// Whether Leaf occurs in Node (as an operand of any depth).
  bool mentions(uint32_t Node, uint32_t Leaf) const {
    return anyIn(Node, [Leaf](uint32_t I) { return I == Leaf; });
  }
  /// Whether the counter of the loop of that number occurs in Node.
  bool counts(uint32_t Node, uint32_t Number) const {
    return anyIn(Node, [&](uint32_t I) {
      return Nodes[I].Op == ExprOp::Loop && Nodes[I].Imm == int64_t(Number);
    });
  }
  /// The same of the access's offset, or of one of its guards.
  bool counts(const AccessSummary &Access, uint32_t Number) const {
    return (Access.Offset != NoIndex && counts(Access.Offset, Number)) ||
           std::any_of(Access.Guards.begin(), Access.Guards.end(),
                       [&](const GuardRecord &Guard) {
                         return counts(Guard.Lhs, Number) ||
                                counts(Guard.Rhs, Number);
                       });
  }
  /// Whether Is(I) holds for Node or one of its operands I, of any depth.
  template <typename Predicate> bool anyIn(uint32_t Node, Predicate Is) const {
    // Operands precede their users.
    std::vector<uint32_t> Work(1, Node);
    std::vector<bool> Seen(size_t(Node) + 1);
    while (!Work.empty()) {
      uint32_t I = Work.back();
      Work.pop_back();
      if (I > Node || Seen[I])
        continue;
      if (Is(I))
        return true;
      Seen[I] = true;
      const ExprNode &N = Nodes[I];
      if (hasOperands(N.Op)) {
        Work.push_back(N.A);
        Work.push_back(N.B);
      }
    }
    return false;
  }
  /// Whether A and B are operands (nodes or NoIndex).
  static bool hasOperands(ExprOp Op) {
    return Op > ExprOp::ThreadIdx && Op != ExprOp::Unknown;
  }

  uint32_t add(ExprOp Op, unsigned Bits, uint32_t A, uint32_t B, int64_t Imm,
               uint8_t Flags = 0, uint32_t C = 0) {
    auto [It, New] = Known.try_emplace(
        std::make_tuple(uint8_t(Op), uint8_t(Bits), Flags, A, B, C, Imm),
        uint32_t(Nodes.size()));
    if (New)
      Nodes.push_back({Op, uint8_t(Bits), Flags, 0, A, B, C, Imm});
    return It->second;
  }

private:
  std::map<std::tuple<uint8_t, uint8_t, uint8_t, uint32_t, uint32_t, uint32_t,
                      int64_t>,
           uint32_t>
      Known;
  int64_t NextOpaque = 0;
};

/// The summaries of a translation unit's kernels.
class ModuleSummary {
public:
  ExprPool Exprs;
  std::vector<KernelSummary> Kernels;

  KernelSummary *find(const std::string &Name) {
    for (KernelSummary &K : Kernels)
      if (K.Name == Name)
        return &K;
    return nullptr;
  }
  const KernelSummary *find(const std::string &Name) const {
    return const_cast<ModuleSummary *>(this)->find(Name);
  }

  /// The blob. Needs 8-byte alignment where it is opened.
  std::vector<char> write() const;
  static ModuleSummary read(const SummaryView &View);

private:
  void copyKernel(const SummaryView &View, const KernelRecord &K);
};

/// But for where its arguments' sizes and its pointers are. `String`: writes
/// one, and says where.
template <typename Write>
KernelRecord recordOf(const KernelSummary &K, const Write &String) {
  KernelRecord R{};
  R.Name = String(K.Name);
  R.SliceName = String(K.SliceName);
  R.CountingName = String(K.CountingName);
  R.LoopName = String(K.LoopName);
  R.NumLoops = uint32_t(K.LoopNumbers.size());
  std::copy(K.LoopNumbers.begin(), K.LoopNumbers.end(), R.LoopNumbers);
  std::copy(K.LoopRounds.begin(), K.LoopRounds.end(), R.LoopRounds);
  R.LoopThreadBytes = K.LoopThreadBytes;
  R.LoopBlockBytes = K.LoopBlockBytes;
  R.Flags = K.Flags;
  R.NumArgs = uint32_t(K.ArgSizes.size());
  R.NumPointers = uint32_t(K.Pointers.size());
  R.WhyNotSliceable = String(K.WhyNotSliceable);
  return R;
}

inline std::vector<char> ModuleSummary::write() const {
  std::string Strings(1, '\0');
  auto string = [&](const std::string &S) -> uint32_t {
    if (S.empty())
      return 0;
    uint32_t Offset = uint32_t(Strings.size());
    Strings += S;
    Strings += '\0';
    return Offset;
  };
  std::vector<KernelRecord> KernelRecords;
  std::vector<PointerRecord> Pointers;
  std::vector<AccessRecord> Accesses;
  std::vector<GuardRecord> Guards;
  std::vector<uint32_t> ArgSizes;
  for (const KernelSummary &K : Kernels) {
    KernelRecord R = recordOf(K, string);
    R.FirstArgSize = uint32_t(ArgSizes.size());
    R.FirstPointer = uint32_t(Pointers.size());
    KernelRecords.push_back(R);
    ArgSizes.insert(ArgSizes.end(), K.ArgSizes.begin(), K.ArgSizes.end());
    for (const PointerSummary &P : K.Pointers) {
      Pointers.push_back(
          {P.ArgIndex, P.ByteOffset, string(P.Name), uint32_t(Accesses.size()),
           uint32_t(P.Accesses.size()), P.Mode, P.Pattern, P.Flags, 0});
      for (const AccessSummary &A : P.Accesses) {
        // Guards shared with the access before are stored once.
        uint32_t First = uint32_t(Guards.size());
        bool Shared =
            !Accesses.empty() && Accesses.back().NumGuards == A.Guards.size();
        for (size_t I = 0; Shared && I < A.Guards.size(); ++I) {
          const GuardRecord &X = Guards[Accesses.back().FirstGuard + I];
          const GuardRecord &Y = A.Guards[I];
          Shared = X.Lhs == Y.Lhs && X.Rhs == Y.Rhs && X.Loop == Y.Loop &&
                   X.Pred == Y.Pred;
        }
        if (Shared)
          First = Accesses.back().FirstGuard;
        else
          Guards.insert(Guards.end(), A.Guards.begin(), A.Guards.end());
        Accesses.push_back({A.Offset,
                            A.Width,
                            First,
                            uint16_t(A.Guards.size()),
                            A.Flags,
                            A.Place,
                            A.FirstLoop,
                            A.LastLoop,
                            {}});
      }
    }
  }

  SummaryHeader H{};
  H.Magic = SummaryMagic;
  H.Version = SummaryVersion;
  std::vector<char> Blob(sizeof(SummaryHeader));
  auto append = [&](const void *Data, size_t Count, size_t Size,
                    uint32_t &Number, uint32_t &Offset) {
    Blob.resize((Blob.size() + 7) / 8 * 8);
    Number = uint32_t(Count);
    Offset = uint32_t(Blob.size());
    const char *Bytes = static_cast<const char *>(Data);
    if (Count)
      Blob.insert(Blob.end(), Bytes, Bytes + Count * Size);
  };
  auto appendAll = [&](const auto &Records, uint32_t &Number,
                       uint32_t &Offset) {
    append(Records.data(), Records.size(), sizeof(Records[0]), Number, Offset);
  };
  appendAll(KernelRecords, H.NumKernels, H.KernelsOffset);
  appendAll(Pointers, H.NumPointers, H.PointersOffset);
  appendAll(Accesses, H.NumAccesses, H.AccessesOffset);
  appendAll(Guards, H.NumGuards, H.GuardsOffset);
  appendAll(Exprs.Nodes, H.NumExprs, H.ExprsOffset);
  appendAll(ArgSizes, H.NumArgSizes, H.ArgSizesOffset);
  append(Strings.data(), Strings.size(), 1, H.StringsBytes, H.StringsOffset);
  Blob.resize((Blob.size() + 7) / 8 * 8);
  H.TotalBytes = Blob.size();
  std::memcpy(Blob.data(), &H, sizeof(H));
  return Blob;
}

/// Appends K of View, with the expressions that it uses.
inline void ModuleSummary::copyKernel(const SummaryView &View,
                                      const KernelRecord &K) {
  std::map<uint32_t, uint32_t> Copied;
  // Operands precede their users, so the recursion ends.
  auto copy = [&](auto &Self, uint32_t Index) -> uint32_t {
    if (Index == NoIndex)
      return NoIndex;
    auto It = Copied.find(Index);
    if (It != Copied.end())
      return It->second;
    ExprNode N = View.expr(Index);
    bool Leaf = !ExprPool::hasOperands(N.Op);
    uint32_t A = Leaf ? N.A : Self(Self, N.A);
    uint32_t B = Leaf ? N.B : Self(Self, N.B);
    uint32_t New;
    if (N.Op == ExprOp::Opaque)
      New = Exprs.opaque(N.Bits, A, B);
    else if (N.Op == ExprOp::Unknown)
      New = Exprs.unknown(N.Bits);
    else if (N.Op == ExprOp::Loaded)
      New = Exprs.loaded(N.Bits, A);
    else if (N.Op == ExprOp::Carried)
      New = Exprs.carried(A, B, Self(Self, N.C));
    else
      New = Exprs.add(N.Op, N.Bits, A, B, N.Imm, N.Flags);
    return Copied[Index] = New;
  };
  KernelSummary S;
  S.Name = View.string(K.Name);
  S.SliceName = View.string(K.SliceName);
  S.CountingName = View.string(K.CountingName);
  S.LoopName = View.string(K.LoopName);
  S.LoopNumbers.assign(K.LoopNumbers, K.LoopNumbers + K.NumLoops);
  S.LoopRounds.assign(K.LoopRounds, K.LoopRounds + K.NumLoops);
  S.LoopThreadBytes = K.LoopThreadBytes;
  S.LoopBlockBytes = K.LoopBlockBytes;
  S.Flags = K.Flags;
  S.ArgSizes.assign(View.argSizes(K), View.argSizes(K) + K.NumArgs);
  S.WhyNotSliceable = View.string(K.WhyNotSliceable);
  for (uint32_t I = 0; I < K.NumPointers; ++I) {
    const PointerRecord &P = View.pointer(K.FirstPointer + I);
    PointerSummary Q;
    Q.ArgIndex = P.ArgIndex;
    Q.ByteOffset = P.ByteOffset;
    Q.Name = View.string(P.Name);
    Q.Mode = P.Mode;
    Q.Pattern = P.Pattern;
    Q.Flags = P.Flags;
    for (uint32_t J = 0; J < P.NumAccesses; ++J) {
      const AccessRecord &A = View.access(P.FirstAccess + J);
      AccessSummary B;
      B.Offset = (A.Flags & AccessUnbounded) ? NoIndex : copy(copy, A.Offset);
      B.Width = A.Width;
      B.Flags = A.Flags;
      B.Place = A.Place;
      B.FirstLoop = A.FirstLoop;
      B.LastLoop = A.LastLoop;
      for (uint32_t G = 0; G < A.NumGuards; ++G) {
        GuardRecord R = View.guard(A.FirstGuard + G);
        R.Lhs = copy(copy, R.Lhs);
        R.Rhs = copy(copy, R.Rhs);
        R.Loop = copy(copy, R.Loop);
        B.Guards.push_back(R);
      }
      Q.Accesses.push_back(std::move(B));
    }
    S.Pointers.push_back(std::move(Q));
  }
  Kernels.push_back(std::move(S));
}

inline ModuleSummary ModuleSummary::read(const SummaryView &View) {
  ModuleSummary M;
  for (uint32_t I = 0; I < View.numKernels(); ++I)
    M.copyKernel(View, View.kernel(I));
  return M;
}

} // namespace dragon

#endif // DRAGON_SUMMARYBUILDER_H
