//===- PropertyTest.cpp - random kernels against enumeration --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random accesses, run thread by thread (Model.h) and evaluated:
//   may contains everything touched, must nothing untouched (any access),
//   and both are what was touched (affine accesses of the usual shapes).
// Half of the arithmetic is done in 8 bits, so that it wraps often. The seeds
// are fixed; a failure names its own.
//
//===----------------------------------------------------------------------===//

#include "dragon/detail/Fractions.h"
#include "test/unit/footprint/Model.h"
#include "test/unit/support/base/Sampled.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace dragon;
using namespace dragon::model;

namespace {

class Generator {
public:
  ExprPool Pool;
  Launch L;

  explicit Generator(uint32_t Seed) : Engine(Seed) {
    for (int D = 0; D < 3; ++D) {
      L.Grid[D] = D == 0 || coin(2) ? uint32_t(pick(1, D == 0 ? 6 : 3)) : 1;
      L.Block[D] = D == 0 || coin(2) ? uint32_t(pick(1, D == 0 ? 8 : 3)) : 1;
      L.Box.Lo[D] = uint32_t(pick(0, int(L.Grid[D]) - 1));
      L.Box.Hi[D] = uint32_t(pick(int(L.Box.Lo[D]) + 1, int(L.Grid[D])));
      if (coin(3)) {
        L.Box.Lo[D] = 0;
        L.Box.Hi[D] = L.Grid[D];
      }
    }
    for (int I = 0; I < 4; ++I)
      L.Args.push_back(pick(0, 40));
    L.Args.push_back(pick(-20, 200));
    // Dividers and strides.
    L.Args.push_back(pick(1, 12));
    divideBy(Seed % 2 != 0 ? Seed % 13 + 1 : Seed % 300 + 1);
  }

  /// Expressions load from an array of 64 numbers from now on. Some know all of
  /// it, others a part, others ranges of zones of it.
  void haveMemory() {
    KnownMemory::Part Part{Array, std::vector<char>(64), 0};
    for (char &Byte : Part.Contents)
      Byte = char(coin(4) ? pick(-128, 127) : pick(0, 12));
    L.Memory.Parts = {Part};
    HasMemory = true;
    if (coin(3)) {
      tellZones(Part);
      return;
    }
    if (coin(2))
      Part.Contents.resize(size_t(pick(1, 64)));
    L.Told.Parts = {Part};
  }
  void tellZones(const KnownMemory::Part &Part) {
    for (unsigned Bits : {8u, 16u, 32u, 64u}) {
      const NumberPlaces Places{Part.Address,
                                Part.Address + 64 - Bits / 8,
                                Part.Address,
                                Bits / 8,
                                1,
                                0,
                                Bits};
      auto Zones = std::make_shared<NumberZones>(Places, uint64_t(pick(1, 64)));
      for (size_t Zone = 0; Zone < Zones->zones(); ++Zone)
        Zones->set(Zone, Part.Contents.data() +
                             (Zones->zone(Zone).First - Part.Address));
      Zones->finish();
      L.Told.Arrays.push_back({Bits, std::move(Zones)});
    }
  }
  uint32_t loaded(unsigned Bits, int Depth) {
    const unsigned Sizes[] = {8, 8, 16, 32, 64};
    const unsigned Size = Sizes[pick(0, 4)];
    uint32_t Index = expression(32, Depth);
    if (!coin(4))
      Index = Pool.binary(ExprOp::And, Index,
                          Pool.constant(coin(2) ? 7 : 512 / int(Size) - 1, 32));
    const uint32_t Offset = Pool.binary(ExprOp::Mul, resize(Index, 64),
                                        Pool.constant(int64_t(Size / 8), 64));
    const uint32_t Address =
        Pool.binary(ExprOp::Add, Pool.constant(Array, 64), Offset);
    return resize(Pool.loaded(Size, Address), Bits);
  }

