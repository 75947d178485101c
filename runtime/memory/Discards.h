//===- Discards.h - contents that the program says are dead -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole chunks lose their contents at once. Of a part only what lies at an end
// of what is defined is dropped; the rest is kept, for a chunk has one defined
// part.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_DISCARDS_H
#define DRAGON_RUNTIME_MEMORY_DISCARDS_H

#include "runtime/memory/Contents.h"
#include "runtime/memory/DeviceChunks.h"
#include "runtime/memory/DriverMoved.h"

namespace dragon {

class Discards {
public:
  Discards(Context &context, WorkTracker &time, AddressSpace &space,
           StorageIo &store, Contents &data, DeviceChunks &deviceChunks,
           DriverMoved &driver)
      : Ctx(context), Time(time), Space(space), Store(store), Data(data),
        OnDevice(deviceChunks), Driver(driver) {}

  Status range(uintptr_t address, size_t bytes, Queue queue,
               bool eager = false);
  /// The same with the lock's `state` part, where it can wait; else false, and
  /// nothing has happened. The range is within the buffer.
  bool atOnce(Buffer &buffer, uintptr_t begin, uintptr_t end);
  Status whole(Chunk &chunk, Queue queue);
  /// Nothing is gained now from a discard in the buffer, which has no need of
  /// more than the lock's `state` part then.
  bool canWait(const Buffer &buffer) const;

private:
  void noteDead(Buffer &buffer, uintptr_t begin, uintptr_t end);
  Status part(Chunk &chunk, ChunkPart part, Queue queue);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  StorageIo &Store;
  Contents &Data;
  DeviceChunks &OnDevice;
  DriverMoved &Driver;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_DISCARDS_H
