//===- LoadedCases.h - what loads give, case by case ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index that is loaded is one of a few numbers, if the array is known. With
//
//   weights[ids[blockIdx.y] * size + i]      ids: 2, 5, 2
//
// the bytes are those of the experts 2 and 5, and nothing of what lies between.
// Where the offset is a multiple of the number plus a rest, as here, the bytes
// of the rest are found once and added to each multiple. Elsewhere, as in
// `x[ids[i] / 4]`, or where conditions bind the number to other variables, the
// access is evaluated once for each number; for many numbers once for each
// stretch of them, cut where the gaps are largest.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_LOADEDCASES_H
#define DRAGON_DETAIL_LOADEDCASES_H

#include "dragon/NumberZones.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dragon {
namespace detail {

/// The values that a load (a node) may give: in ascending, disjoint ranges.
struct LoadedValues {
  uint32_t Node;
  std::vector<NumberRange> Values;
  uint32_t Var = 0;   ///< that stands for it
  int64_t Factor = 0; ///< by which the offset multiplies it
};

/// Joins what no more than `Gap` bytes of the offset lie between: those will be
/// taken in any case.
inline void joinClose(LoadedValues &Load, int64_t Gap) {
  if (Load.Factor == 0 || Gap <= 0)
    return;
  const uint64_t Most =
      uint64_t(Gap) /
      (Load.Factor < 0 ? -uint64_t(Load.Factor) : uint64_t(Load.Factor));
  std::vector<NumberRange> Joined;
  for (const NumberRange &Range : Load.Values)
    if (!Joined.empty() &&
        uint64_t(Range.Lo) - uint64_t(Joined.back().Hi) <= Most)
      Joined.back().Hi = Range.Hi;
    else
      Joined.push_back(Range);
  Load.Values = std::move(Joined);
}

/// The load gives something in [Lo, Hi].
struct LoadedCase {
  uint32_t Node;
  int64_t Lo, Hi;
};

/// So many cases of an access are told apart.
constexpr size_t MostLoadedCases = 64;

/// A load that only conditions ask for is told apart in so many: of their
/// combinations, a part makes the access happen or not, and moves nothing.
constexpr size_t MostOfCondition = 8;

/// Of a long array so many ranges are told apart.
constexpr size_t MostLoadedRanges = 16;

/// At most `Most` (1 or more) stretches that hold all values.
inline std::vector<LoadedCase> stretchesOf(const LoadedValues &Load,
                                           size_t Most) {
  std::vector<NumberRange> Ranges = Load.Values;
  joinRanges(Ranges, Most);
  std::vector<LoadedCase> Stretches;
  Stretches.reserve(Ranges.size());
  for (const NumberRange &Range : Ranges)
    Stretches.push_back({Load.Node, Range.Lo, Range.Hi});
  return Stretches;
}

/// Each case with each of the stretches of what the load may give; at most
/// `Most` cases, or as many as there are.
inline void addCases(std::vector<std::vector<LoadedCase>> &Cases,
                     const LoadedValues &Load, size_t Most) {
  const std::vector<LoadedCase> Stretches =
      stretchesOf(Load, std::max<size_t>(Most / Cases.size(), 1));
  std::vector<std::vector<LoadedCase>> Combined;
  for (const std::vector<LoadedCase> &Case : Cases)
    for (const LoadedCase &Stretch : Stretches) {
      Combined.push_back(Case);
      Combined.back().push_back(Stretch);
    }
  Cases = std::move(Combined);
}

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_LOADEDCASES_H
