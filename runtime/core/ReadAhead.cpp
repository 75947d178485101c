//===- ReadAhead.cpp - reads of storage that run meanwhile ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chunks that are needed next are read while others are copied to the
// device, worked on and written back. What was begun counts for nothing until
// it is asked for: the chunk's contents are where they were, and a change of
// them (an overwriting copy, another file, a discard) needs no word to the
// reads. They are compared with the storage when they are asked for, and
// dropped if it is not what it was.
//
// Their slabs are of the memory that is kept free for transit, half of it at
// most: evictions and writes have the other half.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ReadAhead.h"

namespace dragon {

Status Runtime::Impl::beginReading(Chunk &chunk, const Physical &slab) {
  Reading reading{&chunk, slab, chunk.storage.changes(), {}, nullptr};
  if (Status status =
          planRead(chunk, 0, chunk.used(), static_cast<char *>(slab.hostView),
                   reading.plan);
      !status.ok()) {
    HostPool.give(slab);
    return status;
  }
  reading.job = Background->start(std::move(reading.plan.requests));
  Readings.push_back(std::move(reading));
  chunk.reading = &Readings.back();
  ReadingBytes += slab.bytes;
  HostPool.lend(int64_t(slab.bytes));
  return {};
}

void Runtime::Impl::dropReading(Chunk &chunk) {
  if (!chunk.reading)
    return;
  Reading &reading = *chunk.reading;
  Background->wait(*reading.job).ignore();
  chunk.reading = nullptr;
  ReadingBytes -= reading.slab.bytes;
  HostPool.lend(-int64_t(reading.slab.bytes));
  HostPool.give(reading.slab);
  Readings.remove_if(
      [&reading](const Reading &other) { return &other == &reading; });
}

void Runtime::Impl::dropAllReadings() {
  while (!Readings.empty())
    dropReading(*Readings.front().chunk);
}

Status Runtime::Impl::startReading(std::span<Chunk *const> chunks) {
  for (auto next = Readings.begin(); next != Readings.end();) {
    const Reading &reading = *next++;
    if (!reading.isCurrent() && Background->done(*reading.job))
      dropReading(*reading.chunk);
  }
  for (Chunk *chunk : chunks) {
    if (chunk->deviceValid || chunk->hostValid || !chunk->storageValid ||
        chunk->reading)
      continue;
    const Stored kind = chunk->storage.kind();
    if (kind != Stored::File && kind != Stored::Swap)
      continue;
    if (ReadingBytes + chunk->bytes() > Limits.transitBytes / 2)
      return {};
    DRAGON_TRY(recycleTransit(false));
    auto slab = HostPool.take(chunk->bytes());
    if (!slab.ok())
      return {};
    DRAGON_TRY(beginReading(*chunk, *slab));
  }
  return {};
}

Status Runtime::Impl::finishReading(Chunk &chunk, Cause cause, Physical &slab) {
  if (chunk.reading && !chunk.reading->isCurrent())
    dropReading(chunk);
  if (!chunk.reading) {
    DRAGON_ASSIGN(Physical own, takeTransit(chunk.bytes()));
    DRAGON_TRY(beginReading(chunk, own));
  }
  Reading &reading = *chunk.reading;
  Status status = Background->wait(*reading.job);
  if (status.ok())
    status = checkRead(reading.plan, cause, Background->takeBusyTime());
  if (!status.ok()) {
    dropReading(chunk);
    return status;
  }
  slab = reading.slab;
  chunk.reading = nullptr;
  ReadingBytes -= slab.bytes;
  HostPool.lend(-int64_t(slab.bytes));
  Readings.remove_if(
      [&reading](const Reading &other) { return &other == &reading; });
  return {};
}

} // namespace dragon
