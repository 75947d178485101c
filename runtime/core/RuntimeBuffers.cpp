//===- RuntimeBuffers.cpp - calls on buffers and their contents -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"

#include <algorithm>

namespace dragon {

/// Of longer copies more is to be gained by staging (PinnedStage.h).
static constexpr size_t MostInCoreBytes = 64 << 10;

StatusOr<uintptr_t> RuntimeBuffers::allocate(size_t bytes,
                                             const AllocateOptions &options) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  StatusOr<uintptr_t> base = State.Alloc.allocate(bytes, options);
  if (State.Ctx.watcher && base.ok())
    State.Ctx.watcher->allocated({{*base, *base + bytes},
                                  State.Space.Allocations.find(*base)->name,
                                  options.flags,
                                  options.hostAccessible,
                                  options.why});
  return base;
}

std::optional<BufferInfo> RuntimeBuffers::find(uintptr_t address) const {
  RuntimeImpl::StateGuard guard(State);
  const Allocation *found = State.Space.Allocations.find(address);
  if (!found)
    return std::nullopt;
  return BufferInfo{found->base,           found->bytes,
                    found->flags,          found->name,
                    found->hostAccessible, found->buffer->driverMoved};
}

void RuntimeBuffers::setStillWanted(StillWanted wanted, void *context) {
  RuntimeImpl::Guard guard(State);
  State.StillWanted = wanted;
  State.StillWantedContext = context;
}

/// Whoever wants it may want it no more, and release it, before we are back.
bool RuntimeBuffers::keepIfWanted(uintptr_t base, uintptr_t end) {
  StillWanted wanted;
  void *context;
  {
    RuntimeImpl::Guard guard(State);
    wanted = State.StillWanted;
    context = State.StillWantedContext;
    if (!wanted)
      return false;
    State.FreedButWanted.insert(base);
  }
  if (wanted(context, base, end))
    return true;
  RuntimeImpl::Guard guard(State);
  State.FreedButWanted.erase(base);
  return false;
}

/// As a free does that waits.
Status RuntimeBuffers::waitForWork(uintptr_t base) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  const Allocation *found = State.Space.Allocations.find(base);
  if (!found || !State.FreedButWanted.contains(base))
    return {};
  for (Chunk &chunk : found->buffer->chunks)
    if (chunk.device.id || chunk.host.id)
      DRAGON_TRY(State.Time.settle(chunk));
  return {};
}

/// With the lock. Who watches is told if the buffer, which ends at `end`, is
/// gone.
static Status freeNow(RuntimeImpl &impl, uintptr_t base, uintptr_t end,
                      QueueOrder order = std::nullopt) {
  DRAGON_TRY(impl.ready());
  Status status = impl.free(base, order);
  if (impl.Ctx.watcher && end > base && !impl.Space.Allocations.find(base))
    impl.Ctx.watcher->freed({base, end});
  return status;
}

Status RuntimeBuffers::release(uintptr_t base) {
  RuntimeImpl::Guard guard(State);
  if (!State.FreedButWanted.erase(base) || State.Closed)
    return {};
  const Allocation *found = State.Space.Allocations.find(base);
  return freeNow(State, base, found ? found->end() : base);
}

Status RuntimeBuffers::free(uintptr_t base, QueueOrder order) {
  uintptr_t end = base;
  bool mayBeWanted = false;
  {
    RuntimeImpl::StateGuard guard(State);
    if (const Allocation *found = State.Space.Allocations.find(base)) {
      end = found->end();
      // The file of a map is whole when the map ends.
      mayBeWanted =
          State.listener() && !found->buffer->hostAccessible &&
          std::none_of(found->buffer->sinks.begin(), found->buffer->sinks.end(),
                       [](const Sink &sink) { return sink.permanent; });
    }
  }
  if (mayBeWanted && keepIfWanted(base, end))
    return order ? Status() : waitForWork(base);
  State.tellListener(base, end);
  RuntimeImpl::Guard guard(State);
  return freeNow(State, base, end, order);
}

Status RuntimeBuffers::trim() {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  DRAGON_TRY(State.Alloc.trim());
  State.OnDevice.Pool.trim();
  return {};
}

