//===- HostFaults.h - the host touches a chunk ------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As DRAGON does (SC'18), a chunk is where it was touched last. A fault of the
// host brings the chunk to pinned host memory, mapped at the chunk's address;
// the next work on the device that needs it brings it back. Once mapped, what
// the host writes cannot be seen, so the contents count as dirty from then on.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_HOSTFAULTS_H
#define DRAGON_RUNTIME_MEMORY_HOSTFAULTS_H

#include "runtime/memory/HostMapping.h"
#include "runtime/memory/Residency.h"

namespace dragon {

class HostFaults {
public:
  HostFaults(Context &context, AddressSpace &space, Contents &data,
             HostSlabs &slabs, HostMemory &host, Residency &resident,
             HostMapping &mapping)
      : Ctx(context), Space(space), Data(data), Slabs(slabs), Host(host),
        Resident(resident), Mapping(mapping) {}

  /// The address is in a buffer that the host may touch.
  Status access(uintptr_t address);

private:
  /// The chunk gets memory that can be mapped, if there is any. Where there is
  /// room for one chunk beside what is kept for data in transit, it gets that,
  /// too: a loop over two arrays would bring a chunk from its file for each
  /// element.
  Status takeMappable(Chunk &chunk);

  Context &Ctx;
  AddressSpace &Space;
  Contents &Data;
  HostSlabs &Slabs;
  HostMemory &Host;
  Residency &Resident;
  HostMapping &Mapping;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_HOSTFAULTS_H
