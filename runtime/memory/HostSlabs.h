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

#include <atomic>
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
  /// Ordinary memory that nobody has goes back to the system.
  void trimOrdinary() { Store.Ordinary.trim(); }
  /// The same of some that a chunk has, by way of swap. False: there is none.
  StatusOr<bool> freeOrdinary();
  /// Slabs of transfers whose work has ended go back; `wait`: one at least.
  Status recycleTransit(bool wait);
  /// The slab goes back when the fetch is done.
  void giveTransit(const Physical &slab, uint64_t fetchTicket);
  bool anyTransit() const { return !Transit.empty(); }
  /// The host refuses memory that is in the budget: others use it, too. From
  /// now on the budget is what is held. False, and it stays as it is, if that
  /// is too little to go on with.
  bool lowerBudget(const Status &refusal);
  // Where programs divide host memory, the budget is what this one may have. It
  // grows at any time. It falls where no call is in progress, and between the
  // slices of one, but not below what that holds.

  /// This program divides it, and needs so much whatever others want.
  void startSharing(uint64_t least);
  /// Buffers need so much now: what is wanted grows, in steps.
  void wants(uint64_t bytes);
  /// Buffers need no more than that.
  void wantsNoMoreThan(uint64_t bytes);
  /// A call needs so much at once. True: the budget has grown to that. What
  /// others have then, and do not give back while the call goes on, is taken of
  /// what the machine has left.
  bool exceed(uint64_t bytes);
  /// The budget is what the program may have by now, beside what calls hold.
  void followShare();
  /// That may be another one than it is; asked for the first time since then,
  /// or since some of it could not be given.
  bool mayHaveChanged();
  void askAgain() { --LimitAsOf; }
  /// There is room in the budget, and none in what all programs together have:
  /// waits until others have given back what they owe, but not for ever: they
  /// may wait for this program's device memory. The reserve is there for what
  /// it takes then. False: there is no room in the budget any more.
  bool waitForOthers(uint64_t bytes);
  /// Host memory for chunks that stay: all but what is in transit. What others
  /// have of it can leave, to files and swap.
  uint64_t stayingBytes() const;
  /// The same, and what peers have: for chunks that kernels see there.
  uint64_t mappedBytes() const { return stayingBytes() + Peers.budget(); }

private:
  /// What files are read into and written from: the tier knows it.
  StatusOr<Physical> create(size_t bytes, Place place);
  Status destroy(const Physical &slab);

  void setLimit(uint64_t bytes, bool falls);

  struct InTransit {
    uint64_t ticket;
    Physical slab;
  };

  std::deque<InTransit> Transit;
  uint64_t Wanted = 0; ///< as the other programs know it
  uint64_t Least = 0;  ///< the budget is never less
  /// DeviceShare::news() for which the budget is right.
  uint32_t LimitAsOf = 0;
  /// The next slab is made also if all programs have no room for it.
  std::atomic<bool> Exceeds{false};
};

/// Puts the chunk into the list, or takes it out; `slot` is its index there.
void setListed(std::vector<Chunk *> &list, int32_t Chunk::*slot, Chunk &chunk,
               bool present);

/// Slabs of transit memory that somebody keeps for a while: they are in use for
/// what the pool keeps free.
class LentSlabs {
public:
  explicit LentSlabs(SlabPool &pool) : Pool(pool) {}
  ~LentSlabs() { giveBack(); }
  LentSlabs(const LentSlabs &) = delete;
  LentSlabs &operator=(const LentSlabs &) = delete;

  StatusOr<Physical> take(size_t bytes);
  void giveBack();
  uint64_t bytes() const { return Bytes; }

private:
  SlabPool &Pool;
  std::vector<Physical> Held;
  uint64_t Bytes = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_HOSTSLABS_H
