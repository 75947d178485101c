//===- Arenas.cpp - small allocations share chunks ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Arenas.h"

namespace dragon {

namespace {

constexpr size_t Alignment = 512; ///< as cudaMalloc's

/// What an allocation takes of its arena: it and a gap.
size_t spaceOf(size_t bytes) {
  return (bytes + Alignment) / Alignment * Alignment;
}

} // namespace

std::optional<std::pair<uintptr_t, Buffer *>>
Arenas::take(size_t bytes, bool hostAccessible) {
  const size_t space = spaceOf(bytes);
  for (const auto &[hole, arena] : Holes) {
    const uintptr_t base = hole.lower();
    if (hole.upper() - base < space || arena->hostAccessible != hostAccessible)
      continue;
    const std::pair taken(base, arena);
    Holes.erase(HalfOpen<uintptr_t>(base, base + space));
    return taken;
  }
  return std::nullopt;
}

void Arenas::add(Buffer &arena) {
  arena.arena = true;
  Holes.set({{arena.base, arena.base + arena.bytes}, &arena});
}

bool Arenas::give(uintptr_t base, size_t bytes, Buffer &arena) {
  Holes.set({{base, base + spaceOf(bytes)}, &arena});
  const HalfOpen<uintptr_t> all(arena.base, arena.base + arena.bytes);
  if (Holes.find(base)->first != all)
    return false;
  Holes.erase(all);
  return true;
}

} // namespace dragon
