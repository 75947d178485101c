//===- Contents.cpp - what becomes of contents that change ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Contents.h"

namespace dragon {

void Contents::define(Chunk &chunk, ChunkPart part) const {
  if (!Time.Tracking) // launches do not say what they write
    chunk.defined = chunk.whole();
  else
    chunk.defined = hull(chunk.defined, part);
}

Status Contents::wroteDevice(Chunk &chunk, ChunkPart part) {
  chunk.discardedDirty = false;
  chunk.copiedAhead = false;
  define(chunk, part);
  if (chunk.deviceValid && !chunk.hostValid && !chunk.storageValid)
    return {};
  dropStorage(chunk);
  // The host slab stays: the next eviction will want it.
  chunk.buffer->setValid(chunk, true, false, false);
  return {};
}

Status Contents::wroteHost(Chunk &chunk, ChunkPart part) {
  chunk.discardedDirty = false;
  define(chunk, part);
  dropStorage(chunk);
  chunk.buffer->setValid(chunk, false, true, false);
  return {};
}

Status Contents::forget(Chunk &chunk) {
  // The host must fault to see what comes next.
  DRAGON_TRY(Host.unmap(chunk));
  if (!chunk.storageValid && Time.Tracking)
    chunk.discardedDirty = true;
  dropStorage(chunk);
  chunk.defined = {};
  chunk.buffer->setValid(chunk, false, false, true);
  return {};
}

void Contents::dropStorage(Chunk &chunk) {
  Writes.callOff(chunk);
  Store.release(chunk);
}

void Contents::leaveStorage(Chunk &chunk) {
  dropStorage(chunk);
  chunk.buffer->setValid(chunk, chunk.deviceValid, chunk.hostValid, false);
}

} // namespace dragon
