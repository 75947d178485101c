//===- Pins.h - what the work at hand needs may not leave -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chunks are pinned for one round: the preparation of one slice, one copy or
// one fault. The next round begins with none.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_PINS_H
#define DRAGON_RUNTIME_MEMORY_PINS_H

#include "runtime/memory/Buffer.h"

#include <cstdint>

namespace dragon {

class Pins {
public:
  /// A round begins: nothing is pinned.
  void next() { ++Round; }
  void add(Chunk &chunk) const { chunk.holds.round = Round; }
  void set(Chunk &chunk, bool pinned) const {
    chunk.holds.round = pinned ? Round : 0;
  }
  bool has(const Chunk &chunk) const { return chunk.holds.round == Round; }
  /// The chunk may not leave device memory, or its host slab, for this reason
  /// or another.
  bool holdOnDevice(const Chunk &chunk) const {
    return has(chunk) || chunk.holds.calls || chunk.buffer->kept;
  }
  bool holdOnHost(const Chunk &chunk) const {
    return has(chunk) || chunk.holds.inTransit || chunk.holds.mapped;
  }

private:
  uint64_t Round = 1;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_PINS_H
