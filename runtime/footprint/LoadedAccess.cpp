//===- LoadedAccess.cpp - bytes of an access with loaded indices ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/detail/LoadedAccess.h"

#include "dragon/detail/ExprEval.h"
#include "dragon/detail/LoadedCases.h"
#include "dragon/detail/Refinement.h"

#include <algorithm>
#include <utility>

namespace dragon {
namespace detail {

namespace {

using ByteRanges = std::vector<std::pair<int64_t, int64_t>>;

/// What an offset has to do with a load.
enum class LoadUse : uint8_t {
  None,  ///< only conditions ask for it, or the address of another load
  Plain, ///< it is added, or a multiple of it
  Other  ///< it goes through a division, a minimum, ...
};

/// Of the loads in the expression of an offset.
class LoadUses {
public:
  LoadUses() = default;
  LoadUses(const ExprNode *Exprs, uint32_t Offset) : Exprs(Exprs) {
    visit(Offset, LoadUse::Plain);
  }

  LoadUse of(uint32_t Load) const {
    LoadUse Use = Seen.size() < MostSeen ? LoadUse::None : LoadUse::Other;
    for (const auto &[Node, As] : Seen)
      if (Node == Load)
        Use = std::max(Use, As);
    return Use;
  }

private:
  /// Of a larger expression it is not known.
  static constexpr size_t MostSeen = 512;

  const ExprNode *Exprs = nullptr;
  std::vector<std::pair<uint32_t, LoadUse>> Seen;

  void visit(uint32_t Node, LoadUse As) {
    if (Node == NoIndex || Seen.size() == MostSeen ||
        std::ranges::find(Seen, std::pair(Node, As)) != Seen.end())
      return;
    Seen.emplace_back(Node, As);
    const ExprNode &N = Exprs[Node];
    switch (N.Op) {
    case ExprOp::Const:
    case ExprOp::Arg:
    case ExprOp::BlockDim:
    case ExprOp::GridDim:
    case ExprOp::BlockIdx:
    case ExprOp::ThreadIdx:
    case ExprOp::Loop: // its iterations are those up to the most
    case ExprOp::Unknown:
    case ExprOp::Loaded: // its own value matters, not where it lies
      return;
    case ExprOp::SExt:
    case ExprOp::ZExt:
    case ExprOp::Trunc:
      return visit(N.A, As);
    case ExprOp::Add:
    case ExprOp::Sub:
    case ExprOp::Mul: // by a constant, where the load has a factor
    case ExprOp::Shl:
      visit(N.A, As);
      return visit(N.B, As);
    default:
      visit(N.A, LoadUse::Other);
      return visit(N.B, LoadUse::Other);
    }
  }
};

/// Where the access goes, as far as one evaluation tells.
struct Evaluated {
  LinearSystem System;
  Linear Offset;
  std::vector<LoadedValues> Loads;
  bool Unbounded = false;
  bool Uncertain = false;
  bool CountsLoops = true;
};

/// Only values that the conditions have left, and one range for what is close
/// together in the offset; the variable has no others either. False: nothing is
/// left.
bool narrow(LoadedValues &Load, LinearSystem &System, int64_t Gap) {
  Interval &Range = System.Vars[Load.Var].Range;
  std::vector<NumberRange> Left;
  for (NumberRange Of : Load.Values) {
    if (Of.Lo > Range.Hi || Of.Hi < Range.Lo)
      continue;
    Of.Lo = int64_t(std::max<Wide>(Of.Lo, Range.Lo));
    Of.Hi = int64_t(std::min<Wide>(Of.Hi, Range.Hi));
    Left.push_back(Of);
  }
  Load.Values = std::move(Left);
  if (Load.Values.empty())
    return false;
  Range = {Load.Values.front().Lo, Load.Values.back().Hi};
  joinClose(Load, Gap);
  return true;
}

Evaluated evaluateOnce(const EvalInput &In, const AccessRecord &A,
                       int64_t Gap) {
  ExprEval Eval(In);
  Evaluated Result;
  Eval.addGuards(A.FirstGuard, A.NumGuards);
  if (!Eval.System.Empty) {
    Result.Uncertain = Eval.Unknown || (A.Flags & AccessUnsaid);
    Result.Unbounded = A.Flags & AccessUnbounded;
    if (!Result.Unbounded)
      Result.Offset = Eval.evaluateSigned(A.Offset);
  }
  for (LoadedValues &Load : Eval.Loads)
    Load.Factor = Result.Offset.coefficient(Load.Var);
  // What does not count the iterations may happen in some of them only.
  Result.CountsLoops = (In.Loop == NoIndex || Eval.Counter != NoIndex) &&
                       (In.Around == NoIndex || Eval.RoundCounter != NoIndex);
  Result.Loads = std::move(Eval.Loads);
  Result.System = std::move(Eval.System);
  for (LoadedValues &Load : Result.Loads)
    if (!narrow(Load, Result.System, Gap)) {
      Result.System.Empty = true; // not for these blocks
      break;
    }
  return Result;
}

/// The bytes for each value of a load, when `Bytes` are those for zero.
class Multiples {
public:
  Multiples(AccessBytes &Bytes, int64_t Factor, const EvalLimits &Limits)
      : Bytes(Bytes), Factor(Factor), Limits(Limits) {}

