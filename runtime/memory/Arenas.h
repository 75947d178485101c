//===- Arenas.h - small allocations share chunks ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First fit in arenas of one chunk, so that a program with thousands of small
// allocations does not fill the budget with 2 MiB each. No allocation begins
// where another one ends: kernels are given pointers to ends (to walk
// backwards, as iterators), and these must not be taken for the next buffer's
// beginning.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_ARENAS_H
#define DRAGON_RUNTIME_MEMORY_ARENAS_H

#include "runtime/base/Intervals.h"
#include "runtime/memory/Buffer.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace dragon {

class Arenas {
public:
  /// A place in one of the arenas, those that the host may touch or others;
  /// none: a new one must be added.
  std::optional<std::pair<uintptr_t, Buffer *>> take(size_t bytes,
                                                     bool hostAccessible);
  void add(Buffer &arena);
  /// True: nothing is left in the arena, which is no longer in the books.
  bool give(uintptr_t base, size_t bytes, Buffer &arena);

private:
  IntervalMap<uintptr_t, Buffer *> Holes; ///< free space, and of which arena
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_ARENAS_H
