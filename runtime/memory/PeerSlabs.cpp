//===- PeerSlabs.cpp - slabs in the memory of other devices ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/PeerSlabs.h"

#include "runtime/memory/SharedMemory.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>

namespace dragon {

void PeerSlabs::start(const std::function<bool(unsigned peer)> &follow) {
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
    std::unique_ptr<DeviceShare> share = join(peer, budget);
    auto pool = std::make_unique<SlabPool>(
        "peer", budget, Place::Peer,
        [this, peer, with = share.get()](size_t bytes, Place) {
          return createShared(with, "peer", bytes, [&] {
            return Ctx.device->createOnPeer(peer, bytes);
          });
        },
        [this, with = share.get()](const Physical &slab) {
          return destroyShared(with, *Ctx.device, slab);
        });
    if (share)
      pool->setLimit(share->wants(budget) / unit * unit);
    Pools.push_back({peer, budget, std::move(share), std::move(pool)});
  }
  if (follow)
    for (const Pool &pool : Pools)
      if (pool.share)
        pool.share->start({[follow, peer = pool.peer] { return follow(peer); },
                           [] { return uint64_t(0); }});
}

/// It has no claim: it takes what the programs of that device leave.
std::unique_ptr<DeviceShare> PeerSlabs::join(unsigned peer, uint64_t spare) {
  const PeerCaps &caps = Ctx.caps().peers[peer];
  const bool simulated = Ctx.caps().deviceIsHostVisible;
  if (!Ctx.config.share.value_or(simulated ? 0 : 1) || caps.identity.empty())
    return nullptr;
  DeviceShare::Terms terms;
  terms.most = spare;
  terms.free = spare + caps.reserve;
  terms.reserve = caps.reserve;
  terms.freeIsShared = !simulated;
  terms.spareBeside = spare;
  auto share = DeviceShare::join(Ctx.config.shareDir, caps.identity, terms);
  if (share.ok())
    return std::move(*share);
  log(LogLevel::Info, "memory of {} is not divided with other programs: {}",
      caps.name, share.takeStatus().message());
  return nullptr;
}

void PeerSlabs::stop() {
  for (const Pool &pool : Pools)
    if (pool.share)
      pool.share->stop();
}

uint64_t PeerSlabs::limit(unsigned peer) {
  for (const Pool &pool : Pools)
    if (pool.peer == peer)
      return pool.share ? std::min(pool.most, pool.share->limit()) : pool.most;
  return 0;
}

bool PeerSlabs::areNear() const {
  return any() && std::ranges::all_of(Pools, [this](const Pool &pool) {
           return Ctx.caps().peers[pool.peer].nativeAtomics;
         });
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
      const uint64_t unit = Ctx.caps().granularity;
      pool.slabs->setLimit(bytes / unit * unit);
      if (pool.slabs->held() > bytes)
        pool.slabs->trim();
      return pool.slabs->held() <= bytes;
    }
  return true;
}

} // namespace dragon
