//===- sets.cpp - footprints by our sets and by Presburger's --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes that a box of blocks touches, for index expressions of the usual
// kinds of kernels: once as the runtime finds them at each new launch
// (FootprintEval.h), and with MLIR's Presburger library, which is given the
// constraints that our evaluator has made of the expressions. Both sides run in
// turn; medians are printed.
//
// The library has no operation that lists the ranges of a set. Measured is what
// one would build it from: the least and the greatest address, whether one
// chunk is touched, and the set without the kernel's variables.
//
//===----------------------------------------------------------------------===//

#include "test/unit/footprint/Model.h"
#include "test/unit/sets/Presburger.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace dragon;
using namespace dragon::sets;

namespace {

/// What plans of transfers ask for: gaps within a chunk may be filled, and
/// what is surely overwritten is no matter.
constexpr int64_t Chunk = 2 << 20;
/// After so many seconds an operation is given up.
constexpr unsigned Patience = 10;

/// Of this thread's processor time: other work on the machine does not count.
double secondsNow() {
  timespec Now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Now);
  return double(Now.tv_sec) + double(Now.tv_nsec) * 1e-9;
}

/// Microseconds of one call: the median of several rounds of many calls.
double microseconds(const std::function<void()> &Call) {
  constexpr int Rounds = 7;
  constexpr double RoundSeconds = 0.02;
  double Begin = secondsNow();
  Call();
  const double Once = std::max(secondsNow() - Begin, 1e-7);
  if (Once > RoundSeconds)
    return Once * 1e6;
  const int Calls = std::max(1, int(RoundSeconds / Once));
  std::vector<double> Times;
  for (int R = 0; R < Rounds; ++R) {
    Begin = secondsNow();
    for (int I = 0; I < Calls; ++I)
      Call();
    Times.push_back((secondsNow() - Begin) / Calls * 1e6);
  }
  std::nth_element(Times.begin(), Times.begin() + Rounds / 2, Times.end());
  return Times[Rounds / 2];
}

/// The same in a process that is ended after Patience: negative, then.
double microsecondsAtMost(const std::function<void()> &Call) {
  int Pipe[2];
  if (pipe(Pipe) != 0)
    return -1;
  const pid_t Child = fork();
  if (Child == 0) {
    alarm(Patience);
    const double Time = microseconds(Call);
    const bool Told = write(Pipe[1], &Time, sizeof(Time)) == sizeof(Time);
    _exit(Told ? 0 : 1);
  }
  close(Pipe[1]);
  double Time = -1;
  if (Child < 0 || read(Pipe[0], &Time, sizeof(Time)) != sizeof(Time))
    Time = -1;
  close(Pipe[0]);
  if (Child > 0)
    waitpid(Child, nullptr, 0);
  return Time;
}

/// One access of one launch.
struct Shape {
  const char *Name;
  ExprPool Pool;
  model::Access A;
  model::Launch L;

  explicit Shape(const char *Name) : Name(Name) { A.Width = 4; }

  void launch(std::vector<uint32_t> Grid, std::vector<uint32_t> Block) {
    for (size_t D = 0; D < Grid.size(); ++D) {
      L.Grid[D] = L.Box.Hi[D] = Grid[D];
      L.Block[D] = Block[D];
    }
  }
  uint32_t number(int64_t Value) { return Pool.constant(Value, 32); }
  uint32_t argument(int64_t Value) {
    L.Args.push_back(Value);
    return Pool.argument(uint32_t(L.Args.size() - 1), 32);
  }
  uint32_t add(uint32_t X, uint32_t Y) {
    return Pool.binary(ExprOp::Add, X, Y, NoSignedWrap);
  }
  uint32_t sub(uint32_t X, uint32_t Y) {
    return Pool.binary(ExprOp::Sub, X, Y, NoSignedWrap);
  }
  uint32_t mul(uint32_t X, uint32_t Y) {
    return Pool.binary(ExprOp::Mul, X, Y, NoSignedWrap);
  }
  uint32_t divide(uint32_t X, int64_t Y) {
    return Pool.binary(ExprOp::SDiv, X, number(Y));
  }
  uint32_t rest(uint32_t X, int64_t Y) {
    return Pool.binary(ExprOp::SRem, X, number(Y));
  }
  /// blockIdx * blockDim + threadIdx
  uint32_t index(unsigned D) {
    return add(mul(Pool.launchValue(ExprOp::BlockIdx, D),
                   Pool.launchValue(ExprOp::BlockDim, D)),
               Pool.launchValue(ExprOp::ThreadIdx, D));
  }
  void less(uint32_t X, uint32_t Y) {
    model::Step S{};
    S.What = model::Step::Guard;
    S.Test = {X, Y, NoIndex, GuardPred::SLT, {}};
    A.Steps.push_back(S);
  }
  /// for (k = Start; k < Bound; k += Step): k
  uint32_t loop(uint32_t Start, uint32_t Bound, uint32_t Step) {
    model::Step S{};
    S.What = model::Step::TestedLoop;
    S.Loop = Pool.loop(uint32_t(A.Steps.size()));
    const uint32_t Counter =
        add(Start, mul(Step, Pool.cast(ExprOp::Trunc, S.Loop, 32)));
    S.Test = {Counter, Bound, S.Loop, GuardPred::SLT, {}};
    A.Steps.push_back(S);
    return Counter;
  }
  /// float a[Index]
  void access(uint32_t Index) {
    A.Offset = Pool.binary(ExprOp::Mul, Pool.cast(ExprOp::SExt, Index, 64),
                           Pool.constant(4));
  }
};

