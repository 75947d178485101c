//===- Contents.cpp - what becomes of contents that change ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Contents.h"

#include <algorithm>
#include <utility>

namespace dragon {

void Contents::define(Chunk &chunk, ChunkPart part) const {
  if (!Time.Tracking) // launches do not say what they write
    chunk.defined = chunk.whole();
  else
    chunk.defined = hull(chunk.defined, part);
}

uint64_t Contents::remember(AddressRange range) {
  if (Remembered.size() == MaxRemembered)
    Remembered.erase(Remembered.begin());
  Remembered.push_back({range, ++LastNumber});
  return LastNumber;
}

bool Contents::isUnchanged(uint64_t remembered) const {
  return Time.Tracking && std::ranges::binary_search(Remembered, remembered, {},
                                                     &Memory::number);
}

void Contents::changed(AddressRange range) {
  std::erase_if(Remembered, [range](const Memory &memory) {
    return memory.range.begin < range.end && range.begin < memory.range.end;
  });
}

void Contents::wroteInPlace(Buffer &buffer) {
  ++buffer.writes;
  changed({buffer.base, buffer.end()});
}

Status Contents::wroteDevice(Chunk &chunk, ChunkPart part) {
  ++chunk.buffer->writes;
  changed({chunk.va() + part.begin, chunk.va() + part.end});
  chunk.discardedDirty = false;
  chunk.transit.copiedAhead = false;
  if (!chunk.copies.device) // what was defined did not come
    chunk.defined = {};
  define(chunk, part);
  if (chunk.copies.onDeviceOnly())
    return {};
  // The host slab stays: the next eviction will want it.
  chunk.buffer->note(chunk, ChunkEvent::WrittenOnDevice);
  dropStorage(chunk);
  return {};
}

Status Contents::wroteHost(Chunk &chunk, ChunkPart part) {
  ++chunk.buffer->writes;
  changed({chunk.va() + part.begin, chunk.va() + part.end});
  chunk.discardedDirty = false;
  if (!chunk.copies.host) // as above
    chunk.defined = {};
  define(chunk, part);
  dropStorage(chunk);
  chunk.buffer->note(chunk, ChunkEvent::WrittenOnHost);
  return {};
}

void Contents::wroteStorage(Chunk &chunk, ChunkPart part) {
  ++chunk.buffer->writes;
  changed({chunk.va() + part.begin, chunk.va() + part.end});
  chunk.discardedDirty = false;
}

Status Contents::forget(Chunk &chunk) {
  changed({chunk.va(), chunk.usedEnd()});
  // The host must fault to see what comes next.
  DRAGON_TRY(Host.unmap(chunk));
  if (!chunk.copies.storage && Time.Tracking)
    chunk.discardedDirty = true;
  chunk.buffer->note(chunk, ChunkEvent::Ended);
  dropStorage(chunk);
  chunk.defined = {};
  return {};
}

void Contents::forgetLater(Chunk &chunk, uint64_t clock) {
  if (!chunk.deadSince)
    Dead.push_back(&chunk);
  chunk.deadSince = clock;
}

Status Contents::forgetDead() {
  for (Chunk *chunk : std::exchange(Dead, {})) {
    const uint64_t since = std::exchange(chunk->deadSince, 0);
    const Buffer &buffer = *chunk->buffer;
    if (since > std::max(chunk->lastTouch, buffer.lastTouch) && !buffer.kept &&
        !chunk->holds.calls)
      DRAGON_TRY(forget(*chunk));
  }
  return {};
}

void Contents::noMore(const Buffer &buffer) {
  std::erase_if(Dead, [&](Chunk *chunk) { return chunk->buffer == &buffer; });
  changed({buffer.base, buffer.end()});
}

void Contents::adoptMapped(Buffer &buffer) {
  if (Time.Tracking || buffer.allOnDevice() || buffer.hostAccessible ||
      buffer.driverMoved)
    return;
  for (Chunk &chunk : buffer.chunks)
    if (chunk.device.id && !chunk.copies.inMemory() &&
        chunk.storage.kind() == Stored::Undefined)
      buffer.note(chunk, ChunkEvent::ReachedDevice);
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
