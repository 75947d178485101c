//===- PointerEnds.h - whether contents end by a pointer ------ -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer that is used by a pointer to one of several may die as what that
// pointer is, not as itself: which buffer that is depends on the path.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_POINTERENDS_H
#define DRAGON_PASSES_PLACEMENT_POINTERENDS_H

#include "passes/placement/ProgramFacts.h"

namespace dragon {

class PointerEnds {
public:
  explicit PointerEnds(const ProgramFacts &Facts) : Facts(Facts) {}

  /// Whether a discard of what the name is would be right, and of use.
  bool mayEndAt(NameId Name, EventRef At) const;
  /// Whether the buffer dies with the event as what a pointer points to, and is
  /// live by no other name in front of it.
  bool endsWith(unsigned B, EventRef At) const;

private:
  const ProgramFacts &Facts;
};

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_POINTERENDS_H
