//===- Contents.h - what becomes of contents that change --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The books of what is written and what is dead: which copies of a chunk's
// contents count from then on, and which part of them is defined.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_CONTENTS_H
#define DRAGON_RUNTIME_MEMORY_CONTENTS_H

#include "runtime/memory/HostMemory.h"

#include <vector>

namespace dragon {

class Contents {
public:
  Contents(WorkTracker &time, StorageIo &store, WriteBehind &writes,
           HostMemory &host)
      : Time(time), Store(store), Writes(writes), Host(host) {}

  /// The only valid copy is now that on the device (or on the host). `part`
  /// is what may have been written.
  Status wroteDevice(Chunk &chunk, ChunkPart part);
  Status wroteHost(Chunk &chunk, ChunkPart part);
  Status wroteDevice(Chunk &chunk) { return wroteDevice(chunk, chunk.whole()); }
  Status wroteHost(Chunk &chunk) { return wroteHost(chunk, chunk.whole()); }
  /// The contents are in storage alone, and so are those that take their place.
  void wroteStorage(Chunk &chunk, ChunkPart part);
  /// Contents become undefined.
  Status forget(Chunk &chunk);
  /// The same, where nothing can move and the device has the contents: it makes
  /// no difference yet, and launches in core need not wait for it.
  void forgetLater(Chunk &chunk, uint64_t clock);
  /// Something may move now: what was to be forgotten, and has not been used
  /// since, is.
  Status forgetDead();
  /// While nothing has moved, undefined contents are what lies in the device's
  /// memory: another runtime of the process may have written it.
  void adoptMapped(Buffer &buffer);
  /// The buffer is destroyed.
  void noMore(const Buffer &buffer);
  /// All of the buffer may have been written on the device, where everything
  /// of it is.
  void wroteInPlace(Buffer &buffer);
  /// Somebody remembers what lies in the range, of one buffer that the host
  /// writes by calls alone, while work is tracked. The number is never 0.
  uint64_t remember(AddressRange range);
  /// Nothing that is queued may have written there since that was remembered.
  bool isUnchanged(uint64_t remembered) const;
  /// A write of it that is under way has ended.
  Status finishWrite(Chunk &chunk) { return Writes.finish(chunk); }
  /// Its pieces and swap slot.
  void dropStorage(Chunk &chunk);
  /// The same, where the contents are in memory as well.
  void leaveStorage(Chunk &chunk);

private:
  /// More than these are not remembered: the oldest are forgotten.
  static constexpr size_t MaxRemembered = 96;

  void define(Chunk &chunk, ChunkPart part) const;
  void changed(AddressRange range);

  WorkTracker &Time;
  StorageIo &Store;
  WriteBehind &Writes;
  HostMemory &Host;
  struct Memory {
    AddressRange range;
    uint64_t number;
  };
  std::vector<Chunk *> Dead;      ///< whose deadSince is not 0
  std::vector<Memory> Remembered; ///< ascending numbers
  uint64_t LastNumber = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_CONTENTS_H
