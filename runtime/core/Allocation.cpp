//===- Allocation.cpp - buffers, arenas, addresses ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A large allocation is a buffer of its own. Small ones share arenas of one
// chunk, first fit, so that a program with thousands of them does not fill the
// budget with 2 MiB each; not on strict devices, which watch buffers apart.
//
// No allocation begins where another one ends: kernels are given pointers to
// ends (to walk backwards, as iterators), and these must not be taken for the
// next buffer's beginning.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/HostRanges.h"
#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>

namespace dragon {

namespace {

constexpr size_t SmallShare = 8;       ///< of an arena: at most this is small
constexpr size_t SmallAlignment = 512; ///< as cudaMalloc's
/// So many small allocations that the host may touch have chunks of their own:
/// each moves alone, with the few bytes that it has, when host and device touch
/// it in turns. Programs with many of them (a node each) would run out of
/// device memory.
constexpr size_t OwnChunks = 4;

size_t roundUp(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// What a small allocation takes of its arena: it and a gap.
size_t smallSpace(size_t bytes) { return roundUp(bytes + 1, SmallAlignment); }

/// It gets a part of an arena, which is as large as what the device can map.
bool isSmall(size_t bytes, const DeviceCaps &caps) {
  return bytes <= caps.granularity / SmallShare;
}

} // namespace

StatusOr<uintptr_t> Runtime::Impl::allocate(size_t bytes,
                                            const AllocateOptions &options) {
  if (bytes == 0)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "allocation of 0 bytes");
  if (bytes > (size_t(1) << 46))
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "allocation of {}: more than there are addresses",
                         formatBytes(bytes));
  if (isSmall(bytes, Dev->caps()) && !Dev->caps().strict &&
      (!options.hostAccessible || sharesChunks(options)))
    return allocateSmall(bytes, options);
  const std::string name =
      options.where && options.where->buffer ? options.where->buffer : "";
  DRAGON_ASSIGN(Buffer * buffer, makeBuffer(bytes, options.flags,
                                            options.hostAccessible, &name));
  Allocations.insert({buffer->base, bytes, options.flags,
                      options.hostAccessible, name, buffer});
  return buffer->base;
}

/// Of a small allocation that the host may touch: there are many.
bool Runtime::Impl::sharesChunks(const AllocateOptions &options) const {
  if (options.flags || Dev->caps().migrates)
    return false; // a driver moves pages
  size_t number = 0;
  for (const std::unique_ptr<Buffer> &buffer : Buffers)
    if (buffer->hostAccessible && isSmall(buffer->bytes, Dev->caps()) &&
        ++number == OwnChunks)
      return true;
  return false;
}

StatusOr<uintptr_t>
Runtime::Impl::allocateSmall(size_t bytes, const AllocateOptions &options) {
  size_t space = smallSpace(bytes);
  auto hole = std::find_if(Holes.begin(), Holes.end(), [&](const auto &entry) {
    return entry.second.bytes >= space &&
           entry.second.arena->hostAccessible == options.hostAccessible;
  });
  if (hole == Holes.end()) {
    DRAGON_ASSIGN(Buffer * arena, makeBuffer(Dev->caps().granularity, 0,
                                             options.hostAccessible));
    arena->arena = true;
    hole = Holes.emplace(arena->base, Hole{arena, arena->bytes}).first;
  }
  uintptr_t base = hole->first;
  Hole rest = hole->second;
  Buffer *arena = rest.arena;
  Holes.erase(hole);
  rest.bytes -= space;
  if (rest.bytes)
    Holes.emplace(base + space, rest);
  if (Config.poison && arena->chunkAt(base).deviceValid)
    DRAGON_TRY(Dev->poison(base, bytes, nullptr));
  Allocations.insert(
      {base, bytes, options.flags, options.hostAccessible,
       options.where && options.where->buffer ? options.where->buffer : "",
       arena});
  return base;
}

StatusOr<Buffer *> Runtime::Impl::makeBuffer(size_t bytes, unsigned flags,
                                             bool hostAccessible,
                                             const std::string *name) {
  auto buffer = std::make_unique<Buffer>();
  size_t unit = Dev->caps().granularity;
  buffer->number = ++NumBuffersMade;
  buffer->bytes = bytes;
  buffer->vaBytes = roundUp(bytes, unit);
  buffer->chunkBytes = std::min<size_t>(Limits.chunkBytes, buffer->vaBytes);
  buffer->flags = flags;
  buffer->hostAccessible = hostAccessible;
  DRAGON_ASSIGN(buffer->base, Dev->reserve(buffer->vaBytes + unit));
  if (name)
    Dev->describe(buffer->base, bytes, *name);
  buffer->makeChunks();
  Buffers.push_back(std::move(buffer));
  Buffer &made = *Buffers.back();
  if (Dev->caps().migrates && hostAccessible) {
    leaveToDriver(made);
    return &made;
  }
  LiveBytes += made.vaBytes;
  expectHostMemory();
  if (hostAccessible)
    HostRanges::add(made.base, made.base + made.vaBytes);
  // Hints: nothing is wrong without them.
  const AddressRange range{made.base, made.base + made.vaBytes};
  Dev->advise(range,
              flags == D_READ ? Advice::ReadMostly : Advice::PreferDevice)
      .ignore();
  if (Status status = mapEagerly(made); !status.ok()) {
    destroyBuffer(made).ignore();
    return status;
  }
  return &made;
}

