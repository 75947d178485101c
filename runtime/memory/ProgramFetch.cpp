//===- ProgramFetch.cpp - chunks that come from the program's memory ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ProgramFetch.h"

#include "runtime/trace/Trace.h"

#include <vector>

namespace dragon {

StatusOr<bool> ProgramFetch::copy(std::span<Chunk *const> chunks, Cause cause) {
  TraceZone zone("copy of the program's memory");
  std::vector<StagedCopies::Range> ranges;
  size_t bytes = 0;
  for (const Chunk *chunk : chunks)
    for (const Piece &piece : chunk->storage.pieces()) {
      ranges.push_back({chunk->va() + piece.begin,
                        reinterpret_cast<const char *>(piece.offset),
                        piece.end - piece.begin});
      bytes += ranges.back().bytes;
    }
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