  void add(std::vector<NumberRange> Values) {
    fillGaps(Bytes, Limits.MergeGap);
    const ByteRanges Rest = std::exchange(Bytes.Ranges, {});
    if (Rest.empty())
      return;
    const size_t Most = std::max<size_t>(
        std::max<size_t>(Limits.MaxRanges, 1) / Rest.size(), 1);
    joinRanges(Values, Most);
    const Wide Length = Wide(Rest.back().second) - Rest.front().first;
    const Wide Step = Factor < 0 ? -Wide(Factor) : Factor;
    size_t Left = Most - std::min(Most, Values.size());
    for (const NumberRange &Of : Values) {
      const Wide Further = Wide(Of.Hi) - Of.Lo;
      if (Further > 0 && Step > Length + Limits.MergeGap && Further <= Left) {
        Left -= size_t(Further);
        for (Wide Value = Of.Lo; Value <= Of.Hi; ++Value)
          addAll(Rest, Value);
      } else if (Further > 0) {
        const Wide A = Factor * Wide(Of.Lo), B = Factor * Wide(Of.Hi);
        add(Rest.front().first + std::min(A, B),
            Rest.back().second + std::max(A, B));
      } else {
        addAll(Rest, Of.Lo);
      }
    }
    fillGaps(Bytes, Limits.MergeGap);
  }

private:
  AccessBytes &Bytes;
  const int64_t Factor;
  const EvalLimits &Limits;