void Runtime::Impl::expectHostMemory() {
  // Where nothing is asynchronous host memory costs nothing to make.
  if (!Dev->caps().asynchronous)
    return;
  const uint64_t budget = DevicePool.budget();
  HostPool.expect(Limits.chunkBytes,
                  LiveBytes > budget ? LiveBytes - budget + Limits.transitBytes
                                     : 0);
}

Status Runtime::Impl::mapEagerly(Buffer &buffer) {
  // The host touches its buffers first as often as not; and what is over the
  // budget finds its place when it is used.
  if (buffer.hostAccessible || !DevicePool.hasRoom(buffer.vaBytes))
    return {};
  for (Chunk &chunk : buffer.chunks) {
    Status status = mapDevice(chunk);
    if (status.code() == DRAGON_ERROR_OUT_OF_MEMORY)
      return {}; // somebody else uses the device: later, then
    DRAGON_TRY(std::move(status));
    if (Config.poison)
      DRAGON_TRY(Dev->poison(chunk.va(), chunk.bytes(), CopyIn));
  }
  if (Config.poison)
    DRAGON_TRY(Dev->synchronize(CopyIn));
  return {};
}

Status Runtime::Impl::free(uintptr_t base) {
  Allocation *found = Allocations.find(base);
  if (!found || found->base != base)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "free: {:#x} is not the start of a buffer", base);
  Buffer &buffer = *found->buffer;
  size_t bytes = found->bytes;
  if (!buffer.arena) {
    Status synced;
    // What the driver writes it has written when the range is gone.
    const std::shared_ptr<BackingFile> driverFile =
        buffer.flags & D_WRITE ? buffer.driverFile : nullptr;
    if ((buffer.flags & D_WRITE) && !(buffer.flags & D_VOLATILE))
      synced = sync(buffer);
    // Out of the books whatever happened: the program will not ask again.
    Allocations.erase(base);
    Status destroyed = destroyBuffer(buffer);
    if (driverFile && destroyed.ok())
      destroyed = driverFile->syncData();
    return synced.ok() ? std::move(destroyed) : std::move(synced);
  }
  DRAGON_TRY(settle(buffer.chunkAt(base)));
  Allocations.erase(base);
  size_t space = smallSpace(bytes);
  auto hole = Holes.emplace(base, Hole{&buffer, space}).first;
  auto next = std::next(hole);
  if (next != Holes.end() && next->second.arena == &buffer &&
      hole->first + hole->second.bytes == next->first) {
    hole->second.bytes += next->second.bytes;
    Holes.erase(next);
  }
  if (hole != Holes.begin()) {
    auto previous = std::prev(hole);
    if (previous->second.arena == &buffer &&
        previous->first + previous->second.bytes == hole->first) {
      previous->second.bytes += hole->second.bytes;
      Holes.erase(hole);
      hole = previous;
    }
  }
  if (hole->second.bytes < buffer.bytes)
    return {};
  Holes.erase(hole);
  return destroyBuffer(buffer);
}

Status Runtime::Impl::destroyBuffer(Buffer &buffer) {
  Status first;
  auto keep = [&first](Status status) {
    if (first.ok())
      first = std::move(status);
  };
  for (Chunk &chunk : buffer.chunks) {
    if (chunk.device.id || chunk.host.id)
      keep(settle(chunk));
    if (chunk.device.id && !buffer.driverMoved)
      keep(releaseDevice(chunk));
    if (chunk.host.id)
      keep(releaseHost(chunk));
    dropReading(chunk);
    dropStorage(chunk);
  }
  keep(abandonSinks(buffer, [](const Sink &) { return true; }));
  if (buffer.hostAccessible && !buffer.driverMoved)
    HostRanges::remove(buffer.base, buffer.base + buffer.vaBytes);
  keep(Dev->release(buffer.base, buffer.vaBytes + Dev->caps().granularity));
  if (buffer.driverMoved)
    --NumDriverMoved;
  else
    LiveBytes -= buffer.vaBytes;
  std::erase_if(Dying, [&](Chunk *chunk) { return chunk->buffer == &buffer; });
  expectHostMemory();
  // Chunks whose memory could not be unmapped are in no list any more.
  for (Chunk &chunk : buffer.chunks) {
    listDevice(chunk, false);
    listHost(chunk, false);
  }
  Buffers.remove_if([&buffer](const std::unique_ptr<Buffer> &other) {
    return other.get() == &buffer;
  });
  return first;
}

} // namespace dragon
