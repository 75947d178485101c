//===- DeviceScratch.h - device memory of the runtime's own -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory at an address of its own for what copies of kernels need beside the
// program's buffers: counters, pages, the state of loops. Its slabs are of the
// pool of chunks and set aside from its budget, so who plans has the rest.
//
// Not thread-safe: under the runtime's lock.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_DEVICESCRATCH_H
#define DRAGON_RUNTIME_MEMORY_DEVICESCRATCH_H

#include "runtime/memory/DeviceChunks.h"

#include <vector>

namespace dragon {

class DeviceScratch {
public:
  DeviceScratch(Context &context, DeviceChunks &deviceChunks)
      : Ctx(context), OnDevice(deviceChunks) {}

  /// Chunks that are not pinned leave for it. There must be none yet.
  /// `bytes`: a multiple of `slabBytes`. If it fails, there is none.
  Status make(uint64_t bytes, uint64_t slabBytes);
  /// No work uses it any more. What cannot be unmapped is nobody's from then
  /// on: to give it to others would put two contents in one place.
  void drop();

  bool any() const { return Va != 0; }
  uintptr_t address() const { return Va; }
  uint64_t bytes() const { return Bytes; }
  AddressRange range() const { return {Va, Va + Bytes}; }

private:
  Context &Ctx;
  DeviceChunks &OnDevice;
  uintptr_t Va = 0; ///< 0: there is none
  uint64_t Bytes = 0, SlabBytes = 0;
  std::vector<Physical> Slabs;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_DEVICESCRATCH_H
