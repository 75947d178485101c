//===- SharedMemory.h - physical memory that programs divide ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of a device that programs divide by agreement is reserved in their
// books before it is created, and released when it is destroyed. A null share:
// the device is this program's alone.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_SHAREDMEMORY_H
#define DRAGON_RUNTIME_MEMORY_SHAREDMEMORY_H

#include "runtime/device/Device.h"
#include "runtime/share/DeviceShare.h"
#include "runtime/trace/Bytes.h"

namespace dragon {

/// What `create` makes, a StatusOr<Physical>.
template <typename Create>
StatusOr<Physical> createShared(DeviceShare *share, const char *memory,
                                size_t bytes, Create create) {
  if (share && !share->reserve(bytes))
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "{} memory: all programs together may have {}", memory,
                         formatBytes(share->total()));
  auto slab = create();
  if (slab.ok() || !share)
    return slab;
  Status why = slab.takeStatus();
  if (why.code() == DRAGON_ERROR_OUT_OF_MEMORY)
    share->refused(bytes);
  else
    share->release(bytes);
  return why;
}

inline Status destroyShared(DeviceShare *share, Device &device,
                            const Physical &slab) {
  Status status = device.destroy(slab);
  if (share)
    share->release(slab.bytes);
  return status;
}

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_SHAREDMEMORY_H
