//===- Buffer.cpp - address ranges and the chunks in them -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Buffer.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

namespace dragon {

std::string Buffer::label() const {
  return name.empty() ? fmt::format("buffer at {:#x}", base) : name;
}

uintptr_t Buffer::endOfComplete(uintptr_t end) const {
  const Chunk &last = chunks[(end - 1 - base) / chunkBytes];
  return end < last.usedEnd() && !last.copies.device &&
                 last.storage.endsAt(end - last.va())
             ? last.va()
             : end;
}

void Buffer::makeChunks() {
  chunks.resize((vaBytes + chunkBytes - 1) / chunkBytes);
  for (size_t i = 0; i < chunks.size(); ++i) {
    chunks[i].buffer = this;
    chunks[i].index = uint32_t(i);
  }
}

void Buffer::note(Chunk &chunk, ChunkEvent event) {
  const std::optional<Copies> then = after(chunk.copies, event);
  assert(then && "the last copy of the contents would be lost");
  numOnDevice -= chunk.copies.device;
  numDeviceOnly -= chunk.copies.onDeviceOnly();
  chunk.copies = then.value_or(Copies());
  const bool same =
      event == ChunkEvent::ReachedHost || event == ChunkEvent::LeftHost ||
      event == ChunkEvent::Stored || event == ChunkEvent::LeftStorage;
  if (!same && !chunk.partly.empty())
    chunk.partly.clear();
  numOnDevice += chunk.copies.device;
  numDeviceOnly += chunk.copies.onDeviceOnly();
}

Sink *Buffer::sinkFor(const Chunk &chunk) {
  for (Sink &sink : sinks)
    if (sink.begin <= chunk.va() && chunk.usedEnd() <= sink.end)
      return &sink;
  return nullptr;
}

void Buffer::noteBacking(const BackingFile &file, uintptr_t address,
                         int64_t offset) {
  BackingLine line{file.deviceId(), file.inode(), offset - int64_t(address)};
  for (const BackingLine &known : lines)
    if (known.deviceId == line.deviceId && known.inode == line.inode &&
        known.delta == line.delta)
      return;
  lines.push_back(line);
}

ChunkPart Chunk::partOf(uintptr_t begin, uintptr_t end) const {
  begin = std::max(begin, va());
  end = std::min(end, usedEnd());
  return begin < end ? ChunkPart{begin - va(), end - va()} : ChunkPart();
}

ChunkState stateOf(const Chunk &chunk) {
  ChunkState state;
  state.onDevice = chunk.copies.device;
  state.onHost = chunk.copies.host;
  state.stored = chunk.copies.storage ? chunk.storage.kind() : Stored::Stale;
  state.hasSink = chunk.buffer->sinkFor(chunk) != nullptr;
  state.readOnly =
      (chunk.buffer->flags & (D_READ | D_WRITE | D_VOLATILE)) == D_READ;
  return state;
}

} // namespace dragon
