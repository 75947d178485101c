//===- SlabPool.h - physical memory under a budget ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slabs of one tier, device or pinned host memory, for the contents of
// chunks and for staging. Creating them is slow (pinned memory: 0.36 s a GiB),
// so slabs that are given back are kept for the next taker; they count against
// the budget until they are destroyed to make room for slabs of another size.
// Where more is held than a budget that was lowered, they are destroyed at
// once: others wait for the memory, and go on as soon as there is any.
//
// Who knows that many will be needed says so (expect): threads then make some
// before they are asked for. They begin with a few, and go on as the takers do:
// as far ahead as has been taken, for what is not needed after all is memory
// that others lack. A taker that comes while a slab of its kind is being made
// waits for the first one that is done.
//
//            expect          take take     take       ...
//   made     [first ahead]   [  as much again as is taken, up to what is
//                               expected                               ]
//
// The pool knows how to make slabs through two functions, which several threads
// call at once, so that it needs no device. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_SLABPOOL_H
#define DRAGON_RUNTIME_TIER_SLABPOOL_H

#include "runtime/device/Device.h"
#include "runtime/trace/Trace.h"

#include <atomic>
#include <climits>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace dragon {

/// How a pool makes slabs before they are asked for.
struct MakingAhead {
  /// So many bytes before any is taken.
  uint64_t bytes = uint64_t(256) << 20;
  unsigned threads = 1;
};

class SlabPool {
public:
  /// Makes a slab of a place, or of one that can do more.
  using Create = std::function<StatusOr<Physical>(size_t bytes, Place place)>;
  using Destroy = std::function<Status(const Physical &)>;

  /// `name` is a literal: "device", "host".
  /// `usual`: where slabs are, unless another place is asked for.
  SlabPool(const char *name, uint64_t budget, Place usual, Create create,
           Destroy destroy, MakingAhead ahead = {},
           std::optional<TracedMemory> traced = {})
      : Name(name), Budget(budget), Usual(usual), CreateSlab(std::move(create)),
        DestroySlab(std::move(destroy)), Ahead(ahead), Traced(traced) {}

  ~SlabPool();
  SlabPool(const SlabPool &) = delete;
  SlabPool &operator=(const SlabPool &) = delete;

  /// A slab of exactly `bytes`. DRAGON_ERROR_OUT_OF_MEMORY if the budget, or
  /// the tier, has no room beside the slabs in use and `keepFree` bytes.
  StatusOr<Physical> take(size_t bytes, uint64_t keepFree = 0) {
    return take(bytes, keepFree, Usual);
  }
  StatusOr<Physical> take(size_t bytes, uint64_t keepFree, Place place);
  void give(const Physical &slab);
  /// A slab that was taken lies idle where it is mapped (true), or is in use
  /// again.
  void park(const Physical &slab, bool parked);
  /// A parked slab is unmapped: anybody may take it.
  void giveParked(const Physical &slab);
  /// How a taker for whom there is no room gets at parked slabs: gives some.
  /// False: there are none. Called without the pool's lock.
  void setReclaim(std::function<bool()> reclaim) {
    Reclaim = std::move(reclaim);
  }
  /// So much more (or less) of the budget is held for something else than
  /// slabs. False: there is no room for it beside `keepFree` bytes.
  bool charge(int64_t bytes, uint64_t keepFree);
  /// This much more (or less) of what takers keep free is in use, for what it
  /// is kept free for.
  void lend(int64_t bytes);

  /// A slab that was taken is, for a while (true), none of the budget's: that
  /// is what is left.
  void setAside(const Physical &slab, bool aside);

  uint64_t budget() const;
  /// The tier turned out to have less: no more than what is held now.
  void shrinkToUsed();
  /// More may be in use than that by then.
  void setBudget(uint64_t bytes);
  /// The same, of all slabs, those that are set aside among them.
  void setLimit(uint64_t bytes);
  /// Bytes of all slabs that there are.
  uint64_t held() const;
  /// Bytes of slabs that somebody holds.
  uint64_t used() const;
  /// Bytes of those that are set aside.
  uint64_t aside() const;
  /// The most bytes that there ever were, held or kept. Waits for no lock.
  uint64_t most() const;
  bool hasRoom(size_t bytes, uint64_t keepFree = 0) const;
  /// Bytes that must be given for that.
  uint64_t missing(size_t bytes, uint64_t keepFree) const;
  /// A taker would get one that is there.
  bool isReady(size_t bytes) const { return ready(bytes) != 0; }
  /// Bytes of all that takers of slabs of that size would get.
  uint64_t ready(size_t bytes) const;
  /// Destroys the slabs that nobody holds.
  void trim();
  /// Parked ones become such. False: there are none.
  bool reclaimParked() { return Reclaim && Reclaim(); }

  /// Slabs of `bytes` will be taken, until all slabs together are of `total`
  /// bytes; 0: none. `threads` make them at most: they are in the way of who
  /// works on the device meanwhile. No more are made than `ahead` bytes that
  /// nobody has taken. The last call counts.
  void expect(size_t bytes, uint64_t total, unsigned threads = UINT_MAX,
              uint64_t ahead = UINT64_MAX);
  /// Nothing is expected any more, and the threads have ended.
  void rest();

private:
  // With the lock held.
  bool fits(size_t bytes, uint64_t keepFree) const {
    return Used + bytes + (keepFree > Lent ? keepFree - Lent : 0) <= Budget;
  }
  size_t numKept(size_t bytes, Place place) const;
  /// `other`: one that can do more will do.
  std::optional<Physical> takeKept(size_t bytes, Place place, bool other);
  size_t numBeingMade(size_t bytes, Place place) const;
  bool shouldMake() const;
  void keep(const Physical &slab);
  bool destroyOneIdle();
  StatusOr<Physical> create(std::unique_lock<std::mutex> &guard, size_t bytes,
                            Place place);
  /// True: something may have become free; the lock was given up for it.
  bool reclaim(std::unique_lock<std::mutex> &guard);
  void makeAhead(); // the threads
  uint64_t sum() const { return Used + Idle + Coming + Aside; }
  /// There is more, or less.
  void noteSum();

  const char *const Name;
  uint64_t Budget;
  const Place Usual;
  Create CreateSlab;
  Destroy DestroySlab;
  std::function<bool()> Reclaim;
  const MakingAhead Ahead;
  const std::optional<TracedMemory> Traced;
  mutable std::mutex Lock;
  uint64_t Used = 0;   ///< held by somebody, or made by who will hold it
  uint64_t Lent = 0;   ///< of that: what was kept free for it
  uint64_t Idle = 0;   ///< kept, or parked
  uint64_t Coming = 0; ///< being made by the threads
  uint64_t Aside = 0;  ///< none of the budget's, for a while
  std::atomic<uint64_t> Most{0}; ///< of all together
  std::map<std::pair<size_t, Place>, std::vector<Physical>> Kept;

  size_t ExpectedSlab = 0; ///< of what size slabs are expected; 0: none are
  uint64_t Expected = 0;   ///< bytes of all slabs
  unsigned MostMakers = 0; ///< that make them at a time
  uint64_t MostAhead = UINT64_MAX; ///< bytes that nobody has taken
  /// The sizes of the slabs that the threads make now.
  std::vector<size_t> SizesComing;
  unsigned Waiting = 0; ///< takers that wait for one of them
  unsigned Pausing = 0; ///< and for an end of them: they need the room
  bool Resting = false;
  std::vector<std::thread> Makers;
  std::condition_variable Wanted; ///< the threads have something to do
  std::condition_variable Made;   ///< one has made a slab, or failed to
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_SLABPOOL_H
