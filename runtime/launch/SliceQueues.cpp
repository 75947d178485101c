//===- SliceQueues.cpp - slices that run at a time ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/SliceQueues.h"

#include <algorithm>

namespace dragon {

namespace {

template <typename Tickets> void join(Tickets &into, const Tickets &more) {
  for (size_t i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], more[i]);
}

} // namespace

SliceQueues::~SliceQueues() {
  for (Queue queue : Own)
    Dev.destroyQueue(queue).ignore();
}

Status SliceQueues::begin(Queue program, unsigned count) {
  Queues.assign(1, program);
  Chunks.clear();
  Last = {};
  Next = Current = 0;
  count = std::min(count, Most);
  if (count < 2)
    return {};
  while (Own.size() + 1 < count) {
    DRAGON_ASSIGN(Queue queue, Dev.createQueue(Device::NonBlocking, 0));
    Own.push_back(queue);
  }
  DRAGON_ASSIGN(uint64_t before, Work.note(program));
  for (unsigned i = 0; i + 1 < count; ++i) {
    DRAGON_TRY(Work.queueWaitsForOne(Own[i], before));
    Queues.push_back(Own[i]);
  }
  return {};
}

SliceQueues::Touched &SliceQueues::touched(const Chunk &chunk,
                                           uint32_t launch) {
  Touched &found = Chunks[&chunk];
  if (found.launch != launch) {
    join(found.earlierReads, found.reads);
    join(found.earlierWrites, found.writes);
    found.reads = found.writes = {};
    found.launch = launch;
  }
  return found;
}

StatusOr<Queue> SliceQueues::queueFor(const SliceUses &uses, size_t slice) {
  if (Queues.size() == 1)
    return Queues.front();
  Tickets before{};
  for (const SliceUses::Use &use : uses.uses(slice)) {
    const Touched &chunk = touched(*use.use->chunk, uses.slice(slice).launch);
    join(before, chunk.earlierWrites);
    if (use.use->mayWrite())
      join(before, chunk.earlierReads);
  }
  // Behind the one that it has to wait for, if that is one: it need not then.
  unsigned behind = 0, number = 0;
  for (unsigned i = 0; i < Queues.size(); ++i)
    if (before[i] && !Work.knownDone(before[i])) {
      behind = i;
      ++number;
    }
  if (number == 1) {
    Current = behind;
  } else {
    Current = Next;
    Next = (Next + 1) % unsigned(Queues.size());
  }
  for (unsigned i = 0; i < Queues.size(); ++i)
    if (i != Current && before[i])
      DRAGON_TRY(Work.queueWaitsForOne(Queues[Current], before[i]));
  return Queues[Current];
}

void SliceQueues::ran(const SliceUses &uses, size_t slice, uint64_t ticket) {
  if (Queues.size() == 1)
    return;
  Last[Current] = ticket;
  for (const SliceUses::Use &use : uses.uses(slice)) {
    Touched &chunk = touched(*use.use->chunk, uses.slice(slice).launch);
    (use.use->mayWrite() ? chunk.writes : chunk.reads)[Current] = ticket;
  }
}

Status SliceQueues::end() {
  Status first;
  for (unsigned i = 1; i < Queues.size(); ++i)
    if (Last[i])
      if (Status status = Work.queueWaitsForOne(Queues.front(), Last[i]);
          first.ok())
        first = std::move(status);
  Queues.clear();
  Chunks.clear();
  return first;
}

} // namespace dragon
