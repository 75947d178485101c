//===- ByteSets.cpp - sets of bytes as ranges -------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/FootprintEval.h"

#include <algorithm>
#include <vector>

namespace dragon {

void normalize(ByteSet &Set, size_t MaxRanges) {
  if (Set.Everything) {
    Set.Ranges.clear();
    return;
  }
  std::vector<ByteRange> &R = Set.Ranges;
  auto before = [](const ByteRange &A, const ByteRange &B) {
    return A.Begin < B.Begin;
  };
  if (!std::is_sorted(R.begin(), R.end(), before))
    std::sort(R.begin(), R.end(), before);
  size_t N = 0;
  for (const ByteRange &Range : R) {
    if (Range.Begin >= Range.End)
      continue;
    if (N != 0 && Range.Begin <= R[N - 1].End)
      R[N - 1].End = std::max(R[N - 1].End, Range.End);
    else
      R[N++] = Range;
  }
  R.resize(N);
  MaxRanges = std::max<size_t>(MaxRanges, 1);
  if (N <= MaxRanges)
    return;
  // The smallest gaps are filled.
  std::vector<uint64_t> Gaps;
  for (size_t I = 1; I < N; ++I)
    Gaps.push_back(uint64_t(R[I].Begin) - uint64_t(R[I - 1].End));
  size_t Fill = N - MaxRanges;
  std::vector<uint64_t> Sorted = Gaps;
  std::nth_element(Sorted.begin(), Sorted.begin() + ptrdiff_t(Fill - 1),
                   Sorted.end());
  uint64_t Largest = Sorted[Fill - 1];
  size_t Out = 0;
  for (size_t I = 1; I < N; ++I) {
    if (Gaps[I - 1] <= Largest)
      R[Out].End = R[I].End;
    else
      R[++Out] = R[I];
  }
  R.resize(Out + 1);
}

void unite(ByteSet &Into, const ByteSet &Other) {
  Into.Everything |= Other.Everything;
  if (!Into.Everything) {
    std::vector<ByteRange> Both(Into.Ranges.size() + Other.Ranges.size());
    std::merge(Into.Ranges.begin(), Into.Ranges.end(), Other.Ranges.begin(),
               Other.Ranges.end(), Both.begin(),
               [](const ByteRange &A, const ByteRange &B) {
                 return A.Begin < B.Begin;
               });
    Into.Ranges = std::move(Both);
  }
  normalize(Into, SIZE_MAX);
}

namespace {

/// The first range that ends after Begin.
std::vector<ByteRange>::const_iterator firstBeyond(const ByteSet &Set,
                                                   int64_t Begin) {
  return std::upper_bound(
      Set.Ranges.begin(), Set.Ranges.end(), Begin,
      [](int64_t B, const ByteRange &R) { return B < R.End; });
}

} // namespace

bool covers(const ByteSet &Set, ByteRange Range) {
  if (Set.Everything || Range.Begin >= Range.End)
    return true;
  auto It = firstBeyond(Set, Range.Begin);
  return It != Set.Ranges.end() && It->Begin <= Range.Begin &&
         Range.End <= It->End;
}

bool intersects(const ByteSet &Set, ByteRange Range) {
  if (Range.Begin >= Range.End)
    return false;
  if (Set.Everything)
    return true;
  auto It = firstBeyond(Set, Range.Begin);
  return It != Set.Ranges.end() && It->Begin < Range.End;
}

ByteSet subtract(const ByteSet &Set, const ByteSet &Other) {
  ByteSet Result;
  if (Other.Everything)
    return Result;
  if (Set.Everything) {
    Result.Everything = true;
    return Result;
  }
  auto Cut = Other.Ranges.begin();
  for (ByteRange R : Set.Ranges) {
    while (Cut != Other.Ranges.end() && Cut->End <= R.Begin)
      ++Cut;
    for (auto C = Cut; C != Other.Ranges.end() && C->Begin < R.End; ++C) {
      if (R.Begin < C->Begin)
        Result.Ranges.push_back({R.Begin, C->Begin});
      R.Begin = std::max(R.Begin, C->End);
    }
    if (R.Begin < R.End)
      Result.Ranges.push_back(R);
  }
  return Result;
}

} // namespace dragon
