//===- SpareBuffers.cpp - freed buffers for the next of their size --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/SpareBuffers.h"

#include <algorithm>

namespace dragon {

SpareBuffers::SpareBuffers(Context &context, WorkTracker &time,
                           DeviceChunks &deviceChunks)
    : Ctx(context), Time(time), OnDevice(deviceChunks) {
  OnDevice.Pool.setReclaim([this] {
    if (Spares.empty())
      return false;
    releaseLargest().ignore(); // what cannot be unmapped is nobody's any more
    return true;
  });
}

SpareBuffers::~SpareBuffers() {
  OnDevice.Pool.setReclaim(nullptr);
  release().ignore();
}

bool SpareBuffers::canKeep(const Buffer &buffer) const {
  const DeviceCaps &caps = Ctx.caps();
  // Where nothing is asynchronous, mapping costs nothing; who looks for
  // mistakes wants to see uses of what was freed.
  return caps.asynchronous && !caps.migrates && !caps.strict &&
         !Ctx.config.poison && !buffer.hostAccessible && !buffer.kept &&
         !OnDevice.mayMove() &&
         std::all_of(buffer.chunks.begin(), buffer.chunks.end(),
                     [](const Chunk &chunk) { return chunk.device.id != 0; });
}

void SpareBuffers::keep(Buffer &buffer, QueueOrder order) {
  Spare spare{buffer.base, {}, order, buffer.lastUntracked};
  spare.slabs.reserve(buffer.chunks.size());
  for (Chunk &chunk : buffer.chunks)
    spare.slabs.push_back(OnDevice.park(chunk));
  Spares[buffer.vaBytes].push_back(std::move(spare));
}

std::optional<SpareBuffers::Spare> SpareBuffers::take(size_t vaBytes,
                                                      QueueOrder order) {
  auto ofSize = Spares.find(vaBytes);
  if (ofSize == Spares.end() || !OnDevice.Pool.hasRoom(vaBytes))
    return std::nullopt;
  std::vector<Spare> &spares = ofSize->second;
  for (size_t i = spares.size(); i-- > 0;) {
    const bool mayBeInUse = spares[i].lastUntracked == Time.Epoch;
    if (mayBeInUse && !(order && spares[i].order == order))
      continue;
    Spare found = std::move(spares[i]);
    spares.erase(spares.begin() + ptrdiff_t(i));
    if (spares.empty())
      Spares.erase(ofSize);
    return found;
  }
  return std::nullopt;
}

void SpareBuffers::wake(const Spare &spare, Buffer &buffer) {
  for (size_t i = 0; i < spare.slabs.size(); ++i)
    OnDevice.wake(buffer.chunks[i], spare.slabs[i]);
  buffer.lastUntracked = spare.lastUntracked;
}

void SpareBuffers::queueEnds(Queue queue) {
  for (auto &[vaBytes, spares] : Spares)
    for (Spare &spare : spares)
      if (spare.order == queue)
        spare.order.reset();
}

Status SpareBuffers::release() {
  Status first;
  while (!Spares.empty()) {
    Status status = releaseLargest();
    if (first.ok())
      first = std::move(status);
  }
  return first;
}

Status SpareBuffers::releaseLargest() {
  const auto largest = std::prev(Spares.end());
  const size_t vaBytes = largest->first;
  const Spare spare = std::move(largest->second.back());
  largest->second.pop_back();
  if (largest->second.empty())
    Spares.erase(largest);
  if (spare.lastUntracked == Time.Epoch)
    DRAGON_TRY(Time.synchronizeAll());
  uintptr_t va = spare.base;
  for (const Physical &slab : spare.slabs) {
    DRAGON_TRY(OnDevice.release(va, slab));
    va += slab.bytes;
  }
  return Ctx.device->release(spare.base, vaBytes + Ctx.caps().granularity);
}

} // namespace dragon
