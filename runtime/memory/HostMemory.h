//===- HostMemory.h - room in host memory -----------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who needs a slab of host memory gets one, for which others may have to leave:
// to storage, or at once where another copy is valid.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_HOSTMEMORY_H
#define DRAGON_RUNTIME_MEMORY_HOSTMEMORY_H

#include "runtime/memory/Eviction.h"
#include "runtime/memory/ReadAhead.h"
#include "runtime/memory/WriteBehind.h"

#include <vector>

namespace dragon {

class HostMemory {
public:
  HostMemory(Context &context, WorkTracker &time, HostSlabs &slabs,
             ReadAhead &reads, WriteBehind &writes, NextUsePredictor &next)
      : Ctx(context), Time(time), Slabs(slabs), Reads(reads), Writes(writes),
        Next(next) {}

  /// Room for a transfer.
  StatusOr<Physical> takeTransit(size_t bytes, Place place = Place::Pinned);
  /// Room for a copy that stays.
  StatusOr<Physical> take(size_t bytes, Place place = Place::Pinned);
  /// The same where the budget has room beside `keepFree` bytes: others may
  /// have to give back what they owe first.
  StatusOr<Physical> takeShared(size_t bytes, uint64_t keepFree, Place place);
  /// Host memory beyond what the program may have by now goes back to the
  /// others. False: what calls hold stays.
  bool follow();
  /// dropOnly: only by host copies that others hold as well; not an error if
  /// that is not enough.
  Status makeRoom(uint64_t bytes, bool forTransit, bool dropOnly = false);
  /// The host is about to touch the chunk's slab: if that is on a peer, memory
  /// of the host takes its place, with what it holds.
  Status bringHome(Chunk &chunk);
  /// A slab on a peer takes the place of the chunk's, and what that holds comes
  /// along if it `moves`; else the slab holds nothing yet, which needs another
  /// copy. False: no peer has room, or the host may touch it.
  StatusOr<bool> goToPeer(Chunk &chunk, bool moves);
  /// A peer's slabs are no more than so many bytes from now on: who is needed
  /// last comes to the host. False: what calls hold is more, and stays.
  bool leavePeer(unsigned peer, uint64_t limit);
  /// Queues the copy of what is defined, from the device to the chunk's slab.
  Status copyToSlab(const Chunk &chunk);
  static Direction directionToSlab(const Chunk &chunk) {
    return chunk.host.place == Place::Peer ? Direction::DeviceToPeer
                                           : Direction::DeviceToHost;
  }
  /// Around what is defined, in the chunk's slab.
  Status poisonOutside(const Chunk &chunk);
  Status release(Chunk &chunk); ///< gives the chunk's slab back
  Status unmap(Chunk &chunk);   ///< if it is mapped; the slab stays

private:
  /// Host copies that may leave: by a drop, or by a write.
  struct Leaving {
    std::vector<EvictionCandidate> drops, writes;
  };
  EvictionCandidate candidateAt(size_t index);
  Leaving candidates(bool dropOnly);
  Status evict(Chunk &chunk, Cause cause);
  Status noRoom(uint64_t bytes) const;
  Status copyToPeer(Chunk &chunk, const Physical &to);
  Status copyHome(const Chunk &chunk, const Physical &slab);

  Context &Ctx;
  WorkTracker &Time;
  HostSlabs &Slabs;
  ReadAhead &Reads;
  WriteBehind &Writes;
  NextUsePredictor &Next;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_HOSTMEMORY_H
