//===- RuntimeBuffers.h - buffers and their contents ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the runtime that allocates, copies and discards.
//
// Thread-safe. A call with a queue takes effect in that queue's order. Where
// chunks must move (out of core), a call may block until earlier work on them
// ended.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_RUNTIMEBUFFERS_H
#define DRAGON_RUNTIME_CORE_RUNTIMEBUFFERS_H

#include "dragon/dragon.h"
#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/memory/Allocator.h"
#include "runtime/oracle/Observer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace dragon {

struct RuntimeImpl;

struct BufferInfo {
  uintptr_t base;
  size_t bytes; ///< as asked for
  unsigned flags;
  std::string name; ///< "d_A", may be empty
  bool hostAccessible;
  bool driverMoved; ///< the device's driver moves it, as it likes
};

/// Bytes that contents of buffers take.
struct MemoryInUse {
  uint64_t device;
  uint64_t host;
  uint64_t swap;
};

class RuntimeBuffers {
public:
  explicit RuntimeBuffers(RuntimeImpl &impl) : State(impl) {}

  StatusOr<uintptr_t> allocate(size_t bytes, const AllocateOptions &options);
  /// Waits for queued work that uses the buffer (as cudaFree does); with an
  /// order, only if it must: the memory is for what comes later in the queue.
  /// One whose contents somebody still wants stays until release().
  Status free(uintptr_t base, QueueOrder order = std::nullopt);
  /// Says of a buffer that the program frees whether what it holds has been
  /// promised to somebody, who will call release(). Called without our locks.
  using StillWanted = bool (*)(void *context, uintptr_t begin, uintptr_t end);
  void setStillWanted(StillWanted wanted, void *context);
  /// The end of a buffer that was still wanted when it was freed.
  Status release(uintptr_t base);
  /// Gives back memory that is kept for new buffers.
  Status trim();
  /// The buffer that holds `address`, if one does.
  std::optional<BufferInfo> find(uintptr_t address) const;
  /// What cudaMemGetInfo should say: what the program can allocate and really
  /// use, given budgets, host memory and swap.
  StatusOr<DeviceMemory> memoryForProgram();
  MemoryInUse memoryInUse() const;

  // Ranges must lie within one buffer where they lie in one at all.
  /// Any of the two sides may be host memory, a buffer, or memory that only
  /// the device knows. Returns when host memory may be reused, unless `async`
  /// and the memory is pinned. `pageable`: host memory on one side is not; work
  /// in the queue cannot reach it then, unless it `mayBePinned` after all.
  /// `how` is for who watches.
  Status copy(void *to, const void *from, size_t bytes, Queue queue, bool async,
              bool pageable = false, bool mayBePinned = false,
              HostAccess how = HostAccess::Copy);
  /// Whether somebody is told of what happens to buffers.
  bool isWatched() const;
  /// Of what is copied there from pageable memory the runtime keeps a copy.
  bool isFollowed(uintptr_t address, size_t bytes) const;
  Status fill(void *to, uint32_t value, unsigned width, size_t count,
              Queue queue);
  /// Zeros that the host may look at when it returns.
  Status clear(uintptr_t base, size_t bytes);
  /// Contents become undefined. `eager`: where data is moving, memory and swap
  /// are given back as soon as queued work is done with them.
  Status discard(uintptr_t address, size_t bytes, Queue queue,
                 bool eager = false, const dragon_reason *why = nullptr);
  // The same for what programs do between launches, where nothing has ever had
  // to move and nobody is told: with one look at the lock. None if that is not
  // so, or if the range is not within one buffer: then nothing has happened.
  std::optional<Status> fillAtOnce(void *to, uint32_t value, unsigned width,
                                   size_t count, Queue queue);
  /// From or to host memory of which nothing is deferred.
  std::optional<Status> transferAtOnce(void *to, const void *from, size_t bytes,
                                       CopyKind kind, Queue queue);
  std::optional<Status> discardAtOnce(uintptr_t address, size_t bytes);
  Status prefetch(uintptr_t address, size_t bytes, Queue queue);
  /// The program has copied the range, of which only the place is noted. While
  /// all buffers fit into device memory, its contents move now, as with CUDA,
  /// and not in front of the first kernel, which may be what is timed. But for
  /// a last chunk of which the rest is undefined: the program may copy there
  /// next, and it would come once more.
  Status prefetchInCore(uintptr_t address, size_t bytes, Queue queue);
  /// To host memory; only where a driver moves the buffer.
  Status prefetchToHost(uintptr_t address, size_t bytes, Queue queue);
  /// The device needs the buffer again after so many other launches; 0: what
  /// fits is brought in now; NeverAgain. A hint, until the next use.
  static constexpr uint32_t NeverAgain = UINT32_MAX;
  Status nextUse(uintptr_t address, uint32_t launches);
  Status advise(uintptr_t address, size_t bytes, dragon_advice advice);

private:
  bool keepIfWanted(uintptr_t base, uintptr_t end);
  Status waitForWork(uintptr_t base);
  /// With the lock: nothing has ever had to move, nobody watches, and the range
  /// is in one chunk of a buffer that is on the device; if it is `written`,
  /// nowhere else. Work on it goes to the device as it is. Null: that is not
  /// so.
  Chunk *inCore(uintptr_t address, size_t bytes, bool written) const;
  /// Work in the queue will have written it, or `read` it.
  Status noteInCore(Chunk &chunk, uintptr_t address, size_t bytes, bool read);
  /// A short copy from or to host memory that is the driver's alone: other
  /// threads need not wait for it. None: it is no such copy, or it is `quiet`
  /// and somebody has to be told.
  std::optional<Status> transferInCore(void *to, const void *from, size_t bytes,
                                       CopyKind kind, Queue queue, bool quiet);
  std::optional<Status> copyInCore(uintptr_t to, uintptr_t from, size_t bytes,
                                   Queue queue);
  std::optional<Status> fillInCore(uintptr_t to, uint32_t value, unsigned width,
                                   size_t count, Queue queue, bool quiet);

  RuntimeImpl &State;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_RUNTIMEBUFFERS_H
