//===- HostMapping.cpp - chunks that the device sees in host memory -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostMapping.h"

#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace dragon {

namespace {
/// Chunks that get other memory at a time.
constexpr size_t MostAtOnce = 64;
} // namespace

Status HostMapping::makeMappable(Chunk &chunk) {
  if (chunk.host.place != Place::Pinned)
    return {};
  Ctx.pins.add(chunk);
  DRAGON_TRY(Time.settle(chunk));
  DRAGON_ASSIGN(Physical slab, Host.takeTransit(chunk.bytes(), Place::Host));
  std::memcpy(slab.hostView, chunk.host.hostView, chunk.used());
  Slabs.Pool.give(chunk.host);
  chunk.host = slab;
  return {};
}

Status HostMapping::makeMappable(std::span<Chunk *const> chunks) {
  // Where host memory is short, those that have none get what others give up.
  uint64_t more = 0;
  for (const Chunk *chunk : chunks)
    more += chunk->host.id ? 0 : chunk->bytes();
  const bool forAll = Slabs.hasRoom(more);
  std::vector<Chunk *> wanted;
  for (Chunk *chunk : chunks)
    if (!chunk->hostMapped &&
        (chunk->host.id ? chunk->host.place == Place::Pinned : forAll))
      wanted.push_back(chunk);
  std::span<Chunk *const> left = wanted;
  while (left.size() > 1) {
    // Some of them have two slabs for a while.
    uint64_t bytes = 0;
    size_t count = 0;
    while (count < std::min(left.size(), MostAtOnce) &&
           Slabs.hasRoom(bytes + left[count]->bytes()))
      bytes += left[count++]->bytes();
    if (count == 0)
      break;
    DRAGON_ASSIGN(const bool all, convert(left.first(count), bytes));
    if (!all) // the host has less than the budget
      break;
    left = left.subspan(count);
  }
  return {};
}

StatusOr<bool> HostMapping::convert(std::span<Chunk *const> chunks,
                                    uint64_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Physical> slabs(chunks.size());
  for (Chunk *chunk : chunks) {
    DRAGON_TRY(Time.settle(*chunk));
    if (chunk->transit.writing)
      Writes.finish(*chunk).ignore(); // pinned: it keeps its host copy
  }
  hostThreads().forEach(chunks.size(), chunks.size(), [&](size_t i) {
    const Chunk &chunk = *chunks[i];
    auto slab = Slabs.Pool.take(chunk.bytes(), 0, Place::Host);
    if (!slab.ok())
      return;
    slabs[i] = *slab;
    if (chunk.copies.host)
      std::memcpy(slab->hostView, chunk.host.hostView, chunk.used());
  });
  bool all = true;
  for (size_t i = 0; i < chunks.size(); ++i) {
    Chunk &chunk = *chunks[i];
    all &= slabs[i].id != 0;
    if (!slabs[i].id)
      continue;
    if (chunk.host.id)
      Slabs.Pool.give(chunk.host);
    chunk.host = slabs[i];
    Slabs.list(chunk, true);
  }
  // Without a link the host's mood would choose between ways.
  if (const std::chrono::duration<double> took =
          std::chrono::steady_clock::now() - begin;
      all && Ctx.caps().hasLink && took.count() > 0)
    Rate = double(bytes) / took.count();
  return all;
}

Status HostMapping::map(Chunk &chunk) {
  if (chunk.device.id) {
    DRAGON_TRY(Time.settle(chunk));
    DRAGON_TRY(OnDevice.release(chunk));
  }
  DRAGON_TRY(makeMappable(chunk));
  if (chunk.host.place == Place::Peer) // what was queued may write it there
    DRAGON_TRY(Time.settle(chunk));
  DRAGON_TRY(Ctx.device->map(chunk.va(), chunk.host));
  chunk.hostMapped = true;
  return {};
}

} // namespace dragon
