//===- Allocator.h - allocating and freeing buffers -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A large allocation is a buffer of its own; small ones share arenas
// (Arenas.h), but on strict devices, which watch buffers apart.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_ALLOCATOR_H
#define DRAGON_RUNTIME_MEMORY_ALLOCATOR_H

#include "dragon/CompilerABI.h"
#include "runtime/memory/Arenas.h"
#include "runtime/memory/DriverMoved.h"
#include "runtime/memory/Residency.h"
#include "runtime/memory/SpareBuffers.h"

#include <deque>
#include <functional>
#include <string>

namespace dragon {

struct AllocateOptions {
  unsigned flags = 0;          ///< dragon_flags
  bool hostAccessible = false; ///< dragon_map, dragon_malloc, managed memory
  const dragon_source *where = nullptr;
  const dragon_reason *why =
      nullptr;                     ///< of the flags, if they are a compiler's
  QueueOrder order = std::nullopt; ///< of a stream-ordered allocation
  bool byData = false;             ///< data may say what launches use of it
};

class Allocator {
public:
  /// What a buffer's sinks announce will not happen: it is destroyed.
  using EndSinks = std::function<Status(Buffer &)>;

  Allocator(Context &context, WorkTracker &time, AddressSpace &space,
            HostSlabs &slabs, ReadAhead &reads, HostMemory &host,
            Contents &data, DeviceChunks &deviceChunks, DriverMoved &driver)
      : Ctx(context), Time(time), Space(space), Slabs(slabs), Reads(reads),
        Host(host), Data(data), OnDevice(deviceChunks), Driver(driver),
        Spares(context, time, deviceChunks) {}
  void setEndSinks(EndSinks end) { EndOfSinks = std::move(end); }

  StatusOr<uintptr_t> allocate(size_t bytes, const AllocateOptions &options);
  /// The allocation is out of the books then, whatever else fails: the program
  /// will not ask again. Waits for the work that uses it, if it must not come
  /// after that in a queue's order.
  Status free(const Allocation &allocation, QueueOrder order = std::nullopt);
  /// `name`: the program's, of one that is no arena.
  StatusOr<Buffer *> makeBuffer(size_t bytes, const AllocateOptions &options,
                                const std::string *name = nullptr);
  Status destroyBuffer(Buffer &buffer, QueueOrder order = std::nullopt);
  /// What was freed in the queue's order waits for its work now.
  void queueEnds(Queue queue);
  /// Gives back what is kept for new buffers.
  Status trim();

private:
  StatusOr<uintptr_t> allocateSmall(size_t bytes,
                                    const AllocateOptions &options);
  Status freeSmall(const Allocation &allocation, QueueOrder order);
  size_t mostEarly() const;
  Status giveToArena(uintptr_t base, size_t bytes, Buffer &arena);
  std::optional<std::pair<uintptr_t, Buffer *>>
  takeEarly(size_t bytes, const AllocateOptions &options);
  /// What was freed early and is idle now goes back to its arenas.
  Status giveIdle();
  /// Its addresses and its device memory.
  Status releaseRange(Buffer &buffer);
  size_t chunkBytesFor(size_t bytes, const AllocateOptions &options) const;
  bool sharesChunks(const AllocateOptions &options) const;
  /// Maps a new buffer that fits without moving anything.
  Status mapEagerly(Buffer &buffer);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  HostSlabs &Slabs;
  ReadAhead &Reads;
  HostMemory &Host;
  Contents &Data;
  DeviceChunks &OnDevice;
  DriverMoved &Driver;
  EndSinks EndOfSinks;
  SpareBuffers Spares;
  Arenas Small;
  /// Parts of arenas that were freed while work might use them.
  struct EarlyFree {
    uintptr_t base;
    size_t bytes;
    Buffer *arena;
    QueueOrder order;
    uint64_t epoch; ///< WorkTracker's, of that work
  };
  std::deque<EarlyFree> Early; ///< oldest first
  size_t EarlyBytes = 0;
  uint64_t NumBuffersMade = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_ALLOCATOR_H
