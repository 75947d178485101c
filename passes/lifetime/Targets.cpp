//===- Targets.cpp - sets of addresses in objects -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <iterator>
#include <numeric>

using namespace llvm;

namespace dragon {

TargetSet::TargetSet(ArrayRef<Target> Targets)
    : Sorted(Targets.begin(), Targets.end()) {
  std::sort(Sorted.begin(), Sorted.end());
  Sorted.erase(llvm::unique(Sorted), Sorted.end());
}

bool TargetSet::insert(const Target &T) {
  auto *At = lower_bound(Sorted, T);
  if (At != Sorted.end() && *At == T)
    return false;
  Sorted.insert(At, T);
  return true;
}

bool TargetSet::insert(const TargetSet &Targets) {
  if (std::includes(begin(), end(), Targets.begin(), Targets.end()))
    return false;
  SmallVector<Target, 2> Both;
  std::set_union(begin(), end(), Targets.begin(), Targets.end(),
                 std::back_inserter(Both));
  Sorted = std::move(Both);
  return true;
}

bool TargetSet::count(const Target &T) const {
  return std::binary_search(begin(), end(), T);
}

Place Place::plus(int64_t Bytes) const {
  if (anywhere())
    return *this;
  if (Stride)
    return {((Offset + Bytes) % Stride + Stride) % Stride, Stride};
  return {Offset + Bytes, 0};
}

Place Place::plusMultiples(int64_t Bytes) const {
  if (anywhere())
    return *this;
  const int64_t Common = std::gcd(Stride, Bytes);
  if (Common < 8) // a pointer fills it
    return {};
  return {(Offset % Common + Common) % Common, Common};
}

bool Place::mayBe(const Place &Other) const {
  if (anywhere() || Other.anywhere())
    return true;
  if (!Stride && !Other.Stride)
    return Offset == Other.Offset;
  const int64_t Common = std::gcd(Stride, Other.Stride);
  return (Offset - Other.Offset) % Common == 0;
}

} // namespace dragon
