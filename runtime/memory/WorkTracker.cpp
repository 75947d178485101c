//===- WorkTracker.cpp - which work on the device uses a chunk ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/WorkTracker.h"

#include <algorithm>

namespace dragon {

Status WorkTracker::settle(const Chunk &chunk) {
  if (!Dev.caps().asynchronous)
    return {};
  if (chunk.buffer->lastUntracked == Epoch)
    return synchronizeAll();
  return settleTickets(chunk);
}

Status WorkTracker::settleTickets(const Chunk &chunk) {
  DRAGON_TRY(
      Work.waitFor(std::max(chunk.transit.lastUse, chunk.buffer->lastUse)));
  DRAGON_TRY(Fetches.waitFor(chunk.transit.arrival));
  return Departures.waitFor(chunk.transit.departure);
}

Status WorkTracker::queueWaitsFor(Queue queue, const Chunk &chunk) {
  if (!Dev.caps().asynchronous)
    return {};
  if (chunk.buffer->lastUntracked == Epoch)
    return synchronizeAll();
  DRAGON_TRY(Work.queueWaitsFor(
      queue, std::max(chunk.transit.lastUse, chunk.buffer->lastUse)));
  DRAGON_TRY(Fetches.queueWaitsForOne(queue, chunk.transit.arrival));
  return Departures.queueWaitsFor(queue, chunk.transit.departure);
}

Status WorkTracker::synchronizeAll() {
  DRAGON_TRY(Fetches.recordAll());
  DRAGON_TRY(Dev.synchronizeAll());
  ++Epoch;
  Work.allDone();
  Fetches.allDone();
  Departures.allDone();
  return {};
}

void WorkTracker::poll() {
  for (WorkLog *log : {&Work, &Fetches, &Departures})
    log->poll();
}

bool WorkTracker::isBusy(const Chunk &chunk) {
  if (!wasBusy(chunk))
    return false;
  poll();
  return wasBusy(chunk);
}

bool WorkTracker::wasBusy(const Chunk &chunk) const {
  if (!Dev.caps().asynchronous)
    return false;
  return chunk.buffer->lastUntracked == Epoch ||
         !Work.knownDone(
             std::max(chunk.transit.lastUse, chunk.buffer->lastUse)) ||
         !Fetches.knownDone(chunk.transit.arrival) ||
         !Departures.knownDone(chunk.transit.departure);
}

Status WorkTracker::noteUse(std::span<Chunk *const> chunks, Queue queue) {
  uint64_t ticket = 0;
  if (Tracking) {
    auto noted = Work.note(queue);
    if (noted.ok())
      ticket = *noted;
    else
      return synchronizeAll();
  }
  for (Chunk *chunk : chunks) {
    if (Tracking)
      chunk->transit.lastUse = ticket;
    else
      chunk->buffer->lastUntracked = Epoch;
  }
  return {};
}

} // namespace dragon
