//===- SpareBuffers.h - freed buffers for the next of their size *- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To map memory and to unmap it costs a driver some 50 us a piece, and programs
// free and allocate the same sizes in loops. While everything fits, a freed
// buffer's addresses stay reserved and its device memory mapped, until a new
// buffer of the size takes both, or somebody else needs the memory.
//
// Stream-ordered allocation (CUDA Programming Guide, "Stream-Ordered Memory
// Allocator"): work that was queued before the free may still use the memory.
// It is for new buffers of the same queue's order, then, or for all once the
// work is done.
//
// The runtime's lock protects it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_SPAREBUFFERS_H
#define DRAGON_RUNTIME_MEMORY_SPAREBUFFERS_H

#include "runtime/memory/Context.h"
#include "runtime/memory/DeviceChunks.h"

#include <map>
#include <optional>
#include <vector>

namespace dragon {

/// The queue in whose order something is allocated or freed; none: in that of
/// the host.
using QueueOrder = std::optional<Queue>;

class SpareBuffers {
public:
  SpareBuffers(Context &context, WorkTracker &time, DeviceChunks &deviceChunks);
  ~SpareBuffers();
  SpareBuffers(const SpareBuffers &) = delete;
  SpareBuffers &operator=(const SpareBuffers &) = delete;

  /// Whether keep() would make sense.
  bool canKeep(const Buffer &buffer) const;
  /// The buffer ends. It has all of its device memory, and nothing else.
  void keep(Buffer &buffer, QueueOrder order);
  /// What a buffer of the size can have; none: nothing fits.
  struct Spare {
    uintptr_t base;
    std::vector<Physical> slabs; ///< a chunk each
    QueueOrder order;
    uint64_t lastUntracked; ///< Buffer's
  };
  std::optional<Spare> take(size_t vaBytes, QueueOrder order);
  /// For a buffer at the spare's base that has its chunks.
  void wake(const Spare &spare, Buffer &buffer);
  /// New work may get the queue's name: it is no order any more.
  void queueEnds(Queue queue);
  /// Unmaps all of them.
  Status release();

private:
  Status releaseLargest();

  Context &Ctx;
  WorkTracker &Time;
  DeviceChunks &OnDevice;
  std::map<size_t, std::vector<Spare>> Spares; ///< by Buffer::vaBytes
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_SPAREBUFFERS_H
