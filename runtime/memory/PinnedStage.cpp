//===- PinnedStage.cpp - pinned blocks for a copy -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/PinnedStage.h"

namespace dragon {

PinnedStage::PinnedStage(Context &context, HostSlabs &slabs, Queue queue,
                         Queue through, size_t bytes, bool pageable)
    : Ctx(context), Slabs(slabs), Copies(*context.device, queue, through),
      Wanted(pageable && context.caps().asynchronous &&
             bytes >= StagedCopies::MinimumBytes),
      Held(slabs.Pool) {}

StagedCopies *PinnedStage::forRun(size_t bytes) {
  if (Wanted && bytes >= StagedCopies::LeastBytes && !Held.bytes())
    Wanted = takeSlabs();
  return Wanted && bytes >= StagedCopies::LeastBytes ? &Copies : nullptr;
}

Status PinnedStage::finish() {
  Status status = Copies.finish();
  Held.giveBack();
  return status;
}

bool PinnedStage::takeSlabs() {
  const uint64_t each = Ctx.limits.chunkBytes;
  const uint64_t most =
      StagedCopies::bytesOfSlabs(each, Ctx.limits.transitBytes);
  if (most < StagedCopies::LeastBytes || !Slabs.recycleTransit(false).ok())
    return false;
  while (Held.bytes() < most) {
    auto slab = Held.take(each);
    if (!slab.ok() || !Copies.addMemory(*slab).ok())
      break;
  }
  // Small chunks hold no block.
  if (Copies.threads() >= StagedCopies::LeastThreads)
    return true;
  finish().ignore();
  return false;
}

} // namespace dragon
