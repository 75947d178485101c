//===- CountedLoops.h - loops over arrays of buffers ---------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An array of buffers is one buffer of the program that stands for several; a
// use of it may say which, by an index: a number that does not change, or the
// counter of a loop, each plus or minus a constant:
//
//   for l = 0 up to n:         multiply tested-write(output[l])
//   for l = n - 1 down to 0:   im2col read(output[l-1])
//
// Numbers have no values here, so two are only in order if they are the same
// one plus different constants.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_COUNTEDLOOPS_H
#define DRAGON_PASSES_PLACEMENT_COUNTEDLOOPS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace dragon {

/// Equal ones: equal at run time, wherever they stand. 0: the number 0.
using NumberId = unsigned;

struct Bound {
  NumberId Base = 0;
  int64_t Plus = 0;
  Bound plus(int64_t More) const { return {Base, Plus + More}; }
  bool operator==(const Bound &Other) const {
    return Base == Other.Base && Plus == Other.Plus;
  }
  /// Nothing if that is not known.
  std::optional<int64_t> minus(const Bound &Other) const {
    if (Base != Other.Base)
      return std::nullopt;
    return Plus - Other.Plus;
  }
  bool surelyLess(const Bound &Other) const {
    return minus(Other).value_or(0) < 0;
  }
  bool surelyAtMost(const Bound &Other) const {
    return minus(Other).value_or(1) <= 0;
  }
};

/// An element of an array.
struct ElementIndex {
  /// Of the program's loops: its counter plus At.Plus. -1: At.
  int Loop = -1;
  Bound At;
  bool operator==(const ElementIndex &Other) const {
    return Loop == Other.Loop && At == Other.At;
  }
};

/// A loop whose counter is First in the first iteration and Step, 1 or -1, more
/// in each of the others, as long as it is in front of End. It is left from its
/// header when it comes to End, and only then.
struct CountedLoop {
  std::string Name;
  unsigned Header = 0; ///< a block
  int Step = 1;
  Bound First, End;
  /// Edges on which it is left in an iteration that is known.
  struct Exit {
    unsigned From, To;
    Bound At;
  };
  llvm::SmallVector<Exit, 1> Exits;
};

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_COUNTEDLOOPS_H
