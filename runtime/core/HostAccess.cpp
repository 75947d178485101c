//===- HostAccess.cpp - the host touches a buffer -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAGON's way: a chunk is where it was touched last. A fault of the host
// brings the chunk to pinned host memory, mapped at the chunk's address; the
// next work on the device that needs it brings it back. Once mapped, what the
// host writes cannot be seen, so the contents count as dirty from then on.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

namespace dragon {

bool Runtime::Impl::onFault(void *context, uintptr_t address, bool) {
  auto &impl = *static_cast<Impl *>(context);
  // A fault of our own while the lock is held, or of a signal's handler while
  // it is waited for: nothing can be moved now.
  if (lockedByThisThread())
    return false;
  Status status;
  {
    Guard guard(impl);
    if (impl.Closed)
      return false;
    Allocation *found = impl.Allocations.find(address);
    if (!found || !found->hostAccessible)
      return false;
    status = impl.hostAccess(address);
  }
  if (!status.ok()) {
    detail::printLine(
        fmt::format("host access to {:#x}: {}", address, status.message()));
    return false;
  }
  return true;
}

Status Runtime::Impl::hostAccess(uintptr_t address) {
  TraceZone zone("host access");
  Chunk &chunk = Allocations.find(address)->buffer->chunkAt(address);
  if (chunk.hostMapped)
    return {}; // another thread was faster
  ++Clock;
  ++Round;
  Bytes.count(Counter::HostFaults);
  DRAGON_TRY(bringToHost(chunk, LaunchNeed::Write, Cause::HostAccess));
  DRAGON_TRY(mapOnHost(chunk));
  if (Watcher) {
    // What it does to the chunk from now on cannot be seen.
    const AddressRange range{chunk.va(), chunk.usedEnd()};
    Watcher->hostRead(range, HostAccess::Fault, chunk.host.hostView);
    Watcher->hostWrote(range, HostAccess::Fault, nullptr);
  }
  return wroteHost(chunk);
}

} // namespace dragon
