//===- LinearFootprints.h - what kernels touch, as a model ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boxes and the chunks that they touch, for what cuts grids: neither kernels
// nor buffers are there.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_LAUNCH_LINEARFOOTPRINTS_H
#define DRAGON_TEST_UNIT_SUPPORT_LAUNCH_LINEARFOOTPRINTS_H

#include "dragon/FootprintEval.h"
#include "runtime/launch/ChunkSet.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dragon::test {

/// A footprint that is linear in the box: bytes [lo * step, hi * step + halo)
/// of a buffer, per dimension; or all of it.
struct Access {
  uint32_t buffer;
  uint64_t step[3];
  uint64_t width;
  bool everything = false;
};

inline ChunkSet footprintOf(const std::vector<Access> &accesses,
                            const std::vector<BufferShape> &buffers,
                            const BlockBox &box) {
  ChunkSet set;
  for (const Access &access : accesses) {
    const BufferShape &shape = buffers[access.buffer];
    uint64_t begin = 0, last = 0;
    for (unsigned d = 0; d < 3; ++d) {
      begin += box.Lo[d] * access.step[d];
      last += (box.Hi[d] - 1) * access.step[d];
    }
    uint64_t end = std::min(last + access.width, shape.bytes);
    if (access.everything)
      begin = 0, end = shape.bytes;
    if (begin < end)
      set.push_back(
          {access.buffer, uint32_t(begin / shape.chunkBytes),
           uint32_t((end + shape.chunkBytes - 1) / shape.chunkBytes)});
  }
  normalize(set);
  return set;
}

inline uint64_t volume(const BlockBox &box) {
  uint64_t v = 1;
  for (unsigned d = 0; d < 3; ++d)
    v *= box.Hi[d] - box.Lo[d];
  return v;
}
inline bool overlap(const BlockBox &a, const BlockBox &b) {
  for (unsigned d = 0; d < 3; ++d)
    if (a.Lo[d] >= b.Hi[d] || b.Lo[d] >= a.Hi[d])
      return false;
  return true;
}

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_LAUNCH_LINEARFOOTPRINTS_H