std::vector<Shape> shapes() {
  std::vector<Shape> All;
  {
    Shape &S = All.emplace_back("a[i], i < n");
    S.launch({65536}, {256});
    const uint32_t I = S.index(0);
    S.less(I, S.argument(16777000));
    S.access(I);
  }
  {
    Shape &S = All.emplace_back("a[y * n + x], x < n, y < m");
    S.launch({128, 256}, {32, 8});
    const uint32_t X = S.index(0), Y = S.index(1), N = S.argument(4000);
    S.less(X, N);
    S.less(Y, S.argument(2000));
    S.access(S.add(S.mul(Y, N), X));
  }
  {
    Shape &S = All.emplace_back("inner points of a grid");
    S.launch({128, 256}, {32, 8});
    const uint32_t X = S.index(0), Y = S.index(1), N = S.argument(4000);
    const uint32_t One = S.number(1);
    S.less(S.number(0), X);
    S.less(X, S.sub(N, One));
    S.less(S.number(0), Y);
    S.less(Y, S.sub(S.argument(2000), One));
    S.access(S.add(S.mul(S.sub(Y, One), N), X));
  }
  {
    Shape &S = All.emplace_back("loop of the grid's stride");
    S.launch({1024}, {256});
    const uint32_t Stride = S.mul(S.Pool.launchValue(ExprOp::BlockDim, 0),
                                  S.Pool.launchValue(ExprOp::GridDim, 0));
    S.access(S.loop(S.index(0), S.argument(16777000), Stride));
  }
  {
    Shape &S = All.emplace_back("a row for each thread");
    S.launch({64}, {128});
    const uint32_t I = S.index(0), N = S.argument(2048);
    S.less(I, S.argument(8000));
    const uint32_t J = S.loop(S.number(0), N, S.number(1));
    S.access(S.add(S.mul(I, N), J));
  }
  {
    Shape &S = All.emplace_back("tiles of a product of matrices");
    S.launch({64, 64}, {16, 16});
    const uint32_t Y = S.index(1), N = S.argument(1024);
    const uint32_t Tile = S.loop(S.number(0), N, S.number(16));
    S.access(S.add(S.mul(Y, N),
                   S.add(Tile, S.Pool.launchValue(ExprOp::ThreadIdx, 0))));
  }
  {
    Shape &S = All.emplace_back("some columns of each row");
    S.launch({8}, {256});
    const uint32_t I = S.index(0);
    const uint32_t J = S.loop(S.number(0), S.number(16), S.number(1));
    S.less(I, S.argument(2000));
    S.access(S.add(S.mul(I, S.argument(4096)), J));
  }
  {
    Shape &S = All.emplace_back("i / 28 > 0, i % 28 > 0");
    S.launch({49}, {256});
    const uint32_t I = S.index(0);
    S.less(I, S.argument(12544));
    S.less(S.number(0), S.divide(S.rest(I, 784), 28));
    S.less(S.number(0), S.rest(I, 28));
    S.access(S.sub(I, S.number(29)));
  }
  {
    Shape &S = All.emplace_back("rows of neighbours, y + k / 3 > 0");
    S.launch({64, 128}, {32, 8});
    const uint32_t X = S.index(0), Y = S.index(1), N = S.argument(2048);
    const uint32_t K = S.loop(S.number(0), S.number(9), S.number(1));
    const uint32_t Row = S.add(Y, S.divide(K, 3));
    S.less(S.number(0), Row);
    S.less(Row, S.argument(1024));
    S.access(S.add(S.mul(S.sub(Row, S.number(1)), N), X));
  }
  {
    Shape &S = All.emplace_back("triangle, j < n - i");
    S.launch({8}, {128});
    const uint32_t I = S.index(0), N = S.argument(1024);
    S.less(I, N);
    const uint32_t J = S.loop(S.number(0), S.sub(N, I), S.number(1));
    S.access(S.add(S.mul(I, N), J));
  }
  return All;
}

