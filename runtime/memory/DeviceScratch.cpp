//===- DeviceScratch.cpp - device memory of the runtime's own -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/DeviceScratch.h"

#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

namespace dragon {

Status DeviceScratch::make(uint64_t bytes, uint64_t slabBytes) {
  if (Ctx.share)
    OnDevice.claim(OnDevice.Pool.aside() + bytes);
  DRAGON_TRY(OnDevice.makeRoom(bytes));
  DRAGON_ASSIGN(Va, Ctx.device->reserve(bytes));
  Bytes = bytes;
  SlabBytes = slabBytes;
  Status status;
  while (Slabs.size() * slabBytes < bytes) {
    auto slab = OnDevice.take(slabBytes);
    status = slab.ok() ? Ctx.device->map(Va + Slabs.size() * slabBytes, *slab)
                       : slab.takeStatus();
    if (!status.ok()) {
      if (slab.ok())
        OnDevice.Pool.give(*slab);
      break;
    }
    OnDevice.Pool.setAside(*slab, true);
    Slabs.push_back(*slab);
  }
  if (!status.ok())
    drop();
  return status;
}

void DeviceScratch::drop() {
  if (!Va)
    return;
  uint64_t lost = 0;
  Status failed;
  for (size_t i = 0; i < Slabs.size(); ++i) {
    Status status = Ctx.device->unmap(Va + i * SlabBytes, Slabs[i]);
    if (status.ok()) {
      OnDevice.Pool.setAside(Slabs[i], false);
      OnDevice.Pool.give(Slabs[i]);
    } else {
      lost += SlabBytes;
      failed = std::move(status);
    }
  }
  if (lost)
    log(LogLevel::Info,
        "{} of device memory cannot be unmapped and are lost to buffers: {}",
        formatBytes(lost), failed.message());
  else
    Ctx.device->release(Va, Bytes).ignore();
  Slabs.clear();
  Va = Bytes = 0;
}

} // namespace dragon
