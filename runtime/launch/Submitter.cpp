//===- Submitter.cpp - blocks go to the device ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Submitter.h"

namespace dragon {

/// The copy for buffers that do not overlap can run in the kernel's place.
static bool mayRunRestricted(const ResolvedLaunch &launch,
                             const LaunchRequest &request) {
  const KernelInfo &kernel = *launch.kernel;
  return kernel.restricted && !launch.cooperative && request.isWholeGrid() &&
         threadsOfBlock(launch) <= kernel.mostThreadsRestricted &&
         launch.onDistinctAllocations();
}

Status Submitter::run(const ResolvedLaunch &launch, const Submission &part) {
  LaunchRequest request = requestOf(launch, part.box);
  request.queue = part.queue;
  if (part.kernel) {
    request.kernel = const_cast<KernelHandle *>(part.kernel);
    request.args = const_cast<void **>(part.args.data());
    request.numArgs = uint32_t(part.args.size());
    request.argSizes = nullptr;
  } else if (mayRunRestricted(launch, request)) {
    request.kernel = const_cast<KernelHandle *>(&*launch.kernel->restricted);
  }
  request.programmatic = part.inPlace && launch.programmatic;
  request.touched = part.touched;
  request.touchesAnything = part.anything;
  if (Ctx.watcher) {
    std::vector<AddressRange> remote;
    for (const Chunk *chunk : Slabs.Chunks)
      if (chunk->hostMapped)
        remote.push_back({chunk->va(), chunk->usedEnd()});
    ObservedBlocks blocks;
    if (Ctx.watcher->wantsFootprints())
      blocks = announced(launch, Space.Allocations, part.box);
    Ctx.watcher->blocksRun(blocks, remote);
  }
  DRAGON_TRY(Ctx.device->launch(request));
  ++Taken;
  if (Space.NumDriverMoved)
    Hints.noteLaunch();
  return {};
}

} // namespace dragon
