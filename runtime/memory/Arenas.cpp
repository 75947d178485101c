//===- Arenas.cpp - small allocations share chunks ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Arenas.h"

#include <algorithm>
#include <iterator>

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
  auto hole = std::find_if(Holes.begin(), Holes.end(), [&](const auto &entry) {
    return entry.second.bytes >= space &&
           entry.second.arena->hostAccessible == hostAccessible;
  });
  if (hole == Holes.end())
    return std::nullopt;
  const uintptr_t base = hole->first;
  const Hole rest = hole->second;
  Holes.erase(hole);
  if (rest.bytes > space)
    Holes.emplace(base + space, Hole{rest.arena, rest.bytes - space});
  return std::pair(base, rest.arena);
}

void Arenas::add(Buffer &arena) {
  arena.arena = true;
  Holes.emplace(arena.base, Hole{&arena, arena.bytes});
}

bool Arenas::give(uintptr_t base, size_t bytes, Buffer &arena) {
  auto hole = Holes.emplace(base, Hole{&arena, spaceOf(bytes)}).first;
  auto joins = [&](auto first, auto second) {
    return first->second.arena == second->second.arena &&
           first->first + first->second.bytes == second->first;
  };
  if (auto next = std::next(hole); next != Holes.end() && joins(hole, next)) {
    hole->second.bytes += next->second.bytes;
    Holes.erase(next);
  }
  if (hole != Holes.begin())
    if (auto previous = std::prev(hole); joins(previous, hole)) {
      previous->second.bytes += hole->second.bytes;
      Holes.erase(hole);
      hole = previous;
    }
  if (hole->second.bytes < arena.bytes)
    return false;
  Holes.erase(hole);
  return true;
}

} // namespace dragon