/// A shape, ready to be evaluated by both sides.
class Case {
public:
  explicit Case(Shape &S) : L(S.L), Width(S.A.Width) {
    ModuleSummary M;
    M.Exprs = S.Pool;
    KernelSummary K;
    K.Flags = 0;
    K.ArgSizes.assign(L.Args.size() + 1, 8);
    PointerSummary P;
    P.ArgIndex = uint32_t(L.Args.size());
    P.Mode = AccessMode::ReadWrite;
    P.Flags = 0;
    P.Accesses.push_back(model::summary(S.A));
    K.Pointers.push_back(P);
    M.Kernels.push_back(K);
    Blob = M.write();
    std::string Error;
    if (!SummaryView::open(Blob.data(), Blob.size(), View, Error)) {
      std::fprintf(stderr, "%s: %s\n", S.Name, Error.c_str());
      std::exit(1);
    }
    for (const int64_t &A : L.Args)
      Args.push_back(&A);
    Args.push_back(nullptr);
    const detail::EvalInput In{&View.expr(0),
                               &View.guard(0),
                               View.argSizes(View.kernel(0)),
                               View.kernel(0).NumArgs,
                               L.Grid,
                               L.Block,
                               L.Box.Lo,
                               L.Box.Hi,
                               Args.data()};
    detail::ExprEval Eval(In);
    const AccessRecord &A = View.access(0);
    Eval.addGuards(A.FirstGuard, A.NumGuards);
    Form = Eval.evaluateSigned(A.Offset);
    System = Eval.System;
  }

  /// As at a launch: from the expressions to ranges of bytes.
  ByteFootprint footprint(int64_t MergeGap) const {
    const LaunchDims Dims{{L.Grid[0], L.Grid[1], L.Grid[2]},
                          {L.Block[0], L.Block[1], L.Block[2]},
                          Args.data()};
    EvalLimits Limits;
    Limits.MergeGap = MergeGap;
    Limits.WithMust = MergeGap == 0;
    return evaluateFootprint(View, View.kernel(0), 0, Dims, L.Box, Limits);
  }
  /// From the constraints to ranges of bytes.
  detail::AccessBytes image() const {
    return detail::RefinedImage(System, Form, Width, 4096, 0).compute();
  }
  IntegerPolyhedron set() const { return addressesOf(System, Form, Width); }
  /// Of addresses with the other sign: its least is the greatest.
  IntegerPolyhedron mirrored() const {
    detail::Linear Negative = Form;
    if (!Negative.scale(-1) || !Negative.addConstant(1 - Width))
      std::exit(1);
    return addressesOf(System, Negative, Width);
  }

private:
  model::Launch L;
  int64_t Width;
  std::vector<char> Blob;
  SummaryView View;
  std::vector<const void *> Args;
  detail::LinearSystem System;
  detail::Linear Form;
};

void printTime(double Time, double Ours) {
  if (Time < 0)
    std::printf("       > %u s           ", Patience);
  else
    std::printf(" %11.1f (%9.1fx)", Time, Time / Ours);
}

/// False if the two sides contradict each other.
bool measure(Shape &S, bool OursOnly) {
  const Case C(S);
  const ByteFootprint F = C.footprint(0);
  const ByteSet &May = F.MayWrite;
  if (May.Everything || May.Ranges.empty()) {
    std::printf("%s: not bounded\n", S.Name);
    return false;
  }
  const int64_t First = May.Ranges.front().Begin;
  const int64_t Last = May.Ranges.back().End - 1;
  const auto Least = C.set().findIntegerLexMin();
  const auto Greatest = C.mirrored().findIntegerLexMin();
  const bool Same = Least.isBounded() && Greatest.isBounded() &&
                    int64_t((*Least)[0]) == First &&
                    -int64_t((*Greatest)[0]) == Last;

  const double Whole = microseconds([&] { C.footprint(0); });
  const double Coarse = microseconds([&] { C.footprint(Chunk - 1); });
  const double Image = microseconds([&] { C.image(); });
  std::printf("%-34s %6zu %s %8.1f %8.1f %8.1f", S.Name, May.Ranges.size(),
              F.MustWrite.Ranges.empty() ? "over " : "exact", Whole, Coarse,
              Image);
  if (OursOnly) {
    std::printf("\n");
    return Same;
  }
  const double Bounds = microsecondsAtMost([&] {
    C.set().findIntegerLexMin();
    C.mirrored().findIntegerLexMin();
  });
  const double Empty = microsecondsAtMost([&] {
    IntegerPolyhedron Set = C.set();
    Set.addBound(BoundType::LB, 0, First + (Last - First) / 2);
    Set.addBound(BoundType::UB, 0, First + (Last - First) / 2 + Chunk - 1);
    Set.isIntegerEmpty();
  });
  const double Projected =
      microsecondsAtMost([&] { C.set().computeReprWithOnlyDivLocals(); });
  for (double Time : {Bounds, Empty, Projected})
    printTime(Time, Image);
  std::printf("%s\n", Same ? "" : "  the ends differ");
  return Same;
}

} // namespace

int main(int Count, char **Arguments) {
  const bool OursOnly = Count > 1 && std::string(Arguments[1]) == "--ours";
  std::printf("%-34s %12s %26s  %s\n", "", "", "ours, us",
              "Presburger, us (x ours from constraints)");
  std::printf("%-34s %6s %5s %8s %8s %8s %24s %24s %24s\n", "access", "ranges",
              "set", "launch", "chunks", "sets", "least and greatest",
              "one chunk: empty?", "variables projected out");
  bool Good = true;
  for (Shape &S : shapes())
    Good &= measure(S, OursOnly);
  return Good ? 0 : 1;
}
