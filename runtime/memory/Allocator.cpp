//===- Allocator.cpp - allocating and freeing buffers ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Allocator.h"

#include "runtime/base/HostRanges.h"
#include "runtime/base/Rounding.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <tuple>

namespace dragon {

namespace {

/// No allocation of the program: several share it.
constexpr const char *NameOfArena = "small buffers";
constexpr size_t SmallShare = 8; ///< of an arena: at most this is small
/// So many small allocations that the host may touch have chunks of their own:
/// each moves alone, with the few bytes that it has, when host and device touch
/// it in turns. Programs with many of them (a node each) would run out of
/// device memory.
constexpr size_t OwnChunks = 4;
/// Of small allocations that were freed before their work is done there are no
/// more than so many bytes, and no more than a part of the budget.
constexpr size_t MostEarly = size_t(32) << 20;
constexpr size_t MostEarlyShare = 8;

/// It gets a part of an arena, which is as large as what the device can map.
bool isSmall(size_t bytes, const DeviceCaps &caps) {
  return bytes <= caps.granularity / SmallShare;
}

} // namespace

StatusOr<uintptr_t> Allocator::allocate(size_t bytes,
                                        const AllocateOptions &options) {
  if (bytes == 0)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "allocation of 0 bytes");
  if (bytes > (size_t(1) << 46))
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "allocation of {}: more than there are addresses",
                         formatBytes(bytes));
  if (isSmall(bytes, Ctx.caps()) && !Ctx.caps().strict &&
      (!options.hostAccessible || sharesChunks(options)))
    return allocateSmall(bytes, options);
  const std::string name =
      options.where && options.where->buffer ? options.where->buffer : "";
  DRAGON_ASSIGN(Buffer * buffer, makeBuffer(bytes, options, &name));
  Space.Allocations.insert({buffer->base, bytes, options.flags,
                            options.hostAccessible, name, buffer});
  return buffer->base;
}

/// Small allocations that the host may touch share chunks once there are many.
bool Allocator::sharesChunks(const AllocateOptions &options) const {
  if (options.flags || Ctx.caps().migrates)
    return false; // a driver moves pages
  size_t number = 0;
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    if (buffer->hostAccessible && isSmall(buffer->bytes, Ctx.caps()) &&
        ++number == OwnChunks)
      return true;
  return false;
}

StatusOr<uintptr_t> Allocator::allocateSmall(size_t bytes,
                                             const AllocateOptions &options) {
  DRAGON_TRY(giveIdle());
  auto place = takeEarly(bytes, options);
  if (!place)
    place = Small.take(bytes, options.hostAccessible);
  if (!place) {
    AllocateOptions ofArena;
    ofArena.hostAccessible = options.hostAccessible;
    DRAGON_ASSIGN(Buffer * added, makeBuffer(Ctx.caps().granularity, ofArena));
    Small.add(*added);
    place = Small.take(bytes, options.hostAccessible);
  }
  const auto [base, arena] = *place;
  if (Ctx.config.poison && arena->chunkAt(base).copies.device)
    DRAGON_TRY(Ctx.device->poison(base, bytes, nullptr));
  Space.Allocations.insert(
      {base, bytes, options.flags, options.hostAccessible,
       options.where && options.where->buffer ? options.where->buffer : "",
       arena});
  return base;
}

size_t Allocator::chunkBytesFor(size_t bytes,
                                const AllocateOptions &options) const {
  const Budget &limits = Ctx.limits;
  return std::min<size_t>(options.byData && bytes > limits.deviceBytes
                              ? limits.byDataChunkBytes
                              : limits.chunkBytes,
                          bytes);
}

StatusOr<Buffer *> Allocator::makeBuffer(size_t bytes,
                                         const AllocateOptions &options,
                                         const std::string *name) {
  auto buffer = std::make_unique<Buffer>();
  size_t unit = Ctx.caps().granularity;
  buffer->number = ++NumBuffersMade;
  buffer->bytes = bytes;
  buffer->vaBytes = roundUp(bytes, unit);
  buffer->chunkBytes = chunkBytesFor(buffer->vaBytes, options);
  buffer->flags = options.flags;
  buffer->hostAccessible = options.hostAccessible;
  auto spare = options.hostAccessible
                   ? std::nullopt
                   : Spares.take(buffer->vaBytes, options.order);
  if (spare) {
    buffer->base = spare->base;
  } else {
    DRAGON_ASSIGN(buffer->base, Ctx.device->reserve(buffer->vaBytes + unit));
  }
  buffer->name = name ? *name : NameOfArena;
  if (name)
    Ctx.device->describe(buffer->base, bytes, *name);
  Ctx.device->setLabel({buffer->base, buffer->base + buffer->vaBytes},
                       buffer->label());
  buffer->makeChunks();
  if (spare)
    Spares.wake(*spare, *buffer);
  Space.Buffers.push_back(std::move(buffer));
  Buffer &made = *Space.Buffers.back();
  if (Ctx.caps().migrates && options.hostAccessible) {
    Driver.takeOver(made);
    return &made;
  }
  Space.LiveBytes += made.vaBytes;
  OnDevice.wants(Space.LiveBytes);
  if (OnDevice.mayMove())
    DRAGON_TRY(Data.forgetDead());
  OnDevice.expectHostMemory();
  if (options.hostAccessible)
    HostRanges::add(made.base, made.base + made.vaBytes);
  // Hints: nothing is wrong without them.
  const AddressRange range{made.base, made.base + made.vaBytes};
  Ctx.device
      ->advise(range, options.flags == D_READ ? Advice::ReadMostly
                                              : Advice::PreferDevice)
      .ignore();
  if (Status status = mapEagerly(made); !status.ok()) {
    destroyBuffer(made).ignore();
    return status;
  }
  return &made;
}

