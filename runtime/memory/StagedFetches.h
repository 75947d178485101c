//===- StagedFetches.h - to the device while the caller goes on -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As StagedCopies, but by threads of its own, which go from one batch of copies
// to the next without waiting for the caller: it gives memory to what comes
// next while they copy. They take the parts of batches in order, and a batch is
// queued when its last part is:
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
  /// Copies bytes of the source into a block. By several threads at a time.
  using Read = std::function<void(char *to, uintptr_t from, size_t bytes)>;

  /// The copies are made through the queue.
  StagedFetches(Device &device, Queue queue, Read read)
      : Dev(device), Through(queue), ReadSource(std::move(read)) {}
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
  /// The batch's copies are in the queue, and its source is not read any more.
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
  };
  using Blocks = std::array<Block, BlocksPerThread>;
  void work(Blocks &own);
  Status copy(Block &block, const Range &part);
  Status waitFor(Block &block);

  Device &Dev;
  const Queue Through;
  const Read ReadSource;
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
