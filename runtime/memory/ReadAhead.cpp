//===- ReadAhead.cpp - storage is read before it is needed ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ReadAhead.h"

#include <utility>

namespace dragon {

/// What so many launches have not asked for was expected in vain: its memory is
/// for others.
static constexpr uint64_t WantedFor = 256;

void ReadAhead::begin(Chunk &chunk, const Physical &slab) {
  drop(chunk); // one that is out of date
  Reading reading{&chunk,       slab, chunk.storage.changes(),
                  Ctx.launches, {},   nullptr};
  Store.planRead(chunk, 0, chunk.used(), static_cast<char *>(slab.hostView),
                 reading.plan);
  reading.job = Store.Background->start(std::move(reading.plan.requests));
  Readings.push_back(std::move(reading));
  chunk.transit.reading = &Readings.back();
  Bytes += slab.bytes;
  Slabs.Pool.lend(int64_t(slab.bytes));
}

bool ReadAhead::isReading(const Chunk &chunk) const {
  return chunk.transit.reading && chunk.transit.reading->isCurrent();
}

bool ReadAhead::isDone(const Chunk &chunk) const {
  return isReading(chunk) &&
         Store.Background->done(*chunk.transit.reading->job);
}

void ReadAhead::end(Chunk &chunk) {
  const Reading &reading = *std::exchange(chunk.transit.reading, nullptr);
  Bytes -= reading.slab.bytes;
  Slabs.Pool.lend(-int64_t(reading.slab.bytes));
  Readings.remove_if(
      [&reading](const Reading &other) { return &other == &reading; });
}

void ReadAhead::drop(Chunk &chunk) {
  if (!chunk.transit.reading)
    return;
  const Physical slab = chunk.transit.reading->slab;
  Store.wait(*chunk.transit.reading->job).ignore();
  end(chunk);
  Slabs.Pool.give(slab);
}

void ReadAhead::dropAll() {
  while (!Readings.empty())
    drop(*Readings.front().chunk);
}

void ReadAhead::dropMemory() {
  for (auto next = Readings.begin(); next != Readings.end();) {
    const Reading &reading = *next++;
    if (reading.plan.memoryBytes)
      drop(*reading.chunk);
  }
}

Status ReadAhead::start(std::span<Chunk *const> chunks) {
  for (auto next = Readings.begin(); next != Readings.end();) {
    const Reading &reading = *next++;
    const bool isWanted = Ctx.launches <= reading.wantedAt + WantedFor;
    if ((!reading.isCurrent() || !isWanted) &&
        Store.Background->done(*reading.job))
      drop(*reading.chunk);
  }
  for (Chunk *chunk : chunks) {
    if (chunk->transit.reading)
      chunk->transit.reading->wantedAt = Ctx.launches;
    if (chunk->transit.reading || !livesInStorage(stateOf(*chunk)) ||
        chunk->storage.inProgramMemory())
      continue;
    if (Bytes + chunk->bytes() > Ctx.limits.transitBytes / 2)
      return {};
    DRAGON_TRY(Slabs.recycleTransit(false));
    auto slab = Slabs.Pool.take(chunk->bytes());
    if (!slab.ok())
      return {};
    begin(*chunk, *slab);
  }
  return {};
}

Status ReadAhead::finish(Chunk &chunk, Cause cause, Physical &slab) {
  Reading &reading = *chunk.transit.reading;
  Status status = Store.wait(*reading.job);
  if (status.ok())
    status =
        Store.checkRead(reading.plan, cause, Store.Background->takeBusyTime());
  if (!status.ok()) {
    drop(chunk);
    return status;
  }
  slab = reading.slab;
  end(chunk);
  return {};
}

} // namespace dragon
