//===- Targets.h - sets of addresses in objects -----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An address, for the analysis of aliases: the number of an object and a place
// in it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_TARGETS_H
#define DRAGON_PASSES_LIFETIME_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <initializer_list>

namespace dragon {

/// Where in an object: at Offset, or at Offset plus any multiple of Stride (the
/// same field of some element of an array of structures), or anywhere.
struct Place {
  static constexpr int64_t AnyOffset = INT64_MIN;
  int64_t Offset = AnyOffset;
  int64_t Stride = 0;

  bool anywhere() const { return Offset == AnyOffset; }
  bool exact() const { return !anywhere() && Stride == 0; }
  /// So many bytes further on.
  Place plus(int64_t Bytes) const;
  /// Any multiple of so many bytes further on or back.
  Place plusMultiples(int64_t Bytes) const;
  bool mayBe(const Place &Other) const;
  bool operator==(const Place &Other) const {
    return Offset == Other.Offset && Stride == Other.Stride;
  }
  bool operator<(const Place &Other) const {
    return Offset != Other.Offset ? Offset < Other.Offset
                                  : Stride < Other.Stride;
  }
};

/// An address in an object.
struct Target {
  unsigned Object;
  Place At;
  Target(unsigned Object, Place At) : Object(Object), At(At) {}
  Target(unsigned Object, int64_t Offset) : Object(Object), At{Offset, 0} {}
  static constexpr int64_t AnyOffset = Place::AnyOffset;
  bool operator==(const Target &Other) const {
    return Object == Other.Object && At == Other.At;
  }
  bool operator<(const Target &Other) const {
    return Object != Other.Object ? Object < Other.Object : At < Other.At;
  }
};

/// Addresses, in order.
class TargetSet {
public:
  TargetSet() = default;
  TargetSet(std::initializer_list<Target> Targets)
      : TargetSet(llvm::ArrayRef<Target>(Targets)) {}
  explicit TargetSet(llvm::ArrayRef<Target> Targets);
  /// Returns true if the set grew.
  bool insert(const Target &T);
  bool insert(const TargetSet &Targets);
  bool count(const Target &T) const;
  size_t size() const { return Sorted.size(); }
  bool empty() const { return Sorted.empty(); }
  const Target *begin() const { return Sorted.begin(); }
  const Target *end() const { return Sorted.end(); }
  bool operator==(const TargetSet &Other) const {
    return Sorted == Other.Sorted;
  }
  bool operator!=(const TargetSet &Other) const { return !(*this == Other); }

private:
  llvm::SmallVector<Target, 2> Sorted;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_TARGETS_H
