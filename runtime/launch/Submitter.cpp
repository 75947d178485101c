//===- Submitter.cpp - blocks go to the device ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Submitter.h"

namespace dragon {

Status Submitter::run(const LaunchCall &call, const BlockBox &box,
                      std::span<const AddressRange> touched, bool anything,
                      const KernelHandle *handle) {
  LaunchRequest request = requestOf(call, box);
  if (handle)
    request.kernel = const_cast<KernelHandle *>(handle);
  request.touched = touched;
  request.touchesAnything = anything;
  if (Ctx.watcher) {
    std::vector<AddressRange> remote;
    for (const Chunk *chunk : Slabs.Chunks)
      if (chunk->hostMapped)
        remote.push_back({chunk->va(), chunk->usedEnd()});
    ObservedBlocks blocks;
    if (Ctx.watcher->wantsFootprints())
      blocks = announced(call, pointersOf(call, Space.Allocations),
                         Space.Allocations, box);
    Ctx.watcher->blocksRun(blocks, remote);
  }
  DRAGON_TRY(Ctx.device->launch(request));
  if (Space.NumDriverMoved)
    Hints.noteLaunch();
  return {};
}

} // namespace dragon
