//===- Model.h - kernels small enough to be run thread by thread -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of a kernel summary, spelled out: a ModelAccess is an access
// under loops and guards; touched() runs it for every thread of a box and
// collects the bytes, summary() says the same to the evaluator. What the
// evaluator answers is compared with what was touched.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_FOOTPRINT_MODEL_H
#define DRAGON_TEST_FOOTPRINT_MODEL_H

#include "dragon/SummaryBuilder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace dragon {
namespace model {

/// What stands in front of an access, outermost first.
struct Step {
  enum Kind { Guard, CountedLoop, TestedLoop } What;
  GuardRecord Test{};      ///< Guard, TestedLoop
  uint32_t Loop = NoIndex; ///< the Loop node
};

struct Access {
  std::vector<Step> Steps;
  uint32_t Offset = NoIndex;
  uint32_t Width = 4;
  uint8_t Flags = AccessWrite | AccessExact;
};

struct Launch {
  uint32_t Grid[3] = {1, 1, 1};
  uint32_t Block[3] = {1, 1, 1};
  BlockBox Box{{0, 0, 0}, {1, 1, 1}};
  std::vector<int64_t> Args; ///< 8 bytes each
  KnownMemory Memory;        ///< what the kernel finds in memory
  KnownMemory Told;          ///< of that what the evaluator knows
};

/// Evaluates expressions for one thread, bit by bit.
class Thread {
public:
  Thread(const ExprPool &Pool, const Launch &L) : Pool(Pool), L(L) {}
  uint32_t BlockIdx[3] = {0, 0, 0}, ThreadIdx[3] = {0, 0, 0};
  std::map<uint32_t, int64_t> Counters;

  static uint64_t mask(unsigned Bits) {
    return Bits == 64 ? ~uint64_t(0) : (uint64_t(1) << Bits) - 1;
  }
  static int64_t sext(uint64_t V, unsigned Bits) {
    unsigned Unused = 64 - Bits;
    return int64_t(V << Unused) >> Unused;
  }

  uint64_t get(uint32_t Node) const {
    const ExprNode &N = Pool.Nodes[Node];
    return compute(Node, N) & mask(N.Bits);
  }
  int64_t getSigned(uint32_t Node) const {
    return sext(get(Node), Pool.Nodes[Node].Bits);
  }

  bool holds(const GuardRecord &G) const {
    switch (G.Pred) {
    case GuardPred::EQ:
      return get(G.Lhs) == get(G.Rhs);
    case GuardPred::NE:
      return get(G.Lhs) != get(G.Rhs);
    case GuardPred::SLT:
      return getSigned(G.Lhs) < getSigned(G.Rhs);
    case GuardPred::SLE:
      return getSigned(G.Lhs) <= getSigned(G.Rhs);
    case GuardPred::ULT:
      return get(G.Lhs) < get(G.Rhs);
    case GuardPred::ULE:
      return get(G.Lhs) <= get(G.Rhs);
    }
    return false;
  }

  void run(const Access &A, ByteSet &Into, size_t At = 0) {
    if (At == A.Steps.size()) {
      int64_t Begin = getSigned(A.Offset);
      Into.Ranges.push_back({Begin, Begin + A.Width});
      return;
    }
    const Step &S = A.Steps[At];
    if (S.What == Step::Guard) {
      if (holds(S.Test))
        run(A, Into, At + 1);
      return;
    }
    int64_t &Counter = Counters[S.Loop];
    uint64_t Last = S.What == Step::CountedLoop ? get(Pool.Nodes[S.Loop].A) : 0;
    for (Counter = 0;; ++Counter) {
      if (S.What == Step::TestedLoop && !holds(S.Test))
        break;
      run(A, Into, At + 1);
      if (S.What == Step::CountedLoop && uint64_t(Counter) == Last)
        break;
      if (++Work > MaxWork)
        break;
    }
  }
  /// Beyond it the model gives up: a loop may be endless.
  static constexpr size_t MaxWork = 20000;
  size_t Work = 0; ///< iterations

private:
  const ExprPool &Pool;
  const Launch &L;
  mutable std::map<uint32_t, uint64_t> Before; ///< what loops have carried

