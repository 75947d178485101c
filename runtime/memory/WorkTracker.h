//===- WorkTracker.h - which work on the device uses a chunk ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three kinds of queues touch a chunk: the program's (tickets of `Work`), that
// of copies to the device (tickets of `Fetches`) and that of copies from it
// (tickets of `Departures`). An unmap, and a use of the host's copy, wait for
// the chunk's tickets (settle); copies wait for them in their queues. A host
// copy counts as valid from when the copy to it is queued; the device's stays
// mapped until that is done.
//
// Until data has to move, work gets no tickets: one synchronisation of
// everything serves, and costs launches nothing.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_WORKTRACKER_H
#define DRAGON_RUNTIME_MEMORY_WORKTRACKER_H

#include "runtime/base/Status.h"
#include "runtime/memory/Buffer.h"
#include "runtime/memory/WorkLog.h"

#include <span>

namespace dragon {

class WorkTracker {
public:
  explicit WorkTracker(Device &device)
      : Work(device), Fetches(device), Departures(device), Dev(device) {}

  WorkLog Work;
  WorkLog Fetches;
  WorkLog Departures;
  bool Tracking = false;  ///< work gets tickets
  uint64_t Epoch = 1;     ///< the next one begins when all work is done
  uint64_t LastFetch = 0; ///< ticket that later work in any queue waits for

  /// Waits until no queued work uses the chunk.
  Status settle(const Chunk &chunk);
  /// The same for work that has tickets.
  Status settleTickets(const Chunk &chunk);
  /// Later copies in the queue come after all that uses the chunk now.
  Status queueWaitsFor(Queue queue, const Chunk &chunk);
  Status synchronizeAll();
  void poll(); ///< asks the device what has ended
  bool isBusy(const Chunk &chunk);
  bool wasBusy(const Chunk &chunk) const; ///< as of the last poll
  /// Work that was queued last uses the chunks.
  Status noteUse(std::span<Chunk *const> chunks, Queue queue);

private:
  Device &Dev;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_WORKTRACKER_H
