//===- Discards.cpp - contents that the program says are dead -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Discards.h"

#include <algorithm>

namespace dragon {

Status Discards::whole(Chunk &chunk, Queue queue) {
  if (chunk.holds.calls)
    return {}; // a hint, as below
  DRAGON_TRY(Data.forget(chunk));
  if (Ctx.config.poison && chunk.device.id)
    return Ctx.device->poison(chunk.va(), chunk.bytes(), queue);
  return {};
}

bool Discards::canWait(const Buffer &buffer) const {
  return !OnDevice.mayMove() && !Ctx.config.poison && !buffer.hostAccessible &&
         !buffer.driverMoved && !buffer.moving && buffer.allOnDevice();
}

/// Of chunks that are in it as a whole. The others would move with what is
/// alive in them.
void Discards::noteDead(Buffer &buffer, uintptr_t begin, uintptr_t end) {
  for (uintptr_t at = begin; at < end;) {
    Chunk &chunk = buffer.chunkAt(at);
    if (at == chunk.va() && end >= chunk.usedEnd())
      Data.forgetLater(chunk, Ctx.clock);
    at = chunk.va() + chunk.bytes();
  }
}

bool Discards::atOnce(Buffer &buffer, uintptr_t begin, uintptr_t end) {
  if (buffer.kept || !canWait(buffer))
    return false;
  ++Ctx.clock;
  noteDead(buffer, begin, end);
  return true;
}

Status Discards::range(uintptr_t address, size_t bytes, Queue queue,
                       bool eager) {
  DRAGON_TRY(Space.rangeOf(address, bytes, "discard").takeStatus());
  Buffer &buffer = *Space.Allocations.find(address)->buffer;
  if (buffer.driverMoved)
    return Driver.discard(buffer, {address, address + bytes}, queue);
  if (buffer.kept)
    return {}; // a hint; others may see the contents sooner than we think
  ++Ctx.clock;
  if (canWait(buffer)) {
    noteDead(buffer, address, address + bytes);
    return {};
  }
  Ctx.pins.next();
  for (uintptr_t at = address; at < address + bytes;) {
    Chunk &chunk = buffer.chunkAt(at);
    uintptr_t stop = std::min(address + bytes, chunk.va() + chunk.bytes());
    if (chunk.holds.calls) {
      at = stop;
      continue;
    }
    if (at == chunk.va() && stop >= chunk.usedEnd()) {
      DRAGON_TRY(whole(chunk, queue));
      if (eager)
        DRAGON_TRY(OnDevice.giveBack(chunk));
      at = stop;
      continue;
    }
    if (chunk.copies.storage) {
      // A part: worth it only where it saves a read.
      chunk.storage.erase(at - chunk.va(), stop - chunk.va());
      Store.releaseUnusedSlot(chunk);
    }
    if (chunk.copies.device || chunk.copies.host)
      DRAGON_TRY(part(chunk, chunk.partOf(at, stop), queue));
    at = stop;
  }
  return {};
}

Status Discards::part(Chunk &chunk, ChunkPart part, Queue queue) {
  if (part.empty() || chunk.defined.empty() || chunk.holds.calls)
    return {};
  // What is left must be in one piece.
  ChunkPart &defined = chunk.defined;
  if (part.begin <= defined.begin)
    defined.begin = std::max(defined.begin, part.end);
  else if (part.end >= defined.end)
    defined.end = std::min(defined.end, part.begin);
  if (defined.empty() && !chunk.copies.storage)
    return whole(chunk, queue);
  if (!Ctx.config.poison)
    return {};
  if (chunk.copies.host && !chunk.hostMapped && !chunk.transit.writing) {
    DRAGON_TRY(Time.settle(chunk)); // a copy out of it may be under way
    DRAGON_TRY(poisonSlab(*Ctx.device, chunk.host, part, queue));
  }
  return chunk.copies.device
             ? Ctx.device->poison(chunk.va() + part.begin, part.bytes(), queue)
             : Status();
}

} // namespace dragon