  /// Arguments 6 to 8: multiplier, shift and divisor, as programs compute them
  /// (Granlund and Montgomery, PLDI 1994).
  void divideBy(uint64_t Divisor) {
    uint64_t Shift = 0;
    while ((uint64_t(1) << Shift) < Divisor)
      ++Shift;
    const uint64_t Top = ((uint64_t(1) << Shift) - Divisor) << 32;
    L.Args.resize(6);
    L.Args.push_back(int64_t(Top / Divisor + 1));
    L.Args.push_back(int64_t(Shift));
    L.Args.push_back(int64_t(Divisor));
  }
  /// Value, of 32 bits, divided by the divisor: (umulhi(v, m) + v) >> s.
  uint32_t quotient(uint32_t Value) {
    const uint32_t Product =
        Pool.binary(ExprOp::Mul, Pool.cast(ExprOp::ZExt, Value, 64),
                    Pool.cast(ExprOp::ZExt, Pool.argument(6, 32), 64));
    const uint32_t High = Pool.cast(
        ExprOp::Trunc,
        Pool.binary(ExprOp::LShr, Product, Pool.constant(32, 64)), 32);
    return Pool.binary(ExprOp::LShr, Pool.binary(ExprOp::Add, High, Value),
                       Pool.argument(7, 32));
  }
  /// Value modulo the divisor, as what the quotient leaves.
  uint32_t rest(uint32_t Value) {
    return Pool.binary(
        ExprOp::Sub, Value,
        Pool.binary(ExprOp::Mul, quotient(Value), Pool.argument(8, 32)));
  }

  int pick(int Lo, int Hi) {
    return std::uniform_int_distribution<int>(Lo, Hi)(Engine);
  }
  bool coin(int OneIn) { return pick(1, OneIn) == 1; }

  uint32_t launch(ExprOp Op, unsigned D, unsigned Bits) {
    return resize(Pool.launchValue(Op, D), Bits);
  }
  uint32_t resize(uint32_t Node, unsigned Bits) {
    unsigned Old = Pool.Nodes[Node].Bits;
    if (Old == Bits)
      return Node;
    if (Old > Bits)
      return Pool.cast(ExprOp::Trunc, Node, Bits);
    return Pool.cast(coin(2) ? ExprOp::SExt : ExprOp::ZExt, Node, Bits);
  }
  /// blockIdx * blockDim + threadIdx
  uint32_t globalIndex(unsigned D, unsigned Bits) {
    return Pool.binary(ExprOp::Add,
                       Pool.binary(ExprOp::Mul,
                                   launch(ExprOp::BlockIdx, D, Bits),
                                   launch(ExprOp::BlockDim, D, Bits)),
                       launch(ExprOp::ThreadIdx, D, Bits));
  }

  uint32_t leaf(unsigned Bits) {
    switch (pick(0, 6)) {
    case 0:
      return Pool.constant(pick(-5, 20), Bits);
    case 1:
      return resize(Pool.argument(uint32_t(pick(0, 4)), 32), Bits);
    case 2:
      return globalIndex(unsigned(pick(0, 2)), Bits);
    case 3:
      return launch(ExprOp::ThreadIdx, unsigned(pick(0, 2)), Bits);
    case 4:
      return launch(ExprOp::BlockIdx, unsigned(pick(0, 2)), Bits);
    case 5:
      if (!Loops.empty())
        return resize(Loops[size_t(pick(0, int(Loops.size()) - 1))], Bits);
      return launch(coin(2) ? ExprOp::BlockDim : ExprOp::GridDim,
                    unsigned(pick(0, 2)), Bits);
    default:
      return globalIndex(0, Bits);
    }
  }