/// Says to who watches what the host has copied to the buffer. Where the host
/// has the buffer mapped, it may change that without a fault.
static void tellCopiedIn(Observer &watcher, Buffer &buffer, AddressRange range,
                         const char *contents, HostAccess how) {
  for (uintptr_t at = range.begin; at < range.end;) {
    const bool mapped = buffer.chunkAt(at).hostMapped;
    uintptr_t end = at;
    while (end < range.end && buffer.chunkAt(end).hostMapped == mapped)
      end = buffer.chunkAt(end).va() + buffer.chunkAt(end).bytes();
    end = std::min(end, range.end);
    watcher.hostWrote({at, end}, how,
                      mapped ? nullptr : contents + (at - range.begin));
    at = end;
  }
}

bool RuntimeBuffers::isWatched() const { return State.Ctx.watcher != nullptr; }

bool RuntimeBuffers::isFollowed(uintptr_t address, size_t bytes) const {
  RuntimeImpl::StateGuard guard(State);
  return State.Copied.isFollowed({address, address + bytes});
}

Chunk *RuntimeBuffers::inCore(uintptr_t address, size_t bytes,
                              bool written) const {
  const Allocation *found = State.Space.Allocations.find(address);
  if (!found || bytes > found->end() - address || !State.usable().ok() ||
      State.Waves.anyAtAll() || State.Ctx.watcher || State.Time.Tracking ||
      State.Time.LastFetch || ProtectedMemory::get().hasSaved())
    return nullptr;
  Buffer &buffer = *found->buffer;
  Chunk &chunk = buffer.chunkAt(address);
  const bool isThere = written ? buffer.allDeviceOnly() : buffer.allOnDevice();
  return !isThere || buffer.moving || buffer.hostAccessible ||
                 buffer.driverMoved ||
                 bytes > chunk.va() + chunk.bytes() - address
             ? nullptr
             : &chunk;
}

Status RuntimeBuffers::noteInCore(Chunk &chunk, uintptr_t address, size_t bytes,
                                  bool read) {
  Buffer &buffer = *chunk.buffer;
  State.Waves.interrupt();
  buffer.lastTouch = ++State.Ctx.clock;
  buffer.lastUntracked = State.Time.Epoch;
  if (read)
    return {};
  State.Next.overwritten(address, address + bytes);
  return State.Data.wroteDevice(chunk, chunk.partOf(address, address + bytes));
}

std::optional<Status> RuntimeBuffers::transferInCore(void *to, const void *from,
                                                     size_t bytes,
                                                     CopyKind kind, Queue queue,
                                                     bool quiet) {
  const bool read = kind == CopyKind::DeviceToHost;
  auto buffer = reinterpret_cast<uintptr_t>(to);
  auto other = reinterpret_cast<uintptr_t>(from);
  if (read)
    std::swap(buffer, other);
  uint64_t number = 0;
  {
    RuntimeImpl::StateGuard guard(State);
    if (quiet && State.listener())
      return std::nullopt;
    Chunk *chunk = inCore(buffer, bytes, !read);
    if (!chunk || State.Space.Allocations.find(other))
      return std::nullopt;
    if (!read) // that has ended when this returns
      if (Status noted = noteInCore(*chunk, buffer, bytes, false); !noted.ok())
        return noted;
    number = chunk->buffer->number;
    ++chunk->holds.calls;
    State.Ctx.ledger.moved(read ? Direction::DeviceToHost
                                : Direction::HostToDevice,
                           Cause::Copy, bytes);
  }
  Status status = State.Ctx.device->copyAndWait(to, from, bytes, kind, queue);
  RuntimeImpl::StateGuard guard(State);
  const Allocation *found = State.Space.Allocations.find(buffer);
  if (found && found->buffer->number == number) // not freed meanwhile
    --found->buffer->chunkAt(buffer).holds.calls;
  return status;
}

std::optional<Status> RuntimeBuffers::copyInCore(uintptr_t to, uintptr_t from,
                                                 size_t bytes, Queue queue) {
  RuntimeImpl::StateGuard guard(State);
  Chunk *source = inCore(from, bytes, /*written=*/false);
  Chunk *target = source ? inCore(to, bytes, /*written=*/true) : nullptr;
  if (!target)
    return std::nullopt;
  if (Status noted = noteInCore(*source, from, bytes, /*read=*/true);
      !noted.ok())
    return noted;
  if (Status noted = noteInCore(*target, to, bytes, /*read=*/false);
      !noted.ok())
    return noted;
  State.Ctx.ledger.moved(Direction::DeviceToDevice, Cause::Copy, bytes);
  return State.Ctx.device->copy(reinterpret_cast<void *>(to),
                                reinterpret_cast<const void *>(from), bytes,
                                CopyKind::DeviceToDevice, queue);
}

