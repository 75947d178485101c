//===- Transfers.h - the program's copies and fills -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contents are written where they are, or where they find room without moving
// others: on the device first, then in host memory. Chunks that hold nothing
// make room. What finds room nowhere goes to the device as a launch's would, by
// eviction.
//
// Large copies of pageable memory are made by several threads: straight into
// and out of the host copies of chunks, and through pinned blocks where the
// chunk is on the device. Pinned memory is the device's to copy.
//
// The other end of a copy may be device memory that is not ours (a device
// variable, a library's): the device then makes those copies, too, that the
// processor would have made.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_TRANSFERS_H
#define DRAGON_RUNTIME_MEMORY_TRANSFERS_H

#include "runtime/memory/PinnedStage.h"
#include "runtime/memory/Residency.h"

namespace dragon {

/// Memory outside of all buffers at one end of a copy: the host's, or device
/// memory that is not ours.
struct HostSide {
  bool pageable = false;    ///< work in the queue cannot reach it,
  bool mayBePinned = false; ///< unless it is pinned after all
};

class Transfers {
public:
  Transfers(Context &context, WorkTracker &time, AddressSpace &space,
            HostSlabs &slabs, StorageIo &store, Contents &data,
            DeviceChunks &deviceChunks, Residency &resident,
            NextUsePredictor &next)
      : Ctx(context), Time(time), Space(space), Slabs(slabs), Store(store),
        Data(data), OnDevice(deviceChunks), Resident(resident), Next(next) {}

  Status toBuffer(Buffer &buffer, uintptr_t to, const char *from, size_t bytes,
                  Queue queue, HostSide side);
  Status fromBuffer(Buffer &buffer, char *to, uintptr_t from, size_t bytes,
                    Queue queue, HostSide side);
  Status between(Buffer &toBuffer, uintptr_t to, Buffer &fromBuffer,
                 uintptr_t from, size_t bytes, Queue queue);
  Status fill(Buffer &buffer, uintptr_t to, uint32_t value, unsigned width,
              size_t count, Queue queue);

private:
  class Upload;
  class Download;
  /// It is outside of all buffers.
  Status checkHostMemory(const void *memory, size_t bytes);
  /// Brings in the chunks of [begin, end), which work is about to write.
  Status bringInForWrite(Buffer &buffer, uintptr_t begin, uintptr_t end,
                         Queue queue, std::vector<Chunk *> &chunks);
  Status betweenOnDevice(Buffer &toBuffer, uintptr_t to, Buffer &fromBuffer,
                         uintptr_t from, size_t bytes, Queue queue);
  Status betweenChunks(Buffer &toBuffer, uintptr_t to, Buffer &fromBuffer,
                       uintptr_t from, size_t bytes, Queue queue);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  HostSlabs &Slabs;
  StorageIo &Store;
  Contents &Data;
  DeviceChunks &OnDevice;
  Residency &Resident;
  NextUsePredictor &Next;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_TRANSFERS_H
