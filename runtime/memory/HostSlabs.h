//===- HostSlabs.h - slabs of pinned host memory ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who has them: chunks, for the copies of their contents, and transfers between
// storage and the device (transit), for which a part of the budget is kept
// free.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_HOSTSLABS_H
#define DRAGON_RUNTIME_MEMORY_HOSTSLABS_H

#include "runtime/memory/PeerSlabs.h"
#include "runtime/memory/StorageIo.h"
#include "runtime/memory/WorkTracker.h"
#include "runtime/tier/SlabPool.h"

#include <deque>
#include <vector>

namespace dragon {

class HostSlabs {
  Context &Ctx;
  WorkTracker &Time;
  StorageIo &Store;

public:
  HostSlabs(Context &context, WorkTracker &time, StorageIo &store);
  ~HostSlabs();

  SlabPool Pool;
  PeerSlabs Peers;
  std::vector<Chunk *> Chunks; ///< those with a slab there, or on a peer

  void list(Chunk &chunk, bool present);

  /// A chunk's slab goes back to where it is from.
  void give(const Physical &slab) {
    if (slab.place == Place::Peer)
      Peers.give(slab);
    else
      Pool.give(slab);
  }
  /// Room beside what is kept free for transit.
  bool hasRoom(uint64_t bytes) const {
    return Pool.hasRoom(bytes, Ctx.limits.transitBytes);
  }
  /// Slabs of transfers whose work has ended go back; `wait`: one at least.
  Status recycleTransit(bool wait);
  /// The slab goes back when the fetch is done.
  void giveTransit(const Physical &slab, uint64_t fetchTicket);
  bool anyTransit() const { return !Transit.empty(); }
  /// The host refuses memory that is in the budget: others use it, too. From
  /// now on the budget is what is held. False, and it stays as it is, if that
  /// is too little to go on with.
  bool lowerBudget(const Status &refusal);
  /// Host memory for chunks that stay: all but what is in transit. What others
  /// have of it can leave, to files and swap.
  uint64_t stayingBytes() const;
  /// The same, and what peers have: for chunks that kernels see there.
  uint64_t mappedBytes() const { return stayingBytes() + Peers.budget(); }

private:
  /// What files are read into and written from: the tier knows it.
  StatusOr<Physical> create(size_t bytes, Place place);
  Status destroy(const Physical &slab);

  struct InTransit {
    uint64_t ticket;
    Physical slab;
  };

  std::deque<InTransit> Transit;
};

/// Puts the chunk into the list, or takes it out; `slot` is its index there.
void setListed(std::vector<Chunk *> &list, int32_t Chunk::*slot, Chunk &chunk,
               bool present);

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_HOSTSLABS_H
