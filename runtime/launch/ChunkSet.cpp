//===- ChunkSet.cpp - chunks of a launch's buffers ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/ChunkSet.h"

#include <algorithm>

namespace dragon {

void normalize(ChunkSet &set) {
  std::sort(set.begin(), set.end(),
            [](const ChunkInterval &a, const ChunkInterval &b) {
              return a.buffer != b.buffer ? a.buffer < b.buffer
                                          : a.begin < b.begin;
            });
  size_t n = 0;
  for (const ChunkInterval &interval : set) {
    if (interval.begin >= interval.end)
      continue;
    if (n && set[n - 1].buffer == interval.buffer &&
        interval.begin <= set[n - 1].end)
      set[n - 1].end = std::max(set[n - 1].end, interval.end);
    else
      set[n++] = interval;
  }
  set.resize(n);
}

ChunkSet intersection(const ChunkSet &a, const ChunkSet &b) {
  ChunkSet result;
  auto x = a.begin(), y = b.begin();
  while (x != a.end() && y != b.end()) {
    if (x->buffer != y->buffer) {
      ++(x->buffer < y->buffer ? x : y);
      continue;
    }
    uint32_t begin = std::max(x->begin, y->begin);
    uint32_t end = std::min(x->end, y->end);
    if (begin < end)
      result.push_back({x->buffer, begin, end});
    ++(x->end < y->end ? x : y);
  }
  return result;
}

ChunkSet difference(const ChunkSet &a, const ChunkSet &b) {
  ChunkSet result;
  auto cut = b.begin();
  for (ChunkInterval left : a) {
    while (cut != b.end() &&
           (cut->buffer < left.buffer ||
            (cut->buffer == left.buffer && cut->end <= left.begin)))
      ++cut;
    for (auto c = cut;
         c != b.end() && c->buffer == left.buffer && c->begin < left.end; ++c) {
      if (left.begin < c->begin)
        result.push_back({left.buffer, left.begin, c->begin});
      left.begin = std::max(left.begin, c->end);
    }
    if (left.begin < left.end)
      result.push_back(left);
  }
  return result;
}

uint64_t bytesOf(const ChunkSet &set, const std::vector<BufferShape> &shapes) {
  uint64_t bytes = 0;
  for (const ChunkInterval &interval : set) {
    const BufferShape &shape = shapes[interval.buffer];
    bytes += std::min(shape.bytes, interval.end * shape.chunkBytes) -
             std::min(shape.bytes, interval.begin * shape.chunkBytes);
  }
  return bytes;
}

} // namespace dragon