  uint64_t compute(uint32_t Node, const ExprNode &N) const {
    auto a = [&] { return get(N.A); };
    auto b = [&] { return get(N.B); };
    auto sa = [&] { return getSigned(N.A); };
    auto sb = [&] { return getSigned(N.B); };
    switch (N.Op) {
    case ExprOp::Const:
      return uint64_t(N.Imm);
    case ExprOp::Arg:
      return uint64_t(L.Args[N.A]);
    case ExprOp::BlockDim:
      return L.Block[N.Imm];
    case ExprOp::GridDim:
      return L.Grid[N.Imm];
    case ExprOp::BlockIdx:
      return BlockIdx[N.Imm];
    case ExprOp::ThreadIdx:
      return ThreadIdx[N.Imm];
    case ExprOp::Loop:
      return uint64_t(Counters.at(Node));
    case ExprOp::Add:
      return a() + b();
    case ExprOp::Sub:
      return a() - b();
    case ExprOp::Mul:
      return a() * b();
    case ExprOp::SDiv:
      return uint64_t(sa() / sb());
    case ExprOp::UDiv:
      return a() / b();
    case ExprOp::SRem:
      return uint64_t(sa() % sb());
    case ExprOp::URem:
      return a() % b();
    case ExprOp::SMin:
      return uint64_t(std::min(sa(), sb()));
    case ExprOp::SMax:
      return uint64_t(std::max(sa(), sb()));
    case ExprOp::UMin:
      return std::min(a(), b());
    case ExprOp::UMax:
      return std::max(a(), b());
    case ExprOp::Shl:
      return a() << b();
    case ExprOp::LShr:
      return a() >> b();
    case ExprOp::AShr:
      return uint64_t(sa() >> b());
    case ExprOp::And:
      return a() & b();
    case ExprOp::Or:
      return a() | b();
    case ExprOp::Xor:
      return a() ^ b();
    case ExprOp::SExt:
      return uint64_t(sa());
    case ExprOp::ZExt:
    case ExprOp::Trunc:
      return a();
    case ExprOp::Carried: {
      // Who knows in which iteration.
      uint64_t Value = a();
      for (uint64_t Left = choose(int64_t(Node)) % 5; Left > 0; --Left) {
        Before[N.C] = Value;
        Value = b();
      }
      Before.erase(N.C);
      return Value;
    }
    case ExprOp::Opaque: {
      if (auto Found = Before.find(Node); Found != Before.end())
        return Found->second;
      uint64_t Values = uint64_t(sb()) - uint64_t(sa()) + 1;
      uint64_t Choice = choose(N.Imm);
      return uint64_t(sa()) + (Values == 0 ? Choice : Choice % Values);
    }
    case ExprOp::Loaded: {
      const uint64_t Address = a();
      uint64_t Value = 0;
      const char *Found = L.Memory.find(Address, Address + N.Bits / 8);
      if (!Found)
        return choose(N.Imm);
      std::memcpy(&Value, Found, N.Bits / 8);
      return Value;
    }
    case ExprOp::Unknown:
      return choose(N.Imm);
    }
    return 0;
  }

