//===- ChunkPart.h - bytes of a chunk ---------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_CHUNKPART_H
#define DRAGON_RUNTIME_MEMORY_CHUNKPART_H

#include <algorithm>
#include <cstddef>

namespace dragon {

/// Bytes of a chunk: [begin, end).
struct ChunkPart {
  size_t begin = 0;
  size_t end = 0;
  bool empty() const { return begin >= end; }
  size_t bytes() const { return empty() ? 0 : end - begin; }
  bool operator==(const ChunkPart &) const = default;
};

inline bool intersects(ChunkPart a, ChunkPart b) {
  return std::max(a.begin, b.begin) < std::min(a.end, b.end);
}

/// What lies between them as well.
inline ChunkPart hull(ChunkPart a, ChunkPart b) {
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_CHUNKPART_H
