//===- PinnedStage.cpp - pinned blocks for a copy -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/PinnedStage.h"

#include <algorithm>

namespace dragon {

PinnedStage::PinnedStage(Context &context, HostSlabs &slabs, Queue queue,
                         Queue through, size_t bytes, bool pageable)
    : Ctx(context), Slabs(slabs), Copies(*context.device, queue, through),
      Wanted(pageable && context.caps().asynchronous &&
             bytes >= StagedCopies::MinimumBytes) {}

StagedCopies *PinnedStage::forRun(size_t bytes) {
  if (Wanted && bytes >= StagedCopies::LeastBytes && Held.empty())
    Wanted = takeSlabs();
  return Wanted && bytes >= StagedCopies::LeastBytes ? &Copies : nullptr;
}

Status PinnedStage::finish() {
  Status status = Copies.finish();
  for (const Physical &slab : Held) {
    Slabs.Pool.lend(-int64_t(slab.bytes));
    Slabs.Pool.give(slab);
  }
  Held.clear();
  return status;
}

bool PinnedStage::takeSlabs() {
  const uint64_t each = Ctx.limits.chunkBytes;
  const uint64_t most =
      StagedCopies::bytesOfSlabs(each, Ctx.limits.transitBytes);
  if (most < StagedCopies::LeastBytes || !Slabs.recycleTransit(false).ok())
    return false;
  uint64_t bytes = 0;
  while (bytes < most) {
    auto slab = Slabs.Pool.take(each);
    if (!slab.ok())
      break;
    Held.push_back(*slab);
    Slabs.Pool.lend(int64_t(each));
    if (!Copies.addMemory(*slab).ok())
      break;
    bytes += each;
  }
  // Small chunks hold no block.
  if (Copies.threads() >= StagedCopies::LeastThreads)
    return true;
  finish().ignore();
  return false;
}

} // namespace dragon
