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
// So the access is evaluated once for each number; for many numbers once for
// each stretch of them, cut where the gaps are largest.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_LOADEDCASES_H
#define DRAGON_DETAIL_LOADEDCASES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace dragon {
namespace detail {

/// The values that a load (a node) may give: ascending, distinct.
struct LoadedValues {
  uint32_t Node;
  std::vector<int64_t> Values;
};

/// The load gives something in [Lo, Hi].
struct LoadedCase {
  uint32_t Node;
  int64_t Lo, Hi;
};

/// So many cases of an access are told apart.
constexpr size_t MostLoadedCases = 64;

/// The numbers of Bits (8 to 64) at First, First + Step, ... up to Last,
/// offsets into Contents; at First alone if Step is 0. Ascending, distinct.
inline std::vector<int64_t> valuesIn(const char *Contents, int64_t First,
                                     int64_t Last, int64_t Step,
                                     unsigned Bits) {
  std::vector<int64_t> Values;
  const unsigned Unused = 64 - Bits;
  for (int64_t At = First; At <= Last; At += Step) {
    uint64_t Raw = 0;
    std::memcpy(&Raw, Contents + At, Bits / 8);
    Values.push_back(int64_t(Raw << Unused) >> Unused);
    if (!Step)
      break;
  }
  std::sort(Values.begin(), Values.end());
  Values.erase(std::unique(Values.begin(), Values.end()), Values.end());
  return Values;
}

/// At most `Most` (1 or more) stretches that hold all values.
inline std::vector<LoadedCase> stretchesOf(const LoadedValues &Load,
                                           size_t Most) {
  const std::vector<int64_t> &Values = Load.Values;
  uint64_t Smallest = 0; // gaps of so much and less are no boundaries
  if (Values.size() > Most) {
    std::vector<uint64_t> Gaps;
    for (size_t I = 1; I < Values.size(); ++I)
      Gaps.push_back(uint64_t(Values[I]) - uint64_t(Values[I - 1]));
    std::nth_element(Gaps.begin(), Gaps.begin() + ptrdiff_t(Most - 1),
                     Gaps.end(), std::greater<>());
    Smallest = Gaps[Most - 1];
  }
  std::vector<LoadedCase> Stretches;
  for (size_t I = 0; I < Values.size(); ++I) {
    if (I && uint64_t(Values[I]) - uint64_t(Values[I - 1]) <= Smallest)
      Stretches.back().Hi = Values[I];
    else
      Stretches.push_back({Load.Node, Values[I], Values[I]});
  }
  return Stretches;
}

/// All combinations of what the loads may give; of more loads than the cases
/// allow, the last ones are not told apart.
inline std::vector<std::vector<LoadedCase>>
casesOf(const std::vector<LoadedValues> &Loads) {
  std::vector<std::vector<LoadedCase>> Cases(1);
  for (const LoadedValues &Load : Loads) {
    const std::vector<LoadedCase> Stretches =
        stretchesOf(Load, std::max<size_t>(MostLoadedCases / Cases.size(), 1));
    std::vector<std::vector<LoadedCase>> Combined;
    for (const std::vector<LoadedCase> &Case : Cases)
      for (const LoadedCase &Stretch : Stretches) {
        Combined.push_back(Case);
        Combined.back().push_back(Stretch);
      }
    Cases = std::move(Combined);
  }
  return Cases;
}

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_LOADEDCASES_H
