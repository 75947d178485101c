//===- HostMapping.h - chunks that the device sees in host memory *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk's host slab is mapped at the chunk's address: kernels access it over
// the link, and the host as its own memory. Slabs that can be mapped are slow
// to make on some devices, and are made by several threads.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_HOSTMAPPING_H
#define DRAGON_RUNTIME_MEMORY_HOSTMAPPING_H

#include "runtime/memory/DeviceChunks.h"

#include <span>

namespace dragon {

class HostMapping {
public:
  HostMapping(Context &context, WorkTracker &time, HostSlabs &slabs,
              WriteBehind &writes, HostMemory &host, DeviceChunks &deviceChunks)
      : Ctx(context), Time(time), Slabs(slabs), Writes(writes), Host(host),
        OnDevice(deviceChunks) {}

  /// Its contents must be in host memory.
  Status map(Chunk &chunk);
  /// Host memory that can be mapped, for those of the chunks that have none,
  /// and their contents in it if they are in host memory; by several threads
  /// and as far as there is room. map() sees to the rest.
  Status makeMappable(std::span<Chunk *const> chunks);
  /// Bytes a second of makeMappable(), as measured; 0: not yet.
  double rate() const { return Rate; }

private:
  Status makeMappable(Chunk &chunk);
  /// True if all of them got their memory.
  StatusOr<bool> convert(std::span<Chunk *const> chunks, uint64_t bytes);

  Context &Ctx;
  WorkTracker &Time;
  HostSlabs &Slabs;
  WriteBehind &Writes;
  HostMemory &Host;
  DeviceChunks &OnDevice;
  double Rate = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_HOSTMAPPING_H