  /// What is unknown is the same wherever a thread meets it.
  uint64_t choose(int64_t Which) const {
    uint64_t Hash = uint64_t(Which) + 1;
    auto mix = [&Hash](uint64_t Value) {
      Hash = (Hash ^ Value) * 0x9e3779b97f4a7c15;
      Hash ^= Hash >> 29;
    };
    for (unsigned D = 0; D < 3; ++D)
      mix(BlockIdx[D]), mix(ThreadIdx[D]);
    return Hash;
  }
};

/// The bytes that the box's threads touch. False if that is too much work.
inline bool touched(const ExprPool &Pool, const Launch &L, const Access &A,
                    ByteSet &Into) {
  size_t Work = 0;
  for (uint32_t Z = L.Box.Lo[2]; Z < L.Box.Hi[2]; ++Z)
    for (uint32_t Y = L.Box.Lo[1]; Y < L.Box.Hi[1]; ++Y)
      for (uint32_t X = L.Box.Lo[0]; X < L.Box.Hi[0]; ++X)
        for (uint32_t TZ = 0; TZ < L.Block[2]; ++TZ)
          for (uint32_t TY = 0; TY < L.Block[1]; ++TY)
            for (uint32_t TX = 0; TX < L.Block[0]; ++TX) {
              Thread T(Pool, L);
              uint32_t B[3] = {X, Y, Z}, I[3] = {TX, TY, TZ};
              std::memcpy(T.BlockIdx, B, sizeof(B));
              std::memcpy(T.ThreadIdx, I, sizeof(I));
              T.Work = Work;
              T.run(A, Into);
              Work = T.Work + 1;
              if (Work > Thread::MaxWork)
                return false;
            }
  normalize(Into, SIZE_MAX);
  return true;
}

inline AccessSummary summary(const Access &A) {
  AccessSummary S;
  S.Offset = A.Offset;
  S.Width = A.Width;
  S.Flags = A.Flags;
  for (const Step &Step : A.Steps) {
    if (Step.What == Step::CountedLoop)
      continue;
    GuardRecord G = Step.Test;
    G.Loop = Step.What == Step::TestedLoop ? Step.Loop : NoIndex;
    S.Guards.push_back(G);
  }
  return S;
}

/// One kernel with one pointer, opened and evaluated.
class Evaluation {
public:
  ByteFootprint Footprint;
  std::vector<NumberPlaces> Wanted;
  std::string Error;

  Evaluation(const ExprPool &Pool, const std::vector<Access> &Accesses,
             const Launch &L, const EvalLimits &Limits = {},
             uint8_t PointerFlags = 0) {
    ModuleSummary M;
    M.Exprs = Pool;
    KernelSummary K;
    K.Name = "k";
    K.Flags = 0;
    K.ArgSizes.assign(L.Args.size() + 1, 8);
    PointerSummary P;
    P.ArgIndex = uint32_t(L.Args.size());
    P.Mode = AccessMode::ReadWrite;
    P.Flags = PointerFlags;
    for (const Access &A : Accesses)
      P.Accesses.push_back(summary(A));
    K.Pointers.push_back(P);
    M.Kernels.push_back(K);
    Blob = M.write();
    SummaryView View;
    if (!SummaryView::open(Blob.data(), Blob.size(), View, Error))
      return;
    std::vector<const void *> Args;
    for (const int64_t &A : L.Args)
      Args.push_back(&A);
    Args.push_back(nullptr);
    LaunchDims Dims{{L.Grid[0], L.Grid[1], L.Grid[2]},
                    {L.Block[0], L.Block[1], L.Block[2]},
                    Args.data(),
                    L.Told.empty() ? nullptr : &L.Told,
                    &Wanted};
    Footprint = evaluateFootprint(View, View.kernel(0), 0, Dims, L.Box, Limits);
  }

private:
  std::vector<char> Blob;
};

inline bool operator==(const ByteSet &A, const ByteSet &B) {
  if (A.Everything != B.Everything || A.Ranges.size() != B.Ranges.size())
    return false;
  for (size_t I = 0; I < A.Ranges.size(); ++I)
    if (A.Ranges[I].Begin != B.Ranges[I].Begin ||
        A.Ranges[I].End != B.Ranges[I].End)
      return false;
  return true;
}

inline std::string describe(const ByteSet &Set) {
  std::string S = Set.Everything ? "everything" : "";
  for (const ByteRange &R : Set.Ranges)
    S += " [" + std::to_string(R.Begin) + "," + std::to_string(R.End) + ")";
  return S;
}

} // namespace model
} // namespace dragon

#endif // DRAGON_TEST_FOOTPRINT_MODEL_H
