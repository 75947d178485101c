//===- ProgramFetch.cpp - chunks that come from the program's memory ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ProgramFetch.h"

#include "runtime/base/PinnedRanges.h"
#include "runtime/tier/HeldMemory.h"
#include "runtime/tier/ProtectedMemory.h"
#include "runtime/trace/Trace.h"

#include <algorithm>

namespace dragon {

/// As it was when the program's copy was called. Who stores to it meanwhile
/// waits.
void ProgramFetch::OfProgram::read(char *to, uintptr_t from, size_t bytes) {
  ProtectedMemory::Reading().copy(to, from, bytes);
}

size_t ProgramFetch::OfProgram::pinnedBytes(uintptr_t from, size_t bytes) {
  const PinnedRanges &pinned = PinnedRanges::get();
  if (!pinned.holds(from))
    return Pinned.bytesFrom(from, bytes);
  return pinned.onlyRead(from, from + bytes) ? bytes : 0;
}

bool ProgramFetch::OfProgram::hold(uintptr_t from, size_t bytes) {
  return PinnedRanges::get().holds(from)
             ? ProtectedMemory::get().hold(from, from + bytes)
             : Pinned.hold(from, from + bytes);
}

void ProgramFetch::OfProgram::letGo(uintptr_t from, size_t bytes) {
  HeldMemory::get().letGo(from, from + bytes);
}

/// The more there are the better, but nobody waits until they are made.
bool ProgramFetch::hasBlocks() {
  // Memory of usual chunks may be there. Small ones hold no blocks.
  const uint64_t usual = Ctx.limits.chunkBytes;
  const uint64_t each = std::max<uint64_t>(
      usual, StagedFetches::BlocksPerThread * StagedFetches::BlockBytes);
  const uint64_t most =
      StagedCopies::bytesOfSlabs(each, Ctx.limits.transitBytes);
  if (!Copies)
    Copies.emplace(*Ctx.device, Ctx.copyIn, From);
  if (!Held.bytes() &&
      (most < StagedCopies::LeastBytes || !Slabs.recycleTransit(false).ok()))
    return false;
  while (Held.bytes() < most &&
         (Copies->threads() < StagedCopies::LeastThreads || each != usual ||
          Slabs.Pool.isReady(each))) {
    auto slab = Held.take(each);
    if (!slab.ok() || !Copies->addMemory(*slab).ok())
      break;
  }
  return Copies->threads() >= StagedCopies::LeastThreads;
}

StatusOr<std::optional<uint64_t>>
ProgramFetch::start(std::span<Chunk *const> chunks, Cause cause) {
  using Result = std::optional<uint64_t>;
  TraceZone zone("copy of the program's memory");
  const bool byThreads = Ctx.caps().asynchronous;
  if (byThreads && !hasBlocks()) {
    DRAGON_TRY(release()); // the next ones may find memory
    return Result();
  }
  std::vector<StagedFetches::Range> ranges;
  size_t bytes = 0;
  for (const Chunk *chunk : chunks) {
    if (Ctx.config.poison && !chunk->storage.covers(0, chunk->used()))
      DRAGON_TRY(Ctx.device->poison(chunk->va(), chunk->bytes(), Ctx.copyIn));
    for (const Piece &piece : chunk->storage.pieces()) {
      ranges.push_back({chunk->va() + piece.begin, uintptr_t(piece.offset),
                        piece.end - piece.begin});
      bytes += piece.end - piece.begin;
    }
  }
  zone.add(bytes);
  uint64_t batch = 0;
  if (byThreads && Copies) {
    batch = Copies->start(ranges);
    Open.push_back({batch, {chunks.begin(), chunks.end()}});
  } else {
    const ProtectedMemory::Reading asItWas;
    Status status;
    for (const StagedFetches::Range &range : ranges)
      asItWas.forParts(range.from, range.bytes,
                       [&](size_t done, const void *from, size_t part) {
                         if (status.ok())
                           status = Ctx.device->copy(
                               reinterpret_cast<void *>(range.to + done), from,
                               part, CopyKind::HostToDevice, Ctx.copyIn);
                       });
    DRAGON_TRY(std::move(status));
  }
  Ctx.ledger.moved(Direction::HostToDevice, cause, bytes);
  return Result(batch);
}

bool ProgramFetch::isQueued(uint64_t batch) {
  return !Copies || Copies->isQueued(batch);
}

Status ProgramFetch::awaitQueued(uint64_t batch) {
  if (!Copies)
    return {};
  Status first;
  for (; !Open.empty() && Open.front().number <= batch; Open.pop_front()) {
    Status status = Copies->finish(Open.front().number);
    if (status.ok())
      continue;
    for (Chunk *chunk : Open.front().chunks)
      if (chunk->copies.device)
        chunk->buffer->note(*chunk, ChunkEvent::LeftDevice);
    if (first.ok())
      first = std::move(status);
  }
  return first;
}

Status ProgramFetch::release() {
  Status status = Copies ? Copies->stop() : Status();
  Copies.reset();
  Open.clear();
  Held.giveBack();
  return status;
}

} // namespace dragon
