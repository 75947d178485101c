//===- LastUses.cpp - contents that nobody needs behind a launch ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LastUses.h"

#include <algorithm>

namespace dragon {

uintptr_t endOf(const LastUse &use, uintptr_t base, size_t bytes) {
  return use.address + std::min<size_t>(use.bytes, base + bytes - use.address);
}

std::vector<AddressRange> LastUses::dyingOf(const LaunchCall &call) const {
  std::vector<AddressRange> dying;
  for (const LastUse &use : call.lastUses)
    if (Allocation *found = Space.Allocations.find(use.address);
        found && !found->buffer->arena && !found->buffer->kept)
      dying.push_back({use.address, endOf(use, found->base, found->bytes)});
  return dying;
}

void LastUses::tell(const LaunchCall &call) const {
  for (const LastUse &use : call.lastUses)
    if (const Allocation *found =
            Ctx.watcher ? Space.Allocations.find(use.address) : nullptr)
      Ctx.watcher->discarded(
          {{use.address, endOf(use, found->base, found->bytes)},
           call.number,
           use.why});
}

bool LastUses::canWait(const LaunchCall &call) const {
  return std::all_of(
      call.lastUses.begin(), call.lastUses.end(), [&](const LastUse &use) {
        const Allocation *found = Space.Allocations.find(use.address);
        return !found || Discarded.canWait(*found->buffer);
      });
}

Status LastUses::end(const LaunchCall &call) {
  tell(call);
  for (const LastUse &use : call.lastUses)
    DRAGON_TRY(end(use, call.queue, [](const Chunk &) { return false; }));
  return {};
}

Status LastUses::end(const LastUse &use, Queue queue,
                     const std::function<bool(const Chunk &)> &except) {
  Allocation *found = Space.Allocations.find(use.address);
  if (!found)
    return {};
  Buffer &buffer = *found->buffer;
  const uintptr_t last = endOf(use, found->base, found->bytes);
  for (uintptr_t begin = use.address; begin < last;) {
    // As many chunks as die, then one that does not.
    uintptr_t stop = begin;
    while (stop < last && !except(buffer.chunkAt(stop)))
      stop = buffer.chunkAt(stop).va() + buffer.chunkAt(stop).bytes();
    // To the driver a discard is worth its time where memory is short.
    if (stop = std::min(stop, last);
        stop > begin &&
        (!buffer.driverMoved || Ctx.config.managedOversubscribe))
      DRAGON_TRY(Discarded.range(begin, stop - begin, queue, use.eager));
    if (stop < last)
      stop = buffer.chunkAt(stop).va() + buffer.chunkAt(stop).bytes();
    begin = stop;
  }
  return {};
}

} // namespace dragon
