//===- KeepResident.cpp - buffers that may not leave the device -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code that we do not launch (a graph, a library's kernel) works on addresses
// at times that we do not see. A buffer that it may reach is brought to the
// device as a whole and is not evicted any more; its device copy is the valid
// one from then on, whatever we would deduce from what we do see.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"

namespace dragon {

Status Runtime::Impl::keepResident(Buffer &buffer) {
  if (buffer.kept && buffer.allDeviceOnly())
    return {};
  if (!buffer.kept && keptBytes() + buffer.vaBytes > DevicePool.budget())
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "{} more must stay in device memory, where {} of {} "
                         "stay already; raise "
                         "DRAGON_DEVICE_MEMORY",
                         formatBytes(buffer.vaBytes), formatBytes(keptBytes()),
                         formatBytes(DevicePool.budget()));
  ++Clock;
  ++Round;
  std::vector<Want> wants;
  for (Chunk &chunk : buffer.chunks)
    if (!chunk.hostMapped) // the device reaches what the host has as well
      wants.push_back({&chunk, LaunchNeed::Read});
  DRAGON_TRY(bringIn(wants, nullptr, Cause::Demand));
  DRAGON_TRY(Dev->synchronize(CopyIn));
  DRAGON_TRY(Dev->completeMaps());
  buffer.kept = true;
  if (Watcher)
    Watcher->unseen({buffer.base, buffer.end()});
  for (const Want &want : wants)
    DRAGON_TRY(wroteDevice(*want.chunk));
  return {};
}

uint64_t Runtime::Impl::keptBytes() const {
  uint64_t bytes = 0;
  for (const std::unique_ptr<Buffer> &buffer : Buffers)
    bytes += buffer->kept && !buffer->driverMoved ? buffer->vaBytes : 0;
  return bytes;
}

Status Runtime::keepResident(uintptr_t address) {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  Allocation *found = State->Allocations.find(address);
  return found ? State->keepResident(*found->buffer) : Status();
}

Status Runtime::keepAllResident() {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  for (std::unique_ptr<Buffer> &buffer : State->Buffers)
    DRAGON_TRY(State->keepResident(*buffer));
  return {};
}

} // namespace dragon
