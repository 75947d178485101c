//===- DeviceChunks.h - chunks in device memory, and who leaves it --*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chunks get slabs within the budget. Where it is full others leave first:
// those that the policy (Eviction.h) chooses, to host memory or, where that is
// full too, through transit memory to storage.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_DEVICECHUNKS_H
#define DRAGON_RUNTIME_MEMORY_DEVICECHUNKS_H

#include "runtime/memory/AddressSpace.h"
#include "runtime/memory/ChunkUse.h"
#include "runtime/memory/HostMemory.h"

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace dragon {

class DeviceChunks {
public:
  DeviceChunks(Context &context, WorkTracker &time, AddressSpace &space,
               HostSlabs &slabs, WriteBehind &writes, HostMemory &host,
               NextUsePredictor &next);

  SlabPool Pool;
  std::vector<Chunk *> Chunks; ///< those with a device slab
  /// While slices run: what was used since then is in use, and waiting for it
  /// counts as so many copies.
  uint64_t InUseSince = UINT64_MAX;
  unsigned WaitsCount = 1;
  bool runsSlices() const { return InUseSince != UINT64_MAX; }
  bool AnyStream = false; ///< StreamedChunks has chosen some
  bool GoesRound = false; ///< and launches repeat themselves now

  void list(Chunk &chunk, bool present);
  Status map(Chunk &chunk);
  Status release(Chunk &chunk); ///< unmaps, gives the slab back
  /// The chunk ends, and its slab stays mapped; for a new one, or for nobody.
  Physical park(Chunk &chunk);
  void wake(Chunk &chunk, const Physical &parked);
  Status release(uintptr_t va, const Physical &parked);
  /// Slabs for `bytes` can be taken without exceeding the budget.
  Status makeRoom(uint64_t bytes);
  /// All device memory together is no more than that from now on. False: what
  /// calls hold is more, and stays. No call is in progress.
  bool follow(uint64_t limit);
  /// A launch in progress gets on, and has pinned nothing: what others have
  /// called back since goes, but for what its next slice uses.
  void giveBetweenSlices(std::span<const ChunkUse> next);
  /// The program uses the device again, if it yielded.
  void goesOn();
  /// All buffers need so many bytes.
  void wants(uint64_t bytes);
  /// A call needs so many at once, more than the budget. True if that is more
  /// now, as others have to give some back.
  bool askOthersFor(uint64_t bytes);
  /// A call is about to hold the chunks of the uses at once, beside what it has
  /// pinned: the budget is not less until it ends. It may have to wait for
  /// other programs' calls, and what it has not pinned may leave meanwhile.
  void claim(std::span<const ChunkUse> uses);
  void claim(uint64_t bytes);
  /// The same for what can do without: false if it would have to wait.
  bool claimNow(std::span<const ChunkUse> uses);
  /// The call has ended, with all that it has claimed and pinned.
  void endCall();
  /// A slab, for which others leave, or give memory back.
  StatusOr<Physical> take(size_t bytes);
  class Exchange;
  /// The chunks that may leave, as they are now. `later`: for when all that
  /// uses them now is done.
  std::vector<EvictionCandidate> candidates(bool later = false);
  /// Of those that `mayGo`, the ones that no work uses.
  std::vector<EvictionCandidate>
  idle(const std::function<bool(const Chunk &)> &mayGo);
  /// Queues the copy of the chunk's contents to host memory, if that is where
  /// they would be evicted to. False: it is not, or there is nothing to copy.
  StatusOr<bool> copyOut(Chunk &chunk, Cause cause);
  Status evict(std::span<Chunk *const> victims, Cause cause);
  /// A slab on a peer for the chunk, which has no contents but on the device:
  /// one that is free, or that of a chunk whose contents are there as well.
  /// False: there is none, or the host may touch it.
  StatusOr<bool> takePeerSlab(Chunk &chunk);
  /// The chunk holds nothing: its memory goes back once it is idle.
  Status giveBack(Chunk &chunk);
  /// The memory of dying chunks that have become idle goes back.
  Status giveBackIdle();
  /// The buffer is destroyed: none of its chunks is given back any more.
  void noMore(const Buffer &buffer);

  /// `drop` gives memory beside chunks (DeviceScratch) back, where others need
  /// it; false: there is none. No launch that uses it is being submitted then.
  void addScratch(std::function<bool()> drop) {
    Scratch.push_back(std::move(drop));
  }
  /// All of that goes back; false: there was none.
  bool dropScratch();
  /// The budget has so much at once; what is beside chunks goes back for it.
  bool holds(uint64_t bytes);

  /// On the device, without moving or waiting for anything.
  bool hasRoomForFree(uint64_t bytes);
  /// The chunk can be written on the device without evicting others.
  bool fits(const Chunk &chunk);
  /// All buffers fit together.
  bool holdsAll() const { return Space.LiveBytes <= Pool.budget(); }
  /// Not everything fits: what dies makes a difference, if only to who watches.
  bool mayMove() const;
  /// Of most of what is in host memory: a buffer larger than the device, if
  /// there is one, has most of it.
  size_t usualChunkBytes() const;
  /// What does not fit on the device will need host memory, but for what the
  /// program's memory holds: it is made ahead.
  void expectHostMemory();
  /// A launch that does not fit has been planned: it asks the driver for much,
  /// where whoever makes host memory is in its way.
  void makeNoHostMemory();
  /// What was read from a file stays in host memory from now on, and so will
  /// what is read next: memory for it is made meanwhile.
  void expectKept();
  /// The one line that says that not everything fits.
  void noticeOnce();

  /// Queues the copy of contents that the device has alone to host memory, if
  /// some is at hand: the chunk can go without one as soon as that is done.
  StatusOr<bool> copyOutAhead(Chunk &chunk);

private:
  /// The chunk of that number, as one that may leave.
  EvictionCandidate candidate(size_t index, bool busy);
  /// Of the pool, in whole units of the device's.
  void setLimit(uint64_t bytes);
  /// `scratch`: what is beside chunks is not in use and may go as well.
  bool shrinkTo(uint64_t limit, bool scratch);
  /// Others have not given back what the program was to have.
  void waitedInVain();
  /// What other programs may have of host memory by now.
  void giveHostMemory();
  /// What this program may have: not less than a call in progress has claimed,
  /// also where a program that was stopped in the meantime keeps some of it.
  uint64_t limitNow() const;
  /// Bytes of chunks that may not leave now.
  uint64_t heldFast() const;
  /// What the uses need beside that.
  uint64_t beside(std::span<const ChunkUse> uses) const;
  /// Victims on their way to storage, in transit slabs.
  class Departure;
  Status evictOne(Chunk &chunk, Departure &departure);
  bool isBetterOnPeer(Chunk &chunk, const Move &move);
  void awaitSlabs(size_t bytes);
  /// A slab for the chunk's copy. False: there is none.
  StatusOr<bool> takeHostSlab(Chunk &chunk);
  /// The slab of a chunk of that size that was written on the device since.
  StatusOr<bool> takeOverHostSlab(Chunk &chunk);
  /// Chooses who leaves for so many bytes, and queues the copies to host
  /// memory.
  StatusOr<std::vector<Chunk *>> chooseLeaving(uint64_t bytes, Cause cause);
  bool isBetterInOrdinaryMemory(const Chunk &chunk) const;
  /// Contents that have left for host memory go on to where the program will
  /// copy them, or to ordinary memory.
  Status bringToPlace(Chunk &chunk, Cause cause);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  HostSlabs &Slabs;
  WriteBehind &Writes;
  HostMemory &Host;
  NextUsePredictor &Next;
  std::vector<std::function<bool()>> Scratch;
  std::vector<Exchange *> Exchanges; ///< in progress, one within the other
  std::deque<Chunk *> Dying; ///< in the order of giveBack(), or dying no more
  bool Noticed = false;
  /// DeviceShare::news() for which the limit, and what is held, are right.
  uint32_t LimitAsOf = 0, HeldAsOf = 0;
};

/// Chunks leave for others that come one after the other. The copies of all
/// that leave are queued at the beginning, and each goes when its memory is
/// wanted: what comes is copied in while those behind it are copied out. No
/// buffer ends while an exchange goes on.
class DeviceChunks::Exchange {
public:
  explicit Exchange(DeviceChunks &memory);
  ~Exchange(); ///< whoever has not left stays
  Exchange(const Exchange &) = delete;
  Exchange &operator=(const Exchange &) = delete;

  /// Room for so many bytes in all will be wanted.
  Status begin(uint64_t bytes);
  /// Slabs for so many of them can be taken.
  Status makeRoom(uint64_t bytes);
  /// Those that have not left yet may be anybody's victims.
  void putBack();

private:
  Status leaveFor(uint64_t bytes, TraceZone &zone);

  DeviceChunks &Memory;
  std::unique_ptr<Departure> Departing;
  std::vector<Chunk *> Leaving; ///< not listed any more: nobody else's victims
  size_t Left = 0;              ///< of them
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_DEVICECHUNKS_H
