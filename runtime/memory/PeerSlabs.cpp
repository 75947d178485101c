//===- PeerSlabs.cpp - slabs in the memory of other devices ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/PeerSlabs.h"

#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>

namespace dragon {

void PeerSlabs::start() {
  const std::vector<PeerCaps> &peers = Ctx.caps().peers;
  for (unsigned peer = 0; peer < peers.size(); ++peer) {
    auto memory = Ctx.device->peerMemory(peer);
    if (!memory.ok()) {
      log(LogLevel::Info, "no memory of {}: {}", peers[peer].name,
          memory.takeStatus().message());
      continue;
    }
    const uint64_t reserve = peers[peer].reserve;
    const uint64_t spare = memory->free > reserve ? memory->free - reserve : 0;
    const uint64_t unit = Ctx.caps().granularity;
    const uint64_t budget =
        std::min(Ctx.config.peerMemory.value_or(spare), spare) / unit * unit;
    if (budget < Ctx.limits.chunkBytes) {
      log(LogLevel::Info, "{} has {} to spare: less than a chunk",
          peers[peer].name, formatBytes(budget));
      continue;
    }
    log(LogLevel::Info, "{} of {} may take what leaves the device",
        formatBytes(budget), peers[peer].name);
    Pools.push_back({peer, std::make_unique<SlabPool>(
                               "peer", budget, Place::Peer,
                               [this, peer](size_t bytes, Place) {
                                 return Ctx.device->createOnPeer(peer, bytes);
                               },
                               [this](const Physical &slab) {
                                 return Ctx.device->destroy(slab);
                               })});
  }
}

uint64_t PeerSlabs::budget() const {
  uint64_t sum = 0;
  for (const Pool &pool : Pools)
    sum += pool.slabs->budget();
  return sum;
}

uint64_t PeerSlabs::used() const {
  uint64_t sum = 0;
  for (const Pool &pool : Pools)
    sum += pool.slabs->used();
  return sum;
}

uint64_t PeerSlabs::most() const {
  uint64_t sum = 0;
  for (const Pool &pool : Pools)
    sum += pool.slabs->most();
  return sum;
}

PeerSlabs::Pool *PeerSlabs::roomiest(size_t bytes) {
  Pool *best = nullptr;
  uint64_t most = 0;
  for (Pool &pool : Pools) {
    if (!pool.slabs->hasRoom(bytes))
      continue;
    const uint64_t room = pool.slabs->budget() - pool.slabs->used();
    if (room > most) {
      most = room;
      best = &pool;
    }
  }
  return best;
}

bool PeerSlabs::hasRoom(size_t bytes) const {
  return std::ranges::any_of(
      Pools, [bytes](const Pool &pool) { return pool.slabs->hasRoom(bytes); });
}

std::optional<Physical> PeerSlabs::take(size_t bytes) {
  while (Pool *pool = roomiest(bytes)) {
    auto slab = pool->slabs->take(bytes);
    if (slab.ok())
      return *slab;
    Status refusal = slab.takeStatus();
    log(LogLevel::Info, "{} has no more than {}: {}",
        Ctx.caps().peers[pool->peer].name, formatBytes(pool->slabs->used()),
        refusal.message());
    pool->slabs->shrinkToUsed();
  }
  return std::nullopt;
}

void PeerSlabs::give(const Physical &slab) {
  for (Pool &pool : Pools)
    if (pool.peer == slab.peer)
      pool.slabs->give(slab);
}

bool PeerSlabs::follow(unsigned peer, uint64_t bytes) {
  for (Pool &pool : Pools)
    if (pool.peer == peer) {
      pool.slabs->setLimit(bytes);
      pool.slabs->trim();
      return pool.slabs->held() <= bytes;
    }
  return true;
}

} // namespace dragon