  uint32_t expression(unsigned Bits, int Depth) {
    if (Depth == 0)
      return leaf(Bits);
    switch (pick(0, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return Pool.binary(ExprOp::Add, expression(Bits, Depth - 1),
                         expression(Bits, Depth - 1));
    case 4:
    case 5:
      return Pool.binary(ExprOp::Sub, expression(Bits, Depth - 1),
                         expression(Bits, Depth - 1));
    case 6:
    case 7:
      return Pool.binary(ExprOp::Mul, expression(Bits, Depth - 1),
                         coin(4) ? expression(Bits, Depth - 1)
                                 : Pool.constant(pick(-4, 9), Bits));
    case 8: {
      const ExprOp Ops[] = {ExprOp::SDiv, ExprOp::UDiv, ExprOp::SRem,
                            ExprOp::URem};
      uint32_t Divisor = coin(2) ? resize(Pool.argument(5, 32), Bits)
                                 : Pool.constant(pick(1, 9), Bits);
      return Pool.binary(Ops[pick(0, 3)], expression(Bits, Depth - 1), Divisor);
    }
    case 9: {
      const ExprOp Ops[] = {ExprOp::SMin, ExprOp::SMax, ExprOp::UMin,
                            ExprOp::UMax};
      return Pool.binary(Ops[pick(0, 3)], expression(Bits, Depth - 1),
                         expression(Bits, Depth - 1));
    }
    case 10: {
      const ExprOp Ops[] = {ExprOp::Shl, ExprOp::LShr, ExprOp::AShr};
      return Pool.binary(Ops[pick(0, 2)], expression(Bits, Depth - 1),
                         Pool.constant(pick(0, 3), Bits));
    }
    case 11: {
      const ExprOp Ops[] = {ExprOp::And, ExprOp::Or, ExprOp::Xor};
      const int Masks[] = {1, 3, 7, -4, -8, 5, 31, 0};
      return Pool.binary(Ops[pick(0, 2)], expression(Bits, Depth - 1),
                         coin(3) ? expression(Bits, Depth - 1)
                                 : Pool.constant(Masks[pick(0, 7)], Bits));
    }
    case 12:
      return resize(expression(Bits == 8 ? 32 : 8, Depth - 1), Bits);
    case 13: {
      // Of choices; once in a while of anything.
      if (coin(4))
        return Pool.unknown(Bits);
      uint32_t X = expression(Bits, Depth - 1);
      uint32_t Y = coin(2) ? expression(Bits, Depth - 1)
                           : Pool.binary(ExprOp::Add, X,
                                         Pool.constant(pick(-3, 3), Bits));
      return Pool.opaque(Bits, Pool.binary(ExprOp::SMin, X, Y),
                         Pool.binary(ExprOp::SMax, X, Y));
    }
    case 14: {
      const uint32_t Value = resize(expression(Bits, Depth - 1), 32);
      return resize(coin(2) ? quotient(Value) : rest(Value), Bits);
    }
    case 15: {
      // What a loop carries along, now and then with a limit.
      const uint32_t Start = expression(Bits, Depth - 1);
      const uint32_t Before = Pool.opaque(Bits, NoIndex, NoIndex);
      const ExprOp Limits[] = {ExprOp::SMin, ExprOp::SMax, ExprOp::UMin,
                               ExprOp::UMax};
      const ExprOp Ops[] = {ExprOp::Add,  ExprOp::Sub,  ExprOp::UDiv,
                            ExprOp::SDiv, ExprOp::SMax, ExprOp::UMax,
                            ExprOp::LShr, ExprOp::Add};
      const uint32_t Seen =
          coin(2) ? Before
                  : Pool.binary(Limits[pick(0, 3)], Before, leaf(Bits));
      const uint32_t Next = coin(4)
                                ? resize(rest(resize(Seen, 32)), Bits)
                                : Pool.binary(Ops[pick(0, 7)], Seen,
                                              Pool.constant(pick(1, 5), Bits));
      return Pool.carried(Start, coin(3) ? Start : Next, Before);
    }
    default:
      return HasMemory ? loaded(Bits, Depth - 1) : leaf(Bits);
    }
  }

  GuardRecord guard(unsigned Bits, int Depth) {
    const GuardPred Preds[] = {GuardPred::EQ,  GuardPred::NE,  GuardPred::SLT,
                               GuardPred::SLE, GuardPred::ULT, GuardPred::ULE};
    GuardRecord G{};
    G.Lhs = expression(Bits, Depth);
    G.Rhs = coin(2) ? expression(Bits, Depth)
                    : resize(Pool.argument(uint32_t(pick(0, 4)), 32), Bits);
    if (coin(3))
      std::swap(G.Lhs, G.Rhs);
    G.Pred = Preds[coin(3) ? pick(0, 5) : pick(2, 5)];
    G.Loop = NoIndex;
    return G;
  }

  /// A loop with up to 300 iterations, in the form the analysis emits.
  bool loopStep(Access &A, unsigned Bits) {
    Step S{};
    uint32_t Number = uint32_t(Loops.size());
    if (coin(2)) {
      S.What = Step::CountedLoop;
      uint32_t Count = expression(Bits, 1);
      if (coin(2))
        Count = Pool.binary(ExprOp::UDiv, Count,
                            resize(Pool.argument(5, 32), Bits));
      S.Loop = Pool.loop(Number, resize(Count, Bits));
    } else {
      S.What = Step::TestedLoop;
      uint32_t Bound = coin(2) ? expression(Bits, 1) : leaf(Bits);
      S.Loop = Pool.loop(Number);
      uint32_t Stride = coin(2) ? Pool.constant(pick(1, 6), Bits)
                                : resize(Pool.argument(5, 32), Bits);
      uint32_t Travel = Pool.binary(ExprOp::Mul, Stride, resize(S.Loop, Bits));
      uint32_t Start = coin(2) ? globalIndex(0, Bits) : leaf(Bits);
      bool Down = coin(3);
      uint32_t Counter =
          Pool.binary(Down ? ExprOp::Sub : ExprOp::Add, Start, Travel);
      if (coin(3)) {
        bool Sign = coin(2);
        ExprOp Cast = Sign ? ExprOp::SExt : ExprOp::ZExt;
        Counter = Pool.cast(Cast, Counter, 64);
        Bound = Pool.cast(Cast, Bound, 64);
      }
      const GuardPred Preds[] = {GuardPred::SLT, GuardPred::SLE, GuardPred::ULT,
                                 GuardPred::ULE};
      S.Test.Lhs = Down ? Bound : Counter;
      S.Test.Rhs = Down ? Counter : Bound;
      S.Test.Pred = Preds[pick(0, 3)];
      S.Test.Loop = S.Loop;
    }
    Loops.push_back(S.Loop);
    A.Steps.push_back(S);
    return true;
  }

  Access access() {
    Access A;
    unsigned Bits = coin(2) ? 8 : 32;
    int N = pick(0, 4), LoopsLeft = 2;
    for (int I = 0; I < N; ++I) {
      if (LoopsLeft && coin(3)) {
        loopStep(A, Bits);
        --LoopsLeft;
        continue;
      }
      Step S{};
      S.What = Step::Guard;
      S.Test = guard(coin(4) ? 64 : Bits, pick(0, 2));
      A.Steps.push_back(S);
    }
    // Often about what the guards are about.
    uint32_t Index = expression(Bits, pick(0, 3));
    if (!A.Steps.empty() && A.Steps.back().What != Step::CountedLoop && coin(2))
      Index =
          coin(2)
              ? A.Steps.back().Test.Lhs
              : Pool.binary(
                    ExprOp::Add, A.Steps.back().Test.Lhs,
                    resize(Index, Pool.Nodes[A.Steps.back().Test.Lhs].Bits));
    const int Sizes[] = {1, 2, 4, 8, 12};
    int Size = Sizes[pick(0, 4)];
    A.Width = uint32_t(coin(3) ? pick(1, 8) : Size);
    A.Offset = Pool.binary(ExprOp::Mul, resize(Index, 64), Pool.constant(Size));
    if (coin(4))
      A.Offset =
          Pool.binary(ExprOp::Add, A.Offset, resize(expression(Bits, 1), 64));
    return A;
  }

private:
  static constexpr uint64_t Array = 0x10000;

  std::mt19937 Engine;
  std::vector<uint32_t> Loops;
  bool HasMemory = false;
};

struct Tally {
  int Checked = 0, Everything = 0, Touching = 0, WithMust = 0, Equal = 0;
  int Loading = 0, Less = 0; ///< it loads; what is told makes it smaller
};

/// What is told of memory takes bytes away, and adds none.
void compareWithUntold(const Generator &G, const Access &A,
                       const EvalLimits &Limits, const ByteFootprint &Told,
                       Tally &T) {
  Launch Untold = G.L;
  Untold.Told = {};
  const Evaluation E(G.Pool, {A}, Untold, Limits);
  auto Bytes = [](const ByteSet &Set) {
    // A range may be as long as the address space: longer than an int64_t says.
    double Sum = Set.Everything ? 0x1p64 : 0;
    for (const ByteRange &R : Set.Ranges)
      Sum += double(R.End) - double(R.Begin);
    return Sum;
  };
  T.Loading += !E.Wanted.empty();
  T.Less += Bytes(Told.MayWrite) < Bytes(E.Footprint.MayWrite);
}

void checkOne(uint32_t Seed, Tally &T, bool WithMemory = false) {
  Generator G(Seed);
  if (WithMemory)
    G.haveMemory();
  Access A = G.access();
  ByteSet Touched;
  if (!touched(G.Pool, G.L, A, Touched))
    return;
  EvalLimits Limits;
  if (G.coin(4))
    Limits.MaxRanges = size_t(G.pick(1, 5));
  if (G.coin(4))
    Limits.MergeGap = G.pick(1, 40);
  Evaluation E(G.Pool, {A}, G.L, Limits);
  ASSERT_EQ(E.Error, "") << "seed " << Seed;
  const ByteFootprint &F = E.Footprint;
  ++T.Checked;
  T.Everything += F.MayWrite.Everything;
  T.Touching += !Touched.Ranges.empty();
  T.WithMust += !F.MustWrite.Ranges.empty();
  for (const ByteRange &R : Touched.Ranges)
    ASSERT_TRUE(covers(F.MayWrite, R))
        << "seed " << Seed << ": touched" << describe(Touched) << ", may"
        << describe(F.MayWrite);
  for (const ByteRange &R : F.MustWrite.Ranges)
    ASSERT_TRUE(covers(Touched, R))
        << "seed " << Seed << ": touched" << describe(Touched) << ", must"
        << describe(F.MustWrite);
  T.Equal += F.MayWrite == Touched;
  if (WithMemory)
    compareWithUntold(G, A, Limits, F, T);
  // Gaps filled, as for plans.
  Limits.WithMust = false;
  Limits.MergeGap = int64_t(1) << G.pick(0, 12);
  Evaluation Coarse(G.Pool, {A}, G.L, Limits);
  ASSERT_EQ(Coarse.Error, "") << "seed " << Seed;
  for (const ByteRange &R : Touched.Ranges)
    ASSERT_TRUE(covers(Coarse.Footprint.MayWrite, R))
        << "seed " << Seed << ": touched" << describe(Touched) << ", may"
        << describe(Coarse.Footprint.MayWrite);
}

TEST(FootprintProperty, MayContainsWhatIsTouchedMustOnlyThat) {
  Tally T;
  for (uint32_t Seed = 1; Seed <= test::sampled(30000); ++Seed) {
    checkOne(Seed, T);
    if (HasFatalFailure())
      return;
  }
  RecordProperty("checked", T.Checked);
  // The test means something only if the accesses are of all kinds.
  EXPECT_GT(T.Checked, int(test::sampled(20000)));
  EXPECT_GT(T.Touching, int(test::sampled(10000)));
  EXPECT_GT(T.WithMust, int(test::sampled(4000)));
  EXPECT_LT(T.Everything, int(test::sampled(1000)));
  EXPECT_GT(T.Equal, int(test::sampled(10000)));
}

TEST(FootprintProperty, LoadedIndicesAreWhatMemoryHolds) {
  Tally T;
  for (uint32_t Seed = 1; Seed <= test::sampled(10000); ++Seed) {
    checkOne(Seed, T, /*WithMemory=*/true);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(T.Checked, int(test::sampled(7000)));
  EXPECT_GT(T.Loading, int(test::sampled(800)));
  // Ranges of zones tell less than numbers.
  EXPECT_GT(T.Less, int(test::sampled(300)));
}

/// The usual shapes of index arithmetic, where nothing may be lost.
Access usualAccess(Generator &G) {
  ExprPool &P = G.Pool;
  Access A;
  auto guard = [&](uint32_t Lhs, GuardPred Pred, uint32_t Rhs) {
    Step S{};
    S.What = Step::Guard;
    S.Test = {Lhs, Rhs, NoIndex, Pred, {}};
    A.Steps.push_back(S);
  };
  unsigned Bits = 32;
  uint32_t Row = G.globalIndex(1, Bits), Col = G.globalIndex(0, Bits);
  uint32_t N = P.argument(0, Bits), M = P.argument(1, Bits);
  GuardPred Less = G.coin(2) ? GuardPred::SLT : GuardPred::ULT;
  uint32_t Index = Col;
  switch (G.pick(0, 5)) {
  case 0: // a[i], i < n
    if (!G.coin(4))
      guard(Col, Less, N);
    break;
  case 1: // a[row * n + col]
    guard(Col, Less, N);
    guard(Row, Less, M);
    Index = P.binary(ExprOp::Add, P.binary(ExprOp::Mul, Row, N), Col);
    break;
  case 2: { // a grid-stride loop
    Step S{};
    S.What = Step::TestedLoop;
    S.Loop = P.loop(0);
    uint32_t Stride = P.binary(ExprOp::Mul, G.launch(ExprOp::BlockDim, 0, Bits),
                               G.launch(ExprOp::GridDim, 0, Bits));
    Index = P.binary(
        ExprOp::Add, Col,
        P.binary(ExprOp::Mul, Stride, P.cast(ExprOp::Trunc, S.Loop, Bits)));
    S.Test = {Index, N, S.Loop, Less, {}};
    A.Steps.push_back(S);
    break;
  }
  case 3: { // a row per thread: for (j = 0; j < n; j++) a[i * n + j]
    guard(Col, Less, M);
    Step S{};
    S.What = Step::TestedLoop;
    S.Loop = P.loop(0);
    uint32_t J = P.cast(ExprOp::Trunc, S.Loop, Bits);
    S.Test = {J, N, S.Loop, Less, {}};
    A.Steps.push_back(S);
    Index = P.binary(ExprOp::Add, P.binary(ExprOp::Mul, Col, N), J);
    break;
  }
  case 4: // the inner points: 0 < i < n - 1, as i - 1 <u n - 2
    guard(P.constant(2, Bits), GuardPred::SLT, N);
    guard(P.binary(ExprOp::Sub, Col, P.constant(1, Bits)), GuardPred::ULT,
          P.binary(ExprOp::Sub, N, P.constant(2, Bits)));
    break;
  default: // one thread of the block
    guard(G.launch(ExprOp::ThreadIdx, 0, Bits), GuardPred::EQ,
          P.constant(0, Bits));
    Index = G.launch(ExprOp::BlockIdx, 0, Bits);
  }
  A.Width = 4;
  A.Offset =
      P.binary(ExprOp::Mul, P.cast(ExprOp::SExt, Index, 64), P.constant(4));
  return A;
}

TEST(FootprintProperty, UsualShapesAreExact) {
  for (uint32_t Seed = 1; Seed <= test::sampled(6000); ++Seed) {
    Generator G(Seed);
    Access A = usualAccess(G);
    ByteSet Touched;
    ASSERT_TRUE(touched(G.Pool, G.L, A, Touched));
    Evaluation E(G.Pool, {A}, G.L);
    ASSERT_EQ(E.Error, "");
    ASSERT_FALSE(E.Footprint.MayWrite.Everything) << "seed " << Seed;
    ASSERT_EQ(describe(E.Footprint.MayWrite), describe(Touched))
        << "seed " << Seed;
    ASSERT_EQ(describe(E.Footprint.MustWrite), describe(Touched))
        << "seed " << Seed;
  }
}

/// a[i / d * p + i % d * q] of 4 bytes, i < n, with d a number of the launch:
/// divided by it, or multiplied by what stands for it.
Access dividedAccess(Generator &G, bool Multiply, int P, int Q) {
  ExprPool &Pool = G.Pool;
  const uint32_t Index = G.globalIndex(0, 32), Divisor = Pool.argument(8, 32);
  auto term = [&](uint32_t Value, int Factor) {
    return Pool.binary(ExprOp::Mul, Value, Pool.constant(Factor, 32));
  };
  const uint32_t Quotient =
      Multiply ? G.quotient(Index) : Pool.binary(ExprOp::UDiv, Index, Divisor);
  const uint32_t Rest =
      Multiply ? G.rest(Index) : Pool.binary(ExprOp::URem, Index, Divisor);
  Access A;
  Step S{};
  S.What = Step::Guard;
  S.Test = {Index, Pool.argument(0, 32), NoIndex, GuardPred::SLT, {}};
  A.Steps.push_back(S);
  const uint32_t Place =
      Pool.binary(ExprOp::Add, term(Quotient, P), term(Rest, Q));
  A.Offset = Pool.binary(ExprOp::Mul, Pool.cast(ExprOp::SExt, Place, 64),
                         Pool.constant(4));
  return A;
}

TEST(FootprintProperty, DivisionsByMultiplicationAreDivisions) {
  const uint64_t Divisors[] = {1,    2,     3,     5,          7,       10,
                               64,   96,    100,   641,        1000,    4096,
                               6700, 12345, 65537, 1000000007, 1u << 30};
  const int Factors[][2] = {{1, 0}, {0, 1}, {300, 1}, {1, 50}};
  for (uint64_t Divisor : Divisors)
    for (const auto &[P, Q] : Factors) {
      SCOPED_TRACE(std::to_string(Divisor) + ", " + std::to_string(P) + ", " +
                   std::to_string(Q));
      Generator G(1);
      G.L = {};
      G.L.Grid[0] = 80;
      G.L.Block[0] = 96;
      G.L.Box = {{3, 0, 0}, {67, 1, 1}};
      G.L.Args.assign(6, 6700);
      G.divideBy(Divisor);
      ByteSet Touched;
      const Access Multiplied = dividedAccess(G, true, P, Q);
      ASSERT_TRUE(touched(G.Pool, G.L, Multiplied, Touched));
      const Evaluation One(G.Pool, {Multiplied}, G.L);
      const Evaluation Other(G.Pool, {dividedAccess(G, false, P, Q)}, G.L);
      ASSERT_EQ(One.Error, "");
      ASSERT_EQ(describe(One.Footprint.MayWrite),
                describe(Other.Footprint.MayWrite));
      ASSERT_EQ(describe(One.Footprint.MustWrite),
                describe(Other.Footprint.MustWrite));
      ASSERT_FALSE(One.Footprint.MayWrite.Everything);
      for (const ByteRange &R : Touched.Ranges)
        ASSERT_TRUE(covers(One.Footprint.MayWrite, R));
    }
}

// -- Fractions

TEST(Fractions, AreAsGoodUpToTheMost) {
  std::mt19937_64 Engine(1);
  int Smaller = 0;
  for (int Case = 0; Case < 3000; ++Case) {
    SCOPED_TRACE(Case);
    const int64_t Top = int64_t(Engine() >> (1 + Engine() % 62)) + 1;
    const int64_t Bottom = int64_t(Engine() >> (1 + Engine() % 62)) + 1;
    const int64_t Common = std::gcd(Top, Bottom);
    const detail::Fraction F{Top / Common, Bottom / Common};
    const int64_t Most = int64_t(Engine() % 500);
    const detail::Fraction Least = detail::leastFraction(F, Most);
    ASSERT_GT(Least.Bottom, 0);
    ASSERT_LE(Least.Bottom, F.Bottom);
    Smaller += Least.Bottom < F.Bottom;
    for (int64_t N = 0; N <= Most; ++N)
      ASSERT_TRUE(detail::Wide(Least.Top) * N / Least.Bottom ==
                  detail::Wide(F.Top) * N / F.Bottom)
          << N;
  }
  EXPECT_GT(Smaller, 1000);
}

} // namespace
