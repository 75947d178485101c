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
  chunk.transit.copiedAhead = false;
  define(chunk, part);
  if (chunk.copies.onDeviceOnly())
    return {};
  // The host slab stays: the next eviction will want it.
  chunk.buffer->note(chunk, ChunkEvent::WrittenOnDevice);
  dropStorage(chunk);
  return {};
}

Status Contents::wroteHost(Chunk &chunk, ChunkPart part) {
  chunk.discardedDirty = false;
  define(chunk, part);
  dropStorage(chunk);
  chunk.buffer->note(chunk, ChunkEvent::WrittenOnHost);
  return {};
}

Status Contents::forget(Chunk &chunk) {
  // The host must fault to see what comes next.
  DRAGON_TRY(Host.unmap(chunk));
  if (!chunk.copies.storage && Time.Tracking)
    chunk.discardedDirty = true;
  chunk.buffer->note(chunk, ChunkEvent::Ended);
  dropStorage(chunk);
  chunk.defined = {};
  return {};
}

void Contents::dropStorage(Chunk &chunk) {
  Writes.callOff(chunk);
  Store.release(chunk);
}

void Contents::leaveStorage(Chunk &chunk) {
  dropStorage(chunk);
  chunk.buffer->note(chunk, ChunkEvent::LeftStorage);
}

} // namespace dragon