  void addAll(const ByteRanges &Rest, Wide Value) {
    for (const auto &[Begin, End] : Rest)
      add(Begin + Factor * Value, End + Factor * Value);
  }
  void add(Wide Begin, Wide End) {
    if (Begin < INT64_MIN || End > INT64_MAX)
      Bytes.Everything = true;
    else
      Bytes.Ranges.emplace_back(int64_t(Begin), int64_t(End));
  }
};

/// The bytes of the values that the load has left can be added: all conditions
/// on it hold for each of them.
bool isAdded(const Evaluated &At, const LoadedValues &Load,
             const LoadUses &Uses) {
  return Load.Factor != 0 && Uses.of(Load.Node) == LoadUse::Plain &&
         std::ranges::none_of(At.System.Constraints, [&](const Constraint &K) {
           return K.Form.coefficient(Load.Var) != 0 &&
                  At.System.boxLower(K.Form) < 0;
         });
}

/// Whether there are conditions on the load, and all are of the kind that its
/// largest value satisfies if any does, or all of the other kind: then each
/// value by itself tells no more than all together.
bool isBoundOneWay(const LinearSystem &System, const LoadedValues &Load) {
  bool Up = false, Down = false;
  for (const Constraint &K : System.Constraints) {
    Up |= K.Form.coefficient(Load.Var) > 0;
    Down |= K.Form.coefficient(Load.Var) < 0;
  }
  return Up != Down;
}

/// The bytes, those of loads that can be added value by value. Of the other
/// loads, all values between the least and the largest.
AccessBytes bytesOf(Evaluated At, const AccessRecord &A,
                    const EvalLimits &Limits, const LoadUses &Uses) {
  AccessBytes Result;
  if (At.System.Empty) {
    Result.Exact = true;
    return Result;
  }
  std::vector<LoadedValues> Added;
  Result.Uncertain = At.Uncertain;
  Result.Everything = At.Unbounded;
  for (LoadedValues &Load : At.Loads)
    if (Load.Values.size() > 1 && isAdded(At, Load, Uses) &&
        At.Offset.add(Linear::variable(Load.Var), -Load.Factor))
      Added.push_back(std::move(Load));
  if (Result.Everything)
    return Result;
  Result = RefinedImage(At.System, At.Offset, int64_t(A.Width),
                        Limits.MaxRanges, Limits.MergeGap)
               .compute();
  Result.Uncertain = At.Uncertain;
  Result.Exact &= At.CountsLoops && At.Loads.empty();
  // Small steps fill the gaps of large ones.
  std::ranges::sort(Added, {}, [](const LoadedValues &Load) {
    return Load.Factor < 0 ? -Wide(Load.Factor) : Wide(Load.Factor);
  });
  for (LoadedValues &Load : Added)
    if (!Result.Everything)
      Multiples(Result, Load.Factor, Limits).add(std::move(Load.Values));
  return Result;
}

/// The loads that are worth cases: first those of the offset.
std::vector<std::vector<LoadedCase>> casesOf(const Evaluated &At,
                                             const LoadUses &Uses) {
  std::vector<std::vector<LoadedCase>> Cases(1);
  for (const bool OfOffset : {true, false}) {
    const size_t Most =
        OfOffset ? MostLoadedCases
                 : std::min(MostLoadedCases, Cases.size() * MostOfCondition);
    for (const LoadedValues &Load : At.Loads)
      if ((Uses.of(Load.Node) != LoadUse::None) == OfOffset &&
          Load.Values.size() > 1 &&
          !(OfOffset ? isAdded(At, Load, Uses)
                     : isBoundOneWay(At.System, Load)))
        addCases(Cases, Load, Most);
  }
  return Cases;
}

} // namespace

AccessBytes evaluateAccess(const EvalInput &In, const AccessRecord &A,
                           const EvalLimits &Limits) {
  Evaluated At = evaluateOnce(In, A, Limits.MergeGap);
  if (At.Loads.empty() || At.System.Empty)
    return bytesOf(std::move(At), A, Limits, LoadUses());
  const LoadUses Uses(In.Exprs, At.Unbounded ? NoIndex : A.Offset);
  const std::vector<std::vector<LoadedCase>> Cases = casesOf(At, Uses);
  const bool Uncertain = At.Uncertain;
  if (Cases.size() == 1)
    return bytesOf(std::move(At), A, Limits, Uses);
  AccessBytes Result;
  Result.Uncertain = Uncertain;
  for (const std::vector<LoadedCase> &Case : Cases) {
    EvalInput Under = In;
    Under.Cases = Case.data();
    Under.NumCases = Case.size();
    const AccessBytes Bytes =
        bytesOf(evaluateOnce(Under, A, Limits.MergeGap), A, Limits, Uses);
    Result.Everything |= Bytes.Everything;
    Result.Ranges.insert(Result.Ranges.end(), Bytes.Ranges.begin(),
                         Bytes.Ranges.end());
  }
  return Result;
}

} // namespace detail
} // namespace dragon
