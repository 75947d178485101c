//===- HostFaults.cpp - the host touches a chunk --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostFaults.h"

#include "runtime/trace/Trace.h"

namespace dragon {

Status HostFaults::access(uintptr_t address) {
  TraceZone zone("host access");
  Chunk &chunk = Space.Allocations.find(address)->buffer->chunkAt(address);
  nameIn(zone, *chunk.buffer);
  if (chunk.hostMapped)
    return {}; // another thread was faster
  ++Ctx.clock;
  Ctx.pins.next();
  Ctx.ledger.count(Counter::HostFaults);
  if (!chunk.host.id)
    DRAGON_TRY(takeMappable(chunk));
  DRAGON_TRY(Resident.bringToHost(chunk, LaunchNeed::Write, Cause::HostAccess));
  DRAGON_TRY(Mapping.map(chunk));
  if (Ctx.watcher) {
    // What it does to the chunk from now on cannot be seen.
    const AddressRange range{chunk.va(), chunk.usedEnd()};
    Ctx.watcher->hostRead(range, HostAccess::Fault, chunk.host.hostView);
    Ctx.watcher->hostWrote(range, HostAccess::Fault, nullptr);
  }
  return Data.wroteHost(chunk);
}

Status HostFaults::takeMappable(Chunk &chunk) {
  Ctx.pins.add(chunk);
  auto slab = Slabs.stayingBytes() < 2 * chunk.bytes()
                  ? Host.takeTransit(chunk.bytes(), Place::Host)
                  : Host.take(chunk.bytes(), Place::Host);
  if (slab.ok()) {
    chunk.host = *slab;
    Slabs.list(chunk, true);
    return {};
  }
  // There may be memory of the other kind.
  Status failed = slab.takeStatus();
  if (failed.code() == DRAGON_ERROR_OUT_OF_MEMORY)
    return {};
  return failed;
}

} // namespace dragon
