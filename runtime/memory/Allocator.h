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

#include <functional>
#include <string>

namespace dragon {

struct AllocateOptions {
  unsigned flags = 0;          ///< dragon_flags
  bool hostAccessible = false; ///< dragon_map, dragon_malloc, managed memory
  const dragon_source *where = nullptr;
  const dragon_reason *why =
      nullptr; ///< of the flags, if they are a compiler's
};

class Allocator {
public:
  /// What a buffer's sinks announce will not happen: it is destroyed.
  using EndSinks = std::function<Status(Buffer &)>;

  Allocator(Context &context, WorkTracker &time, AddressSpace &space,
            HostSlabs &slabs, ReadAhead &reads, HostMemory &host,
            Contents &data, DeviceChunks &deviceChunks, DriverMoved &driver)
      : Ctx(context), Time(time), Space(space), Slabs(slabs), Reads(reads),
        Host(host), Data(data), OnDevice(deviceChunks), Driver(driver) {}
  void setEndSinks(EndSinks end) { EndOfSinks = std::move(end); }

  StatusOr<uintptr_t> allocate(size_t bytes, const AllocateOptions &options);
  /// The allocation is out of the books then, whatever else fails: the program
  /// will not ask again.
  Status free(const Allocation &allocation);
  /// `name`: the program's, of one that is no arena.
  StatusOr<Buffer *> makeBuffer(size_t bytes, unsigned flags,
                                bool hostAccessible,
                                const std::string *name = nullptr);
  Status destroyBuffer(Buffer &buffer);

private:
  StatusOr<uintptr_t> allocateSmall(size_t bytes,
                                    const AllocateOptions &options);
  bool sharesChunks(const AllocateOptions &options) const;
  /// What does not fit on the device will need host memory: it is made ahead.
  void expectHostMemory();
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
  Arenas Small;
  uint64_t NumBuffersMade = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_ALLOCATOR_H
