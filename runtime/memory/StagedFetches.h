//===- StagedFetches.h - to the device while the caller goes on -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As StagedCopies, but by threads of its own, which go from one batch of copies
// to the next without waiting for the caller: it gives memory to what comes
// next while they copy. Memory that is pinned goes from where it is, by no
// block: the thread holds it until the device has read it. They take the parts
// of batches in order, and a batch is queued when its last part is:
//
//        caller    [start 1][start 2][ evict ][finish 1][launch][start 3]
//        thread 1      [ 1 ][ 1 ][ 2 ][ 2 ][ 2 ]          [ 3 ]
//        thread 2      [ 1 ][ 1 ][ 1 ][ 2 ][ 2 ]          [ 3 ]
//
// start(), finish() and stop() are called by one thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_STAGEDFETCHES_H
#define DRAGON_RUNTIME_MEMORY_STAGEDFETCHES_H

#include "runtime/memory/StagedCopies.h"

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <thread>

namespace dragon {

class StagedFetches {
public:
  static constexpr size_t BlockBytes = StagedCopies::BlockBytes;
  static constexpr unsigned BlocksPerThread = StagedCopies::BlocksPerThread;
  /// A thread has so much on its way that is in no block.
  static constexpr size_t HeldBytes = 8 << 20;

  /// Where copies come from. By several threads at a time.
  class Source {
  public:
    virtual ~Source() = default;
    /// Copies bytes into a block.
    virtual void read(char *to, uintptr_t from, size_t bytes) = 0;
    /// So many bytes from there the device may copy from where they are, in
    /// one copy, if they can be held. Not from threads.
    virtual size_t pinnedBytes(uintptr_t from, size_t bytes) = 0;
    /// It stays as it is, where it is, until it is let go. False: it does not.
    virtual bool hold(uintptr_t from, size_t bytes) = 0;
    virtual void letGo(uintptr_t from, size_t bytes) = 0;
  };

  /// The copies are made through the queue. The source outlives it.
  StagedFetches(Device &device, Queue queue, Source &source)
      : Dev(device), Through(queue), From(source) {}
  ~StagedFetches() { stop().ignore(); }
  StagedFetches(const StagedFetches &) = delete;
  StagedFetches &operator=(const StagedFetches &) = delete;

  /// Pinned memory, the caller's until stop(): a thread for each
  /// BlocksPerThread blocks, if the system gives threads.
  Status addMemory(const Physical &slab);
  /// Without any nothing is copied.
  unsigned threads() const { return unsigned(Threads.size()); }

  struct Range {
    uintptr_t to; ///< on the device
    uintptr_t from;
    size_t bytes;
  };
  /// Begins to copy, behind what began before; the batch's number, from 1.
  uint64_t start(std::span<const Range> ranges);
  /// The batch's copies are in the queue, and its source is not read any more,
  /// but for what is held.
  bool isQueued(uint64_t batch);
  /// Returns when that is so of it and all before it. The first failure of this
  /// one; what failed is not told again.
  Status finish(uint64_t batch);
  /// Finishes all; the threads end, and nothing uses the memory any more. On
  /// failure as well.
  Status stop();

private:
  struct Block {
    char *memory = nullptr;
    Event event = nullptr;
    bool busy = false;     ///< a copy from it is under way
    bool unmarked = false; ///< one that no event tells of
  };
  struct Batch {
    uint64_t number;
    size_t left; ///< parts
    Status status;
  };
  struct Part {
    Range range;
    Batch *batch;
    bool isPinned;
  };
  /// A thread's.
  struct Blocks : std::array<Block, BlocksPerThread> {
    size_t turn = 0;
    Block &next() { return (*this)[turn++ % BlocksPerThread]; }
  };
  void work(Blocks &own);
  /// The block whose event tells when the device has read what is held for the
  /// part; null: nothing is.
  Status copy(Blocks &own, const Part &part, Block *&holds);
  Status copyByBlock(Block &block, const Range &part);
  Status mark(Block &block);
  void letGo(Block &block, const Range &part);
  Status waitFor(Block &block);

  Device &Dev;
  const Queue Through;
  Source &From;
  std::list<Blocks> Memory; ///< of each thread
  std::vector<std::thread> Threads;
  uint64_t Last = 0; ///< batch

  std::mutex Lock; ///< of what follows
  std::condition_variable Wake, Done;
  std::deque<Part> Parts;
  std::list<Batch> Open; ///< in order
  std::map<uint64_t, Status> Failures;
  uint64_t Queued = 0; ///< all batches up to it are
  bool Stopping = false;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_STAGEDFETCHES_H
