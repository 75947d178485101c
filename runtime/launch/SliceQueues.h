//===- SliceQueues.h - slices that run at a time ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice may have fewer blocks than the device has processors, or a few that
// take much longer than the others (the vertices of a graph that have many
// edges). Slices of one launch are in no order, so they may run at a time, in
// queues of their own:
//
//   program's queue   slice 0 | slice 2 |       ...       | what comes after
//   beside it         slice 1      | slice 3 |  ...       |
//
// Slices of different launches are in order where one writes a chunk that the
// other uses: the later one's queue waits for the earlier one. The queues begin
// when what was in the program's queue before is done, and that goes on when
// they are.
//
// Not thread-safe: the Runtime's lock.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_SLICEQUEUES_H
#define DRAGON_RUNTIME_LAUNCH_SLICEQUEUES_H

#include "runtime/launch/SliceUses.h"
#include "runtime/memory/WorkLog.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace dragon {

class SliceQueues {
public:
  static constexpr unsigned Most = 8;

  SliceQueues(DeviceQueues &device, WorkLog &work) : Dev(device), Work(work) {}
  ~SliceQueues();
  SliceQueues(const SliceQueues &) = delete;
  SliceQueues &operator=(const SliceQueues &) = delete;

  /// `count` queues with the program's; 1: nothing but that.
  Status begin(Queue program, unsigned count);
  /// Where the slice runs. The queue waits for what the slice has to wait for.
  StatusOr<Queue> queueFor(const SliceUses &uses, size_t slice);
  /// The slice that queueFor() was asked for is in its queue; its ticket.
  void ran(const SliceUses &uses, size_t slice, uint64_t ticket);
  /// The program's queue goes on when all of them are done.
  Status end();

private:
  /// Tickets of the last work in each queue.
  using Tickets = std::array<uint64_t, Most>;
  struct Touched {
    uint32_t launch = SliceUses::None; ///< the one that used it last
    Tickets reads{}, writes{};         ///< of that launch
    Tickets earlierReads{}, earlierWrites{};
  };
  Touched &touched(const Chunk &chunk, uint32_t launch);

  DeviceQueues &Dev;
  WorkLog &Work;
  std::vector<Queue> Own;    ///< made once, used again
  std::vector<Queue> Queues; ///< the program's, then others
  std::unordered_map<const Chunk *, Touched> Chunks;
  Tickets Last{};
  unsigned Next = 0;    ///< whose turn it is
  unsigned Current = 0; ///< where the slice at hand runs
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_SLICEQUEUES_H