Status Allocator::mapEagerly(Buffer &buffer) {
  // The host touches its buffers first as often as not; and what is over the
  // budget finds its place when it is used.
  if (buffer.hostAccessible || !OnDevice.Pool.hasRoom(buffer.vaBytes))
    return {};
  for (Chunk &chunk : buffer.chunks) {
    if (chunk.device.id) // a spare one's
      continue;
    Status status = OnDevice.map(chunk);
    if (status.code() == DRAGON_ERROR_OUT_OF_MEMORY)
      return {}; // somebody else uses the device: later, then
    DRAGON_TRY(std::move(status));
    if (Ctx.config.poison)
      DRAGON_TRY(Ctx.device->poison(chunk.va(), chunk.bytes(), Ctx.copyIn));
  }
  if (Ctx.config.poison)
    DRAGON_TRY(Ctx.device->synchronize(Ctx.copyIn));
  return {};
}

Status Allocator::free(const Allocation &allocation, QueueOrder order) {
  Buffer &buffer = *allocation.buffer;
  if (buffer.arena)
    return freeSmall(allocation, order);
  Space.Allocations.erase(allocation.base);
  return destroyBuffer(buffer, order);
}

Status Allocator::freeSmall(const Allocation &allocation, QueueOrder order) {
  const auto [base, bytes, arena] =
      std::tuple(allocation.base, allocation.bytes, allocation.buffer);
  const bool early = order && arena->lastUntracked == Time.Epoch &&
                     !Time.Tracking && EarlyBytes + bytes <= mostEarly();
  if (!early)
    DRAGON_TRY(Time.settle(arena->chunkAt(base)));
  Space.Allocations.erase(base);
  if (early) {
    Early.push_back({base, bytes, arena, order, Time.Epoch});
    EarlyBytes += bytes;
    return {};
  }
  return giveToArena(base, bytes, *arena);
}

size_t Allocator::mostEarly() const {
  return std::min<size_t>(MostEarly, OnDevice.Pool.budget() / MostEarlyShare);
}

Status Allocator::giveToArena(uintptr_t base, size_t bytes, Buffer &arena) {
  return Small.give(base, bytes, arena) ? destroyBuffer(arena) : Status();
}

std::optional<std::pair<uintptr_t, Buffer *>>
Allocator::takeEarly(size_t bytes, const AllocateOptions &options) {
  if (!options.order)
    return std::nullopt;
  for (auto it = Early.begin(); it != Early.end(); ++it) {
    if (it->bytes != bytes || it->order != options.order)
      continue;
    const std::pair taken(it->base, it->arena);
    EarlyBytes -= bytes;
    Early.erase(it);
    return taken;
  }
  return std::nullopt;
}

Status Allocator::giveIdle() {
  while (!Early.empty() && Early.front().epoch != Time.Epoch) {
    const EarlyFree idle = Early.front();
    Early.pop_front();
    EarlyBytes -= idle.bytes;
    DRAGON_TRY(giveToArena(idle.base, idle.bytes, *idle.arena));
  }
  return {};
}

void Allocator::queueEnds(Queue queue) {
  Spares.queueEnds(queue);
  for (EarlyFree &freed : Early)
    if (freed.order == queue)
      freed.order.reset();
}

Status Allocator::trim() {
  DRAGON_TRY(giveIdle()); // arenas that are empty then are spare
  return Spares.release();
}

Status Allocator::releaseRange(Buffer &buffer) {
  Status first;
  for (Chunk &chunk : buffer.chunks)
    if (chunk.device.id && !buffer.driverMoved)
      if (Status status = OnDevice.release(chunk); first.ok())
        first = std::move(status);
  Status status =
      Ctx.device->release(buffer.base, buffer.vaBytes + Ctx.caps().granularity);
  return first.ok() ? std::move(status) : std::move(first);
}

Status Allocator::destroyBuffer(Buffer &buffer, QueueOrder order) {
  Status first;
  auto keep = [&first](Status status) {
    if (first.ok())
      first = std::move(status);
  };
  const bool spare = Spares.canKeep(buffer);
  for (Chunk &chunk : buffer.chunks) {
    if (chunk.device.id || chunk.host.id)
      keep(spare && order ? Time.settleTickets(chunk) : Time.settle(chunk));
    buffer.note(chunk, ChunkEvent::Ended);
    if (chunk.host.id)
      keep(Host.release(chunk));
    Reads.drop(chunk);
    Data.dropStorage(chunk);
  }
  keep(EndOfSinks(buffer));
  if (spare && first.ok())
    Spares.keep(buffer, order);
  else
    keep(releaseRange(buffer));
  if (buffer.hostAccessible && !buffer.driverMoved)
    HostRanges::remove(buffer.base, buffer.base + buffer.vaBytes);
  if (buffer.driverMoved)
    --Space.NumDriverMoved;
  else
    Space.LiveBytes -= buffer.vaBytes;
  OnDevice.wants(Space.LiveBytes);
  Slabs.wantsNoMoreThan(Space.LiveBytes + Ctx.limits.transitBytes);
  OnDevice.noMore(buffer);
  Data.noMore(buffer);
  OnDevice.expectHostMemory();
  // Chunks whose memory could not be unmapped are in no list any more.
  for (Chunk &chunk : buffer.chunks) {
    OnDevice.list(chunk, false);
    Slabs.list(chunk, false);
  }
  Space.Buffers.remove_if([&buffer](const std::unique_ptr<Buffer> &other) {
    return other.get() == &buffer;
  });
  return first;
}

} // namespace dragon
