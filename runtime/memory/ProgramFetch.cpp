//===- ProgramFetch.cpp - chunks that come from the program's memory ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ProgramFetch.h"

#include "runtime/tier/ProtectedMemory.h"
#include "runtime/trace/Trace.h"

#include <vector>

namespace dragon {

namespace {

/// From where the pieces of chunks come, and where they go.
std::vector<StagedCopies::Range>
rangesOf(std::span<Chunk *const> chunks,
         const ProtectedMemory::Reading &memory) {
  std::vector<StagedCopies::Range> ranges;
  for (const Chunk *chunk : chunks)
    for (const Piece &piece : chunk->storage.pieces())
      memory.forParts(uintptr_t(piece.offset), piece.end - piece.begin,
                      [&](size_t done, const void *from, size_t bytes) {
                        ranges.push_back({chunk->va() + piece.begin + done,
                                          static_cast<const char *>(from),
                                          bytes});
                      });
  return ranges;
}

} // namespace

StatusOr<bool> ProgramFetch::copy(std::span<Chunk *const> chunks, Cause cause) {
  TraceZone zone("copy of the program's memory");
  size_t bytes = 0;
  for (const Chunk *chunk : chunks)
    for (const Piece &piece : chunk->storage.pieces())
      bytes += piece.end - piece.begin;
  zone.add(bytes);
  StagedCopies *staged = nullptr;
  if (Ctx.caps().asynchronous) {
    if (!Stage)
      Stage.emplace(Ctx, Slabs, Ctx.copyIn, Ctx.copyIn, SIZE_MAX,
                    /*pageable=*/true);
    staged = Stage->forRun(bytes);
    if (!staged) {
      Stage.reset(); // the next ones may find memory
      return false;
    }
  }
  for (const Chunk *chunk : chunks)
    if (Ctx.config.poison && !chunk->storage.covers(0, chunk->used()))
      DRAGON_TRY(Ctx.device->poison(chunk->va(), chunk->bytes(), Ctx.copyIn));
  // Nothing but copies is made meanwhile: who stores to the memory waits.
  const ProtectedMemory::Reading asItWas;
  const std::vector<StagedCopies::Range> ranges = rangesOf(chunks, asItWas);
  if (staged)
    DRAGON_TRY(staged->toDevice(ranges));
  else
    for (const StagedCopies::Range &range : ranges)
      DRAGON_TRY(Ctx.device->copy(reinterpret_cast<void *>(range.to),
                                  range.from, range.bytes,
                                  CopyKind::HostToDevice, Ctx.copyIn));
  Ctx.ledger.moved(Direction::HostToDevice, cause, bytes);
  return true;
}

Status ProgramFetch::release() {
  Status status = Stage ? Stage->finish() : Status();
  Stage.reset();
  return status;
}

} // namespace dragon
