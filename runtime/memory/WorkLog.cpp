//===- WorkLog.cpp - when queued work is done -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/WorkLog.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace dragon {

namespace {
constexpr size_t LookAfter = 32; ///< pending entries before it pays to query

/// No handle has it: handles are addresses of objects, or small constants.
uintptr_t newName() {
  static std::atomic<uintptr_t> last{1001};
  return last.fetch_add(2, std::memory_order_relaxed);
}

} // namespace

WorkLog::WorkLog(Device &device) : Dev(device), LaterName(newName()) {}

WorkLog::QueueName WorkLog::nameOf(Queue queue) {
  if (queue != Device::PerThreadQueue)
    return reinterpret_cast<uintptr_t>(queue);
  thread_local const QueueName own = newName();
  return own;
}

void WorkLog::queueEnds(Queue queue) {
  const QueueName ended = nameOf(queue), name = newName();
  for (Entry &entry : Pending)
    if (entry.queue == ended)
      entry.queue = name;
}

WorkLog::~WorkLog() {
  allDone();
  for (Event event : Free)
    Dev.destroyEvent(event).ignore();
}

StatusOr<uint64_t> WorkLog::note(Queue queue) {
  if (!Dev.caps().asynchronous)
    return uint64_t(0);
  if (Pending.size() >= LookAfter)
    poll();
  DRAGON_ASSIGN(const Event event, freshEvent());
  if (Status status = Dev.record(event, queue); !status.ok()) {
    Free.push_back(event);
    return status;
  }
  Pending.push_back({++Last, event, nameOf(queue)});
  return Last;
}

StatusOr<Event> WorkLog::freshEvent() {
  if (Free.empty())
    return Dev.createEvent(false);
  const Event event = Free.back();
  Free.pop_back();
  return event;
}

uint64_t WorkLog::noteLater(Queue queue, Later &later, uint64_t number) {
  Pending.push_back({++Last, nullptr, LaterName, &later, number, queue});
  ++Unrecorded;
  return Last;
}

Status WorkLog::record(Entry &entry) {
  if (!entry.later)
    return {};
  Status status = entry.later->awaitQueued(entry.number);
  // Some of it may be queued whatever has failed.
  DRAGON_ASSIGN(entry.event, freshEvent());
  entry.later = nullptr;
  --Unrecorded;
  if (Status recorded = Dev.record(entry.event, entry.handle); !recorded.ok()) {
    // An event that was never recorded counts as done: it must be.
    DRAGON_TRY(Dev.synchronize(entry.handle));
    return status.ok() ? std::move(recorded) : std::move(status);
  }
  return status;
}

Status WorkLog::recordTo(uint64_t ticket) {
  Status first = std::exchange(Untold, Status());
  for (size_t i = 0; Unrecorded && i < Pending.size(); ++i) {
    if (Pending[i].ticket > ticket)
      break;
    if (Status status = record(Pending[i]); first.ok())
      first = std::move(status);
  }
  return first;
}

Status WorkLog::recordAll() { return recordTo(Last); }

Status WorkLog::waitFor(uint64_t ticket) {
  DRAGON_TRY(recordTo(ticket));
  while (!Pending.empty() && Pending.front().ticket <= ticket) {
    DRAGON_TRY(Dev.synchronizeEvent(Pending.front().event));
    Done = Pending.front().ticket;
    Free.push_back(Pending.front().event);
    Pending.pop_front();
  }
  return {};
}

Status WorkLog::queueWaitsFor(Queue queue, uint64_t ticket) {
  poll();
  DRAGON_TRY(recordTo(ticket));
  // The last event of each queue stands for those before it.
  std::vector<QueueName> seen{nameOf(queue)};
  for (size_t i = Pending.size(); i-- > 0;) {
    const Entry &entry = Pending[i];
    if (entry.ticket > ticket ||
        std::find(seen.begin(), seen.end(), entry.queue) != seen.end())
      continue;
    seen.push_back(entry.queue);
    DRAGON_TRY(Dev.wait(queue, entry.event));
  }
  return {};
}

WorkLog::Entry *WorkLog::pending(uint64_t ticket) {
  // Their numbers follow one another.
  return knownDone(ticket) ? nullptr
                           : &Pending[size_t(ticket - Pending.front().ticket)];
}

Status WorkLog::queueWaitsForOne(Queue queue, uint64_t ticket) {
  DRAGON_TRY(std::exchange(Untold, Status()));
  Entry *entry = pending(ticket);
  if (!entry || entry->queue == nameOf(queue))
    return {};
  DRAGON_TRY(record(*entry));
  return Dev.wait(queue, entry->event);
}

Status WorkLog::queueWaitsForEach(Queue queue,
                                  std::span<const uint64_t> tickets) {
  DRAGON_TRY(std::exchange(Untold, Status()));
  // The last of each queue stands for those before it.
  const QueueName own = nameOf(queue);
  std::vector<const Entry *> last;
  for (const uint64_t ticket : tickets) {
    Entry *entry = pending(ticket);
    if (!entry || entry->queue == own)
      continue;
    DRAGON_TRY(record(*entry));
    auto known =
        std::find_if(last.begin(), last.end(), [&](const Entry *other) {
          return other->queue == entry->queue;
        });
    if (known == last.end())
      last.push_back(entry);
    else if ((*known)->ticket < ticket)
      *known = entry;
  }
  for (const Entry *entry : last)
    DRAGON_TRY(Dev.wait(queue, entry->event));
  return {};
}

void WorkLog::poll() {
  while (!Pending.empty()) {
    Entry &first = Pending.front();
    if (first.later && !first.later->isQueued(first.number))
      return;
    if (Status status = record(first); !status.ok()) {
      Untold = std::move(status); // for who waits next
      return;
    }
    auto finished = Dev.queryEvent(first.event);
    if (!finished.ok() || !*finished)
      return; // a failure shows when somebody waits
    Done = Pending.front().ticket;
    Free.push_back(Pending.front().event);
    Pending.pop_front();
  }
}

bool WorkLog::done(uint64_t ticket) {
  if (knownDone(ticket))
    return true;
  poll();
  return knownDone(ticket);
}

void WorkLog::allDone() {
  for (const Entry &entry : Pending)
    if (entry.event)
      Free.push_back(entry.event);
  Pending.clear();
  Unrecorded = 0;
  Done = Last;
}

} // namespace dragon
