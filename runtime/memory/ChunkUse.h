//===- ChunkUse.h - what work does to a chunk -------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The unit of a footprint, from its evaluation (launch/LaunchFootprint.h) to
// the moves that make it accessible (Residency.h). Copies and library calls
// describe what they do in the same words.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_CHUNKUSE_H
#define DRAGON_RUNTIME_MEMORY_CHUNKUSE_H

#include "runtime/memory/Buffer.h"
#include "runtime/memory/ChunkPart.h"
#include "runtime/memory/ResidencyPolicy.h"

namespace dragon {

struct ChunkUse {
  Chunk *chunk;
  LaunchNeed need;
  ChunkPart touched;   ///< nothing outside is
  ChunkPart written;   ///< all that may be; empty for Read
  bool atomic = false; ///< known to be updated atomically
  /// Data say what is touched (launch/IndexArrays.h). The next time it may be
  /// another part of the chunk or another one: the rest need not come.
  bool partly = false;

  bool mayWrite() const { return need != LaunchNeed::Read; }
  /// All of its used bytes, before any read.
  bool mustWrite() const { return need == LaunchNeed::Overwrite; }
};

/// The work may touch all of the chunk.
inline ChunkUse useOfAll(Chunk &chunk, LaunchNeed need) {
  const ChunkPart whole = chunk.whole();
  return {&chunk, need, whole, need == LaunchNeed::Read ? ChunkPart() : whole};
}

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_CHUNKUSE_H
