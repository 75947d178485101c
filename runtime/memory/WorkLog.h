//===- WorkLog.h - when queued work is done ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work that uses chunks gets a ticket: a number that grows, and an event in the
// work's queue. Waiting for a ticket waits for it and all earlier ones, so one
// number per chunk says when it may be unmapped or overwritten, whichever
// queues used it. A device that does everything at once needs no events.
//
// Not thread-safe: the Runtime's lock.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_WORKLOG_H
#define DRAGON_RUNTIME_MEMORY_WORKLOG_H

#include "runtime/device/Device.h"

#include <deque>
#include <span>
#include <vector>

namespace dragon {

class WorkLog {
public:
  explicit WorkLog(Device &device);
  ~WorkLog();
  WorkLog(const WorkLog &) = delete;
  WorkLog &operator=(const WorkLog &) = delete;

  /// A ticket for what is in the queue now; 0 if nothing has to be waited for.
  StatusOr<uint64_t> note(Queue queue);

  /// What other threads put into a queue, piece by piece.
  class Later {
  public:
    virtual ~Later() = default;
    virtual bool isQueued(uint64_t number) = 0;
    /// Returns when it is; or the failure, of which it tells once.
    virtual Status awaitQueued(uint64_t number) = 0;
  };
  /// A ticket for what will be in the queue. What is noted so is queued in the
  /// order of the calls. Who asks for the ticket, or for a later one, waits
  /// until it is queued.
  uint64_t noteLater(Queue queue, Later &later, uint64_t number);
  /// All that is noted is queued. All of it on failure as well.
  Status recordAll();

  /// Returns when the work of the ticket, and of earlier ones, is done.
  Status waitFor(uint64_t ticket);
  Status waitForAll() { return waitFor(Last); }
  /// Later work in the queue waits instead of the host.
  Status queueWaitsFor(Queue queue, uint64_t ticket);
  /// The same for the ticket alone, whatever earlier ones there are.
  Status queueWaitsForOne(Queue queue, uint64_t ticket);
  Status queueWaitsForEach(Queue queue, std::span<const uint64_t> tickets);
  bool done(uint64_t ticket);
  /// As of the last poll().
  bool knownDone(uint64_t ticket) const {
    return ticket <= Done || Pending.empty() || Pending.front().ticket > ticket;
  }
  void poll(); ///< asks the device
  /// Everything was synchronised.
  void allDone();
  /// The queue is destroyed: one that gets its handle is another one.
  void queueEnds(Queue queue);

private:
  /// Names a queue for good, which its handle does not: that of a destroyed
  /// queue comes back, and one constant stands for each thread's own queue.
  using QueueName = uintptr_t;
  struct Entry {
    uint64_t ticket;
    Event event; ///< none: it may not be queued yet
    QueueName queue;
    Later *later = nullptr;
    uint64_t number = 0; ///< `later`'s
    Queue handle = nullptr;
  };
  static QueueName nameOf(Queue queue);
  /// Nothing if it is known to be done.
  Entry *pending(uint64_t ticket);
  StatusOr<Event> freshEvent();
  /// Returns when the entry has its event.
  Status record(Entry &entry);
  /// The same for all up to the ticket.
  Status recordTo(uint64_t ticket);

  Device &Dev;
  uint64_t Last = 0;
  uint64_t Done = 0; ///< all up to it are done
  std::deque<Entry> Pending;
  std::vector<Event> Free;
  unsigned Unrecorded = 0; ///< entries without an event
  Status Untold;           ///< a failure that poll() met
  /// Of what is noted for later: among what is queued at once it has no order.
  const QueueName LaterName;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_WORKLOG_H