std::optional<Status> RuntimeBuffers::fillInCore(uintptr_t to, uint32_t value,
                                                 unsigned width, size_t count,
                                                 Queue queue, bool quiet) {
  RuntimeImpl::StateGuard guard(State);
  if (quiet && State.listener())
    return std::nullopt;
  Chunk *chunk = inCore(to, count * width, /*written=*/true);
  if (!chunk)
    return std::nullopt;
  if (Status noted = noteInCore(*chunk, to, count * width, /*read=*/false);
      !noted.ok())
    return noted;
  return State.Ctx.device->fill(reinterpret_cast<void *>(to), value, width,
                                count, queue);
}

std::optional<Status> RuntimeBuffers::fillAtOnce(void *to, uint32_t value,
                                                 unsigned width, size_t count,
                                                 Queue queue) {
  return fillInCore(reinterpret_cast<uintptr_t>(to), value, width, count, queue,
                    /*quiet=*/true);
}

std::optional<Status> RuntimeBuffers::transferAtOnce(void *to, const void *from,
                                                     size_t bytes,
                                                     CopyKind kind,
                                                     Queue queue) {
  auto toAddress = reinterpret_cast<uintptr_t>(to);
  auto fromAddress = reinterpret_cast<uintptr_t>(from);
  if (bytes > MostInCoreBytes || HostRanges::any() ||
      State.Pinned.mayHold(toAddress, toAddress + bytes) ||
      State.Pinned.mayHold(fromAddress, fromAddress + bytes))
    return std::nullopt;
  return transferInCore(to, from, bytes, kind, queue, /*quiet=*/true);
}

std::optional<Status> RuntimeBuffers::discardAtOnce(uintptr_t address,
                                                    size_t bytes) {
  RuntimeImpl::StateGuard guard(State);
  if (State.listener() || State.Waves.anyAtAll() || State.Ctx.watcher ||
      !State.usable().ok())
    return std::nullopt;
  const Allocation *found = State.Space.Allocations.find(address);
  if (!found || bytes > found->end() - address ||
      !State.Discarded.atOnce(*found->buffer, address, address + bytes))
    return std::nullopt;
  return Status();
}

Status RuntimeBuffers::copy(void *to, const void *from, size_t bytes,
                            Queue queue, bool async, bool pageable,
                            bool mayBePinned, HostAccess how) {
  if (bytes == 0)
    return {};
  mayBePinned |= !pageable;
  uintptr_t toAddress = reinterpret_cast<uintptr_t>(to);
  uintptr_t fromAddress = reinterpret_cast<uintptr_t>(from);
  State.tellListener(toAddress, toAddress + bytes);
  State.unpin(toAddress, toAddress + bytes);
  State.unpin(fromAddress, fromAddress + bytes);
  if (!async && bytes <= MostInCoreBytes)
    for (CopyKind kind : {CopyKind::DeviceToHost, CopyKind::HostToDevice})
      if (std::optional<Status> done =
              transferInCore(to, from, bytes, kind, queue, /*quiet=*/false))
        return std::move(*done);
  if (std::optional<Status> done =
          copyInCore(toAddress, fromAddress, bytes, queue))
    return std::move(*done);
  bool wait = !async;
  {
    RuntimeImpl::Guard guard(State);
    DRAGON_TRY(State.ready());
    RuntimeImpl &impl = State;
    Allocation *target = impl.Space.Allocations.find(toAddress);
    Allocation *source = impl.Space.Allocations.find(fromAddress);
    if (target && toAddress + bytes > target->end())
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "copy of {} to {:#x}: buffer '{}' ends after {}",
                           formatBytes(bytes), toAddress, target->name,
                           formatBytes(target->end() - toAddress));
    if (source && fromAddress + bytes > source->end())
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "copy of {} from {:#x}: buffer '{}' ends after {}",
                           formatBytes(bytes), fromAddress, source->name,
                           formatBytes(source->end() - fromAddress));
    if (target)
      DRAGON_TRY(DriverMoved::checkWritable(*target->buffer, "copy"));
    if (target && source) {
      DRAGON_TRY(impl.Moves.between(*target->buffer, toAddress, *source->buffer,
                                    fromAddress, bytes, queue));
      wait = false; // the host's memory is not involved
      if (impl.Ctx.watcher)
        impl.Ctx.watcher->copied(toAddress, fromAddress, bytes);
    } else if (target) {
      DRAGON_TRY(impl.Moves.toBuffer(*target->buffer, toAddress,
                                     static_cast<const char *>(from), bytes,
                                     queue, {pageable, mayBePinned}));
      if (!mayBePinned) // what is queued cannot change it
        impl.Copied.copied(*target->buffer, {toAddress, toAddress + bytes},
                           static_cast<const char *>(from));
      if (impl.Ctx.watcher)
        tellCopiedIn(*impl.Ctx.watcher, *target->buffer,
                     {toAddress, toAddress + bytes},
                     static_cast<const char *>(from), how);
    } else if (source) {
      DRAGON_TRY(impl.Moves.fromBuffer(*source->buffer, static_cast<char *>(to),
                                       fromAddress, bytes, queue,
                                       {pageable, mayBePinned}));
      if (impl.Ctx.watcher)
        impl.Ctx.watcher->hostRead({fromAddress, fromAddress + bytes}, how, to);
    } else {
      DRAGON_TRY(
          impl.Ctx.device->copy(to, from, bytes, CopyKind::HostToHost, queue));
    }
  }
  return wait && State.Ctx.device->caps().asynchronous
             ? State.Ctx.device->synchronize(queue)
             : Status();
}

