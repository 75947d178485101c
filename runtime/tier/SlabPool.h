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
//
// Who knows that many will be needed says so (expect): a thread then makes some
// before they are asked for, a few ahead of the takers and no more, for what is
// not needed after all is memory that others lack. A taker that comes while a
// slab of its kind is being made waits for that one.
//
// The pool knows how to make slabs through two functions, so that it needs no
// device. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_SLABPOOL_H
#define DRAGON_RUNTIME_TIER_SLABPOOL_H

#include "runtime/device/Device.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace dragon {

class SlabPool {
public:
  /// Of a place, or of one that can do more.
  using Create = std::function<StatusOr<Physical>(size_t bytes, Place place)>;
  using Destroy = std::function<Status(const Physical &)>;

  /// `name` is a literal: "device", "host".
  /// `usual`: where slabs are, unless another place is asked for.
  SlabPool(const char *name, uint64_t budget, Place usual, Create create,
           Destroy destroy)
      : Name(name), Budget(budget), Usual(usual), CreateSlab(std::move(create)),
        DestroySlab(std::move(destroy)) {}
  /// What is made ahead of the takers.
  static constexpr uint64_t AheadBytes = uint64_t(256) << 20;

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
  /// Of what takers keep free, this much more (or less) is in use, for what it
  /// is kept free for.
  void lend(int64_t bytes);

  uint64_t budget() const;
  /// The tier turned out to have less: no more than what is held now.
  void shrinkToUsed();
  /// Bytes of slabs that somebody holds.
  uint64_t used() const;
  /// The most bytes that there ever were, held or kept.
  uint64_t most() const;
  bool hasRoom(size_t bytes, uint64_t keepFree = 0) const;
  /// Destroys the slabs that nobody holds.
  void trim();

  /// Slabs of `bytes` will be taken, until all slabs together are of `total`
  /// bytes; 0: none. The last call counts.
  void expect(size_t bytes, uint64_t total);
  /// Nothing is expected any more, and the thread has ended.
  void rest();

private:
  // These three with the lock held.
  bool fits(size_t bytes, uint64_t keepFree) const {
    return Used + bytes + (keepFree > Lent ? keepFree - Lent : 0) <= Budget;
  }
  bool shouldMake() const;
  void keep(const Physical &slab);
  void makeAhead();      // the thread
  bool destroyOneIdle(); // with the lock held

  const char *const Name;
  uint64_t Budget;
  const Place Usual;
  Create CreateSlab;
  Destroy DestroySlab;
  mutable std::mutex Lock;
  uint64_t Used = 0; ///< held by somebody
  uint64_t Lent = 0; ///< of that: what was kept free for it
  uint64_t Idle = 0; ///< kept
  uint64_t Most = 0; ///< of both together
  std::map<std::pair<size_t, Place>, std::vector<Physical>> Kept;

  size_t ExpectedSlab = 0; ///< of what size slabs are expected; 0: none are
  uint64_t Expected = 0;   ///< bytes of all slabs
  uint64_t Making = 0;     ///< bytes of the slab that the thread makes now
  unsigned Waiting = 0;    ///< takers that wait for it
  bool Resting = false;
  std::thread Maker;
  std::condition_variable Wanted; ///< the thread has something to do
  std::condition_variable Made;   ///< it has made a slab, or failed to
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_SLABPOOL_H
