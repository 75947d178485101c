//===- StagedCopies.h - between the host and the device by threads -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread copies memory at a quarter of the link's rate, so cudaMemcpy of
// pageable memory by one thread is slower than the link could be. Here several
// threads copy it through pinned blocks. Each has two blocks of its own: while
// the device empties (or fills) one, the thread fills (or empties) the other. A
// thread waits for nobody but the device, and which part of the copy a block
// holds is a matter of who comes first:
//
//        thread 1   [fill A ][fill B ][ wait ][fill A ]
//        thread 2     [fill C ][fill D ][ wait ][fill C ]
//        queue               [A][C][B][D]        [A][C]
//
// Used by one thread; the others are those of hostThreads().
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_STAGEDCOPIES_H
#define DRAGON_RUNTIME_MEMORY_STAGEDCOPIES_H

#include "runtime/device/Device.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

namespace dragon {

class StagedCopies {
public:
  static constexpr size_t BlockBytes = 2 << 20;
  /// Smaller copies are the device's.
  static constexpr size_t MinimumBytes = 16 << 20;
  static constexpr unsigned BlocksPerThread = 2;
  /// Fewer are no quicker than the device is.
  static constexpr unsigned LeastThreads = 2;
  static constexpr size_t LeastBytes =
      LeastThreads * BlocksPerThread * BlockBytes;
  /// What several threads can use; 0 if there is but one thread.
  static size_t usefulBytes();
  /// The same in whole slabs, of a quarter of the transit memory at most.
  static uint64_t bytesOfSlabs(size_t slab, uint64_t transit);

  /// All copies are in the order of `queue`, but made by `through`: a queue
  /// that is the same one for every thread, which CUDA's per-thread one is not.
  StagedCopies(Device &device, Queue queue, Queue through)
      : Dev(device), Order(queue), Through(through) {}
  ~StagedCopies() { finish().ignore(); }
  StagedCopies(const StagedCopies &) = delete;
  StagedCopies &operator=(const StagedCopies &) = delete;
  /// Pinned memory, the caller's, of a multiple of BlockBytes.
  Status addMemory(const Physical &slab);

  struct Range {
    uintptr_t to; ///< on the device
    const char *from;
    size_t bytes;
  };
  /// So many have blocks of their own: at least one, before anything is copied.
  unsigned threads() const { return unsigned(Blocks.size() / BlocksPerThread); }
  /// `from` may be changed when it returns; the device may still be copying.
  Status toDevice(std::span<const Range> ranges);
  Status toDevice(uintptr_t to, const char *from, size_t bytes) {
    const Range range{to, from, bytes};
    return toDevice({&range, 1});
  }
  struct ToHost {
    char *to;
    uintptr_t from; ///< on the device
    size_t bytes;
  };
  /// What the threads do while the device copies: `parts` parts, each once, by
  /// any of them. On failure not all of them.
  struct Meanwhile {
    size_t parts;
    std::function<void(size_t part)> make;
  };
  /// The bytes are where they are copied to when it returns, and what there was
  /// to do meanwhile is done.
  Status fromDevice(std::span<const ToHost> ranges, const Meanwhile &meanwhile);
  Status fromDevice(char *to, uintptr_t from, size_t bytes) {
    const ToHost range{to, from, bytes};
    return fromDevice({&range, 1}, {0, nullptr});
  }
  /// Nothing uses the memory any more. On failure as well.
  Status finish();

private:
  struct Block {
    char *memory;
    Event event;
    bool busy = false; ///< copies to or from it are under way
  };
  /// Later work in the queue comes after what is in `first` now.
  Status follow(Queue first, Queue then);
  /// Calls body(the thread's blocks) on several threads; none goes on after a
  /// failure.
  Status onThreads(size_t parts, const std::function<Status(Block *)> &body);
  Status queue(Block &block, void *to, const void *from, size_t bytes,
               CopyKind kind);
  Status waitFor(Block &block);

  Device &Dev;
  const Queue Order;
  const Queue Through;
  Event Mark = nullptr; ///< between the two
  std::vector<Block> Blocks;
  std::atomic<bool> Failed{false};
  /// A copy is under way that no event tells of.
  std::atomic<bool> Unmarked{false};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_STAGEDCOPIES_H