Status RuntimeBuffers::fill(void *to, uint32_t value, unsigned width,
                            size_t count, Queue queue) {
  uintptr_t address = reinterpret_cast<uintptr_t>(to);
  size_t bytes = count * width;
  if (bytes == 0)
    return {};
  State.tellListener(address, address + bytes);
  if (std::optional<Status> done =
          fillInCore(address, value, width, count, queue, /*quiet=*/false))
    return std::move(*done);
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  Allocation *target = State.Space.Allocations.find(address);
  if (!target)
    return State.Ctx.device->fill(to, value, width, count, queue);
  if (address + bytes > target->end())
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "fill of {} at {:#x}: buffer '{}' ends after {}",
                         formatBytes(bytes), address, target->name,
                         formatBytes(target->end() - address));
  DRAGON_TRY(DriverMoved::checkWritable(*target->buffer, "fill"));
  if (State.Ctx.watcher)
    State.Ctx.watcher->filled({address, address + bytes}, value, width);
  return State.Moves.fill(*target->buffer, address, value, width, count, queue);
}

Status RuntimeBuffers::clear(uintptr_t base, size_t bytes) {
  DRAGON_TRY(fill(reinterpret_cast<void *>(base), 0, 1, bytes, nullptr));
  if (!State.Ctx.device->caps().migrates)
    return {}; // who looks at it waits
  RuntimeImpl::Guard guard(State);
  return State.Time.synchronizeAll();
}

Status RuntimeBuffers::discard(uintptr_t address, size_t bytes, Queue queue,
                               bool eager, const dragon_reason *why) {
  if (bytes == 0)
    return {};
  State.tellListener(address, address + bytes);
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.usable());
  RuntimeImpl &impl = State;
  if (impl.Waves.any() && impl.Waves.queue() == queue) {
    DRAGON_TRY(impl.Space.rangeOf(address, bytes, "discard").takeStatus());
    impl.Waves.addLastUse({address, bytes, eager, why});
    return {};
  }
  DRAGON_TRY(impl.ready());
  DRAGON_TRY(impl.Discarded.range(address, bytes, queue, eager));
  if (impl.Ctx.watcher)
    impl.Ctx.watcher->discarded(
        {{address, address + bytes}, impl.Ctx.launches, why});
  return {};
}

StatusOr<DeviceMemory> RuntimeBuffers::memoryForProgram() {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  uint64_t swap = 0;
  if (auto file = State.Store.swapFile(); file.ok())
    swap = (*file)->available();
  // What lives in swap now is no longer available, and counts as used.
  uint64_t capacity =
      State.OnDevice.Pool.budget() +
      (State.Ctx.limits.hostBytes - State.Ctx.limits.transitBytes);
  uint64_t live = State.Space.LiveBytes;
  for (uintptr_t base : State.FreedButWanted)
    if (const Allocation *freed = State.Space.Allocations.find(base))
      live -= std::min<uint64_t>(live, freed->bytes);
  DeviceMemory memory;
  memory.free = (capacity > live ? capacity - live : 0) + swap;
  memory.total = live + memory.free;
  return memory;
}

MemoryInUse RuntimeBuffers::memoryInUse() const {
  RuntimeImpl::StateGuard guard(State);
  uint64_t swap = 0;
  for (const std::unique_ptr<Buffer> &buffer : State.Space.Buffers)
    for (const Chunk &chunk : buffer->chunks)
      swap += chunk.slot.bytes;
  return {State.OnDevice.Pool.used(), State.Slabs.Pool.used(), swap};
}

} // namespace dragon
